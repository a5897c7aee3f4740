/* SPDX-License-Identifier: MIT */
/* graphs: graphs that are launched as a whole, their durations and their nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/query.h"
#include "model/query/replays.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

static void list_all(struct page *page, const struct replay_row *rows, size_t count)
{
	report_page_table(page, &replay_columns, &(struct report_rows) {
		.rows = rows, .size = sizeof(*rows), .count = count,
	});
	page_say(page, ROLE_MUTED, 0, "means of one launch; gaps: between its nodes; call: of the "
		 "host");
}

/* Lists the nodes of a graph, the longest first. */
static void list_nodes(struct page *page, const struct replay_row *row)
{
	struct sheet sheet = { 0 };
	int64_t launches = row->launches ? (int64_t)row->launches : 1;
	char text[FMT_MAX], share[FMT_MAX];

	sheet_column(&sheet, "node", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "captured in", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "of a launch", SHEET_RIGHT, 0);
	sheet_column(&sheet, "mean", SHEET_RIGHT, 0);
	sheet_column(&sheet, "per launch", SHEET_RIGHT, 0);
	sheet_column(&sheet, "share", SHEET_RIGHT, 0);
	page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", row->name);
	page_say(page, ROLE_DEFAULT, 0, "%s with their nodes, a launch takes %s",
		 fmt_many(share, row->launches, "launch"),
		 fmt_time(text, row->total_ns / (launches + (int64_t)row->whole)));
	for (size_t i = 0; i < row->n_nodes; i++) {
		const struct replay_node *node = &row->node[i];

		sheet_cell(&sheet, "%s", node->name);
		sheet_link(&sheet, "name", node->name);
		sheet_cell(&sheet, "%s", node->op ? node->op : "-");
		if (node->op)
			sheet_link(&sheet, "ni", node->op);
		sheet_cell(&sheet, "%s", fmt_tenths(text, node->count * 10 / (uint64_t)launches));
		sheet_cell(&sheet, "%s", fmt_time(text, node->total_ns / (int64_t)node->count));
		sheet_cell(&sheet, "%s", fmt_time(text, node->total_ns / launches));
		sheet_cell(&sheet, "%s", fmt_share(share, report_positive(node->total_ns),
						   report_positive(row->total_ns)));
	}
	page_sheet(page, &sheet, REPORT_PAGE_WIDTH);
	if (row->whole)
		page_say(page, ROLE_MUTED, 0, "%s came as one, without their nodes",
			 fmt_many(text, row->whole, "launch"));
}

bool page_replays(const struct page_call *call, struct page *page)
{
	struct replay_row *rows;
	size_t count, shown = 0;

	model_lock(call->model);
	count = model_replays(call->model, &rows);
	model_unlock(call->model);
	page_title(page, call->argc > 1 ? "%s" : "graphs", call->argv[call->argc - 1]);
	if (!count)
		page_say(page, ROLE_MUTED, 0, "no graph was launched as one, or its records have "
			 "not settled");
	else if (call->argc < 2)
		list_all(page, rows, count);
	for (size_t i = 0; call->argc > 1 && i < count; i++) {
		if (!strstr(rows[i].name, call->argv[1]))
			continue;
		list_nodes(page, &rows[i]);
		shown++;
	}
	if (call->argc > 1 && count && !shown)
		snprintf(call->error, call->error_size, "no graph has '%s' in its name: 'graphs' "
			 "lists them", call->argv[1]);
	model_replays_free(rows, count);
	return call->argc < 2 || !count || shown;
}
