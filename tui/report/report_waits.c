/* SPDX-License-Identifier: MIT */
/* Who waits for devices, and how long these then idle, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/waits.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define ROWS_TOLD 12u

size_t report_waits(struct model *model, struct wait_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_waits(model, rows);
	model_unlock(model);
	return count;
}

void report_waits_columns(struct sheet *sheet)
{
	sheet_column(sheet, "waits", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "op", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "line", SHEET_LEFT, 0);
	sheet_column(sheet, "count", SHEET_RIGHT, 0);
	sheet_column(sheet, "total", SHEET_RIGHT, 0);
	sheet_column(sheet, "max", SHEET_RIGHT, 0);
	sheet_column(sheet, "stalls", SHEET_RIGHT, 0);
	sheet_column(sheet, "idle after", SHEET_RIGHT, 0);
}

void report_waits_cells(struct sheet *sheet, const struct wait_row *row)
{
	const char *base = row->file ? strrchr(row->file, '/') : NULL;
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", row->call);
	sheet_cell(sheet, "%s", row->op ? row->op : "-");
	if (row->op)
		sheet_link(sheet, "ni", row->op);
	if (row->file)
		sheet_cell(sheet, "%.40s:%" PRIu32, base ? base + 1 : row->file, row->line);
	else
		sheet_cell(sheet, "-");
	if (row->file)
		sheet_link(sheet, "ps", row->file);
	sheet_cell(sheet, "%s", fmt_count(text, row->count));
	sheet_cell(sheet, "%s", fmt_time(text, row->total_ns));
	sheet_cell(sheet, "%s", fmt_time(text, row->max_ns));
	sheet_cell(sheet, "%s", fmt_count(text, row->stalls));
	sheet_cell(sheet, "%s", row->stalls ? fmt_time(text, row->idle_ns) : "-");
}

void report_waits_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct wait_row *rows;
	size_t count = report_waits(model, &rows), shown = count < ROWS_TOLD ? count : ROWS_TOLD;

	report_waits_columns(&sheet);
	for (size_t i = 0; i < shown; i++)
		report_waits_cells(&sheet, &rows[i]);
	sheet.more = count - shown;
	report_sheet(&sheet, out);
	free(rows);
}

static void write_wait(struct json *json, const struct wait_row *row)
{
	json_object(json);
	json_key_string(json, "name", row->call);
	json_text_if(json, "op", row->op);
	if (row->file) {
		json_key_string(json, "file", row->file);
		json_key_uint(json, "line", row->line);
	}
	json_text_if(json, "function", row->function);
	json_key_uint(json, "count", row->count);
	json_key_int(json, "total_ns", row->total_ns);
	json_key_int(json, "max_ns", row->max_ns);
	json_key_uint(json, "stalls", row->stalls);
	json_key_int(json, "idle_ns", row->idle_ns);
	json_key_int(json, "saved_ns", row->saved_ns);
	json_end(json);
}

void report_waits_json(struct json *json, struct model *model)
{
	struct wait_row *rows;
	size_t count = report_waits(model, &rows);

	if (count)
		json_key_array(json, "waits");
	for (size_t i = 0; i < count; i++)
		write_wait(json, &rows[i]);
	if (count)
		json_end(json);
	free(rows);
}
