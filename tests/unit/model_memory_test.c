/* SPDX-License-Identifier: MIT */
/* Levels over time and the books of allocators, against plain replays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "model/counters/level.h"
#include "model/query/memory.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

/* ---- levels ---- */

static void naive_range(const struct level_point *points, size_t n, int64_t from, int64_t to,
			struct level_range *out)
{
	unsigned __int128 area = 0;
	uint64_t value = 0, min = UINT64_MAX, max = 0;
	int64_t at = from;

	for (size_t i = 0; i < n && points[i].time_ns < to; i++) {
		if (points[i].time_ns >= from) {
			/* What stood before, if it stood at all. */
			if (points[i].time_ns > at) {
				min = value < min ? value : min;
				max = value > max ? value : max;
			}
			area += (unsigned __int128)value * (uint64_t)(points[i].time_ns - at);
			at = points[i].time_ns;
			min = points[i].value < min ? points[i].value : min;
			max = points[i].value > max ? points[i].value : max;
		}
		value = points[i].value;
	}
	min = value < min ? value : min;
	max = value > max ? value : max;
	area += (unsigned __int128)value * (uint64_t)(to - at);
	*out = (struct level_range) {
		.min = min, .max = max, .mean = (uint64_t)(area / (uint64_t)(to - from)),
	};
}

/* n changes, each at most `gap` after the one before; the last few as a tail. */
static void check_level(size_t n, uint64_t gap, size_t n_tail)
{
	struct level_point *points = malloc(n * sizeof(*points));
	struct level level = { .width_ns = 0 };
	struct level_tail tail = { points + n - n_tail, n_tail };
	struct level_range now;
	int64_t t = BASE, exact;

	for (size_t i = 0; i < n; i++) {
		t += (int64_t)test_below(gap);
		points[i] = (struct level_point) { t, test_below(1000) };
		if (i < n - n_tail)
			level_set(&level, t, points[i].value);
	}
	exact = level.forgot ? points[n - n_tail - level.n_recent].time_ns + 1 : 0;
	for (int i = 0; i < 300; i++) {
		int64_t from = BASE - 50 + (int64_t)test_below((uint64_t)(t - BASE) + 100);
		int64_t to = from + 1 +
			     (int64_t)test_below((uint64_t)(t - from > 0 ? t - from + 90 : 90));
		struct level_range want, got;

		naive_range(points, n, from, to, &want);
		level_range(&level, tail, from, to, &got);
		if (from >= exact) {
			CHECK(!got.approx);
			CHECK_INT(got.min, want.min);
			CHECK_INT(got.max, want.max);
			CHECK_INT(got.mean, want.mean);
		} else {
			CHECK(got.min <= want.min && got.max >= want.max);
			CHECK(got.mean >= got.min && got.mean <= got.max);
		}
	}
	CHECK(level_bytes(&level) <= 96u << 10);
	level_range(&level, tail, t, t + 1, &now);
	CHECK_INT(now.mean, points[n - 1].value);
	level_range(&level, tail, BASE - 1, BASE, &now);
	CHECK_INT(now.mean, 0);
	level_release(&level);
	free(points);
}

TEST(level_against_naive)
{
	check_level(1, 100, 0);
	check_level(1, 100, 1);
	check_level(500, 3, 20);
	check_level(500, 3000000, 499);
	check_level(4096, 10, 0);
	check_level(20000, 5, 100);
	check_level(20000, 10000000, 0);
}

TEST(level_means_of_buckets_add_up)
{
	struct level level = { .width_ns = 0 };
	struct level_tail none = { NULL, 0 };
	struct level_range range;

	/* A saw over ten hours: 0, 100, 0, 100 ... for equal times. */
	for (int64_t i = 0; i < 36000; i++)
		level_set(&level, BASE + i * 1000000000, i % 2 ? 100 : 0);
	level_range(&level, none, BASE, BASE + 20000 * INT64_C(1000000000), &range);
	CHECK(range.approx);
	CHECK(range.mean >= 49 && range.mean <= 51);
	CHECK_INT(range.min, 0);
	CHECK_INT(range.max, 100);
	level_release(&level);
}

/* ---- books ---- */

#define ADDRESSES 40
#define OPS 6u

