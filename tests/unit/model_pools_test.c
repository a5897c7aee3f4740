/* SPDX-License-Identifier: MIT */
/* Thread pools: what ops waited for a thread, and what the threads told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording/export.h"
#include "model/query/pools.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"
#include "tui/draw/page_call.h"
#include "tui/timeline/timeline_row.h"

#define US INT64_C(1000)
#define MS (1000 * US)

/* An op of a pool's thread; wait 0: run inline. */
static void op(struct model *model, uint32_t name, uint32_t tid, int64_t at_ns, int64_t wait_ns)
{
	static uint64_t instances = 100;
	struct event event = ev_op(name, ++instances, 0, at_ns, 10 * US, 0);

	event.tid = event.u.op.tid = tid;
	event.u.op.wait_ns = wait_ns;
	event.u.op.waker = wait_ns ? PID : 0;
	apply_one(model, event);
}

static void named(struct model *model, uint32_t tid, const char *name)
{
	apply_one(model, (struct event) {
		.type = EVENT_THREAD, .pid = PID, .tid = tid, .time_ns = BASE,
		.u.thread = { .tid = tid, .name = name },
	});
}

static void told(struct model *model, uint32_t tid, uint64_t closures, int64_t wait_ns,
		 int64_t begin_ns, int64_t end_ns)
{
	apply_one(model, (struct event) {
		.type = EVENT_POOL, .pid = PID, .tid = PID, .time_ns = BASE + end_ns,
		.u.pool = {
			.tid = tid, .closures = closures, .with_ops = closures / 2,
			.timed = closures, .wait_ns = wait_ns, .max_wait_ns = wait_ns / 2,
			.busy_ns = (end_ns - begin_ns) / 4,
			.begin_ns = BASE + begin_ns, .end_ns = BASE + end_ns,
		},
	});
}

static struct model *program(void)
{
	struct model *model = model_with_device();

	named(model, PID, "python");
	op(model, 5, PID, 100 * US, 0);
	for (int i = 1; i <= 100; i++)
		op(model, 6, 70 + (uint32_t)i % 2, i * MS, i * US);
	op(model, 6, 71, 200 * MS, 0);
	op(model, 7, 80, 201 * MS, 7 * MS);
	/* their names come late, the second thread's in two parts */
	told(model, 70, 60, 3 * MS, 0, 400 * MS);
	told(model, 71, 20, 1 * MS, 0, 200 * MS);
	told(model, 71, 20, 2 * MS, 200 * MS, 400 * MS);
	named(model, 70, "tf_Compute");
	named(model, 71, "tf_Compute");
	named(model, 80, "tf_data");
	return model;
}

static void check(struct model *model)
{
	struct pool_row *pools;
	struct op_row *ops;
	const struct op_row *row;
	size_t n;

	model_lock(model);
	n = model_pools(model, &pools);
	model_unlock(model);
	CHECK_INT(n, 2);
	/* 5050 us of waits against 7 ms */
	CHECK_STR(pools[0].name, "tf_data");
	CHECK(pools[0].threads == 1 && pools[0].closures == 0 && pools[0].ops == 1);
	CHECK_INT(pools[0].op_p50_ns, 7 * MS);
	CHECK_STR(pools[1].name, "tf_Compute");
	CHECK(pools[1].threads == 2 && pools[1].pid == PID);
	CHECK(pools[1].closures == 100 && pools[1].with_ops == 50 && pools[1].timed == 100);
	CHECK_INT(pools[1].wait_ns, 6 * MS);
	CHECK_INT(pools[1].max_wait_ns, 3 * MS / 2);
	CHECK(pools[1].busy_ns == 200 * MS && pools[1].alive_ns == 800 * MS);
	CHECK_INT(pools[1].span_ns, 400 * MS);
	CHECK_INT(pools[1].ops, 100);
	CHECK_INT(pools[1].op_wait_ns, 5050 * US);
	CHECK_INT(pools[1].op_max_wait_ns, 100 * US);
	CHECK(pools[1].op_p50_ns >= 49 * US && pools[1].op_p50_ns <= 51 * US);
	CHECK(pools[1].op_p99_ns >= 97 * US && pools[1].op_p99_ns <= 100 * US);
	free(pools);
	model_lock(model);
	n = model_ops(model, &ops);
	model_unlock(model);
	row = op_named(ops, n, "kernel6");
	CHECK(row->count == 101 && row->handed == 100 && row->wait_ns == 5050 * US);
	CHECK(row->max_wait_ns == 100 * US && row->wait_p50_ns >= 49 * US &&
	      row->wait_p99_ns <= 100 * US);
	row = op_named(ops, n, "kernel5");
	CHECK(row->count == 1 && !row->handed && !row->wait_ns);
	free(ops);
}

