/* SPDX-License-Identifier: MIT */
/* Graphs that are launched as one, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "model/base/util.h"
#include "model/query/replays.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define ROWS_TOLD 12u

size_t report_replays(struct model *model, struct replay_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_replays(model, rows);
	model_unlock(model);
	return count;
}

void report_replays_columns(struct sheet *sheet)
{
	sheet_column(sheet, "graphs", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "launched by", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "launches", SHEET_RIGHT, 0);
	sheet_column(sheet, "nodes", SHEET_RIGHT, 0);
	sheet_column(sheet, "mean", SHEET_RIGHT, 0);
	sheet_column(sheet, "max", SHEET_RIGHT, 0);
	sheet_column(sheet, "gaps", SHEET_RIGHT, 0);
	sheet_column(sheet, "longest", SHEET_RIGHT, 0);
	sheet_column(sheet, "call", SHEET_RIGHT, 0);
}

/* Of one launch, where its nodes are known. */
static void per_launch(struct sheet *sheet, const struct replay_row *row, int64_t ns)
{
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", row->launches ? fmt_time(text, ns / (int64_t)row->launches) : "-");
}

void report_replays_cells(struct sheet *sheet, const struct replay_row *row)
{
	uint64_t all = row->launches + row->whole;
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", row->name);
	sheet_link(sheet, "graphs", row->name);
	sheet_cell(sheet, "%s", row->op ? row->op : "-");
	if (row->op)
		sheet_link(sheet, "ni", row->op);
	sheet_cell(sheet, "%s", fmt_count(text, all));
	if (row->launches)
		sheet_cell(sheet, "%s", fmt_tenths(text, row->nodes * 10 / row->launches));
	else
		sheet_cell(sheet, "-");
	sheet_cell(sheet, "%s", fmt_time(text, row->total_ns / (int64_t)all));
	sheet_cell(sheet, "%s", fmt_time(text, row->max_ns));
	per_launch(sheet, row, row->gap_ns);
	sheet_cell(sheet, "%s", row->launches ? fmt_time(text, row->max_gap_ns) : "-");
	per_launch(sheet, row, row->call_ns);
}

void report_replays_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct replay_row *rows;
	size_t count = report_replays(model, &rows);
	size_t shown = count < ROWS_TOLD ? count : ROWS_TOLD;

	report_replays_columns(&sheet);
	for (size_t i = 0; i < shown; i++)
		report_replays_cells(&sheet, &rows[i]);
	sheet.more = count - shown;
	report_sheet(&sheet, out);
	model_replays_free(rows, count);
}

static void write_node(struct json *json, const struct replay_node *node)
{
	json_object(json);
	json_key_string(json, "name", node->name);
	json_text_if(json, "op", node->op);
	json_key_uint(json, "count", node->count);
	json_key_int(json, "total_ns", node->total_ns);
	json_end(json);
}

static void write_graph(struct json *json, const struct replay_row *row)
{
	json_object(json);
	json_key_string(json, "name", row->name);
	json_text_if(json, "op", row->op);
	json_key_uint(json, "count", row->launches + row->whole);
	json_key_uint(json, "whole", row->whole);
	json_key_int(json, "total_ns", row->total_ns);
	json_key_int(json, "min_ns", row->min_ns);
	json_key_int(json, "max_ns", row->max_ns);
	if (row->launches) {
		json_key_uint(json, "nodes", row->nodes);
		json_key_int(json, "busy_ns", row->busy_ns);
		json_key_int(json, "gap_ns", row->gap_ns);
		json_key_int(json, "max_gap_ns", row->max_gap_ns);
		json_key_int(json, "call_ns", row->call_ns);
		json_key_array(json, "node");
		for (size_t i = 0; i < row->n_nodes; i++)
			write_node(json, &row->node[i]);
		json_end(json);
	}
	json_end(json);
}

void report_replays_json(struct json *json, struct model *model)
{
	struct replay_row *rows;
	size_t count = report_replays(model, &rows);

	if (count)
		json_key_array(json, "graph_launches");
	for (size_t i = 0; i < count; i++)
		write_graph(json, &rows[i]);
	if (count)
		json_end(json);
	model_replays_free(rows, count);
}
