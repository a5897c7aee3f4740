/* SPDX-License-Identifier: MIT */
/* Who synchronises: waits by call, op and line, and the idle time that they leave. */
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "model/query/waits.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEPS 20

enum { ITEM = 20, STEP, SYNC, FINISH, FILE_NAME, FUNCTION, OUTER };

/* A step launches a kernel, waits for it in item() and goes on to the next one. */
struct loop {
	int64_t kernel_us, told_us, host_us;	/* after the kernel until the wait ends; then until
						 * the next launch */
	int64_t ahead_us;		/* a second kernel in the queue, so long */
	int64_t late_us;		/* every fifth wait ends so much later */
	bool place;			/* item() says its line */
	bool other;			/* a second wait, of no work, after the first */
};

static void op(struct model *model, uint32_t name, uint64_t instance, int64_t start_ns,
	       int64_t end_ns, uint32_t frame)
{
	struct event event = ev_op(name, instance, 0, start_ns, end_ns - start_ns, 0);

	event.u.op.frame = frame;
	event.u.op.framework = FW_PYTORCH;
	apply_one(model, event);
}

static void wait_in(struct model *model, uint32_t call, int64_t start_ns, int64_t end_ns)
{
	apply_one(model, (struct event){
				 .type = EVENT_WAIT,
				 .pid = PID,
				 .tid = PID,
				 .time_ns = BASE + end_ns,
				 .u.wait = { .name = call,
					     .op_name = call == FINISH ? OUTER : 0,
					     .start_ns = BASE + start_ns,
					     .dur_ns = end_ns - start_ns },
			 });
}

static void kernel(struct model *model, uint32_t correlation, int64_t call_ns, int64_t start_ns,
		   int64_t dur_ns)
{
	struct event event = ev_kernel(1, 1, correlation, start_ns, dur_ns);

	event.u.command.call_ns = BASE + call_ns;
	event.u.command.call_dur_ns = 2 * US;
	apply_one(model, event);
}

static void one_step(struct model *model, const struct loop *loop, int i, int64_t *now)
{
	int64_t begin = *now, run = begin + 5 * US, end = run + loop->kernel_us * US;
	int64_t told = end + (loop->told_us + (i % 5 ? 0 : loop->late_us)) * US;

	kernel(model, (uint32_t)i * 2 + 1, begin, run, end - run);
	if (loop->ahead_us)
		kernel(model, (uint32_t)i * 2 + 2, begin + 2 * US, end + US,
		       loop->ahead_us * US);
	wait_in(model, SYNC, begin + 10 * US, told);
	op(model, ITEM, (uint64_t)i * 3 + 1, begin + 9 * US, told + US, loop->place ? 1 : 0);
	*now = told + 2 * US;
	if (loop->other) {
		wait_in(model, FINISH, *now, *now + 100 * US);
		*now += 100 * US;
	}
	*now += loop->host_us * US;
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + *now,
		.u.step = { .name = STEP, .number = i, .start_ns = BASE + begin,
			    .dur_ns = *now - begin },
	});
}

static struct model *run_loop(const struct loop *loop)
{
	struct model *model = model_with_device();
	int64_t now = 0;

	apply_one(model, ev_name(ITEM, NAME_OP, "aten::item"));
	apply_one(model, ev_name(OUTER, NAME_OP, "validate"));
	apply_one(model, ev_name(STEP, NAME_RANGE, "train"));
	apply_one(model, ev_name(SYNC, NAME_CALL, "cudaStreamSynchronize"));
	apply_one(model, ev_name(FINISH, NAME_CALL, "cudaDeviceSynchronize"));
	apply_one(model, ev_name(FILE_NAME, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(FUNCTION, NAME_SOURCE, "train"));
	apply_one(model, (struct event) {
		.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
		.u.frame = { .id = 1, .file = FILE_NAME, .function = FUNCTION, .line = 88 } });
	for (int i = 0; i < STEPS; i++)
		one_step(model, loop, i, &now);
	model_finish(model, false);
	return model;
}

static struct wait_row row_named(struct model *model, const char *call)
{
	struct wait_row *rows, row;
	size_t n;

	memset(&row, 0, sizeof(row));
	model_lock(model);
	n = model_waits(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].call, call))
			row = rows[i];
	free(rows);
	return row;
}

/* How many sync-stalls, and the last of them; *others: how many findings besides. */
static int stalls(struct model *model, struct finding *found, int *others)
{
	struct findings_status status;
	struct finding *list;
	int n = 0;

	*others = 0;
	model_lock(model);
	for (size_t i = 0, all = model_findings(model, &status, &list); i < all; i++) {
		if (strcmp(list[i].id, "sync-stall")) {
			++*others;
			continue;
		}
		*found = list[i];
		n++;
	}
	free(list);
	model_unlock(model);
	return n;
}

