/* SPDX-License-Identifier: MIT */
#include "model/query/search.h"

#include <stdlib.h>
#include <string.h>

#include "model/answers/parts.h"
#include "model/base/util.h"

struct search {
	struct model *model;		/* borrowed */
	search_match *match;
	void *arg;
	struct lane_want want;
	uint8_t *wanted;		/* owned; by name */
	uint32_t *unknown;		/* owned; names without a text yet */
	size_t n_unknown, cap_unknown;
};

struct search *search_new(struct model *model, enum search_field field, search_match *match,
			  void *arg)
{
	struct search *search = xcalloc(1, sizeof(*search));

	search->model = model;
	search->match = match;
	search->arg = arg;
	search->want.name = field != SEARCH_OP;
	search->want.op = field != SEARCH_NAME;
	return search;
}

void search_free(struct search *search)
{
	if (!search)
		return;
	free(search->wanted);
	free(search->unknown);
	free(search);
}

/* Asks `match` about a name; false: the name has no text yet. */
static bool ask_name(struct search *search, uint32_t id)
{
	struct names *names = &search->model->names;

	if (!names_defined(names, id))
		return false;
	if (search->match(search->arg, names_short(names, id), names_raw(names, id))) {
		search->wanted[id] = 1;
		lane_mark(search->want.marks, id);
	}
	return true;
}

bool search_ask(struct search *search, uint32_t most)
{
	uint32_t n = search->model->names.n;
	bool all = n <= search->want.n || n - search->want.n <= most;
	size_t kept = 0;

	if (!all)
		n = search->want.n + most;

	for (size_t i = 0; i < search->n_unknown; i++)
		if (!ask_name(search, search->unknown[i]))
			search->unknown[kept++] = search->unknown[i];
	search->n_unknown = kept;
	if (n <= search->want.n)
		return true;
	search->wanted = xreallocarray(search->wanted, n, 1);
	memset(search->wanted + search->want.n, 0, n - search->want.n);
	for (uint32_t id = search->want.n ? search->want.n : 1; id < n; id++) {
		if (ask_name(search, id))
			continue;
		grow(&search->unknown, &search->cap_unknown, search->n_unknown,
		     sizeof(*search->unknown));
		search->unknown[search->n_unknown++] = id;
	}
	search->want.wanted = search->wanted;
	search->want.n = n;
	return all;
}

static void ask_names(struct search *search)
{
	search_ask(search, UINT32_MAX);
}

const struct lane_want *search_wanted(struct search *search)
{
	ask_names(search);
	return &search->want;
}

static bool is_counter(const struct model *model, uint32_t row)
{
	return !row || row > model->rows.n || row_at(model, row - 1)->kind == ROW_BANDWIDTH ||
	       row_at(model, row - 1)->kind == ROW_MEMORY ||
	       row_at(model, row - 1)->kind == ROW_COUNTER;
}

/* Each open span covers the time from its start to the live edge. */
static void cover_opens(const struct search *search, const struct lane_part *part, int64_t t0,
			int64_t t1, struct cover *busy)
{
	const struct model *model = search->model;
	int64_t edge = live_edge(model) < t1 ? live_edge(model) : t1;

	for (uint32_t o = row_at(model, part->row)->opens; o != NONE; o = open_at(model, o)->next) {
		const struct open_span *open = open_at(model, o);

		if (open->lane == part->index && open_wanted(model, open, &search->want))
			cover_add(busy, open->start_ns > t0 ? open->start_ns : t0, edge);
	}
}

void search_columns(struct search *search, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		    size_t n, struct column *out)
{
	struct cover busy = { .n = 0 };
	int64_t span, w, least = INT64_MAX, *longest_ns;
	struct lane_part *parts;
	size_t n_parts;

	memset(out, 0, n * sizeof(*out));
	if (!n || __builtin_sub_overflow(t1, t0, &span) || span <= 0 ||
	    is_counter(search->model, row))
		return;
	ask_names(search);
	w = span / (int64_t)n ? span / (int64_t)n : 1;
	t1 = t0 + w * (int64_t)n;
	n_parts = parts_of(search->model, row, lane, &parts);
	longest_ns = xcalloc(n, sizeof(*longest_ns));
	for (size_t i = 0; i < n_parts; i++) {
		lane_columns_of(parts[i].lane, &search->want, parts[i].row + 1, parts[i].index, t0,
				w, n, out, longest_ns, &busy);
		add_opens(search->model, &parts[i], &search->want, t0, w, n, out, longest_ns,
			  &least);
		cover_opens(search, &parts[i], t0, t1, &busy);
	}
	for (size_t c = 0; c < n; c++) {
		out[c].busy_ns = 0;
		out[c].value = out[c].value_min = out[c].value_max = 0;
	}
	cover_columns(&busy, t0, w, n, &out->busy_ns, sizeof(*out));
	cover_release(&busy);
	free(longest_ns);
	free(parts);
}
