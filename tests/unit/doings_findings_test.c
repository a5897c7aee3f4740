/* SPDX-License-Identifier: MIT */
/* What is found of threads that wait: for what no single place causes, and for locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

/* A turn of 100 ms: a kernel of 10 ms, then the thread is in that state, in two functions. what: a
 * name, for the first of these; or 0. */
static struct model *begin_in_state(enum doing_kind doing, uint32_t what)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "load"));
	apply_one(model, ev_name(32, NAME_SOURCE, "main"));
	apply_one(model, ev_name(33, NAME_OTHER, "worker.py:12 in spin"));
	apply_one(model, ev_frame(1, 0, 30, 31, 25));
	apply_one(model, ev_frame(2, 0, 30, 32, 40));
	for (int i = 0; i < 100; i++) {
		int64_t at = i * 100 * MS;
		struct event kernel = ev_launched((uint32_t)i + 1, at, 10 * MS, 1000);
		struct event first = ev_doing(PID, doing, 1, 0, at + 20 * MS, 50 * MS);
		struct event second = ev_doing(PID, doing, 2, 0, at + 70 * MS, 20 * MS);

		first.u.doing.what = what;
		apply_one(model, kernel);
		apply_one(model, first);
		apply_one(model, second);
	}
	return model;
}

static struct model *model_in_state(enum doing_kind doing)
{
	bool held = doing == DOING_GIL || doing == DOING_LOCK;
	struct model *model = begin_in_state(doing, held ? 33 : 0);

	model_finish(model, false);
	return model;
}

/* The thread waits for a lock, and others do so for a fifth of their time; holder: a name, or 0. */
static struct model *model_of_threads(uint32_t threads, uint32_t holder)
{
	struct model *model = begin_in_state(DOING_LOCK, 33);

	for (uint32_t k = 1; k < threads; k++)
		for (int i = 0; i < 100; i++) {
			enum doing_kind doing = i % 5 ? DOING_PYTHON : DOING_LOCK;
			struct event event = ev_doing(PID + k, doing, 1, 1, i * 100 * MS, 90 * MS);

			event.u.doing.what = i % 5 ? 0 : holder;
			apply_one(model, event);
		}
	model_finish(model, false);
	return model;
}