struct plain {
	struct event *events;		/* delivered */
	size_t n;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

struct totals {
	uint64_t live, peak, allocations, frees, unknown, missed, allocated;
	int64_t peak_ns;
	uint64_t by_op[OPS + 1], at_peak[OPS + 1];
};

/* All that was delivered, in order of time. Times are all different. */
static struct totals replay(const struct event *delivered, size_t n)
{
	struct event *events = malloc((n + 1) * sizeof(*events));
	struct { bool live; uint64_t bytes; uint32_t op; } held[ADDRESSES] = { { false, 0, 0 } };
	struct totals t = { .live = 0 };

	memcpy(events, delivered, n * sizeof(*events));
	qsort(events, n, sizeof(*events), by_time);
	for (size_t i = 0; i < n; i++) {
		bool alloc = events[i].type == EVENT_ALLOC;
		uint64_t at = alloc ? events[i].u.alloc.address : events[i].u.free.address;

		t.allocations += alloc;
		t.frees += !alloc;
		t.missed += alloc && held[at].live;
		t.unknown += !alloc && !held[at].live;
		if (held[at].live) {
			t.live -= held[at].bytes;
			t.by_op[held[at].op] -= held[at].bytes;
			held[at].live = false;
		}
		if (!alloc)
			continue;
		held[at].live = true;
		held[at].bytes = events[i].u.alloc.bytes;
		held[at].op = events[i].u.alloc.op_name;
		t.allocated += held[at].bytes;
		t.live += held[at].bytes;
		t.by_op[held[at].op] += held[at].bytes;
		if (t.live > t.peak) {
			t.peak = t.live;
			t.peak_ns = events[i].time_ns;
			memcpy(t.at_peak, t.by_op, sizeof(t.by_op));
		}
	}
	free(events);
	return t;
}

static uint64_t of_op(const char *const *ops, const uint64_t *bytes, size_t n, uint32_t op)
{
	char name[16];

	snprintf(name, sizeof(name), "kernel%u", op);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ops[i], name))
			return bytes[i];
	return 0;
}

static void check_against_replay(struct model *model, const struct event *events, size_t n)
{
	struct totals want = replay(events, n);
	struct memory_row *rows;

	CHECK_INT(model_memory(model, &rows), n ? 1 : 0);
	if (n) {
		CHECK_INT(rows[0].live_bytes, want.live);
		CHECK_INT(rows[0].peak_bytes, want.peak);
		CHECK_INT(rows[0].peak_ns, want.peak_ns);
		CHECK_INT(rows[0].allocations, want.allocations);
		CHECK_INT(rows[0].allocated_bytes, want.allocated);
		CHECK_INT(rows[0].frees, want.frees);
		CHECK_INT(rows[0].unknown_frees, want.unknown);
		CHECK_INT(rows[0].missed_frees, want.missed);
		CHECK_INT(rows[0].peak_no_op_bytes, want.at_peak[0]);
		CHECK_INT(rows[0].no_op_bytes, want.by_op[0]);
		for (uint32_t op = 1; op <= OPS; op++) {
			CHECK_INT(of_op(rows[0].peak_ops, rows[0].peak_op_bytes,
					rows[0].n_peak_ops, op), want.at_peak[op]);
			CHECK_INT(of_op(rows[0].ops, rows[0].op_bytes, rows[0].n_ops, op),
				  want.by_op[op]);
		}
	}
	free(rows);
}

static struct event change(bool alloc, uint64_t address, uint64_t bytes, uint32_t op, int64_t after)
{
	struct event event = {
		.type = alloc ? EVENT_ALLOC : EVENT_FREE, .pid = PID, .tid = PID,
		.time_ns = BASE + after,
	};

	if (alloc)
		event.u.alloc = (struct event_alloc) {
			.allocator = 9, .address = address, .bytes = bytes, .op_name = op,
		};
	else
		event.u.free = (struct event_free) { .allocator = 9, .address = address };
	return event;
}

/* Some frees are of nothing, some are missing. */
static struct event any_change(int64_t after)
{
	return change(test_below(2), test_below(ADDRESSES), test_below(1000),
		      (uint32_t)test_below(OPS + 1), after);
}

/* As some threads tell it: later, with the time at which it was. */
static struct event told(struct event event)
{
	if (test_below(2))
		return event;
	*(event.type == EVENT_ALLOC ? &event.u.alloc.at_ns : &event.u.free.at_ns) = event.time_ns;
	event.time_ns += test_below(500);
	return event;
}

