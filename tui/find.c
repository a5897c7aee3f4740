/* SPDX-License-Identifier: MIT */
#include "tui/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"
#include "tui/filters_span.h"
#include "tui/panes.h"

/* ---- what is wanted ---- */

static bool may_match(void *arg, const char *name, const char *raw)
{
	static const enum row_kind rows[] = {
		ROW_THREAD, ROW_QUEUE, ROW_COPY, ROW_COMPILE, ROW_GRAPH,
	};
	const struct find *find = arg;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (filters_may_name(find->filter, rows[i], name, raw))
			return true;
	return false;
}

static bool matches(void *arg, const char *name, const char *raw)
{
	const struct find *find = arg;

	return regexec(&find->regex, name, 0, NULL, 0) == 0 ||
	       regexec(&find->regex, raw, 0, NULL, 0) == 0;
}

static void forget(struct find *find)
{
	if (find->search) {
		search_free(find->search);
		if (!find->filter)
			regfree(&find->regex);
	}
	filter_free(find->filter);
	find->filter = NULL;
	find->search = NULL;
	find->shown = false;
	find->text[0] = '\0';
}

void find_release(struct find *find)
{
	forget(find);
	free(find->columns);
	free(find->hits);
	memset(find, 0, sizeof(*find));
}

bool find_set(struct find *find, struct model *model, const char *text, char *error,
	      size_t error_size)
{
	regex_t regex;

	if (strlen(text) >= FIND_TEXT) {
		snprintf(error, error_size, "too long to look for: at most %u bytes", FIND_TEXT - 1);
		return false;
	}
	if (!regex_make(&regex, text, REGEX_SMART, error, error_size))
		return false;
	forget(find);
	find->regex = regex;
	snprintf(find->text, sizeof(find->text), "%s", text);
	find->search = search_new(model, SEARCH_EITHER, matches, find);
	return true;
}

/* ---- from one to the next ---- */

/* Devices and processes are sums of their rows, counters have no events. */
void find_set_filter(struct find *find, struct model *model, struct filter *filter)
{
	forget(find);
	find->filter = filter;
	find->search = search_new(model, SEARCH_NAME, may_match, find);
	snprintf(find->text, sizeof(find->text), "%s", filter_text(filter));
}

static bool has_events(const struct model_row *row)
{
	return row->kind == ROW_THREAD || row->kind == ROW_QUEUE || row->kind == ROW_COPY ||
	       row->kind == ROW_COMPILE || row->kind == ROW_GRAPH;
}

/* A place among rows: of what starts at once the upper one comes first. */
struct place { int64_t start_ns; size_t row; uint32_t lane; };

static bool is_before(const struct place *a, const struct place *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return a->row != b->row ? a->row < b->row : a->lane < b->lane;
}

/* Whether the event is wanted and not only called so. */
static bool is_wanted(struct find *find, struct model *model, const struct span *span)
{
	/* Others want the model as well. */
	if (find->filter && ++find->looked % 4096 == 0) {
		model_unlock(model);
		model_lock(model);
	}
	return !find->filter || filters_span(find->filter, span, find->base_ns);
}

/* The nearest of one lane beyond `from`, and not beyond best when there is one. */
static bool of_lane(struct find *find, struct model *model, uint32_t row, bool forward,
		    const struct place *from, const struct place *best, struct place *at,
		    struct span_ref *out)
{
	bool passed = forward ? at->row < from->row || (at->row == from->row && at->lane <= from->lane)
			      : at->row > from->row || (at->row == from->row && at->lane >= from->lane);
	struct span span;
	int64_t t = from->start_ns;

	if (!passed)
		t += forward ? -1 : 1;
	while (find->looked < FIND_LOOK &&
	       (forward ? search_next(find->search, row, at->lane, t, out) :
			  search_prev(find->search, row, at->lane, t, out)) &&
	       model_span(model, *out, &span)) {
		at->start_ns = t = span.start_ns;
		if (is_wanted(find, model, &span))
			return true;
		if (best && !(forward ? is_before(at, best) : is_before(best, at)))
			return false;
	}
	return false;
}

static bool nearest(struct find *find, struct model *model, const struct model_row *rows, size_t n,
		    const struct place *from, bool forward, struct span_ref *out)
{
	struct place best = { .start_ns = 0 };
	bool any = false;

	for (size_t i = 0; i < n; i++)
		for (uint32_t lane = 0; has_events(&rows[i]) && lane < rows[i].lanes; lane++) {
			struct place at = { 0, i, lane };
			struct span_ref ref;

			if (!of_lane(find, model, rows[i].id, forward, from, any ? &best : NULL,
				     &at, &ref))
				continue;
			if (any && !(forward ? is_before(&at, &best) : is_before(&best, &at)))
				continue;
			best = at;
			*out = ref;
			any = true;
		}
	return any;
}

