/* SPDX-License-Identifier: MIT */
/* Source lines, and what the report's JSON has of them, of scopes and of ops besides columns. */
#include "model/columns/plain.h"
#include "model/query/optree.h"
#include "tui/base/json.h"
#include "tui/report/sections.h"

#define JSON_STACKS 64u
#define SCOPE_DEPTH 64u

void report_source_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct source_place *place = (const struct source_place *)rows + at;

	json_key_array(json, "ops");
	for (uint32_t i = 0; i < place->line.n_op; i++) {
		json_object(json);
		json_key_string(json, "name", place->line.op[i].name);
		json_key_uint(json, "count", place->line.op[i].count);
		json_key_int(json, "total_ns", place->line.op[i].total_ns);
		json_end(json);
	}
	json_end(json);
}

void report_source_json(struct json *json, struct model *model)
{
	struct line_counts counts;

	model_lock(model);
	model_line_counts(model, &counts);
	model_unlock(model);
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

void report_scope_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct optree_row *row = rows;
	uint32_t path[SCOPE_DEPTH], n = 0;

	for (uint32_t i = (uint32_t)at; i != OPTREE_TOP && n < SCOPE_DEPTH; i = row[i].parent)
		path[n++] = i;
	json_key_array(json, "path");
	while (n)
		json_string(json, row[path[--n]].name);
	json_end(json);
	report_row_json(json, &scope_columns, &row[at]);
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
