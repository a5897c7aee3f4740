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

/* The thread that launches waits for its input, and another one of the process makes it. */
TEST(doings_of_idle_time_for_input)
{
	for (int made_ms = 30; made_ms <= 60; made_ms += 30) {
		struct model *model = model_with_device();
		struct host_time_row *rows;
		struct idle_gap idle;

		apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/loader.py"));
		apply_one(model, ev_name(33, NAME_OP, "next_batch"));
		apply_one(model, ev_frame(1, 0, 30, 0, 25));
		apply_one(model, ev_frame(2, 0, 30, 0, 40));
		for (int i = 0; i < 50; i++) {
			int64_t at = i * 100 * MS;
			struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 10000);
			struct event op = ev_op(33, (uint64_t)i + 1, 0, at + 10 * MS, 85 * MS, 0);

			apply_one(model, kernel);
			apply_one(model, op);
			apply_one(model, ev_doing(PID, DOING_LOCK, 2, 0, at + 10 * MS, 85 * MS));
			apply_one(model, ev_doing(PID + 1, DOING_SLEEP, 1, 0, at + 20 * MS,
						  made_ms * MS));
		}
		model_finish(model, false);
		CHECK(model_idle(model, 0, &idle));
		CHECK(idle.ns[IDLE_INPUT] <= 49 * 85 * MS && idle.ns[IDLE_INPUT] > 49 * 80 * MS);
		CHECK(model_idle_host(model, 0, &idle, &rows) > 0);
		/* unless that took less than half of the wait */
		CHECK_INT(rows[0].line, made_ms == 60 ? 25 : 40);
		CHECK_INT(rows[0].ns, made_ms == 60 ? 49 * 60 * MS : idle.ns[IDLE_INPUT]);
		free(rows);
		model_free(model);
	}
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
