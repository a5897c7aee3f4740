/* SPDX-License-Identifier: MIT */
/* What threads did in the steps of a program and between them. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/query/findings.h"
#include "model/query/host.h"
#include "model/query/time.h"
#include "model/query/work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

/* What a row says that it is about, "" if there is none at this line. */
static const char *class_of_line(const struct host_time_row *rows, size_t n, uint32_t line,
				 int64_t *ns)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].line == line) {
			*ns = rows[i].ns;
			return step_class_name((enum step_class)rows[i].class);
		}
	*ns = 0;
	return "";
}

static struct event step_of(int64_t number, int64_t start_ns, int64_t dur_ns)
{
	return (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.step = { .number = number, .start_ns = BASE + start_ns, .dur_ns = dur_ns },
	};
}

/* A turn of 100 ms, a step: an op that fetches a batch for 50 ms, in which the thread sleeps;
 * Python for 40 ms outside of any op; a kernel of 10 ms, or an op of the processor in its place. */
static struct model *steps_of(int turns, bool processor)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_name(32, NAME_SOURCE, "train"));
	apply_one(model, ev_name(33, NAME_OP, "next_batch"));
	apply_one(model, ev_name(34, NAME_OP, "matmul"));
	apply_one(model, ev_frame(1, 0, 30, 31, 25));
	apply_one(model, ev_frame(2, 0, 30, 32, 40));
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at + 90 * MS, 10 * MS, 1000);

		struct event op = ev_op(34, (uint64_t)i * 2 + 2, 0, at + 90 * MS, 10 * MS, 0);

		op.u.op.framework = FW_PYTORCH;
		apply_one(model, ev_op(33, (uint64_t)i * 2 + 1, 0, at, 50 * MS, 0));
		apply_one(model, ev_doing(PID, DOING_SLEEP, 1, 0, at, 50 * MS));
		apply_one(model, ev_doing(PID, DOING_PYTHON, 2, 0, at + 50 * MS, 40 * MS));
		apply_one(model, processor ? op : kernel);
		apply_one(model, step_of(i, at, 100 * MS));
	}
	model_finish(model, false);
	return model;
}

TEST(doings_of_steps)
{
	for (int processor = 0; processor < 2; processor++) {
		struct model *model = steps_of(50, processor);
		struct host_time_row *rows;
		struct step_breakdown mean, one;
		int64_t ns;
		size_t n = model_step_host_mean(model, &rows);

		CHECK(model_step_breakdown_mean(model, &mean) > 40);
		CHECK_STR(class_of_line(rows, n, 25, &ns), "input");
		CHECK(ns > mean.ns[STEP_INPUT] - MS && ns <= mean.ns[STEP_INPUT] && ns > 40 * MS);
		CHECK_STR(class_of_line(rows, n, 40, &ns), processor ? "host" : "other");
		CHECK(ns > 38 * MS && ns <= 40 * MS);
		free(rows);
		/* of a single step */
		CHECK(model_step_breakdown(model, BASE + 2000 * MS, &one));
		n = model_step_host(model, &one, &rows);
		CHECK_STR(class_of_line(rows, n, 25, &ns), "input");
		CHECK(ns > 49 * MS && ns <= one.ns[STEP_INPUT]);
		free(rows);
		model_free(model);
	}
}

/* A step of 10 ms, of which the processor or a device works for 4; then the thread sleeps for
 * 10 ms, after each tenth step for 100 ms. */
static struct model *apart_of(int turns, bool processor)
{
	struct model *model = model_with_device();
	int64_t at = 0;

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loop.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "main"));
	apply_one(model, ev_name(34, NAME_OP, "matmul"));
	apply_one(model, ev_frame(1, 0, 30, 31, 7));
	for (int i = 0; i < turns; i++) {
		struct event kernel = ev_launched((uint32_t)i + 1, at + 6 * MS, 4 * MS, 1000);
		struct event op = ev_op(34, (uint64_t)i + 1, 0, at + 6 * MS, 4 * MS, 0);
		int64_t rest_ns = (i % 10 == 9 ? 100 : 10) * MS;

		op.u.op.framework = FW_PYTORCH;
		apply_one(model, processor ? op : kernel);
		apply_one(model, step_of(i, at, 10 * MS));
		apply_one(model, ev_doing(PID, DOING_SLEEP, 1, 0, at + 10 * MS, rest_ns));
		at += 10 * MS + rest_ns;
	}
	model_finish(model, false);
	return model;
}