/* The device runs dry, 300 us later the thread is told, 202 us and the next kernel's way
 * later it runs again. */
TEST(waits_name_the_line_that_stalls)
{
	const struct loop loop = {
		.kernel_us = 1000, .told_us = 300, .host_us = 200, .place = true
	};
	struct model *model = run_loop(&loop);
	struct wait_row row = row_named(model, "cudaStreamSynchronize");
	struct finding found;
	int others;

	CHECK_INT(row.count, STEPS);
	CHECK_STR(row.op, "item");
	CHECK_STR(row.file, "/home/me/train.py");
	CHECK_STR(row.function, "train");
	CHECK_INT(row.line, 88);
	CHECK_INT(row.total_ns, STEPS * 1295 * US);
	CHECK_INT(row.max_ns, 1295 * US);
	CHECK_INT(row.stalls, STEPS - 1);
	CHECK_INT(row.idle_ns, (STEPS - 1) * 507 * US);
	CHECK_INT(row.saved_ns, (STEPS - 1) * 507 * US);
	CHECK_INT(stalls(model, &found, &others), 1);
	CHECK_INT(others, 0);
	CHECK(strstr(found.title, "after the wait of item at train.py:88"));
	CHECK(strstr(found.lines[0], "1.0 wait per step in cudaStreamSynchronize"));
	CHECK(strstr(found.advice, "a step later"));
	CHECK(found.cost_ns > 495 * US && found.cost_ns <= 507 * US);
	CHECK_INT(found.evidence.t1 - found.evidence.t0, 1502 * US);
	model_free(model);
}

/* No more is saved than the wait took: the rest is the host's. */
TEST(waits_save_no_more_than_they_take)
{
	const struct loop loop = {
		.kernel_us = 100, .told_us = 50, .host_us = 2000, .place = true
	};
	struct model *model = run_loop(&loop);
	struct wait_row row = row_named(model, "cudaStreamSynchronize");

	CHECK_INT(row.idle_ns, (STEPS - 1) * 2057 * US);
	CHECK_INT(row.saved_ns, (STEPS - 1) * 145 * US);
	model_free(model);
}

/* What has work in its queue while the thread waits does not run dry. */
TEST(waits_behind_work_are_no_stalls)
{
	const struct loop loop = {
		.kernel_us = 1000, .told_us = 300, .ahead_us = 600, .place = true,
	};
	struct model *model = run_loop(&loop);
	struct wait_row row = row_named(model, "cudaStreamSynchronize");
	struct finding found;
	int others;

	CHECK_INT(row.count, STEPS);
	CHECK_INT(row.stalls, 0);
	CHECK_INT(row.idle_ns, 0);
	CHECK_INT(stalls(model, &found, &others), 0);
	model_free(model);
}

/* Each has the time up to the next one: together they are the gap. */
TEST(waits_share_a_gap)
{
	const struct loop loop = {
		.kernel_us = 1000, .told_us = 300, .host_us = 200, .place = true, .other = true,
	};
	struct model *model = run_loop(&loop);
	struct wait_row first = row_named(model, "cudaStreamSynchronize");
	struct wait_row second = row_named(model, "cudaDeviceSynchronize");

	CHECK_INT(first.idle_ns, (STEPS - 1) * 302 * US);
	CHECK_INT(second.idle_ns, (STEPS - 1) * 305 * US);
	CHECK_INT(second.saved_ns, (STEPS - 1) * 100 * US);
	/* what the wait says itself, without an op around it */
	CHECK_STR(second.op, "validate");
	CHECK(!second.file);
	model_free(model);
}

/* One in five is late: the typical step is not. Without a line the op is named. */
TEST(waits_of_the_typical_step)
{
	struct loop loop = { .kernel_us = 1000, .told_us = 20, .late_us = 2000 };
	struct model *model = run_loop(&loop);
	struct finding found;
	int others;

	CHECK_INT(stalls(model, &found, &others), 0);
	model_free(model);
	loop.told_us = 400;
	model = run_loop(&loop);
	CHECK_INT(stalls(model, &found, &others), 1);
	CHECK(found.cost_ns > 395 * US && found.cost_ns < 425 * US);
	CHECK(strstr(found.title, "after the wait of item"));
	CHECK(!strstr(found.title, " at "));
	model_free(model);
}