bool find_step(struct find *find, struct model *model, const struct find_from *from, bool forward,
	       struct span_ref *out, bool *around)
{
	struct model_row *rows;
	size_t n = model_rows(model, &rows), i;
	struct place place = { from->start_ns, 0, from->lane };
	struct model_status status;
	bool found;

	model_status(model, &status);
	find->base_ns = panes_base_ns(&status);
	find->looked = 0;
	for (i = 0; i < n && rows[i].id != from->row; i++)
		;
	place.row = i;
	/* From a time: below all rows, and all that start then are beyond it. */
	if (i == n && forward)
		place.start_ns--;
	found = nearest(find, model, rows, n, &place, forward, out);
	*around = !found;
	if (!found) {
		place = (struct place) { forward ? INT64_MIN : INT64_MAX, forward ? n : 0, 0 };
		found = nearest(find, model, rows, n, &place, forward, out);
	}
	free(rows);
	return found;
}

/* ---- in the window ---- */

/* Of a filter: what of the window's events it wants, one by one. */
static void take_hits(struct find *find, struct model *model, const struct model_row *row,
		      int64_t t0_ns, int64_t t1_ns)
{
	struct span_edge *edges = xreallocarray(NULL, FIND_HITS, sizeof(*edges));
	struct span span;

	for (uint32_t lane = 0; lane < row->lanes; lane++) {
		size_t n = model_spans(model, row->id, lane, t0_ns, t1_ns, FIND_HITS, edges);

		for (size_t i = 0; i < n; i++) {
			if (!model_span(model, edges[i].ref, &span) ||
			    !filters_span(find->filter, &span, find->base_ns))
				continue;
			grow(&find->hits, &find->cap_hits, find->n_hits, sizeof(*find->hits));
			find->hits[find->n_hits++] = (struct find_hit){
				span.start_ns, span.end_ns, row->id, edges[i].ref.lane,
			};
			find->count++;
		}
	}
	free(edges);
}

void find_count(struct find *find, struct model *model, const struct model_row *rows, size_t n_rows,
		int64_t t0_ns, int64_t t1_ns)
{
	uint64_t all = 0;
	struct range_sum sum;
	struct column column;

	find->count = 0;
	for (size_t i = 0; i < n_rows; i++)
		if (has_events(&rows[i]) && model_range(model, rows[i].id, LANE_ALL, t0_ns, t1_ns, &sum))
			all += sum.count;
	find->n_hits = 0;
	find->counted = all <= (find->filter ? FIND_HITS : FIND_MOST);
	for (size_t i = 0; i < n_rows && find->counted; i++) {
		if (!has_events(&rows[i]))
			continue;
		if (find->filter) {
			take_hits(find, model, &rows[i], t0_ns, t1_ns);
			continue;
		}
		search_columns(find->search, rows[i].id, LANE_ALL, t0_ns, t1_ns, 1, &column);
		find->count += column.count;
	}
}

void find_sentence(const struct find *find, struct strip *strip)
{
	char count[FMT_MAX];

	strip_add(strip, 3, 3, ROLE_MATCH, ATTR_BOLD, find->filter ? "%s" : "/%s/",
		  find->text)->least = 6;
	if (find->counted)
		strip_add(strip, 3, 1, ROLE_MUTED, 0, "%s in the window",
			  fmt_count(count, find->count));
	else
		strip_add(strip, 3, 1, ROLE_MUTED, 0, "zoom in to see where");
}

static void mark_hits(struct find *find, uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
		      size_t n)
{
	memset(find->columns, 0, n * sizeof(*find->columns));
	for (size_t i = 0; i < find->n_hits; i++) {
		const struct find_hit *hit = &find->hits[i];
		int64_t end_ns = hit->end_ns > hit->start_ns ? hit->end_ns : hit->start_ns + 1;
		int64_t from_ns = hit->start_ns > t0_ns ? hit->start_ns - t0_ns : 0;

		if (hit->row != row || (lane != LANE_ALL && hit->lane != lane) || end_ns <= t0_ns)
			continue;
		for (size_t c = (size_t)(from_ns / w_ns);
		     c < n && (int64_t)c * w_ns < end_ns - t0_ns; c++)
			find->columns[c].count++;
	}
}

void find_mark(struct find *find, uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
	       size_t n, struct cell *cells, const struct cell_style *style)
{
	if (!find->counted || !find->count)
		return;
	if (n > find->cap) {
		find->cap = n;
		find->columns = xreallocarray(find->columns, n, sizeof(*find->columns));
	}
	if (find->filter)
		mark_hits(find, row, lane, t0_ns, w_ns, n);
	else
		search_columns(find->search, row, lane, t0_ns, t0_ns + w_ns * (int64_t)n, n,
			       find->columns);
	cells_match(cells, find->columns, n, style);
}
