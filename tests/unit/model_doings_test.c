/* SPDX-License-Identifier: MIT */
/* What threads did while devices waited for them: how it is kept, saved, added up and found. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/query/findings.h"
#include "model/query/host.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

/* Of the main thread, which had only ns of that time. */
static struct event part_doing(enum doing_kind doing, uint32_t frame, int64_t start_ns,
			       int64_t dur_ns, int64_t ns)
{
	struct event event = ev_doing(PID, doing, frame, 0, start_ns, dur_ns);

	event.u.doing.ns = ns;
	return event;
}

static struct event once(struct event event, int64_t at_ns)
{
	event.u.doing.at_ns = BASE + at_ns;
	event.u.doing.looks = 1;
	return event;
}

/* `turns` turns of 100 ms: 10 ms of work, launched at its start by the thread that sleeps for 50 ms
 * before and runs Python on two lines for 40. */
static struct model *turns_of(int turns, bool seen)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_name(32, NAME_SOURCE, "train"));
	apply_one(model, ev_frame(1, 0, 30, 31, 25));
	apply_one(model, ev_frame(2, 0, 30, 32, 40));
	apply_one(model, ev_frame(3, 0, 30, 32, 41));
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 10000);

		apply_one(model, kernel);
		if (!seen)
			continue;
		apply_one(model, part_doing(DOING_SLEEP, 1, at + 5 * MS, 55 * MS, 55 * MS));
		apply_one(model, part_doing(DOING_PYTHON, 2, at + 60 * MS, 40 * MS, 30 * MS));
		apply_one(model, part_doing(DOING_PYTHON, 3, at + 60 * MS, 40 * MS, 10 * MS));
	}
	model_finish(model, false);
	return model;
}

static int64_t of_line(const struct host_time_row *rows, size_t n, uint32_t line)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].line == line)
			return rows[i].ns;
	return 0;
}

TEST(doings_of_idle_time)
{
	struct model *model = turns_of(50, true), *copy = saved_again(model);

	for (int k = 0; k < 2; k++) {
		struct model *m = k ? copy : model;
		struct host_time_row *rows;
		struct idle_gap idle, part;
		size_t n;
		int64_t sum = 0, sleep_ns;

		CHECK(model_idle(m, 0, &idle));
		n = model_idle_host(m, 0, &idle, &rows);
		CHECK_INT(n, 3);
		CHECK_INT(rows[0].doing, DOING_SLEEP);
		CHECK(!strcmp(rows[0].file, "/home/me/loader.py"));
		CHECK(!strcmp(rows[0].function, "load"));
		CHECK_INT(rows[0].line, 25);
		/* the first 5 ms of the sleep are under the kernel */
		sleep_ns = rows[0].ns + idle.ns[IDLE_OTHER];
		CHECK(sleep_ns > 49 * 50 * MS - MS && sleep_ns < 49 * 50 * MS + MS);
		/* the launch takes 10 us of the 40 ms */
		CHECK_INT(of_line(rows, n, 40) / 1000, 49 * (30 * MS - 7500) / 1000);
		for (size_t i = 0; i < n; i++)
			sum += rows[i].ns;
		CHECK(sum <= idle.ns[IDLE_HOST] && sum > idle.ns[IDLE_HOST] - MS);
		free(rows);
		/* half of a sleep, and no more than what is asked for */
		part = (struct idle_gap) {
			.start_ns = BASE + 1000 * MS + 35 * MS, .end_ns = BASE + 1060 * MS,
			.ns[IDLE_HOST] = 25 * MS,
		};
		n = model_idle_host(m, 0, &part, &rows);
		CHECK_INT(n, 1);
		CHECK_INT(rows[0].ns, 25 * MS);
		free(rows);
		part = (struct idle_gap) {
			.start_ns = BASE + 1000 * MS, .end_ns = BASE + 1100 * MS,
			.ns[IDLE_HOST] = 9 * MS,
		};
		n = model_idle_host(m, 0, &part, &rows);
		CHECK_INT(n, 3);
		CHECK(rows[0].ns + rows[1].ns + rows[2].ns <= 9 * MS);
		free(rows);
		CHECK(!model_idle_host(m, 7, &part, &rows) && !rows);
	}
	CHECK_INT(thread_at(copy, thread_find(copy, 0, PID))->doings.n, 150);
	CHECK_INT(thread_at(copy, thread_find(copy, 0, PID))->doings.list[0].looks, 3);
	model_free(model);
	model_free(copy);
}

