/* SPDX-License-Identifier: MIT */
/* counters: their values, and of one the course of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/counters.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"

#define PLOT_COLUMNS 60		/* a page of 80 columns has room for it */
#define PLOT_LINES 4

/* One line of a plot, the highest first: eighths of its part of the height. */
static void plot_line(struct page *page, const struct counter_column *columns, int line,
		      int64_t base, uint64_t height)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	char text[PLOT_COLUMNS * 3 + 1];
	size_t at = 0;

	for (int i = 0; i < PLOT_COLUMNS; i++) {
		uint64_t above = columns[i].known ? (uint64_t)(columns[i].max - base) : 0;
		uint64_t full = (uint64_t)((unsigned __int128)above * PLOT_LINES * 8 / height);
		uint64_t below = 8 * (uint64_t)(PLOT_LINES - 1 - line);
		const char *block = blocks[full <= below ? 0 : full - below > 8 ? 8 : full - below];

		/* What is there at all is seen. */
		if (above && !full && line == PLOT_LINES - 1)
			block = blocks[1];
		memcpy(text + at, block, strlen(block));
		at += strlen(block);
	}
	page_add(page, ROLE_CONTEXT, 0, "%.*s", (int)at, text);
}

static void report_counters_add_plot(struct page *page, struct model *model,
				     const struct counter_row *row)
{
	struct counter_column columns[PLOT_COLUMNS];
	int64_t base = row->min < 0 ? row->min : 0, length = row->last_ns - row->first_ns;
	uint64_t height = row->max > base ? (uint64_t)(row->max - base) : 1;
	char text[FMT_MAX], time[FMT_MAX];

	model_lock(model);
	model_counter_columns(model, row->series, row->first_ns,
			      row->first_ns + (length < PLOT_COLUMNS ? PLOT_COLUMNS :
					       length + PLOT_COLUMNS),
			      PLOT_COLUMNS, columns);
	model_unlock(model);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s  process %" PRIu32 "  from the first to the last "
		 "value, %s", row->name, row->pid, fmt_time(time, length));
	for (int line = 0; line < PLOT_LINES; line++) {
		page_add(page, ROLE_MUTED, 0, "%14s ", line == 0 ?
			 fmt_counter(text, row->max, row->unit) : line == PLOT_LINES - 1 ?
			 fmt_counter(text, base, row->unit) : "");
		plot_line(page, columns, line, base, height);
		page_end(page);
	}
}

bool page_counters(const struct page_call *call, struct page *page)
{
	const char *name = call->argc > 1 ? call->argv[1] : NULL;
	struct counter_row *rows;
	size_t count, kept = 0;

	model_lock(call->model);
	count = model_counters(call->model, &rows);
	model_unlock(call->model);
	for (size_t i = 0; i < count; i++)
		if (!name || strstr(rows[i].name, name))
			rows[kept++] = rows[i];
	if (name && !kept) {
		snprintf(call->error, call->error_size, "no counter has '%.60s' in its name", name);
		free(rows);
		return false;
	}
	page_title(page, name ? "counters: %s" : "counters", name);
	if (!kept)
		page_say(page, ROLE_MUTED, 0, "no counter has been seen");
	report_page_table(page, &counter_columns, &(struct report_rows) {
		.rows = rows, .size = sizeof(*rows), .count = kept,
	});
	for (size_t i = 0; name && i < kept; i++)
		report_counters_add_plot(page, call->model, &rows[i]);
	free(rows);
	return true;
}