/* All of the time between steps is told, and what the thread did then, of the long ones as well. */
TEST(doings_between_steps)
{
	for (int processor = 0; processor < 2; processor++) {
		struct model *model = apart_of(100, processor);
		struct host_time_row *rows;
		struct step_breakdown mean, between;
		struct finding *list, *finding;
		int64_t ns, all_ns = 0;
		size_t n;

		CHECK_INT(model_step_breakdown_mean(model, &mean),
			  model_step_between(model, &between, &rows, &n));
		CHECK_INT(mean.dur_ns / MS, 10);
		CHECK(between.dur_ns > 18 * MS && between.dur_ns < 20 * MS);
		for (int c = 0; c < STEP_CLASS_COUNT; c++)
			all_ns += between.ns[c];
		CHECK(all_ns > between.dur_ns - 1000 && all_ns <= between.dur_ns);
		CHECK_STR(class_of_line(rows, n, 7, &ns), processor ? "host" : "other");
		CHECK(ns > between.dur_ns - MS && ns <= between.dur_ns);
		free(rows);
		/* the finding is of those that are usual: 9 of 10, with 10 ms */
		finding = finding_of(model, "host-wait", &list);
		CHECK(finding && strstr(finding->title, "loop.py:7 sleeps"));
		CHECK(!processor || (finding && finding->cost_ns > 8 * MS &&
				     finding->cost_ns < 10 * MS));
		/* which opens such a time, not a step */
		CHECK(!processor ||
		      (finding && !model_step_breakdown(model, finding->evidence.t0, &mean) &&
		       finding->evidence.t1 - finding->evidence.t0 == 10 * MS));
		free(list);
		model_free(model);
	}
}

/* Steps that are runs of a function on a thread of a pool, which rests in a lock: in 100 ms it runs
 * ops for 10 and 1, and the main thread, in a call, compiles for 40 and runs Python for 30. */
static struct model *pool_of(int turns, uint32_t tid, bool compiles)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "train"));
	apply_one(model, ev_name(33, NAME_OP, "step"));
	apply_one(model, ev_name(34, NAME_OP, "jit_step"));
	apply_one(model, ev_name(35, NAME_OP_TYPE, "XLA run"));
	apply_one(model, ev_name(36, NAME_OP, "add"));
	apply_one(model, ev_frame(1, 0, 30, 31, 40));
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event run = ev_op(34, (uint64_t)i * 2 + 2, 0, at, 10 * MS, 0);
		struct event last = ev_op(36, (uint64_t)i * 2 + 1000, 0, at + 96 * MS, MS, 0);
		struct event call = ev_op(33, (uint64_t)i * 2 + 1, 0, at + 20 * MS, 75 * MS, 0);
		struct event python = ev_doing(PID, DOING_PYTHON, 1, 0, at + 60 * MS, 30 * MS);
		struct event rest = ev_doing(PID, DOING_LOCK, 0, 0, at + 10 * MS, 90 * MS);
		struct event compile = {
			.type = EVENT_COMPILE, .pid = PID, .tid = tid,
			.time_ns = BASE + at + 61 * MS,
			.u.compile = { .what = "XLA jit_step", .start_ns = BASE + at + 20 * MS,
				       .dur_ns = 40 * MS },
		};

		run.u.op.op_type = 35;
		run.u.op.step = i + 1;
		last.u.op.op_type = 35;
		last.u.op.step = i + 1;
		run.u.op.framework = last.u.op.framework = call.u.op.framework = FW_JAX;
		call.u.op.step = -1;
		call.tid = call.u.op.tid = python.tid = python.u.doing.tid = tid;
		run.tid = run.u.op.tid = rest.tid = rest.u.doing.tid = PID + 7;
		last.tid = last.u.op.tid = PID + 7;
		apply_one(model, run);
		apply_one(model, rest);
		apply_one(model, python);
		if (compiles)
			apply_one(model, compile);
		apply_one(model, call);
		apply_one(model, last);
	}
	model_finish(model, false);
	return model;
}