/* A look that stands for its moment counts if the device waited then, with all of its weight. */
TEST(doings_of_moments)
{
	struct model *model = model_with_device();
	struct host_time_row *rows;
	struct host_line_row *lines;
	int64_t waited_ns = 0;
	struct idle_gap idle;
	size_t n;

	for (int i = 0; i < 100; i++) {
		struct event kernel = ev_launched((uint32_t)i + 1, i * 10 * MS, 5 * MS, 1000);

		apply_one(model, kernel);
		/* one look in 30 ms: in turn under a kernel, in a gap, in a gap */
		if (i % 3)
			continue;
		apply_one(model, once(part_doing(i % 9 ? DOING_PYTHON : DOING_LOCK, 0, i * 10 * MS,
					       30 * MS, 30 * MS),
				      i * 10 * MS + (i % 9 ? 8 * MS : 2 * MS)));
	}
	model_finish(model, false);
	CHECK(model_idle(model, 0, &idle));
	n = model_idle_host(model, 0, &idle, &rows);
	CHECK_INT(n, 1);
	CHECK_INT(rows[0].doing, DOING_PYTHON);
	/* 22 looks of 30 ms are more than the 495 ms of idle time */
	CHECK_INT(rows[0].ns, idle.ns[IDLE_HOST]);
	free(rows);
	/* nor do the lines have more than that */
	n = model_host_lines(model, &lines);
	for (size_t i = 0; i < n; i++)
		waited_ns += lines[i].waited_ns;
	CHECK(waited_ns <= idle.ns[IDLE_HOST] && waited_ns > idle.ns[IDLE_HOST] - (int64_t)n);
	free(lines);
	model_free(model);
}

/* What follows the last work of a device counts neither in its idle time nor as waited for. */
TEST(doings_after_the_last_work)
{
	struct model *model = model_with_device();
	struct host_line_row *lines;
	struct idle_gap idle;

	for (int i = 0; i < 10; i++) {
		struct event kernel = ev_launched((uint32_t)i + 1, i * 10 * MS, 5 * MS, 1000);

		apply_one(model, kernel);
		apply_one(model, part_doing(DOING_SLEEP, 0, i * 10 * MS, 10 * MS, 10 * MS));
	}
	apply_one(model, part_doing(DOING_SLEEP, 0, 100 * MS, 5000 * MS, 5000 * MS));
	apply_one(model, ev_alive(BASE + 6000 * MS));
	model_finish(model, false);
	CHECK(model_idle(model, 0, &idle));
	CHECK_INT(model_host_lines(model, &lines), 1);
	CHECK_INT(lines[0].ns, 5100 * MS);
	CHECK(lines[0].waited_ns <= idle.ns[IDLE_HOST] &&
	      lines[0].waited_ns > idle.ns[IDLE_HOST] - MS);
	free(lines);
	model_free(model);
}

TEST(doings_impossible)
{
	struct model *model = model_with_device();
	struct event wrong;

	apply_one(model, part_doing(DOING_SLEEP, 0, 100, 50, 30));
	apply_one(model, part_doing(DOING_SLEEP, 0, 100, 50, 20));
	apply_one(model, part_doing(DOING_LOCK, 0, 100, 50, 10));		/* more than all */
	apply_one(model, part_doing(DOING_SLEEP, 0, 120, 50, 10));	/* overlaps */
	apply_one(model, part_doing(DOING_SLEEP, 0, 200, 50, -1));
	apply_one(model, part_doing(DOING_SLEEP, 0, 200, -50, 1));
	apply_one(model, part_doing(DOING_COUNT, 0, 200, 50, 1));
	wrong = once(part_doing(DOING_SLEEP, 0, 200, 50, 1), 251);
	apply_one(model, wrong);
	CHECK_INT(status_of(model).bad, 6);
	CHECK_INT(thread_at(model, thread_find(model, 0, PID))->doings.n, 2);
	model_free(model);
}