/* Whatever the order of arrival, asked at any moment. */
TEST(memory_in_any_order)
{
	static struct event events[600];
	struct model *model;

	for (int round = 0; round < 12; round++) {
		size_t n = 1 + test_below(600);

		model = model_with_device();
		for (size_t i = 0; i < n; i++)
			events[i] = any_change(10 * (int64_t)i);
		for (size_t i = n; i > 1; i--) {
			size_t other = test_below(i);
			struct event swap = events[i - 1];

			events[i - 1] = events[other];
			events[other] = swap;
		}
		for (size_t i = 0; i < n; i++) {
			apply_one(model, told(events[i]));
			if (!test_below(40))
				check_against_replay(model, events, i + 1);
		}
		model_finish(model, false);
		check_against_replay(model, events, n);
		model_free(model);
	}
}

/* A feed that settles: each event at most `late` behind the line. */
TEST(memory_as_it_settles)
{
	enum { N = 20000, LATE = 2000 };
	struct event *events = malloc(N * sizeof(*events)), *waiting = malloc(N * sizeof(*waiting));
	struct model *model = model_with_device();
	size_t n_waiting = 0, n = 0;

	for (int64_t i = 0; n < N; i++) {
		if (i < N)
			waiting[n_waiting++] = any_change(10 * i);
		while (n_waiting && (i >= N || test_below(3) ||
				     waiting[0].time_ns < BASE + 10 * i - LATE / 2)) {
			size_t pick = test_below(n_waiting < 40 ? n_waiting : 40);

			events[n] = waiting[pick];
			memmove(waiting + pick, waiting + pick + 1,
				(n_waiting - pick - 1) * sizeof(*waiting));
			n_waiting--;
			apply_one(model, told(events[n++]));
			if (!test_below(2000))
				check_against_replay(model, events, n);
		}
		if (i % 100 == 0 && n_waiting)
			apply_one(model, ev_alive(waiting[0].time_ns - 1));
	}
	check_against_replay(model, events, n);
	CHECK_INT(status_of(model).bad, 0);
	model_finish(model, false);
	check_against_replay(model, events, n);
	free(events);
	free(waiting);
	model_free(model);
}

static struct memory_row memory_row_of(struct model *model, size_t index)
{
	struct memory_row *rows, row = { .allocator = NULL };

	if (index < model_memory(model, &rows))
		row = rows[index];
	free(rows);
	return row;
}

/* Later than its source promised: nothing goes below zero, both cancel. */
TEST(memory_too_late)
{
	struct model *model = model_with_device();
	struct memory_row row;

	apply_one(model, change(true, 1, 100, 1, 100));
	apply_one(model, change(false, 2, 0, 0, 200));
	apply_one(model, change(true, 3, 50, 1, 300));
	apply_one(model, ev_alive(BASE + 1000));
	row = memory_row_of(model, 0);
	CHECK_INT(row.unknown_frees, 1);
	/* The allocation that the free was of. */
	apply_one(model, change(true, 2, 7, 2, 150));
	row = memory_row_of(model, 0);
	CHECK_INT(row.unknown_frees, 0);
	CHECK_INT(row.live_bytes, 150);
	CHECK_INT(row.allocations, 3);
	/* Of what was at an address before it was used again. */
	apply_one(model, change(true, 3, 8, 2, 10));
	apply_one(model, change(false, 3, 0, 0, 20));
	row = memory_row_of(model, 0);
	CHECK_INT(row.live_bytes, 150);
	CHECK_INT(row.late, 2);
	/* Late, but of what is live. */
	apply_one(model, change(false, 3, 0, 0, 400));
	row = memory_row_of(model, 0);
	CHECK_INT(row.live_bytes, 100);
	CHECK_INT(row.frees, 3);
	CHECK_INT(row.peak_bytes, 150);
	model_free(model);
}