/* What no single place causes has a finding of its own, for all lines together. */
TEST(doings_findings_of_states)
{
	static const struct {
		enum doing_kind doing;
		const char *id, *title, *line;
	} cases[] = {
		{ DOING_GIL, "gil-wait", "train.py:25 waits for the GIL",
		  " per second in load, most often held at worker.py:12 in spin" },
		{ DOING_GC, "gc-time", "train.py:25 collects garbage", " per second in load" },
		{ DOING_IMPORT, "import-time", "train.py:25 imports modules", " in load" },
		{ DOING_CPU, "no-processor", "train.py:25 waits for a processor", " in load" },
		{ DOING_THROTTLED, "no-processor", "train.py:25 is throttled", " in load" },
		{ DOING_COMPILE, "compile-wait", "train.py:25 compiles", " in load" },
		{ DOING_STOPPED, "stopped", "train.py:25 is stopped", " in load" },
		{ DOING_SLEEP, "host-wait", "train.py:25 sleeps", " per second in load" },
		{ DOING_LOCK, "host-wait", "train.py:25 waits for another thread",
		  " per second in load, most often held by worker.py:12 in spin" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model *model = model_in_state(cases[i].doing);
		struct finding *list, *finding = finding_of(model, cases[i].id, &list);
		/* 70 ms of 100; of a place, the 50 ms of the function with most */
		bool place = !strcmp(cases[i].id, "host-wait");
		int64_t ms = place ? 500 : 700;

		CHECK(finding && strstr(finding->title, cases[i].title));
		CHECK(finding && strstr(finding->lines[0], cases[i].line));
		CHECK(finding && finding->cost_ns > (ms - 25) * MS &&
		      finding->cost_ns < (ms + 25) * MS);
		CHECK(finding && *finding->advice);
		free(list);
		if (!place) {
			CHECK(!finding_of(model, "host-wait", &list));
			free(list);
		}
		model_free(model);
	}
}

/* A thread waits for another one's data, while that one sleeps for so much of the time at a line of
 * its own (0: there is none), and a third one waits for work. turns: two take turns at it. */
static struct model *model_of_handover(int sleep_ms, bool turns)
{
	struct model *model = begin_in_state(DOING_LOCK, 0);

	for (int i = 0; i < 100; i++) {
		int64_t at = (i * 100 + 20) * MS;
		uint32_t tid = PID + (turns && i % 2 ? 3 : 1);
		struct event sleeps = ev_doing(tid, DOING_SLEEP, 2, 0, at, sleep_ms * MS);
		struct event takes = ev_doing(tid, DOING_PYTHON, 1, 0, at + sleep_ms * MS,
					      (70 - sleep_ms) * MS);

		if (sleep_ms) {
			apply_one(model, sleeps);
			apply_one(model, takes);
		}
		apply_one(model, ev_doing(PID + 2, DOING_LOCK, 2, 0, at, 70 * MS));
	}
	model_finish(model, false);
	return model;
}

TEST(doings_finding_of_a_handover)
{
	static const struct { int sleep_ms; bool turns; const char *line; } cases[] = {
		{ 45, false, "for 90 % of it, thread 4122 sleeps at train.py:40 in main" },
		{ 20, false, "for 60 % of it, thread 4122 runs Python at train.py:25 in load" },
		{ 45, true, "for 90 % of it, another thread sleeps at train.py:40 in main" },
		{ 0, false, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model *model = model_of_handover(cases[i].sleep_ms, cases[i].turns);
		struct finding *list, *finding = finding_of(model, "host-wait", &list);

		char line[120] = "";

		if (cases[i].line)
			snprintf(line, sizeof(line), "meanwhile, %s", cases[i].line);
		CHECK_STR(finding ? finding->lines[1] : "none", line);
		free(list);
		model_free(model);
	}
}

/* What a few looks found by chance is no finding: six are too few, eight are not. */
TEST(doings_findings_of_few_looks)
{
	for (int gaps = 3; gaps <= 4; gaps++) {
		struct model *model = model_with_device();
		struct finding *list;

		apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
		apply_one(model, ev_name(31, NAME_SOURCE, "load"));
		apply_one(model, ev_frame(1, 0, 30, 31, 25));
		for (int i = 0; i < 20; i++) {
			int64_t at = i * 300 * MS;
			struct event look = ev_doing(PID, DOING_SLEEP, 1, 0, at + 20 * MS,
						     250 * MS);

			look.u.doing.looks = 2;
			apply_one(model, ev_launched((uint32_t)i + 1, at, 10 * MS, 1000));
			if (i % 5 == 2 && i / 5 < gaps)
				apply_one(model, look);
		}
		model_finish(model, false);
		CHECK((finding_of(model, "host-wait", &list) != NULL) == (gaps == 4));
		free(list);
		model_free(model);
	}
}

/* Several threads queue for locks, or for each other's data, which has no holder. */
TEST(doings_finding_of_a_convoy)
{
	for (uint32_t threads = 1; threads <= 3; threads++) {
		for (uint32_t holder = 0; holder <= 33; holder += 33) {
			struct model *model = model_of_threads(threads, holder);
			struct finding *list, *finding = finding_of(model, "host-wait", &list);
			char line[80];

			snprintf(line, sizeof(line), "a convoy: %u threads wait for locks",
				 threads);
			CHECK(finding && strstr(finding->advice, "hold the lock for less time"));
			CHECK(finding && (strstr(finding->lines[1], line) != NULL) ==
			      (holder && threads > 1));
			free(list);
			model_free(model);
		}
	}
}