/* What is missing there is what the main thread does, and to compile is no code of the host. */
TEST(doings_of_a_pool)
{
	for (uint32_t tid = PID; tid <= PID + 1; tid++) {
		struct model *model = pool_of(50, tid, true);
		struct host_time_row *rows;
		struct step_breakdown mean;
		int64_t ns;
		size_t n = model_step_host_mean(model, &rows);

		CHECK(model_step_breakdown_mean(model, &mean) > 40);
		CHECK_INT(mean.ns[STEP_COMPUTE] / MS, 11);
		CHECK_INT(mean.ns[STEP_COMPILE] / MS, 40);
		CHECK_INT(mean.ns[STEP_HOST] / MS, 49);
		/* where the main thread has no ops, the one that runs the first op is told */
		CHECK_STR(class_of_line(rows, n, 40, &ns), tid == PID ? "host" : "");
		CHECK_INT(ns / MS, tid == PID ? 30 : 0);
		CHECK_STR(class_of_line(rows, n, 0, &ns), tid == PID ? "" : "host");
		CHECK_INT(ns / MS, tid == PID ? 0 : 49);
		free(rows);
		model_free(model);
	}
}

/* The critical path tells the same. */
TEST(doings_of_a_pool_on_the_path)
{
	struct model *model = pool_of(50, PID, false);
	struct host_time_row *rows;
	int64_t ns;
	size_t n = model_critical_host(model, &rows);

	class_of_line(rows, n, 40, &ns);
	CHECK_INT(ns / MS, 30);
	class_of_line(rows, n, 0, &ns);
	CHECK_INT(ns, 0);
	free(rows);
	model_free(model);
}

/* The finding about input names the line; that about the host does, too, without any device. */
TEST(doings_of_findings)
{
	for (int processor = 0; processor < 2; processor++) {
		struct model *model = steps_of(50, processor);
		struct finding *list, *finding = finding_of(model, "input-bound", &list);
		bool line = false;

		CHECK(finding != NULL);
		for (int i = 0; finding && i < FINDING_LINES; i++)
			line |= strstr(finding->lines[i],
				       "of it, loader.py:25 in load sleeps") != NULL;
		CHECK(line);
		free(list);
		finding = finding_of(model, "host-wait", &list);
		CHECK(finding && strstr(finding->title, processor ?
					"no op runs while loader.py:40 runs Python" :
					"the device waits while loader.py:40 runs Python"));
		free(list);
		model_free(model);
	}
}

/* JAX on the processor, with two lines of train() and names of a call, a run and a wait. */
static struct model *jax_model(void)
{
	struct model *model = model_with_device();

	add_processor(model);
	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "train"));
	apply_one(model, ev_name(33, NAME_OP, "step"));
	apply_one(model, ev_name(34, NAME_OP, "jit_step"));
	apply_one(model, ev_name(35, NAME_CALL, "Await"));
	apply_one(model, ev_name(36, NAME_OP_TYPE, "XLA run"));
	apply_one(model, ev_frame(1, 0, 30, 31, 40));
	apply_one(model, ev_frame(2, 0, 30, 31, 41));
	return model;
}

/* An op of JAX on a thread, from at for so many ms. */
static struct event jax_op(uint32_t name, uint64_t instance, uint32_t tid, int64_t at, int64_t ms)
{
	struct event op = ev_op(name, instance, 0, at, ms * MS, 0);

	op.tid = op.u.op.tid = tid;
	op.u.op.framework = FW_JAX;
	op.u.op.step = -1;
	return op;
}

/* A kernel on a thread of the processor, for an op (0: unknown); nothing launches it. */
static struct event jax_kernel(uint64_t op, uint32_t tid, int64_t at, int64_t ms)
{
	struct event kernel = ev_kernel(1, 9, 0, at, ms * MS);

	kernel.tid = kernel.u.command.tid = tid;
	kernel.u.command.op = op;
	kernel.u.command.call_ns = kernel.u.command.call_dur_ns = 0;
	kernel.u.command.queued_ticks = kernel.u.command.submit_ticks = 0;
	return kernel;
}

/* A step of 100 ms of the main thread: Python for 30, a call of 5, and a wait of 60, for a thread
 * that begins after 4, runs kernels for 20 and 25 with 5 between them, and is done 6 before. */
static struct model *called_of(int turns)
{
	struct model *model = jax_model();

	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event wait = {
			.type = EVENT_WAIT, .pid = PID, .tid = PID, .time_ns = BASE + at + 95 * MS,
			.u.wait = { .name = 35, .start_ns = BASE + at + 35 * MS,
				    .dur_ns = 60 * MS },
		};

