/* SPDX-License-Identifier: MIT */
/* Source lines, and what else is known of ops: as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/lines.h"
#include "model/query/optree.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define TEXT_LINES 12
#define JSON_LINES 500
#define JSON_STACKS 64u
#define SCOPE_DEPTH 64u

/* A line of a file, by what it costs. */
struct source_place {
	const char *file;
	struct source_line line;
};

static int64_t cost_of(const struct source_place *place)
{
	return place->line.cost.total_ns;
}

static int by_cost(const void *a, const void *b)
{
	const struct source_place *x = a, *y = b;

	if (cost_of(x) != cost_of(y))
		return cost_of(x) > cost_of(y) ? -1 : 1;
	if (x->file != y->file)
		return strcmp(x->file, y->file);
	return x->line.line < y->line.line ? -1 : x->line.line > y->line.line;
}

/* The user's lines that anything ran of. */
static size_t report_lines_snapshot(struct model *model, struct source_place **out)
{
	struct source_row *files;
	size_t n = 0, cap = 0, n_files;

	*out = NULL;
	model_lock(model);
	n_files = model_sources(model, NULL, &files);
	for (size_t i = 0; i < n_files; i++) {
		struct source_line *lines;
		size_t n_lines = files[i].library ? 0 :
			model_source_lines(model, files[i].file, &lines);

		for (size_t k = 0; k < n_lines; k++) {
			if (!lines[k].cost.calls)
				continue;
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct source_place) { files[i].file, lines[k] };
		}
		if (!files[i].library)
			free(lines);
	}
	model_unlock(model);
	free(files);
	if (n)
		qsort(*out, n, sizeof(**out), by_cost);
	return n;
}

static const char *place_text(char *text, size_t size, const char *file, uint32_t line)
{
	const char *base = strrchr(file, '/');

	snprintf(text, size, "%s:%u", base ? base + 1 : file, line);
	return text;
}

void report_source_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct source_place *places;
	char text[300];
	size_t n = report_lines_snapshot(model, &places), shown = n < TEXT_LINES ? n : TEXT_LINES;
	bool backward = false;

	for (size_t i = 0; i < shown; i++)
		backward |= places[i].line.cost.backward > 0;
	sheet_column(&sheet, "source lines", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "calls", SHEET_RIGHT, 0);
	sheet_column(&sheet, "total", SHEET_RIGHT, 0);
	sheet_column(&sheet, "self", SHEET_RIGHT, 0);
	sheet_column(&sheet, "kernels", SHEET_RIGHT, 0);
	if (backward)
		sheet_column(&sheet, "backward", SHEET_RIGHT, 0);
	sheet_column(&sheet, "mostly", SHEET_LEFT, REPORT_NAME_LEAST);
	for (size_t i = 0; i < shown; i++) {
		const struct line_cost *cost = &places[i].line.cost;

		sheet_cell(&sheet, "%s", place_text(text, sizeof(text), places[i].file,
						    places[i].line.line));
		sheet_cell(&sheet, "%s", fmt_count(text, cost->calls));
		sheet_cell(&sheet, "%s", fmt_time(text, cost->total_ns));
		sheet_cell(&sheet, "%s", fmt_time(text, cost->self_ns));
		sheet_cell(&sheet, "%s", cost->kernels + cost->cpu_kernels ?
			   fmt_time(text, cost->device_ns + cost->cpu_ns) : "");
		if (backward)
			sheet_cell(&sheet, "%s", cost->backward ?
				   fmt_time(text, cost->backward_ns) : "");
		sheet_cell(&sheet, "%s", places[i].line.n_op ? places[i].line.op[0].name : "");
	}
	sheet.more = n - shown;
	report_sheet(&sheet, out);
	free(places);
}

