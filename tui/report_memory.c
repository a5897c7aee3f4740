/* SPDX-License-Identifier: MIT */
/* Allocators, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query-memory.h"
#include "model/base/util.h"
#include "tui/json.h"
#include "tui/report.h"
#include "tui/sheet.h"

/* ---- text ---- */

/* Ops by name; what was allocated outside of them is no op's. */
static void peak_cell(struct sheet *sheet, const struct memory_row *row)
{
	char text[FMT_MAX];

	if (row->n_peak_ops && row->peak_op_bytes[0] >= row->peak_no_op_bytes)
		sheet_cell(sheet, "%s: %s", fmt_bytes(text, row->peak_op_bytes[0]),
			   row->peak_ops[0]);
	else
		sheet_cell(sheet, "%s", "");
}

void report_memory_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct memory_row *rows;
	char text[FMT_MAX];
	size_t count;

	model_lock(model);
	count = model_memory(model, &rows);
	model_unlock(model);
	sheet_column(&sheet, "memory", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "device", SHEET_RIGHT, 0);
	sheet_column(&sheet, "peak", SHEET_RIGHT, 0);
	sheet_column(&sheet, "at the end", SHEET_RIGHT, 0);
	sheet_column(&sheet, "allocations", SHEET_RIGHT, 0);
	sheet_column(&sheet, "growth/step", SHEET_RIGHT, 0);
	sheet_column(&sheet, "most at the peak", SHEET_LEFT, REPORT_NAME_LEAST);
	for (size_t i = 0; i < count; i++) {
		sheet_cell(&sheet, "%s", rows[i].allocator);
		if (rows[i].device != UINT32_MAX)
			sheet_cell(&sheet, "%" PRIu32, rows[i].device);
		else
			sheet_cell(&sheet, "%s", "");
		sheet_cell(&sheet, "%s", fmt_bytes(text, rows[i].peak_bytes));
		sheet_cell(&sheet, "%s", fmt_bytes(text, rows[i].live_bytes));
		sheet_cell(&sheet, "%s", fmt_count(text, rows[i].allocations));
		sheet_cell(&sheet, "%s", rows[i].growth_bytes_per_step ?
			   fmt_bytes(text, rows[i].growth_bytes_per_step) : "");
		peak_cell(&sheet, &rows[i]);
	}
	report_sheet(&sheet, out);
	free(rows);
}

/* ---- JSON ---- */

static void write_allocator(struct json *json, const struct memory_row *row, int64_t first_ns)
{
	json_object(json);
	json_key_string(json, "allocator", row->allocator);
	if (row->device != UINT32_MAX)
		json_key_uint(json, "device", row->device);
	json_key_uint(json, "live_bytes", row->live_bytes);
	json_key_uint(json, "peak_bytes", row->peak_bytes);
	if (row->peak_ns >= first_ns)
		json_key_int(json, "peak_at_ns", row->peak_ns - first_ns);
	json_key_uint(json, "allocations", row->allocations);
	json_key_uint(json, "allocated_bytes", row->allocated_bytes);
	json_key_uint(json, "frees", row->frees);
	json_uint_if(json, "unknown_frees", row->unknown_frees);
	json_uint_if(json, "missed_frees", row->missed_frees);
	json_uint_if(json, "growth_bytes_per_step", row->growth_bytes_per_step);
	json_key_array(json, "peak_ops");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_string(json, row->peak_ops[k]);
	json_end(json);
	json_key_array(json, "peak_op_bytes");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_uint(json, row->peak_op_bytes[k]);
	json_end(json);
	json_end(json);
}

void report_memory_json(struct json *json, struct model *model)
{
	struct model_status status;
	struct memory_row *rows;
	size_t count;

	model_lock(model);
	model_status(model, &status);
	count = model_memory(model, &rows);
	model_unlock(model);
	json_key_array(json, "memory");
	for (size_t i = 0; i < count; i++)
		write_allocator(json, &rows[i], status.first_ns);
	json_end(json);
	free(rows);
}
