/* SPDX-License-Identifier: MIT */
/* Counters: as text, as a page, as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/counters.h"
#include "tui/base/json.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define ROWS_MAX 20			/* of the report */
#define PAGE_WIDTH 150
#define PLOT_COLUMNS 60		/* a page of 80 columns has room for it */
#define PLOT_LINES 4

static size_t snapshot(struct model *model, struct counter_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_counters(model, rows);
	model_unlock(model);
	return count;
}

/* ---- text ---- */

static void report_counters_fill(struct sheet *sheet, const struct counter_row *rows, size_t count)
{
	sheet_column(sheet, "counter", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "device", SHEET_RIGHT, 0);
	sheet_column(sheet, "process", SHEET_RIGHT, 0);
	sheet_column(sheet, "values", SHEET_RIGHT, 0);
	sheet_column(sheet, "least", SHEET_RIGHT, 0);
	sheet_column(sheet, "mean", SHEET_RIGHT, 0);
	sheet_column(sheet, "highest", SHEET_RIGHT, 0);
	sheet_column(sheet, "last", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const int64_t values[] = { rows[i].min, rows[i].mean, rows[i].max, rows[i].last };
		char text[FMT_MAX];

		sheet_cell(sheet, "%s", rows[i].name);
		sheet_link(sheet, "counters", rows[i].name);
		snprintf(text, sizeof(text), "%" PRIu32, rows[i].device);
		sheet_cell(sheet, "%s", rows[i].device != UINT32_MAX ? text : "");
		if (rows[i].device != UINT32_MAX)
			sheet_link(sheet, "device", text);
		snprintf(text, sizeof(text), "%" PRIu32, rows[i].pid);
		sheet_cell(sheet, "%s", text);
		sheet_link(sheet, "process", text);
		sheet_cell(sheet, "%s", fmt_count(text, rows[i].count));
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
			sheet_cell(sheet, "%s", fmt_counter(text, values[v], rows[i].unit));
	}
}

void report_counters_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct counter_row *rows;
	size_t count = snapshot(model, &rows), shown = count < ROWS_MAX ? count : ROWS_MAX;

	report_counters_fill(&sheet, rows, shown);
	sheet.more = count - shown;
	report_sheet(&sheet, out);
	free(rows);
}

/* ---- page ---- */

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
	struct sheet sheet = { 0 };
	struct counter_row *rows;
	size_t count = snapshot(call->model, &rows), kept = 0;

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
	report_counters_fill(&sheet, rows, kept);
	page_sheet(page, &sheet, PAGE_WIDTH);
	for (size_t i = 0; name && i < kept; i++)
		report_counters_add_plot(page, call->model, &rows[i]);
	free(rows);
	return true;
}

/* ---- JSON ---- */

void report_counters_json(struct json *json, struct model *model)
{
	struct counter_row *rows;
	size_t count = snapshot(model, &rows);

	if (count)
		json_key_array(json, "counters");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_key_string(json, "name", rows[i].name);
		if (rows[i].device != UINT32_MAX)
			json_key_uint(json, "device", rows[i].device);
		json_key_uint(json, "pid", rows[i].pid);
		json_key_string(json, "unit", rows[i].unit);
		json_key_uint(json, "count", rows[i].count);
		json_key_int(json, "min", rows[i].min);
		json_key_int(json, "mean", rows[i].mean);
		json_key_int(json, "max", rows[i].max);
		json_key_int(json, "last", rows[i].last);
		json_end(json);
	}
	if (count)
		json_end(json);
	free(rows);
}
