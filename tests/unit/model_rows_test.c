/* SPDX-License-Identifier: MIT */
/* Rows: sub-lanes, unions of devices and processes, columns against naive ones. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define RUNS 400
#define REACH 20000

struct one_run {
	int64_t start, end;
	bool copy;
	uint32_t queue;
};

static struct one_run runs[RUNS];

static struct model *random_runs(bool ordered)
{
	struct model *model = model_with_device();
	int64_t at = 0;

	for (int i = 0; i < RUNS; i++) {
		struct one_run *run = &runs[i];
		int64_t dur = 1 + (int64_t)test_below(test_below(10) ? 60 : 900);
		struct event event;

		at += (int64_t)test_below(60);
		run->start = ordered ? at : (int64_t)test_below(REACH - 1000);
		run->end = run->start + dur;
		at = run->end;
		run->copy = test_below(4) == 0;
		run->queue = 1 + (uint32_t)test_below(2);
		event = run->copy ? ev_copy(run->queue, DIR_H2D, 64, run->start, dur)
				  : ev_kernel(1 + i % 9, run->queue, (uint32_t)i + 1, run->start,
					      dur);
		apply_one(model, event);
	}
	return model;
}

/* Time in [a, b) with a kernel (1), a copy (2), either (3), both (4); queue 0
 * any. */
static int64_t naive(int64_t a, int64_t b, int what, uint32_t queue)
{
	int64_t n = 0;

	for (int64_t t = a; t < b; t++) {
		bool kernel = false, copy = false;

		for (int i = 0; i < RUNS; i++)
			if (runs[i].start <= t && t < runs[i].end &&
			    (!queue || runs[i].queue == queue)) {
				kernel |= !runs[i].copy;
				copy |= runs[i].copy;
			}
		n += what == 1 ? kernel : what == 2 ? copy : what == 3 ? kernel || copy :
		     kernel && copy;
	}
	return n;
}

static void check_device(struct model *model, int64_t last)
{
	struct device_row *device, window;
	struct queue_row *queues;
	int64_t a = last / 3, b = last / 3 + 700;

	CHECK_INT(model_devices(model, &device), 1);
	CHECK_INT(device->kernel_ns, naive(0, last, 1, 0));
	CHECK_INT(device->copy_ns, naive(0, last, 2, 0));
	CHECK_INT(device->busy_ns, naive(0, last, 3, 0));
	CHECK_INT(device->overlap_ns, naive(0, last, 4, 0));
	free(device);
	CHECK(model_device_window(model, 0, BASE + a, BASE + b, &window));
	CHECK_INT(window.kernel_ns, naive(a, b, 1, 0));
	CHECK_INT(window.copy_ns, naive(a, b, 2, 0));
	CHECK_INT(window.overlap_ns, naive(a, b, 4, 0));
	CHECK_INT(window.span_ns, b - a);
	CHECK_INT(model_queues(model, &queues), 2);
	for (uint32_t q = 0; q < 2; q++)
		CHECK_INT(queues[q].busy_ns, naive(0, last, 3, q + 1));
	free(queues);
}

static void check_columns(struct model *model, struct model_row row, int what, uint32_t queue,
			  int64_t last)
{
	struct column columns[30];
	int64_t w = last / 29;

	model_columns(model, row.id, LANE_ALL, BASE, BASE + 30 * w, 30, columns);
	for (int c = 0; c < 30; c++) {
		int64_t work = 0;

		CHECK_INT(columns[c].busy_ns, naive(c * w, (c + 1) * w, what, queue));
		for (int k = 0; k < WORK_COUNT; k++)
			work += columns[c].work_ns[k];
		CHECK(work >= columns[c].busy_ns);
		CHECK((columns[c].count > 0) == (columns[c].longest.id != 0));
	}
}

TEST(model_unions_and_rows_against_naive)
{
	for (int round = 0; round < 6; round++) {
		struct model *model = random_runs(round % 2 == 0);
		int64_t last = status_of(model).last_ns - BASE;

		check_device(model, last);
		check_columns(model, row_of(model, ROW_DEVICE, 0), 3, 0, last);
		check_columns(model, row_of(model, ROW_QUEUE, 0), 1, 1, last);
		check_columns(model, row_of(model, ROW_QUEUE, 1), 1, 2, last);
		check_columns(model, row_of(model, ROW_COPY, 0), 2, 1, last);
		model_free(model);
	}
}

