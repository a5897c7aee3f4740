/* SPDX-License-Identifier: MIT */
/* Allocators, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query/memory.h"
#include "model/base/util.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

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

/* As the run ended, of allocators that hand out pieces. */
static void chunks_text(const struct memory_row *rows, const struct memory_chunks *chunks,
			size_t count, FILE *out)
{
	struct sheet sheet = { 0 };
	char text[FMT_MAX];

	sheet_column(&sheet, "chunks", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "reserved", SHEET_RIGHT, 0);
	sheet_column(&sheet, "in use", SHEET_RIGHT, 0);
	sheet_column(&sheet, "chunks", SHEET_RIGHT, 0);
	sheet_column(&sheet, "free", SHEET_RIGHT, 0);
	sheet_column(&sheet, "chunks", SHEET_RIGHT, 0);
	sheet_column(&sheet, "largest free", SHEET_RIGHT, 0);
	sheet_column(&sheet, "fragmentation", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct memory_chunks *c = &chunks[i];

		if (!c->known)
			continue;
		sheet_cell(&sheet, "%s", rows[i].allocator);
		sheet_cell(&sheet, "%s", fmt_bytes(text, c->reserved_bytes));
		sheet_cell(&sheet, "%s", fmt_bytes(text, c->used_bytes));
		sheet_cell(&sheet, "%s", fmt_count(text, c->used));
		sheet_cell(&sheet, "%s", fmt_bytes(text, c->free_bytes));
		sheet_cell(&sheet, "%s", fmt_count(text, c->free));
		sheet_cell(&sheet, "%s", fmt_bytes(text, c->largest_free_bytes));
		sheet_cell(&sheet, "%s", fmt_share(text, c->fragmentation, 1000));
	}
	report_sheet(&sheet, out);
}

void report_memory_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct memory_chunks *chunks;
	struct memory_row *rows;
	char text[FMT_MAX];
	size_t count;

	model_lock(model);
	count = model_memory(model, &rows);
	chunks = xcalloc(count, sizeof(*chunks));
	for (size_t i = 0; i < count; i++)
		model_memory_chunks(model, rows[i].account, &chunks[i]);
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
	chunks_text(rows, chunks, count, out);
	free(rows);
	free(chunks);
}

/* ---- JSON ---- */

static void write_chunks(struct json *json, const struct memory_chunks *chunks)
{
	json_key_object(json, "chunks");
	json_key_uint(json, "regions", chunks->regions);
	json_key_uint(json, "reserved_bytes", chunks->reserved_bytes);
	json_key_uint(json, "used", chunks->used);
	json_key_uint(json, "used_bytes", chunks->used_bytes);
	json_key_uint(json, "free", chunks->free);
	json_key_uint(json, "free_bytes", chunks->free_bytes);
	json_key_uint(json, "largest_free_bytes", chunks->largest_free_bytes);
	json_key(json, "fragmentation");
	json_share(json, chunks->fragmentation, 1000);
	json_key_array(json, "bins");
	for (unsigned i = 0; i < MEMORY_BINS; i++) {
		const struct memory_bin *bin = &chunks->bins[i];

		if (!bin->used && !bin->free)
			continue;
		json_object(json);
		json_key_uint(json, "from_bytes", (uint64_t)256 << i);
		json_key_uint(json, "used", bin->used);
		json_key_uint(json, "used_bytes", bin->used_bytes);
		json_key_uint(json, "free", bin->free);
		json_key_uint(json, "free_bytes", bin->free_bytes);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

/* chunks: NULL where they are not known. */
static void write_allocator(struct json *json, const struct memory_row *row,
			    const struct memory_chunks *chunks, int64_t first_ns)
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
	if (chunks)
		write_chunks(json, chunks);
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
	struct memory_chunks *chunks;
	struct memory_row *rows;
	size_t count;

	model_lock(model);
	model_status(model, &status);
	count = model_memory(model, &rows);
	chunks = xcalloc(count, sizeof(*chunks));
	for (size_t i = 0; i < count; i++)
		model_memory_chunks(model, rows[i].account, &chunks[i]);
	model_unlock(model);
	json_key_array(json, "memory");
	for (size_t i = 0; i < count; i++)
		write_allocator(json, &rows[i], chunks[i].known ? &chunks[i] : NULL,
				status.first_ns);
	json_end(json);
	free(rows);
	free(chunks);
}