/* At most so many are kept. */
TEST(doings_bounded)
{
	struct model *model = model_with_device();
	uint32_t thread;

	for (int64_t i = 0; i < (int64_t)DOINGS_MAX + 10; i++)
		apply_one(model, part_doing(DOING_SLEEP, 0, i * 100, 100, 100));
	thread = thread_find(model, 0, PID);
	CHECK_INT(thread_at(model, thread)->doings.n, DOINGS_MAX / 2 + 10);
	CHECK_INT(thread_at(model, thread)->doings.list[0].start_ns,
		  BASE + (int64_t)DOINGS_MAX / 2 * 100);
	model_free(model);
}

TEST(doings_finding)
{
	struct model *model = turns_of(100, true);
	struct finding *list, *finding = finding_of(model, "host-wait", &list);

	CHECK(finding != NULL);
	if (finding) {
		CHECK(strstr(finding->title, "the device waits while loader.py:25 sleeps"));
		CHECK(strstr(finding->lines[0], "in load"));
		CHECK_INT(finding->severity, SEVERITY_WARNING);
		/* 50 ms of 100, per second */
		CHECK(finding->cost_ns > 470 * MS && finding->cost_ns < 530 * MS);
	}
	free(list);
	model_free(model);
	/* nothing is known, so nothing is said */
	model = turns_of(100, false);
	CHECK(!finding_of(model, "host-wait", &list));
	free(list);
	model_free(model);
}

static int64_t ns_of(struct model *model, enum doing_kind doing, const char *what, uint32_t line)
{
	struct host_time_row *rows;
	struct idle_gap idle;
	int64_t ns = 0;
	size_t n;

	CHECK(model_idle(model, 0, &idle));
	n = model_idle_host(model, 0, &idle, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].doing == doing && rows[i].line == line && !strcmp(rows[i].what, what))
			ns += rows[i].ns;
	free(rows);
	return ns / MS;
}

/* Waits of a line for locks are one row; who holds them is told if it is known of most of them. */
TEST(doings_locks)
{
	for (int64_t ms = 10; ms <= 50; ms += 40) {
		struct model *model = model_with_device();

		apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
		apply_one(model, ev_name(40, NAME_OTHER, "thread 7 keeper"));
		apply_one(model, ev_frame(1, 0, 30, 30, 25));
		for (int i = 0; i < 100; i++) {
			int64_t at = i * 100 * MS;
			struct event known = part_doing(DOING_LOCK, 1, at + 20 * MS, ms * MS,
							ms * MS);

			known.u.doing.what = 40;
			apply_one(model, ev_launched((uint32_t)i + 1, at, 10 * MS, 1000));
			apply_one(model, known);
			apply_one(model, part_doing(DOING_LOCK, 1, at + (20 + ms) * MS, 20 * MS,
						    20 * MS));
		}
		model_finish(model, false);
		CHECK(ns_of(model, DOING_LOCK, ms > 20 ? "thread 7 keeper" : "", 25) >=
		      99 * (ms + 20) - 1);
		CHECK_INT(ns_of(model, DOING_LOCK, ms > 20 ? "" : "thread 7 keeper", 25), 0);
		model_free(model);
	}
}

/* Of a line that runs native code the function with most time is told; code without a line is told
 * by functions. Names of C++ are shortened. */
