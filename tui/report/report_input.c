/* SPDX-License-Identifier: MIT */
/* The stages of input pipelines, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query/input.h"
#include "model/base/util.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

static size_t snapshot(struct model *model, struct input_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_input_stages(model, rows);
	model_unlock(model);
	return count;
}

/* ---- text ---- */

static void buffer_cell(struct sheet *sheet, const struct input_row *row)
{
	if (!row->buffer)
		sheet_cell(sheet, "%s", "");
	else if (row->buffered < 0)
		sheet_cell(sheet, row->buffer < 0 ? "auto" : "of %" PRId32, row->buffer);
	else if (row->buffer < 0)
		sheet_cell(sheet, "%" PRId32, row->buffered);
	else
		sheet_cell(sheet, "%" PRId32 " of %" PRId32, row->buffered, row->buffer);
}

void report_input_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct input_row *rows;
	char text[FMT_MAX];
	size_t count = snapshot(model, &rows);

	sheet_column(&sheet, "input stage", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "calls", SHEET_RIGHT, 0);
	sheet_column(&sheet, "total", SHEET_RIGHT, 0);
	sheet_column(&sheet, "own work", SHEET_RIGHT, 0);
	sheet_column(&sheet, "wait", SHEET_RIGHT, 0);
	sheet_column(&sheet, "at once", SHEET_RIGHT, 0);
	sheet_column(&sheet, "buffer", SHEET_RIGHT, 0);
	sheet_column(&sheet, "per call", SHEET_RIGHT, 0);
	sheet_column(&sheet, "holds", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct input_row *row = &rows[i];
		int indent = row->depth < 10 ? (int)row->depth * 2 : 20;

		sheet_cell(&sheet, "%*s%s", indent, "", row->parent ? row->name : row->path);
		sheet_cell(&sheet, "%s", fmt_count(text, row->calls));
		sheet_cell(&sheet, "%s", fmt_time(text, row->total_ns));
		sheet_cell(&sheet, "%s", fmt_time(text, row->work_ns));
		sheet_cell(&sheet, "%s", row->wait_ns ? fmt_time(text, row->wait_ns) : "");
		if (row->parent && row->parallelism > 0)
			sheet_cell(&sheet, "%" PRId32, row->parallelism);
		else
			sheet_cell(&sheet, "%s", "");
		buffer_cell(&sheet, row);
		sheet_cell(&sheet, "%s", row->calls ?
			   fmt_time(text, row->total_ns / (int64_t)row->calls) : "");
		sheet_cell(&sheet, "%s", fmt_time(text, row->held_ns));
	}
	report_sheet(&sheet, out);
	free(rows);
}

/* ---- JSON ---- */

static void write_stage(struct json *json, const struct input_row *row)
{
	json_object(json);
	json_key_string(json, "path", row->path);
	json_text_if(json, "what", row->what);
	json_key_uint(json, "pid", row->pid);
	json_key_uint(json, "depth", row->depth);
	json_key_uint(json, "calls", row->calls);
	json_key_int(json, "total_ns", row->total_ns);
	json_key_int(json, "self_ns", row->self_ns);
	json_key_int(json, "wait_ns", row->wait_ns);
	json_key_int(json, "busy_ns", row->busy_ns);
	json_key_int(json, "max_ns", row->max_ns);
	json_key_int(json, "held_ns", row->held_ns);
	if (row->calls)
		json_key_int(json, "mean_ns", row->total_ns / (int64_t)row->calls);
	json_uint_if(json, "bytes", row->bytes);
	if (row->parallelism >= 0)
		json_key_int(json, "parallelism", row->parallelism);
	if (row->parallelism_set < 0)
		json_key_bool(json, "parallelism_tuned", true);
	if (row->buffer > 0)
		json_key_int(json, "buffer", row->buffer);
	if (row->buffered >= 0)
		json_key_int(json, "buffered", row->buffered);
	json_end(json);
}

void report_input_json(struct json *json, struct model *model)
{
	struct input_row *rows;
	size_t count = snapshot(model, &rows);

	if (count)
		json_key_array(json, "input_stages");
	for (size_t i = 0; i < count; i++)
		write_stage(json, &rows[i]);
	if (count)
		json_end(json);
	free(rows);
}