TEST(model_sub_lanes_never_overlap_until_the_last)
{
	struct model *model = random_runs(false);
	struct model_row row = row_of(model, ROW_QUEUE, 0);
	static struct span_edge edges[RUNS];
	size_t all = 0;

	CHECK(row.lanes > 1 && row.lanes <= 9);
	for (uint32_t l = 0; l < row.lanes; l++) {
		size_t n = model_spans(model, row.id, l, 0, INT64_MAX, RUNS, edges);

		all += n;
		for (size_t i = 1; i < n && l < 8; i++)
			CHECK(edges[i].start_ns >= edges[i - 1].end_ns);
	}
	CHECK_INT(all, row.count);
	CHECK_INT(model_spans(model, row.id, LANE_ALL, 0, INT64_MAX, RUNS, edges), all);
	for (size_t i = 1; i < all; i++)
		CHECK(edges[i].start_ns >= edges[i - 1].start_ns);
	model_free(model);
}

TEST(model_more_at_once_than_lanes)
{
	struct model *model = model_with_device();
	struct model_row row;
	struct column column;

	for (uint32_t i = 0; i < 40; i++)
		apply_one(model, ev_kernel(1, 1, i + 1, i, 1000));
	row = row_of(model, ROW_QUEUE, 0);
	CHECK_INT(row.lanes, 9);
	CHECK_INT(row.count, 40);
	CHECK_INT(row.busy_ns, 1039);
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 2000, 1, &column);
	CHECK_INT(column.busy_ns, 1039);
	CHECK_INT(column.count, 40);
	model_columns(model, row.id, 8, BASE, BASE + 2000, 1, &column);
	CHECK_INT(column.count, 32);
	CHECK_INT(column.busy_ns, 1031);
	model_free(model);
}

TEST(model_steps_from_span_to_span)
{
	struct model *model = random_runs(false);
	struct model_row row = row_of(model, ROW_QUEUE, 0);
	int64_t at = 0;
	struct span_ref ref;
	struct span span;

	for (int i = 0; i < RUNS * 2; i++) {
		int64_t want = INT64_MAX;

		for (int k = 0; k < RUNS; k++)
			if (!runs[k].copy && runs[k].queue == 1 && BASE + runs[k].start > at &&
			    BASE + runs[k].start < want)
				want = BASE + runs[k].start;
		CHECK(model_span_next(model, row.id, LANE_ALL, at, &ref) == (want != INT64_MAX));
		if (want == INT64_MAX)
			break;
		CHECK(model_span(model, ref, &span));
		CHECK_INT(span.start_ns, want);
		CHECK(model_span_at(model, row.id, ref.lane, want, &ref));
		if (at) {
			CHECK(model_span_prev(model, row.id, LANE_ALL, want, &ref));
			CHECK(model_span(model, ref, &span));
			CHECK_INT(span.start_ns, at);
		}
		at = want;
	}
	CHECK(model_span_longest(model, row.id, LANE_ALL, BASE, BASE + REACH, &ref));
	CHECK(model_span(model, ref, &span));
	for (int k = 0; k < RUNS; k++)
		if (!runs[k].copy && runs[k].queue == 1)
			CHECK(runs[k].end - runs[k].start <= span.end_ns - span.start_ns);
	model_free(model);
}

/* Frameworks number their runs at random, also below zero. */
TEST(model_row_ops_keep_any_step)
{
	enum { OPS = 1500 };
	static int64_t steps[OPS];
	struct model *model = model_with_device();
	struct model_row row;
	struct span_ref ref;
	struct span span;

	for (int i = 0; i < OPS; i++) {
		struct event op = ev_op(1, (uint64_t)i + 1, 0, i * 1000, 900, 0);

		steps[i] = i % 3 ? (int64_t)(test_random() * 3037000499u) : -1;
		op.u.op.step = steps[i];
		apply_one(model, op);
	}
	row = row_of(model, ROW_THREAD, 0);
	for (int i = 0; i < OPS; i++) {
		CHECK(model_span_at(model, row.id, 0, BASE + i * 1000 + 500, &ref));
		CHECK(model_span(model, ref, &span));
		CHECK_INT(span.step, steps[i]);
	}
	model_free(model);
}