static void report_lines_write_place(struct json *json, const struct source_place *place)
{
	const struct line_cost *cost = &place->line.cost;

	json_object(json);
	json_key_string(json, "file", place->file);
	json_key_uint(json, "line", place->line.line);
	json_text_if(json, "function", place->line.function);
	json_key_uint(json, "calls", cost->calls);
	json_key_int(json, "total_ns", cost->total_ns);
	json_key_int(json, "self_ns", cost->self_ns);
	json_key_int(json, "device_ns", cost->device_ns);
	json_key_uint(json, "kernels", cost->kernels);
	json_key_int(json, "cpu_ns", cost->cpu_ns);
	json_key_uint(json, "cpu_kernels", cost->cpu_kernels);
	json_key_uint(json, "copies", cost->copies);
	json_key_uint(json, "copy_bytes", cost->copy_bytes);
	json_key_uint(json, "allocated_bytes", cost->allocated_bytes);
	if (cost->backward) {
		json_key_uint(json, "backward", cost->backward);
		json_key_int(json, "backward_ns", cost->backward_ns);
	}
	json_key_array(json, "ops");
	for (uint32_t i = 0; i < place->line.n_op; i++) {
		json_object(json);
		json_key_string(json, "name", place->line.op[i].name);
		json_key_uint(json, "count", place->line.op[i].count);
		json_key_int(json, "total_ns", place->line.op[i].total_ns);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void report_source_json(struct json *json, struct model *model)
{
	struct source_place *places;
	struct line_counts counts;
	size_t n = report_lines_snapshot(model, &places);

	model_lock(model);
	model_line_counts(model, &counts);
	model_unlock(model);
	if (n) {
		json_key_array(json, "lines");
		for (size_t i = 0; i < n && i < JSON_LINES; i++)
			report_lines_write_place(json, &places[i]);
		json_end(json);
	}
	free(places);
	if (!counts.with_line && !counts.linked && !counts.unlinked)
		return;
	json_key_object(json, "source");
	json_key_uint(json, "ops", counts.ops);
	json_key_uint(json, "with_line", counts.with_line);
	json_key_uint(json, "dropped", counts.dropped);
	json_key_uint(json, "linked", counts.linked);
	json_key_uint(json, "unlinked", counts.unlinked);
	json_end(json);
}

/* ---- scopes ---- */

static void report_lines_write_scope(struct json *json, const struct optree_row *rows, uint32_t at)
{
	const struct optree_row *row = &rows[at];
	uint32_t path[SCOPE_DEPTH], n = 0;

	for (uint32_t i = at; i != OPTREE_TOP && n < SCOPE_DEPTH; i = rows[i].parent)
		path[n++] = i;
	json_object(json);
	json_key_array(json, "path");
	while (n)
		json_string(json, rows[path[--n]].name);
	json_end(json);
	json_key_string(json, "type", row->type);
	json_key_uint(json, "ops", row->count);
	json_key_int(json, "total_ns", row->total_ns);
	json_key_int(json, "self_ns", row->self_ns);
	json_key_int(json, "device_ns", row->device_ns);
	json_key_int(json, "device_self_ns", row->device_self_ns);
	json_key_uint(json, "kernels", row->kernels);
	json_end(json);
}

void report_scopes_json(struct json *json, struct model *model)
{
	struct optree_row *rows;
	bool any = false;
	size_t n;

	model_lock(model);
	n = model_scopes(model, &rows);
	model_unlock(model);
	for (uint32_t i = 0; i < n; i++) {
		if (!rows[i].is_scope)
			continue;
		if (!any)
			json_key_array(json, "scopes");
		any = true;
		report_lines_write_scope(json, rows, i);
	}
	if (any)
		json_end(json);
	free(rows);
}

/* ---- of an op ---- */

static void report_lines_write_frame(struct json *json, const char *file, const char *function,
				     uint32_t line)
{
	json_text_if(json, "file", file);
	json_key_uint(json, "line", line);
	json_text_if(json, "function", function);
}

static void report_lines_write_slow(struct json *json, const struct op_slow *slow, int64_t first_ns)
{
	json_object(json);
	json_key_int(json, "start_ns", slow->start_ns - first_ns);
	json_key_int(json, "dur_ns", slow->dur_ns);
	json_key_uint(json, "pid", slow->pid);
	json_key_uint(json, "tid", slow->tid);
	json_text_if(json, "shapes", slow->shapes);
	json_key_array(json, "stack");
	for (uint32_t f = 0; f < slow->n_stack && f < JSON_STACKS; f++) {
		json_object(json);
		report_lines_write_frame(json, slow->stack[f].file, slow->stack[f].function,
					 slow->stack[f].line);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void report_op_json(struct json *json, struct model *model, const struct op_row *row)
{
	struct model_status status;
	struct op_detail detail;

	if (!row->detailed)
		return;
	model_lock(model);
	model_status(model, &status);
	model_op_detail(model, row->raw_name, row->type, row->framework, &detail);
	model_unlock(model);
	json_key_array(json, "lines");
	for (size_t i = 0; i < detail.n_lines; i++) {
		json_object(json);
		report_lines_write_frame(json, detail.lines[i].file, detail.lines[i].function,
					 detail.lines[i].line);
		json_key_uint(json, "count", detail.lines[i].count);
		json_key_int(json, "total_ns", detail.lines[i].total_ns);
		json_end(json);
	}
	json_end(json);
	json_key_array(json, "backward");
	for (size_t i = 0; i < detail.n_backward; i++) {
		json_object(json);
		json_key_string(json, "name", detail.backward[i].name);
		json_key_uint(json, "links", detail.backward[i].count);
		json_key_int(json, "total_ns", detail.backward[i].total_ns);
		json_end(json);
	}
	json_end(json);
	json_key_array(json, "shapes");
	for (size_t i = 0; i < detail.n_shapes; i++) {
		json_object(json);
		json_text_if(json, "shapes", detail.shapes[i].shapes);
		json_key_uint(json, "count", detail.shapes[i].count);
		json_key_int(json, "total_ns", detail.shapes[i].total_ns);
		json_key_int(json, "max_ns", detail.shapes[i].max_ns);
		json_end(json);
	}
	json_end(json);
	json_key_array(json, "slowest");
	for (size_t i = 0; i < detail.n_slow; i++)
		report_lines_write_slow(json, &detail.slow[i], status.first_ns);
	json_end(json);
	op_detail_free(&detail);
}
