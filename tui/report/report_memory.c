/* SPDX-License-Identifier: MIT */
/* Allocators, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/columns/memory.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

/* Both owned by the caller. */
static size_t report_memory(struct model *model, struct memory_line **lines,
			    struct memory_chunks **chunks)
{
	struct model_status status;
	struct memory_row *rows;
	size_t count;

	model_lock(model);
	model_status(model, &status);
	count = model_memory(model, &rows);
	*lines = xcalloc(count, sizeof(**lines));
	*chunks = xcalloc(count, sizeof(**chunks));
	for (size_t i = 0; i < count; i++) {
		(*lines)[i] = (struct memory_line) {
			.row = rows[i], .base_ns = status.first_ns, .steps = true,
		};
		model_memory_chunks(model, rows[i].account, &(*chunks)[i]);
	}
	model_unlock(model);
	free(rows);
	return count;
}

/* ---- text ---- */

/* As the run ended, of allocators that hand out pieces. */
static void chunks_text(const struct memory_line *lines, const struct memory_chunks *chunks,
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
		sheet_cell(&sheet, "%s", lines[i].row.allocator);
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
	struct memory_line *lines;
	size_t count = report_memory(model, &lines, &chunks);

	report_table(&sheet, &allocator_columns, &(struct report_rows) {
		.rows = lines, .size = sizeof(*lines), .count = count,
	});
	report_sheet(&sheet, out);
	chunks_text(lines, chunks, count, out);
	free(lines);
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
static void write_allocator(struct json *json, const struct memory_line *line,
			    const struct memory_chunks *chunks)
{
	const struct memory_row *row = &line->row;

	json_object(json);
	report_row_json(json, &allocator_columns, line);
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
	struct memory_chunks *chunks;
	struct memory_line *lines;
	size_t count = report_memory(model, &lines, &chunks);

	json_key_array(json, "memory");
	for (size_t i = 0; i < count; i++)
		write_allocator(json, &lines[i], chunks[i].known ? &chunks[i] : NULL);
	json_end(json);
	free(lines);
	free(chunks);
}