TEST(doings_functions)
{
	static const char gemm[] = "_ZN2at6native4gemmIdEEvT_ in libtorch_cpu.so";
	struct model *model = model_with_device();
	struct finding *list, *finding;

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "main"));
	apply_one(model, ev_name(40, NAME_OTHER, gemm));
	apply_one(model, ev_name(41, NAME_OTHER, "memcpy in libc.so.6"));
	apply_one(model, ev_frame(1, 0, 30, 31, 25));
	apply_one(model, ev_frame(2, 0, 30, 31, 26));
	for (int i = 0; i < 100; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 1000), part;

		apply_one(model, kernel);
		/* 15 and 10 ms at one line, 9 and 11 at another one, 5 and 29 at none */
		for (int k = 0; k < 6; k++) {
			static const int64_t begin[] = { 20, 35, 45, 54, 65, 70, 99 };

			part = part_doing(DOING_NATIVE, k < 2 ? 1 : k < 4 ? 2 : 0,
					  at + begin[k] * MS, (begin[k + 1] - begin[k]) * MS,
					  (begin[k + 1] - begin[k]) * MS);
			part.u.doing.what = k % 2 ? 41 : 40;
			apply_one(model, part);
		}
	}
	model_finish(model, false);
	CHECK_INT(ns_of(model, DOING_NATIVE, "gemm in libtorch_cpu.so", 25), 99 * 25);
	CHECK_INT(ns_of(model, DOING_NATIVE, "memcpy in libc.so.6", 26), 99 * 20);
	CHECK_INT(ns_of(model, DOING_NATIVE, "gemm in libtorch_cpu.so", 0), 99 * 5);
	CHECK_INT(ns_of(model, DOING_NATIVE, "memcpy in libc.so.6", 0), 99 * 29);
	finding = finding_of(model, "host-wait", &list);
	CHECK(finding && strstr(finding->title,
				"the device waits while train.py:25 runs native code"));
	free(list);
	model_free(model);
}

/* A function that runs Python and native code by turns is one place; a lack of processors stands
 * for itself. */
TEST(doings_computes)
{
	struct model *model = model_with_device();
	struct finding *list, *finding;

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_frame(1, 0, 30, 31, 25));
	apply_one(model, ev_frame(2, 0, 30, 31, 26));
	for (int i = 0; i < 100; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 1000);

		apply_one(model, kernel);
		apply_one(model, part_doing(DOING_PYTHON, 1, at + 20 * MS, 26 * MS, 26 * MS));
		apply_one(model, part_doing(DOING_NATIVE, 2, at + 46 * MS, 24 * MS, 24 * MS));
		apply_one(model, part_doing(DOING_CPU, 1, at + 70 * MS, 20 * MS, 20 * MS));
	}
	model_finish(model, false);
	finding = finding_of(model, "host-wait", &list);
	CHECK(finding && strstr(finding->title, "while train.py:25 computes"));
	CHECK(finding && finding->cost_ns > 475 * MS && finding->cost_ns < 525 * MS);
	free(list);
	finding = finding_of(model, "no-processor", &list);
	CHECK(finding && finding->cost_ns > 175 * MS && finding->cost_ns < 225 * MS);
	free(list);
	model_free(model);
}

/* A limit and other programs keep the processor from the program: one finding, whose words and
 * advice are those of the larger part, with the share of the limit. */
TEST(doings_throttled)
{
	for (int most = 0; most < 2; most++) {
		struct model *model = model_with_device();
		struct finding *list, *finding;

		apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
		apply_one(model, ev_name(31, NAME_SOURCE, "load"));
		apply_one(model, ev_frame(1, 0, 30, 31, 25));
		for (int i = 0; i < 100; i++) {
			int64_t at = i * 100 * MS, ms = most ? 45 : 15;
			struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 1000);

			apply_one(model, kernel);
			apply_one(model, part_doing(DOING_PYTHON, 1, at + 10 * MS, 20 * MS,
						    20 * MS));
			apply_one(model, part_doing(DOING_THROTTLED, 1, at + 30 * MS, 60 * MS,
						    ms * MS));
			apply_one(model, part_doing(DOING_CPU, 1, at + 30 * MS, 60 * MS,
						    (60 - ms) * MS));
		}
		model_finish(model, false);
		finding = finding_of(model, "no-processor", &list);
		CHECK(finding != NULL);
		CHECK(finding && finding->cost_ns > 575 * MS && finding->cost_ns < 625 * MS);
		CHECK(finding && strstr(finding->title, most ? "train.py:25 is throttled" :
					"train.py:25 waits for a processor"));
		CHECK(finding && strstr(finding->lines[1], most ? "75 % of it, a limit" :
					"25 % of it, a limit"));
		CHECK(finding && strstr(finding->advice, most ? "cpu.max" : "other threads"));
		free(list);
		model_free(model);
	}
}

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
		apply_one(model, part_doing(DOING_SLEEP, 1, at, 50 * MS, 50 * MS));
		apply_one(model, part_doing(DOING_PYTHON, 2, at + 50 * MS, 40 * MS, 40 * MS));
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

