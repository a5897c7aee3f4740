/* SPDX-License-Identifier: MIT */
/* Thread pools, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/pools.h"
#include "tui/base/json.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

static size_t snapshot(struct model *model, struct pool_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_pools(model, rows);
	model_unlock(model);
	return count;
}

void report_pools_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct pool_row *rows;
	char text[FMT_MAX];
	size_t count = snapshot(model, &rows);

	sheet_column(&sheet, "thread pool", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "threads", SHEET_RIGHT, 0);
	sheet_column(&sheet, "busy", SHEET_RIGHT, 0);
	sheet_column(&sheet, "closures", SHEET_RIGHT, 0);
	sheet_column(&sheet, "waited", SHEET_RIGHT, 0);
	sheet_column(&sheet, "ops", SHEET_RIGHT, 0);
	sheet_column(&sheet, "waited", SHEET_RIGHT, 0);
	sheet_column(&sheet, "p50", SHEET_RIGHT, 0);
	sheet_column(&sheet, "p99", SHEET_RIGHT, 0);
	sheet_column(&sheet, "longest", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct pool_row *row = &rows[i];

		sheet_cell(&sheet, "%s", row->name);
		sheet_cell(&sheet, "%" PRIu32, row->threads);
		sheet_cell(&sheet, "%s", row->alive_ns > 0 ?
			   fmt_share(text, (uint64_t)row->busy_ns, (uint64_t)row->alive_ns) : "");
		sheet_cell(&sheet, "%s", fmt_count(text, row->closures));
		sheet_cell(&sheet, "%s", row->timed ? fmt_time(text, row->wait_ns) : "");
		sheet_cell(&sheet, "%s", fmt_count(text, row->ops));
		sheet_cell(&sheet, "%s", row->ops ? fmt_time(text, row->op_wait_ns) : "");
		sheet_cell(&sheet, "%s", row->ops ? fmt_time(text, row->op_p50_ns) : "");
		sheet_cell(&sheet, "%s", row->ops ? fmt_time(text, row->op_p99_ns) : "");
		sheet_cell(&sheet, "%s", row->ops ? fmt_time(text, row->op_max_wait_ns) : "");
	}
	report_sheet(&sheet, out);
	free(rows);
}

static void write_pool(struct json *json, const struct pool_row *row)
{
	json_object(json);
	json_key_string(json, "name", row->name);
	json_key_uint(json, "pid", row->pid);
	json_key_uint(json, "threads", row->threads);
	json_key_uint(json, "closures", row->closures);
	json_key_uint(json, "closures_with_ops", row->with_ops);
	json_key_int(json, "busy_ns", row->busy_ns);
	json_key_int(json, "alive_ns", row->alive_ns);
	json_key_int(json, "span_ns", row->span_ns);
	json_key_uint(json, "waits", row->timed);
	json_key_int(json, "wait_ns", row->wait_ns);
	json_key_int(json, "max_wait_ns", row->max_wait_ns);
	json_key_uint(json, "ops", row->ops);
	if (row->ops) {
		json_key_int(json, "op_wait_ns", row->op_wait_ns);
		json_key_int(json, "op_max_wait_ns", row->op_max_wait_ns);
		json_key_int(json, "op_wait_p50_ns", row->op_p50_ns);
		json_key_int(json, "op_wait_p99_ns", row->op_p99_ns);
	}
	json_end(json);
}

void report_pools_json(struct json *json, struct model *model)
{
	struct pool_row *rows;
	size_t count = snapshot(model, &rows);

	if (count)
		json_key_array(json, "pools");
	for (size_t i = 0; i < count; i++)
		write_pool(json, &rows[i]);
	if (count)
		json_end(json);
	free(rows);
}
