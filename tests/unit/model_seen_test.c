/* SPDX-License-Identifier: MIT */
/* Shares without what was lost, beside a count of every ns. */
#include <string.h>

#include "model/query-time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define LENGTH 20000

static bool busy[LENGTH], copies[LENGTH], lost[LENGTH];

static void add_work(struct model *model)
{
	int64_t t[2] = { 0, 0 };

	memset(busy, 0, sizeof(busy));
	memset(copies, 0, sizeof(copies));
	for (uint32_t i = 0; i < 60; i++) {
		bool copy = test_below(3) == 0;
		int64_t from = t[copy] + (int64_t)test_below(400), dur = 1 + (int64_t)test_below(300);

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
		int64_t from = (int64_t)test_below(LENGTH), dur = (int64_t)test_below((uint64_t)longest);
		struct event event = { .type = EVENT_LOST };

		if (from + dur > LENGTH)
			dur = LENGTH - from;
		event.u.lost = (struct event_lost) { BASE + from, BASE + from + dur, 3, false, 0 };
		event.time_ns = BASE + from + dur;
		apply_one(model, event);
		memset(lost + from, 1, (size_t)dur);
	}
}

static int64_t off(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* slack: 0 exactly, else as near in ns. */
static void same_as_counted(struct model *model, int64_t slack)
{
	int64_t t0 = (int64_t)test_below(LENGTH), t1 = t0 + 1 + (int64_t)test_below((uint64_t)(LENGTH - t0));
	int64_t whole = 0, kernel = 0, copy = 0, any = 0, causes = 0;
	struct device_row row;
	struct idle_gap gap;
	bool rough;

	for (int64_t t = t0; t < t1; t++) {
		whole += !lost[t];
		kernel += !lost[t] && busy[t];
		copy += !lost[t] && copies[t];
		any += !lost[t] && (busy[t] || copies[t]);
	}
	CHECK(model_device_seen(model, 0, BASE + t0, BASE + t1, &row, &gap, &rough));
	CHECK_INT(rough, whole < t1 - t0 - (t1 - t0) / 2);
	if (rough) {
		CHECK_INT(row.span_ns, t1 - t0);
		return;
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
	bool rough;

	add_work(model);
	apply_one(model, (struct event) { .type = EVENT_LOST, .time_ns = BASE,
					  .u.lost = { BASE, BASE + LENGTH, 1, true, 0 } });
	model_lock(model);
	CHECK(model_device_window(model, 0, BASE, BASE + LENGTH, &all));
	CHECK(model_device_seen(model, 0, BASE, BASE + LENGTH, &row, &gap, &rough));
	CHECK(rough);
	CHECK_INT(row.span_ns, LENGTH);
	CHECK_INT(row.busy_ns, all.busy_ns);
	CHECK(!model_device_seen(model, 0, BASE + 5, BASE + 5, &row, &gap, &rough));
	CHECK(!model_device_seen(model, 7, BASE, BASE + 5, &row, &gap, &rough));
	model_unlock(model);
	model_free(model);
}