/* A step of 10 ms, of which the processor or a device works for 4; then the thread sleeps for 10 ms,
 * after each tenth step for 100 ms. */
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
		apply_one(model, part_doing(DOING_SLEEP, 1, at + 10 * MS, rest_ns, rest_ns));
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
		free(list);
		model_free(model);
	}
}

/* Steps that are runs of a function on a thread of a pool, which rests in a lock: in 100 ms it runs
 * an op for 10, and the main thread, in a call, compiles for 40 and runs Python for 30. */
static struct model *pool_of(int turns, uint32_t tid)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "train"));
	apply_one(model, ev_name(33, NAME_OP, "step"));
	apply_one(model, ev_name(34, NAME_OP, "jit_step"));
	apply_one(model, ev_name(35, NAME_OP_TYPE, "XLA run"));
	apply_one(model, ev_frame(1, 0, 30, 31, 40));
	for (int i = 0; i < turns; i++) {
		int64_t at = i * 100 * MS;
		struct event run = ev_op(34, (uint64_t)i * 2 + 2, 0, at, 10 * MS, 0);
		struct event call = ev_op(33, (uint64_t)i * 2 + 1, 0, at + 20 * MS, 75 * MS, 0);
		struct event python = part_doing(DOING_PYTHON, 1, at + 60 * MS, 30 * MS, 30 * MS);
		struct event rest = part_doing(DOING_LOCK, 0, at + 10 * MS, 90 * MS, 90 * MS);
		struct event compile = {
			.type = EVENT_COMPILE, .pid = PID, .tid = tid,
			.time_ns = BASE + at + 61 * MS,
			.u.compile = { .what = "XLA jit_step", .start_ns = BASE + at + 20 * MS,
				       .dur_ns = 40 * MS },
		};

		run.u.op.op_type = 35;
		run.u.op.step = i + 1;
		run.u.op.framework = call.u.op.framework = FW_JAX;
		call.u.op.step = -1;
		call.tid = call.u.op.tid = python.tid = python.u.doing.tid = tid;
		run.tid = run.u.op.tid = rest.tid = rest.u.doing.tid = PID + 7;
		apply_one(model, run);
		apply_one(model, rest);
		apply_one(model, python);
		apply_one(model, compile);
		apply_one(model, call);
	}
	model_finish(model, false);
	return model;
}

/* What is missing there is what the main thread does, and to compile is no code of the host. */
TEST(doings_of_a_pool)
{
	for (uint32_t tid = PID; tid <= PID + 1; tid++) {
		struct model *model = pool_of(50, tid);
		struct host_time_row *rows;
		struct step_breakdown mean;
		int64_t ns;
		size_t n = model_step_host_mean(model, &rows);

		CHECK(model_step_breakdown_mean(model, &mean) > 40);
		CHECK_INT(mean.ns[STEP_COMPUTE] / MS, 10);
		CHECK_INT(mean.ns[STEP_COMPILE] / MS, 40);
		CHECK_INT(mean.ns[STEP_HOST] / MS, 50);
		/* where the main thread has no ops, the one that runs the first op is told */
		CHECK_STR(class_of_line(rows, n, 40, &ns), tid == PID ? "host" : "");
		CHECK_INT(ns / MS, tid == PID ? 30 : 0);
		CHECK_STR(class_of_line(rows, n, 0, &ns), tid == PID ? "" : "host");
		CHECK_INT(ns / MS, tid == PID ? 0 : 50);
		free(rows);
		model_free(model);
	}
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
