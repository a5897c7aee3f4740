/* SPDX-License-Identifier: MIT */
/* pools: thread pools, how busy they are, and what waits for their threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/pools.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define PAGE_WIDTH 150

/* The mean queue length: the waiting times by the time in which they occurred (Little's law). */
static void depth_text(char *text, size_t size, const struct pool_row *row)
{
	int64_t tenths = row->span_ns > 0 ? (int64_t)((__int128)row->wait_ns * 10 / row->span_ns) :
		0;

	snprintf(text, size, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

static void time_cell(struct sheet *sheet, bool known, int64_t ns)
{
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", known ? fmt_time(text, ns) : "-");
}

static void page_pools_add_pool(struct sheet *sheet, const struct pool_row *row)
{
	bool ops_known = row->ops > 0, told = row->alive_ns > 0;
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", row->name);
	sheet_cell(sheet, "%" PRIu32, row->threads);
	sheet_cell(sheet, "%s", told ? fmt_share(text, (uint64_t)row->busy_ns,
						 (uint64_t)row->alive_ns) : "-");
	sheet_cell(sheet, "%s", fmt_count(text, row->ops));
	time_cell(sheet, ops_known, row->op_wait_ns);
	time_cell(sheet, ops_known, row->op_p50_ns);
	time_cell(sheet, ops_known, row->op_p99_ns);
	time_cell(sheet, ops_known, row->op_max_wait_ns);
	sheet_cell(sheet, "%s", fmt_count(text, row->closures));
	depth_text(text, sizeof(text), row);
	sheet_cell(sheet, "%s", told ? text : "-");
}

/* Adds the pools of one process, starting with the first of n rows; returns their number. */
static size_t page_pools_add_process(struct page *page, const struct pool_row *rows, size_t n)
{
	static const char *const titles[] = {
		"pool", "threads", "busy", "ops", "waited", "p50", "p99", "longest", "closures",
		"waiting",
	};
	struct sheet sheet = { 0 };
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		sheet_column(&sheet, titles[i], i ? SHEET_RIGHT : SHEET_LEFT,
			     i ? 0 : REPORT_NAME_LEAST);
	for (i = 0; i < n && rows[i].pid == rows->pid; i++)
		page_pools_add_pool(&sheet, &rows[i]);
	page_add(page, ROLE_TITLE, ATTR_BOLD, "thread pools of ");
	page_to_process(page, rows->pid);
	page_end(page);
	page_sheet(page, &sheet, PAGE_WIDTH);
	return i;
}

bool page_pools(const struct page_call *call, struct page *page)
{
	struct pool_row *rows;
	size_t n;

	model_lock(call->model);
	n = model_pools(call->model, &rows);
	model_unlock(call->model);
	page_title(page, "thread pools");
	for (size_t i = 0; i < n;)
		i += page_pools_add_process(page, rows + i, n - i);
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no thread pool was seen");
	else
		page_say(page, ROLE_MUTED, 0, "waited, p50 …: how long ops waited for a thread; "
			 "waiting: ops in the queue, the mean number");
	free(rows);
	return true;
}
