/* SPDX-License-Identifier: MIT */
/* pools: thread pools, how busy they are, and what waits for their threads. */
#include <stdlib.h>

#include "model/columns/plain.h"
#include "model/query/pools.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"
#include "tui/report/report.h"

/* Adds the pools of one process, starting with the first of n rows; returns their number. */
static size_t page_pools_add_process(struct page *page, const struct pool_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n && rows[i].pid == rows->pid; i++)
		;
	page_add(page, ROLE_TITLE, ATTR_BOLD, "thread pools of ");
	page_to_process(page, rows->pid);
	page_end(page);
	report_page_table(page, &pool_page_columns, &(struct report_rows) {
		.rows = rows, .size = sizeof(*rows), .count = i,
	});
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