TEST(model_row_order_and_labels)
{
	struct model *model = model_with_device();
	struct event thread = { .type = EVENT_THREAD, .pid = PID, .time_ns = BASE };
	struct event op = ev_op(1, 1, 0, 0, 100, 0);
	struct model_row *rows;
	size_t n;

	thread.u.thread = (struct event_thread) { .tid = PID + 2, .name = "loader" };
	apply_one(model, thread);
	op.u.op.tid = PID + 1;
	apply_one(model, op);
	op = ev_op(1, 2, 0, 0, 90000000, 0);
	op.u.op.tid = PID + 2;
	apply_one(model, op);
	apply_one(model, ev_op(1, 3, 0, 0, 50, 0));
	apply_one(model, ev_op(1, 4, 0, 200, 50, OP_ASYNC | OP_RANGE));
	apply_one(model, ev_kernel(1, 1, 1, 100, 10));
	apply_one(model, ev_copy(2, DIR_D2H, 1 << 20, 100, 1000));
	apply_one(model, ev_copy(2, DIR_FILL, 64, 1200, 10));
	n = model_rows(model, &rows);
	CHECK_INT(n, 10);
	CHECK_STR(rows[0].label, "python 4121");
	CHECK_STR(rows[1].label, "main");
	CHECK_STR(rows[2].label, "loader");
	CHECK_STR(rows[3].label, "thread 4122");
	CHECK_STR(rows[4].label, "ranges");
	CHECK_STR(rows[5].label, "gpu0 H200");
	CHECK_STR(rows[6].label, "queue 0");
	CHECK_STR(rows[7].label, "queue 1 d2h");
	CHECK_STR(rows[8].label, "queue 1 fill");
	CHECK_STR(rows[9].label, "d2h");
	CHECK_INT(rows[9].kind, ROW_BANDWIDTH);
	CHECK_INT(rows[9].peak, (1 << 20) * INT64_C(1000000));
	CHECK(rows[1].parent == rows[0].id && rows[6].parent == rows[5].id);
	CHECK(rows[0].parent == 0 && rows[5].parent == 0 && rows[9].parent == rows[5].id);
	free(rows);
	model_free(model);
}