		apply_one(model, ev_doing(PID, DOING_PYTHON, 1, 0, at, 30 * MS));
		apply_one(model, jax_op(33, (uint64_t)i * 2 + 1, PID, at + 30 * MS, 5));
		apply_one(model, jax_kernel(0, PID + 7, at + 39 * MS, 20));
		apply_one(model, jax_kernel(0, PID + 7, at + 64 * MS, 25));
		apply_one(model, ev_doing(PID + 7, DOING_NATIVE, 0, 0, at + 59 * MS, 5 * MS));
		apply_one(model, jax_op(34, (uint64_t)i * 2 + 2, PID + 7, at + 39 * MS, 50));
		apply_one(model, ev_doing(PID, DOING_LOCK, 2, 0, at + 35 * MS, 60 * MS));
		apply_one(model, wait);
		apply_one(model, step_of(i, at, 100 * MS));
	}
	model_finish(model, false);
	return model;
}

/* What the thread that is waited for does between its kernels is its own; before it begins and
 * after it is done, the step waits. The critical path says the same. */
TEST(doings_of_a_thread_that_is_waited_for)
{
	struct model *model = called_of(50);
	struct host_time_row *rows;
	struct step_breakdown mean;
	struct critical_path path;
	struct path_part *parts;
	int64_t ns;
	size_t n = model_step_host_mean(model, &rows);

	CHECK(model_step_breakdown_mean(model, &mean) > 40);
	CHECK_INT(mean.ns[STEP_COMPUTE] / MS, 45);
	CHECK_INT(mean.ns[STEP_SYNC] / MS, 10);
	CHECK_INT(mean.ns[STEP_HOST] / MS, 45);
	CHECK_STR(class_of_line(rows, n, 40, &ns), "host");
	CHECK_INT(ns / MS, 30);
	CHECK_STR(class_of_line(rows, n, 41, &ns), "");
	CHECK_STR(class_of_line(rows, n, 0, &ns), "host");
	CHECK_INT(ns / MS, 5);
	free(rows);
	model_critical(model, &path, 0, &parts);
	free(parts);
	CHECK_INT(path.ns[PATH_KERNEL] / MS, 45);
	CHECK_INT(path.ns[PATH_SYNC] / MS, 6);
	CHECK_INT(path.ns[PATH_QUEUE] / MS, 4);
	CHECK_INT(path.ns[PATH_HOST] / MS, 45);
	model_free(model);
}

/* A main thread that calls ahead and then waits in a lock, which nothing tells as a wait. A run of
 * 90 ms of 100 has a kernel of 30 on its own thread, and 2 later one of 53 for it on another. */
static struct model *ahead_of(int turns)
{
	struct model *model = jax_model();

	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		uint64_t instance = (uint64_t)i * 2 + 1;
		struct event run = jax_op(34, instance, PID + 7, at, 90);

		run.u.op.op_type = 36;
		apply_one(model, jax_kernel(instance, PID + 7, at, 30));
		apply_one(model, jax_kernel(instance, PID + 8, at + 32 * MS, 53));
		apply_one(model, jax_op(33, instance + 1, PID, at + MS, 1));
		apply_one(model, ev_doing(PID, DOING_LOCK, 2, 0, at + 2 * MS, 98 * MS));
		apply_one(model, run);
	}
	model_finish(model, false);
	return model;
}

/* The path begins in the run, and what it waited for on other threads is on it. */
TEST(doings_of_a_main_thread_that_runs_ahead)
{
	struct model *model = ahead_of(50);
	struct host_time_row *rows;
	struct critical_path path;
	struct path_part *parts;
	int64_t ns;
	size_t n;

	model_critical(model, &path, 0, &parts);
	free(parts);
	CHECK(path.steps > 40);
	CHECK_INT(path.ns[PATH_KERNEL] / MS, 83);
	CHECK_INT(path.ns[PATH_QUEUE] / MS, 2);
	CHECK_INT(path.ns[PATH_HOST] / MS, 15);
	n = model_critical_host(model, &rows);
	CHECK_STR(n ? path_kind_name((enum path_kind)rows[0].class) : "", "host");
	class_of_line(rows, n, 41, &ns);
	CHECK_INT(ns / MS, 10);
	free(rows);
	model_free(model);
}