TEST(memory_by_process_and_device)
{
	struct model *model = model_with_device();
	struct event event = change(true, 1, 100, 1, 10), leave = { .type = EVENT_EXIT };
	struct memory_column columns[4];
	struct memory_row row;

	/* The same address in two processes, and on a device. */
	apply_one(model, ev_process(PID + 1, "other"));
	apply_one(model, event);
	event.pid = PID + 1;
	event.time_ns = BASE + 20;
	apply_one(model, event);
	leave.pid = PID + 1;
	leave.time_ns = BASE + 30;
	leave.u.exit = (struct event_exit) { 0, 0 };
	apply_one(model, leave);
	event = change(true, 1, 1000, 2, 40);
	event.u.alloc.allocator = 8;
	event.u.alloc.device = 1;
	apply_one(model, event);
	event.u.alloc =
		(struct event_alloc){ .allocator = 7, .device = 1, .address = 1, .bytes = 500 };
	event.time_ns = BASE + 50;
	apply_one(model, event);
	/* The name comes from another id of the other process: not the same. */
	row = memory_row_of(model, 0);
	CHECK_STR(row.allocator, "kernel8");
	CHECK_INT(row.device, 0);
	CHECK_INT(row.peak_bytes, 1000);
	row = memory_row_of(model, 3);
	CHECK(row.allocator != NULL);
	CHECK_INT(row.device, UINT32_MAX);
	CHECK_INT(row.live_bytes, 100);
	apply_one(model, ev_alive(BASE + 100));
	row = memory_row_of(model, 1);
	CHECK_STR(row.allocator, "kernel7");
	/* Over time: nothing, then 500 from 50 on. */
	model_memory_columns(model, row.account, BASE, BASE + 200, 4, columns);
	CHECK_INT(columns[0].max, 0);
	CHECK_INT(columns[1].mean, 500);
	CHECK(columns[0].known && columns[1].known && !columns[2].known);
	model_memory_columns(model, 999, BASE, BASE + 200, 4, columns);
	CHECK(!columns[0].known);
	model_free(model);
}

TEST(memory_of_a_process_that_ended)
{
	struct model *model = model_with_device();
	struct event leave = { .type = EVENT_EXIT, .pid = PID, .time_ns = BASE + 300 };
	struct memory_column column;
	struct memory_row row;

	apply_one(model, change(true, 1, 100, 1, 100));
	leave.u.exit = (struct event_exit) { 0, 0 };
	for (int settled = 0; settled < 2; settled++) {
		if (settled)
			apply_one(model, ev_alive(BASE + 1000));
		else
			apply_one(model, leave);
		row = memory_row_of(model, 0);
		CHECK_INT(row.live_bytes, 100);
		CHECK_INT(row.n_ops, 1);
		CHECK_INT(row.op_bytes[0], 100);
		CHECK_INT(row.peak_op_bytes[0], 100);
		model_memory_columns(model, row.account, BASE + 200, BASE + 300, 1, &column);
		CHECK_INT(column.min, 100);
		model_memory_columns(model, row.account, BASE + 300, BASE + 400, 1, &column);
		CHECK_INT(column.max, 0);
	}
	model_free(model);
}

/* grow_by bytes are kept of each step, `churn` come and go. */
static struct model *stepped_model(uint64_t steps, uint64_t grow_by, uint64_t churn)
{
	struct model *model = model_with_device();

	apply_one(model, change(true, 7, 5000, 3, 0));
	for (uint64_t i = 0; i < steps; i++) {
		int64_t begin = 1000 * (int64_t)i;
		struct event step = {
			.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + begin + 900,
			.u.step = { .number = (int64_t)i, .start_ns = BASE + begin, .dur_ns = 900 },
		};

		apply_one(model, change(true, 1000 + i, grow_by, 1, begin + 100));
		apply_one(model, change(true, 8, churn ? test_below(churn) : 0, 2, begin + 200));
		apply_one(model, step);
		if (test_below(2))
			apply_one(model, change(false, 8, 0, 0, begin + 950));
		if (i % 10 == 0)
			apply_one(model, ev_alive(BASE + begin + 500));
	}
	model_finish(model, false);
	CHECK_INT(model_memory_steps(model), steps);
	return model;
}

static struct memory_row stepped(uint64_t steps, uint64_t grow_by, uint64_t churn)
{
	struct model *model = stepped_model(steps, grow_by, churn);
	struct memory_row row = memory_row_of(model, 0);

	model_free(model);
	return row;
}

TEST(memory_growth_per_step)
{
	CHECK_INT(stepped(9, 100, 0).growth_bytes_per_step, 0);	/* too few to say */
	CHECK_INT(stepped(50, 100, 0).growth_bytes_per_step, 100);
	CHECK_INT(stepped(50, 0, 1000).growth_bytes_per_step, 0);
	CHECK_INT(stepped(50, 0, 0).growth_bytes_per_step, 0);
	CHECK_INT(stepped(1000, 64, 0).growth_bytes_per_step, 64);
	CHECK_INT(stepped(3000, 10, 0).growth_bytes_per_step, 10);
}