TEST(model_compilations_have_a_row)
{
	struct model *model = model_with_device();
	struct event compile = { .type = EVENT_COMPILE, .pid = PID, .tid = PID,
				 .time_ns = BASE + 10000 };
	struct model_row row;
	struct column columns[2];
	struct span_ref ref;
	struct span span;

	apply_one(model, ev_op(1, 1, 0, 1000, 3000, 0));
	CHECK_INT(row_of(model, ROW_COMPILE, 0).id, 0);
	compile.u.compile = (struct event_compile) {
		.start_ns = BASE + 2000, .dur_ns = 1000, .what = "XLA jit_step",
		.options = "/a/train.py:88 step", .log = "",
	};
	apply_one(model, compile);
	compile.u.compile.result = -11;
	compile.u.compile.log = "error: too large";
	compile.u.compile.start_ns = BASE + 2500;	/* another thread's, at once */
	compile.tid = PID + 1;
	apply_one(model, compile);
	row = row_of(model, ROW_COMPILE, 0);
	CHECK_STR(row.label, "compiling");
	CHECK_INT(row.parent, row_of(model, ROW_PROCESS, 0).id);
	CHECK_INT(row.count, 2);
	CHECK_INT(row.lanes, 2);
	CHECK_INT(row.busy_ns, 1500);
	/* what is compiled in an op is in the process's busy time once */
	CHECK_INT(row_of(model, ROW_PROCESS, 0).busy_ns, 3000);
	model_columns(model, row.id, LANE_ALL, BASE + 1000, BASE + 5000, 2, columns);
	CHECK_INT(columns[0].busy_ns, 1000);
	CHECK_INT(columns[1].busy_ns, 500);
	CHECK(model_span_at(model, row.id, LANE_ALL, BASE + 2100, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_STR(span.name, "XLA jit_step");
	CHECK_STR(span.cause, "/a/train.py:88 step");
	CHECK_INT(span.end_ns, BASE + 3000);
	CHECK_INT(span.status, 0);
	CHECK_INT(span.tid, PID);
	/* and the op that it was made in */
	CHECK(model_span_peer(model, ref, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_STR(span.name, "kernel1");
	CHECK(model_span_next(model, row.id, LANE_ALL, BASE + 2000, &ref));
	CHECK(model_span(model, ref, &span));
	CHECK_INT(span.status, -11);
	CHECK_STR(span.cause, "error: too large");
	CHECK(!model_span_peer(model, ref, &ref));
	model_free(model);
}

TEST(model_bandwidth_columns)
{
	struct model *model = model_with_device();
	struct model_row row;
	struct column columns[4];

	apply_one(model, ev_copy(1, DIR_H2D, 3000, 500, 1000));
	apply_one(model, ev_copy(2, DIR_H2D, 1000, 1500, 500));
	apply_one(model, ev_copy(1, DIR_D2H, 999, 500, 1000));
	row = row_of(model, ROW_BANDWIDTH, 0);
	CHECK_STR(row.label, "h2d");
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 4000, 4, columns);
	CHECK_INT(columns[0].value, 1500 * 1000000LL);
	CHECK_INT(columns[0].value_max, 3000 * 1000000LL);
	CHECK_INT(columns[1].value, 2500 * 1000000LL);
	CHECK_INT(columns[1].value_max, 3000 * 1000000LL);
	CHECK_INT(columns[2].value, 0);
	CHECK_INT(columns[0].busy_ns, 0);
	model_free(model);
}

TEST(model_two_processes_one_device)
{
	struct model *model = model_with_device();
	struct event events[6] = {
		ev_process(99, "other"), ev_queue(1, 5), ev_clock(5, BASE, TICKS),
		ev_name(1, NAME_KERNEL, "kernel1"), ev_kernel(1, 1, 1, 100, 50),
		ev_device(5, "0000:65:00.0"),
	};
	struct device_row *devices;
	struct kernel_row *kernels;
	struct process_row *processes;
	struct queue_row *queues;

	apply_one(model, ev_kernel(1, 1, 1, 120, 50));
	for (int i = 0; i < 6; i++) {
		events[i].pid = 99;
		apply_one(model, events[i]);
	}
	/* The definition came last: what ran on a stand-in ran on the device. */
	CHECK_INT(model_devices(model, &devices), 1);
	CHECK_INT(devices[0].n_pids, 2);
	CHECK_INT(devices[0].busy_ns, 70);
	CHECK_INT(devices[0].span_ns, 70);
	free(devices);
	CHECK_INT(model_kernels(model, &kernels), 1);
	CHECK_INT(kernels[0].count, 2);
	CHECK_INT(kernels[0].n_queues, 2);
	model_kernels_free(kernels, 1);
	CHECK_INT(model_processes(model, &processes), 2);
	CHECK_STR(processes[1].command, "other");
	free(processes);
	CHECK_INT(model_queues(model, &queues), 3);
	CHECK(queues[2].pid == 99 && queues[2].number == 0);
	CHECK_STR(row_of(model, ROW_QUEUE, 0).label, "queue 0 (4121)");
	free(queues);
	model_free(model);
}

/* Ids of the processor's queues lie far from those of a device; their numbers do not. */
TEST(model_numbers_of_queues)
{
	struct model *model = model_with_device();
	struct queue_row *queues;

	apply_one(model, ev_queue(EVENT_OWN_IDS + 1, 1));
	apply_one(model, ev_queue(EVENT_OWN_IDS + 3, 1));
	for (uint32_t i = 0; i < 3; i++)
		apply_one(model, ev_kernel(i ? EVENT_OWN_IDS + 2 * i - 1 : 1, 1, i + 1,
					   100 + i, 1));
	CHECK_INT(model_queues(model, &queues), 4);	/* two were there */
	CHECK_INT(queues[1].number, 1);
	CHECK_INT(queues[2].number, 0);
	CHECK_INT(queues[3].number, 2);
	free(queues);
	model_free(model);
}

/* What runs is busy in the window as it is in the columns, also before it ends. */
TEST(model_device_window_counts_what_is_open)
{
	struct model *model = model_with_device();
	struct event open = ev_kernel(1, 1, 2, 2010, 1000), copy;
	struct model_row row;
	struct column column;
	struct device_row window;

	apply_one(model, ev_kernel(1, 1, 1, 0, 1000));
	open.u.command.flags = CMD_OPEN;	/* launched at 2000 */
	apply_one(model, open);
	apply_one(model, ev_alive(BASE + 5000));
	CHECK(model_device_window(model, 0, BASE, BASE + 4000, &window));
	CHECK_INT(window.kernel_ns, 1000 + 2000);
	CHECK_INT(window.busy_ns, 3000);
	CHECK_INT(window.overlap_ns, 0);
	CHECK(model_device_window(model, 0, BASE + 3000, BASE + 7000, &window));
	CHECK_INT(window.busy_ns, 2000);
	row = row_of(model, ROW_DEVICE, 0);
	model_columns(model, row.id, LANE_ALL, BASE, BASE + 4000, 1, &column);
	CHECK_INT(column.busy_ns, 3000);
	copy = ev_copy(1, DIR_H2D, 100, 2500, 1000);
	apply_one(model, copy);
	CHECK(model_device_window(model, 0, BASE, BASE + 4000, &window));
	CHECK_INT(window.busy_ns, 3000);
	CHECK_INT(window.copy_ns, 1000);
	CHECK_INT(window.overlap_ns, 1000);
	/* It ended, and had begun late. */
	apply_one(model, ev_kernel(1, 1, 2, 3500, 1000));
	CHECK(model_device_window(model, 0, BASE, BASE + 4000, &window));
	CHECK_INT(window.kernel_ns, 1500);
	CHECK_INT(window.busy_ns, 2500);
	CHECK_INT(window.overlap_ns, 0);
	model_free(model);
}

/* ---- the lock in the midst of an event ---- */

struct asking {
	struct model *model;
	uint64_t before;		/* generation */
	bool amid;
};

/* Until so many have the lock or wait for it. */
static void until_queued(struct model *model, uint64_t count)
{
	uint64_t queued;

	do {
		pthread_mutex_lock(&model->lock.mutex);
		queued = model->lock.next - model->lock.serving;
		pthread_mutex_unlock(&model->lock.mutex);
		sched_yield();
	} while (queued < count);
}

static void *hold_until_both_wait(void *arg)
{
	struct asking *asking = arg;

	model_lock(asking->model);
	until_queued(asking->model, 3);
	model_unlock(asking->model);
	return NULL;
}

static void *ask_after_feeder(void *arg)
{
	struct asking *asking = arg;

	until_queued(asking->model, 2);
	model_lock(asking->model);
	asking->amid = model_generation(asking->model) == asking->before;
	model_unlock(asking->model);
	return NULL;
}

/* So many that their union takes longer than the lock is held at a time. */
#if defined(__SANITIZE_THREAD__)
#define MANY 100000			/* each takes ten times as long */
#else
#define MANY 1000000
#endif

/* The first overlap makes the union of all of its row. */
TEST(model_first_overlap_lets_others_ask)
{
	struct asking asking = { .model = model_with_device() };
	const int n = MANY;
	struct device_row *devices;
	pthread_t holder, asker;

	for (int i = 0; i < n; i++)
		apply_one(asking.model, ev_kernel(1, 1, 0, (int64_t)i * 100, 50));
	asking.before = model_generation(asking.model);
	CHECK_INT(pthread_create(&holder, NULL, hold_until_both_wait, &asking), 0);
	until_queued(asking.model, 1);
	CHECK_INT(pthread_create(&asker, NULL, ask_after_feeder, &asking), 0);
	apply_one(asking.model, ev_kernel(1, 1, 0, (int64_t)(n - 1) * 100 + 25, 50));
	pthread_join(holder, NULL);
	pthread_join(asker, NULL);
	CHECK(asking.amid);
	CHECK_INT(model_devices(asking.model, &devices), 1);
	CHECK_INT(devices[0].busy_ns, (int64_t)n * 50 + 25);
	free(devices);
	model_free(asking.model);
}