TEST(model_pools_of_threads)
{
	struct model *model = program();
	struct model_row row;
	struct span_ref ref;
	struct span span;

	check(model);
	/* a single op, and who handed it over */
	row = row_of(model, ROW_THREAD, 3);
	model_lock(model);
	CHECK(model_span_at(model, row.id, 0, BASE + 201 * MS + 5 * US, &ref) &&
	      model_span(model, ref, &span));
	CHECK_INT(span.wait_ns, 7 * MS);
	CHECK_STR(span.waker, "main");
	model_unlock(model);
	model_free(model);
}

/* What is saved says the same. */
TEST(model_pools_saved)
{
	struct model *model = program(), *copy = model_new(NULL);
	struct model_export *export;
	struct event events[64];
	size_t n;

	model_finish(model, false);
	export = model_export_new(model, INT64_MIN);
	while ((n = model_export_next(export, events, 64)) > 0)
		model_apply(copy, events, n);
	model_export_free(export);
	model_finish(copy, false);
	check(copy);
	model_free(copy);
	model_free(model);
}

TEST(model_pools_odd)
{
	struct model *model = model_with_device();
	uint64_t bad = status_of(model).bad;
	struct pool_row *pools;
	struct event event = ev_op(5, 1, 0, MS, US, 0);

	told(model, 0, 1, 1, 0, MS);
	told(model, 70, 1, -2, 0, MS);
	told(model, 70, 1, 2, MS, 0);
	CHECK_INT(status_of(model).bad, bad + 3);
	event.u.op.wait_ns = INT64_MAX;
	event.u.op.waker = 12345;		/* nobody's */
	apply_one(model, event);
	model_lock(model);
	CHECK_INT(model_pools(model, &pools), 0);
	free(pools);
	model_unlock(model);
	model_free(model);
}

static char *text_of(struct model *model)
{
	const struct page_call call = { .model = model };
	struct page page;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	page_init(&page);
	CHECK(page_pools(&call, &page));
	page_write(&page, out);
	page_release(&page);
	fclose(out);
	return text;
}

TEST(model_pools_page)
{
	struct model *model = program(), *empty = model_new(NULL);
	char *text = text_of(model);

	/* 800 ms of two threads, a quarter of them busy; 6 ms of waits in 400 */
	CHECK(strstr(text, "\n  tf_Compute        2  25 %  100  5.05 ms"));
	CHECK(strstr(text, "thread pools of process 4121\n"));
	free(text);
	text = text_of(empty);
	CHECK_STR(text, "no thread pool was seen\n");
	free(text);
	model_free(empty);
	model_free(model);
}

/* Three threads of one name are one row, as busy as they are on average; two are not. */
TEST(model_pools_rows)
{
	struct model *model = model_with_device();
	struct line_list list = { .count = 0 };
	struct fold_set folds = { .count = 0 };
	struct model_row *rows;
	struct column columns[2];
	size_t n, pool = 0, threads = 0;
	static const uint32_t tids[] = { 70, 71, 72, 80, 81 };

	named(model, PID, "worker");	/* the main thread is in none, however it is called */
	op(model, 5, PID, 0, 0);
	for (size_t i = 0; i < 5; i++) {
		named(model, tids[i], tids[i] < 80 ? "worker" : "io");
		op(model, 6, tids[i], 0, 0);
	}
	op(model, 6, 71, 10 * US, 0);
	model_lock(model);
	n = model_rows(model, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == ROW_POOL) {
			CHECK(!pool);
			pool = i;
		}
	CHECK(pool && rows[pool].pid == PID && rows[pool].count == 4);
	CHECK_STR(rows[pool].label, "worker ×3");
	for (size_t i = 0; i < n; i++) {
		bool member = rows[i].kind == ROW_THREAD && rows[i].tid >= 70 && rows[i].tid <= 72;

		CHECK((rows[i].parent == rows[pool].id) == member);
		threads += member && i > pool && i <= pool + 3;
	}
	CHECK_INT(threads, 3);
	/* three of three busy, then one */
	model_columns(model, rows[pool].id, LANE_ALL, BASE, BASE + 20 * US, 2, columns);
	CHECK_INT(columns[0].busy_ns, 10 * US);
	CHECK_INT(columns[1].busy_ns, 10 * US / 3);
	CHECK_INT(columns[0].count, 3);
	/* one line until it is opened */
	line_list_build(&list, rows, n, 0, &folds);
	CHECK(line_list_find(&list, rows[pool].id, LANE_ALL) >= 0);
	CHECK(line_list_find(&list, rows[pool + 1].id, 0) < 0);
	fold_put(&folds, rows[pool].id, FOLD_OPEN);
	line_list_build(&list, rows, n, 0, &folds);
	CHECK(line_list_find(&list, rows[pool + 1].id, 0) >= 0);
	line_list_release(&list);
	fold_set_release(&folds);
	free(rows);
	model_unlock(model);
	model_free(model);
}