/* What comes and goes at random is no growth, whatever the seed; a rise beyond it is. */
TEST(memory_growth_is_not_noise)
{
	for (int i = 0; i < 500; i++)
		CHECK_INT(stepped(50, 0, 1000).growth_bytes_per_step, 0);
	CHECK(stepped(200, 100, 1000).growth_bytes_per_step > 50);
}

/* The finding, with its numbers; and none where memory only comes and goes. */
static void check_growth_finding(uint64_t grow_by, uint64_t churn, size_t want)
{
	struct model *model = stepped_model(60, grow_by, churn);
	struct findings_status status;
	struct finding *findings;
	size_t n, seen = 0;

	model_lock(model);
	n = model_findings(model, &status, &findings);
	model_unlock(model);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(findings[i].id, "memory-growth"))
			continue;
		seen++;
		CHECK(strstr(findings[i].title, "2 000 bytes more of kernel9"));
		CHECK(strstr(findings[i].lines[0], "2 000 bytes of that per step is held by "
			     "kernel1"));
		CHECK_STR(findings[i].lines[1], "");
		CHECK_INT(findings[i].evidence.kind, EVIDENCE_MEMORY);
		CHECK_STR(findings[i].evidence.key, "kernel9");
		CHECK_INT(findings[i].severity, SEVERITY_NOTE);
	}
	CHECK_INT(seen, want);
	free(findings);
	model_free(model);
}

TEST(memory_growth_is_found)
{
	check_growth_finding(2000, 0, 1);
	check_growth_finding(0, 9000, 0);
	check_growth_finding(10, 0, 0);		/* below what is worth a word */
}

/* What came while other runs were the steps is no growth of these. */
TEST(memory_growth_is_of_the_steps_that_are_shown)
{
	struct model *model = model_with_device();
	struct findings_status status;
	struct finding *findings;

	for (uint64_t i = 0; i < 60; i++) {
		int64_t begin = 1000 * (int64_t)i;
		struct event step = {
			.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + begin + 900,
			.u.step = {
				.number = -1, .start_ns = BASE + begin, .dur_ns = 900,
				.name = i < 5 ? 5 : 6,
			},
		};

		apply_one(model, change(true, 1000 + i, i == 3 ? 1 << 20 : 2000, i == 3 ? 3 : 1,
					begin + 100));
		apply_one(model, step);
		apply_one(model, ev_alive(BASE + begin + 950));
	}
	model_finish(model, false);
	model_lock(model);
	CHECK_INT(model_findings(model, &status, &findings), 1);
	model_unlock(model);
	CHECK(strstr(findings[0].lines[0], "2 000 bytes of that per step is held by kernel1"));
	free(findings);
	model_free(model);
}

/* On a device with a known size: when it will be full. */
TEST(memory_growth_until_the_device_is_full)
{
	struct model *model = model_with_device();
	struct event device = ev_device(1, "0000:65:00.0");
	struct findings_status status;
	struct finding *findings;
	size_t n;

	device.u.device.memory_bytes = 10u << 20;
	apply_one(model, device);
	for (uint64_t i = 0; i < 41; i++) {
		struct event event = change(true, i, 100 << 10, 1, 1000000 * (int64_t)i);
		struct event step = {
			.type = EVENT_STEP,
			.pid = PID,
			.tid = PID,
			.time_ns = event.time_ns + 900000,
			.u.step = { .number = (int64_t)i,
				    .start_ns = event.time_ns,
				    .dur_ns = 900000 },
		};

		event.u.alloc.device = 1;
		apply_one(model, event);
		apply_one(model, step);
	}
	model_finish(model, false);
	model_lock(model);
	n = model_findings(model, &status, &findings);
	model_unlock(model);
	CHECK_INT(n, 1);
	/* 10 MiB - 41 * 100 KiB is enough for 61 more, of a millisecond each. */
	CHECK(strstr(findings[0].lines[1], "full after 61 more steps"));
	CHECK_INT(findings[0].severity, SEVERITY_WARNING);
	free(findings);
	model_free(model);
}
