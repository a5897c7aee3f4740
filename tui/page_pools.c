/* SPDX-License-Identifier: MIT */
/* pools: thread pools, how busy they are and what waits for their threads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query-pools.h"
#include "model/query.h"
#include "tui/page.h"

#define NAME_COLUMNS 16

/* So many wait on average: their waits by the time in which they did (Little's law). */
static void depth_text(char *text, size_t size, const struct pool_row *row)
{
	int64_t tenths = row->span_ns > 0 ? (int64_t)((__int128)row->wait_ns * 10 / row->span_ns) : 0;

	snprintf(text, size, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

static void add_pool(struct page *page, const struct pool_row *row)
{
	char count[FMT_MAX], ops[FMT_MAX], busy[FMT_MAX], depth[24], p50[FMT_MAX], p99[FMT_MAX],
		longest[FMT_MAX], total[FMT_MAX];
	bool ops_known = row->ops > 0, told = row->alive_ns > 0;

	depth_text(depth, sizeof(depth), row);
	page_say(page, ROLE_DEFAULT, 0,
		 "  %-*.*s %7" PRIu32 " %6s %7s %9s %9s %9s %9s %9s %7s", NAME_COLUMNS - 2,
		 NAME_COLUMNS - 2, row->name, row->threads,
		 told ? fmt_share(busy, (uint64_t)row->busy_ns, (uint64_t)row->alive_ns) : "-",
		 fmt_count(ops, row->ops), ops_known ? fmt_time(total, row->op_wait_ns) : "-",
		 ops_known ? fmt_time(p50, row->op_p50_ns) : "-",
		 ops_known ? fmt_time(p99, row->op_p99_ns) : "-",
		 ops_known ? fmt_time(longest, row->op_max_wait_ns) : "-",
		 fmt_count(count, row->closures), told ? depth : "-");
}

bool page_pools(const struct page_call *call, struct page *page)
{
	struct pool_row *rows;
	size_t n;

	model_lock(call->model);
	n = model_pools(call->model, &rows);
	model_unlock(call->model);
	for (size_t i = 0; i < n; i++) {
		if (!i || rows[i].pid != rows[i - 1].pid) {
			page_say(page, ROLE_TITLE, ATTR_BOLD, "thread pools of process %" PRIu32,
				 rows[i].pid);
			page_say(page, ROLE_COLUMN, 0, "  %-*s %7s %6s %7s %9s %9s %9s %9s %9s %7s",
				 NAME_COLUMNS - 2, "pool", "threads", "busy", "ops", "waited",
				 "p50", "p99", "longest", "closures", "waiting");
		}
		add_pool(page, &rows[i]);
	}
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no thread pool was seen");
	else
		page_say(page, ROLE_MUTED, 0, "waited, p50 …: ops for a thread; waiting: in the "
			 "queue, on average");
	free(rows);
	return true;
}
