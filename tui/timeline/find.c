/* SPDX-License-Identifier: MIT */
#include "tui/timeline/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"
#include "tui/filters/filters_span.h"
#include "tui/draw/pane.h"

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

static void find_forget(struct find *find)
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
	find->step.begun = false;
	find->text[0] = '\0';
}

void find_release(struct find *find)
{
	find_forget(find);
	free(find->columns);
	free(find->hits);
	memset(find, 0, sizeof(*find));
}

bool find_set(struct find *find, struct model *model, const char *text, char *error,
	      size_t error_size)
{
	regex_t regex;

	if (strlen(text) >= FIND_TEXT) {
		snprintf(error, error_size, "the text to find is too long: at most %u bytes",
			 FIND_TEXT - 1);
		return false;
	}
	if (!regex_make(&regex, text, REGEX_SMART, error, error_size))
		return false;
	find_forget(find);
	find->regex = regex;
	snprintf(find->text, sizeof(find->text), "%s", text);
	find->search = search_new(model, SEARCH_EITHER, matches, find);
	return true;
}

void find_set_filter(struct find *find, struct model *model, struct filter *filter)
{
	find_forget(find);
	find->filter = filter;
	find->search = search_new(model, SEARCH_NAME, may_match, find);
	snprintf(find->text, sizeof(find->text), "%s", filter_text(filter));
}

/* Devices and processes are unions of their rows, and counters have no events. */
static bool has_events(const struct model_row *row)
{
	return row->kind == ROW_THREAD || row->kind == ROW_QUEUE || row->kind == ROW_COPY ||
	       row->kind == ROW_COMPILE || row->kind == ROW_GRAPH;
}

/* ---- in the window ---- */

/* For a filter: checks the events of the window one by one. */
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
		if (has_events(&rows[i]) &&
		    model_range(model, rows[i].id, LANE_ALL, t0_ns, t1_ns, &sum))
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
