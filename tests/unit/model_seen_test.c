/* SPDX-License-Identifier: MIT */
/* Shares without what was lost, beside a count of every ns. */
#include <string.h>

#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define LENGTH 20000

static bool busy[LENGTH], copies[LENGTH], lost[LENGTH], paused[LENGTH];

static void add_work(struct model *model)
{
	int64_t t[2] = { 0, 0 };

	memset(busy, 0, sizeof(busy));
	memset(copies, 0, sizeof(copies));
	for (uint32_t i = 0; i < 60; i++) {
		bool copy = test_below(3) == 0;
		int64_t from = t[copy] + (int64_t)test_below(400),
			dur = 1 + (int64_t)test_below(300);

		if (from + dur > LENGTH)
			continue;
		apply_one(model, copy ? ev_copy(2, DIR_H2D, 100, from, dur) :
			  ev_kernel(1, 1, i + 1, from, dur));
		memset((copy ? copies : busy) + from, 1, (size_t)dur);
		t[copy] = from + dur;
	}
}

static void add_losses(struct model *model, unsigned n, int64_t longest)
{
	memset(lost, 0, sizeof(lost));
	for (unsigned i = 0; i < n; i++) {
		int64_t from = (int64_t)test_below(LENGTH),
			dur = (int64_t)test_below((uint64_t)longest);
		struct event event = { .type = EVENT_LOST };

		if (from + dur > LENGTH)
			dur = LENGTH - from;
		event.u.lost = (struct event_lost) { BASE + from, BASE + from + dur, 3, false, 0 };
		event.time_ns = BASE + from + dur;
		apply_one(model, event);
		memset(lost + from, 1, (size_t)dur);
	}
}

static void set_level(struct model *model, int64_t at, int level)
{
	struct event event = { .type = EVENT_LEVEL, .pid = PID, .tid = PID, .time_ns = BASE + at };

	event.u.level_now = (struct event_level_now) { BASE + at, (uint8_t)level };
	apply_one(model, event);
}

/* Sent again, and with other levels, as the probes may. */
static void add_pauses(struct model *model, unsigned n)
{
	int64_t at = 0;

	memset(paused, 0, sizeof(paused));
	for (unsigned i = 0; i < n; i++) {
		int64_t from = at + 1 + (int64_t)test_below(LENGTH / (2 * n));
		int64_t dur = 1 + (int64_t)test_below(LENGTH / (2 * n));

		set_level(model, at, 1 + (int)test_below(3));
		set_level(model, from, 0);
		set_level(model, from + dur / 2, 0);
		at = from + dur;
		if (i + 1 < n || test_below(2))
			set_level(model, at, 2);
		else
			at = LENGTH;
		memset(paused + from, 1, (size_t)(at - from));
	}
}

static int64_t off(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* slack: 0 exactly, else as near in ns. */
static void same_as_counted(struct model *model, int64_t slack)
{
	int64_t t0 = (int64_t)test_below(LENGTH),
		t1 = t0 + 1 + (int64_t)test_below((uint64_t)(LENGTH - t0));
	int64_t whole = 0, kernel = 0, copy = 0, any = 0, causes = 0, pause = 0, missing = 0;
	struct device_row row;
	struct idle_gap gap;
	struct device_unseen unseen;

	for (int64_t t = t0; t < t1; t++) {
		pause += paused[t] && !busy[t] && !copies[t];
		missing += lost[t] && !paused[t];
	}
	CHECK(model_device_seen(model, 0, BASE + t0, BASE + t1, &row, &gap, &unseen));
	CHECK_INT(unseen.paused_ns, pause);
	CHECK_INT(unseen.lost_ns, missing);
	CHECK_INT(unseen.rough, missing > (t1 - t0 - pause) / 2);
	for (int64_t t = t0; t < t1; t++) {
		bool out = paused[t] ? !busy[t] && !copies[t] : lost[t] && !unseen.rough;

		whole += !out;
		kernel += !out && busy[t];
		copy += !out && copies[t];
		any += !out && (busy[t] || copies[t]);
	}
	CHECK_INT(row.span_ns, whole);
	CHECK(off(row.kernel_ns, kernel) <= slack);
	CHECK(off(row.copy_ns, copy) <= slack);
	CHECK(off(row.busy_ns, any) <= slack);
	CHECK(off(row.overlap_ns, kernel + copy - any) <= 3 * slack);
	for (int c = 0; c < IDLE_COUNT; c++)
		causes += gap.ns[c];
	/* to a ns per cause and place */
	CHECK(causes <= whole - any + slack + 1000);
}

TEST(model_seen_is_what_was_not_lost)
{
	for (int round = 0; round < 20; round++) {
		struct model *model = model_with_device();

		add_work(model);
		add_losses(model, (unsigned)test_below(12), 3000);
		model_lock(model);
		for (int i = 0; i < 30; i++)
			same_as_counted(model, 0);
		model_unlock(model);
		model_free(model);
	}
}

TEST(model_seen_is_what_was_looked_at)
{
	for (int round = 0; round < 20; round++) {
		struct model *model = model_with_device();

		add_work(model);
		add_losses(model, (unsigned)test_below(6), 2000);
		add_pauses(model, 1 + (unsigned)test_below(8));
		set_level(model, LENGTH, paused[LENGTH - 1] ? 0 : 2);
		apply_one(model, (struct event) { .type = EVENT_ALIVE, .time_ns = BASE + LENGTH });
		model_lock(model);
		for (int i = 0; i < 30; i++)
			same_as_counted(model, 0);
		model_unlock(model);
		model_free(model);
		memset(paused, 0, sizeof(paused));
	}
}

/* More than are looked at one by one: their length is exact, the rest is near. */
TEST(model_seen_of_very_many_losses)
{
	struct model *model = model_with_device();

	add_work(model);
	add_losses(model, 2000, 12);
	model_lock(model);
	for (int i = 0; i < 30; i++)
		same_as_counted(model, LENGTH / 20);
	model_unlock(model);
	model_free(model);
}

TEST(model_seen_nothing)
{
	struct model *model = model_with_device();
	struct device_row row, all;
	struct idle_gap gap;
	struct device_unseen unseen;

	add_work(model);
	apply_one(model, (struct event) { .type = EVENT_LOST, .time_ns = BASE,
					  .u.lost = { BASE, BASE + LENGTH, 1, true, 0 } });
	model_lock(model);
	CHECK(model_device_window(model, 0, BASE, BASE + LENGTH, &all));
	CHECK(model_device_seen(model, 0, BASE, BASE + LENGTH, &row, &gap, &unseen));
	CHECK(unseen.rough);
	CHECK_INT(row.span_ns, LENGTH);
	CHECK_INT(row.busy_ns, all.busy_ns);
	CHECK(!model_device_seen(model, 0, BASE + 5, BASE + 5, &row, &gap, &unseen));
	CHECK(!model_device_seen(model, 7, BASE, BASE + 5, &row, &gap, &unseen));
	model_unlock(model);
	model_free(model);
}
