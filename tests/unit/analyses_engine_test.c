/* SPDX-License-Identifier: MIT */
/*
 * The engine of the analyses: slices without a gap, each act in exactly those
 * it touches, whatever the order of arrival. The oracle is a plain scan over
 * all that was put in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/acts/sort.h"
#include "model/base/util.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

/* A copy of what was handed out. */
struct seen {
	struct slice *slices;
	size_t n, cap;
};

static void keep(void *arg, const struct slice *slice)
{
	struct seen *seen = arg;
	struct act *acts = xreallocarray(NULL, slice->n + 1, sizeof(*acts));

	grow(&seen->slices, &seen->cap, seen->n, sizeof(*seen->slices));
	if (slice->n)
		memcpy(acts, slice->acts, slice->n * sizeof(*acts));
	seen->slices[seen->n] = *slice;
	seen->slices[seen->n++].acts = acts;
}

static void release(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		free((void *)(uintptr_t)seen->slices[i].acts);
	free(seen->slices);
}

static struct event step_at(int64_t number, int64_t start_ns, int64_t dur_ns)
{
	return (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.step = { .number = number, .start_ns = BASE + start_ns, .dur_ns = dur_ns },
	};
}

static struct event op_at(uint64_t instance, int64_t start_ns, int64_t dur_ns)
{
	return ev_op(7, instance, 0, start_ns, dur_ns, 0);
}

static bool touches(const struct slice *slice, int64_t start_ns, int64_t end_ns)
{
	return start_ns < slice->t1 && (end_ns > slice->t0 || start_ns >= slice->t0);
}

/* Gapless, sorted, and nothing in a slice that does not belong there. */
static void check_slices(const struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++) {
		const struct slice *slice = &seen->slices[i];

		CHECK(slice->t0 < slice->t1);
		if (i)
			CHECK_INT(slice->t0, seen->slices[i - 1].t1);
		for (size_t k = 0; k < slice->n; k++) {
			const struct act *act = &slice->acts[k];

			if (k)
				CHECK(act->start_ns >= slice->acts[k - 1].start_ns);
			if (act->flags & ACT_LATE)
				CHECK(act->start_ns < slice->t0);
			else
				CHECK(touches(slice, act->start_ns, act->end_ns));
		}
	}
}

/* In how many slices that op is; *late: in how many marked so. */
static size_t times_seen(const struct seen *seen, uint64_t op, size_t *late)
{
	size_t n = 0;

	*late = 0;
	for (size_t i = 0; i < seen->n; i++)
		for (size_t k = 0; k < seen->slices[i].n; k++)
			if (seen->slices[i].acts[k].kind == ACT_OP &&
			    seen->slices[i].acts[k].op == op) {
				n++;
				*late += (seen->slices[i].acts[k].flags & ACT_LATE) != 0;
			}
	return n;
}

static size_t times_touched(const struct seen *seen, int64_t start_ns, int64_t end_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < seen->n; i++)
		n += touches(&seen->slices[i], start_ns, end_ns);
	return n;
}

/* Steps without ops are marked, and are in no mean; their neighbours are not touched. */
TEST(analyses_bare_steps_are_in_no_mean)
{
	struct model *model = model_new(NULL);
	struct step_breakdown mean, one;
	struct seen seen = { .n = 0 };
	struct event event;

	analyses_watch(model, keep, &seen);
	for (int i = 0; i < 20; i++) {
		bool bare = i == 7 || i == 12 || i == 13;
		int64_t at_ns = i * 10 * MS;

		if (!bare)
			apply_one(model, op_at((uint64_t)i + 1, at_ns, 9 * MS));
		event = (struct event) {
			.type = EVENT_BARE, .pid = PID, .tid = PID,
			.time_ns = BASE + at_ns + 10 * MS,
			.u.bare = { .tid = PID, .steps = 1, .start_ns = BASE + at_ns,
				    .dur_ns = 10 * MS },
		};
		if (bare)
			apply_one(model, event);
		apply_one(model, step_at(i, at_ns, 10 * MS));
	}
	model_finish(model, false);
	check_slices(&seen);
	for (size_t i = 0; i < seen.n; i++)
		if (seen.slices[i].step)
			CHECK_INT(seen.slices[i].bare, seen.slices[i].number == 7 ||
				  seen.slices[i].number == 12 || seen.slices[i].number == 13);
	CHECK_INT(model_step_breakdown_mean(model, &mean), 20 - 2 - 3);
	CHECK(model_step_breakdown(model, BASE + 70 * MS, &one));
	CHECK(one.bare);
	CHECK(model_step_breakdown(model, BASE + 80 * MS, &one));
	CHECK(!one.bare);
	release(&seen);
	model_free(model);
}

TEST(analyses_slices_are_steps_and_what_lies_between)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };

	analyses_watch(model, keep, &seen);
	for (int i = 0; i < 4; i++) {
		apply_one(model, op_at((uint64_t)i + 1, i * 100 * MS + MS, 50 * MS));
		apply_one(model, step_at(10 + i, i * 100 * MS, 80 * MS));
		apply_one(model, ev_alive(BASE + i * 100 * MS + 90 * MS));
	}
	/* All four steps are over by now and handed out, live. */
	CHECK_INT(seen.n, 7);
	model_finish(model, false);
	check_slices(&seen);
	for (size_t i = 0; i < 7; i++) {
		CHECK_INT(seen.slices[i].step, i % 2 == 0);
		CHECK_INT(seen.slices[i].number, i % 2 ? -1 : 10 + (int64_t)i / 2);
		CHECK_INT(seen.slices[i].warm_up, i % 2 == 0 && i < 4);
		CHECK_INT(seen.slices[i].n, i % 2 == 0);
	}
	release(&seen);
	model_free(model);
}

/* A kernel that is on its way for seconds: what was done meanwhile waits until it is known when
 * that one began, but for LAG_NS at most. */
TEST(analyses_wait_for_what_is_on_its_way)
{
	struct event open = ev_kernel(1, 1, 2, 0, 0);
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };
	size_t late = 0, runs = 0;

	open.u.command.flags = CMD_OPEN;
	open.u.command.call_ns = BASE + 20 * MS;
	analyses_watch(model, keep, &seen);
	apply_one(model, op_at(1, MS, 5 * MS));
	apply_one(model, open);
	apply_one(model, ev_alive(BASE + 4000 * MS));
	CHECK_INT(seen.n, 0);
	open = ev_kernel(1, 1, 2, 3000 * MS, 500 * MS);
	open.u.command.call_ns = BASE + 20 * MS;
	apply_one(model, open);
	apply_one(model, ev_alive(BASE + 8000 * MS));
	CHECK(seen.n > 0);
	for (size_t i = 0; i < seen.n; i++)
		for (size_t k = 0; k < seen.slices[i].n; k++) {
			late += (seen.slices[i].acts[k].flags & ACT_LATE) != 0;
			runs += seen.slices[i].acts[k].kind == ACT_RUN;
		}
	CHECK_INT(late, 0);
	CHECK(runs > 0);
	/* one that never comes holds for a while */
	open = ev_kernel(1, 1, 3, 0, 0);
	open.u.command.flags = CMD_OPEN;
	open.u.command.call_ns = BASE + 8000 * MS;
	apply_one(model, open);
	apply_one(model, op_at(2, 9000 * MS, 5 * MS));
	apply_one(model, ev_alive(BASE + 40000 * MS));
	CHECK(seen.slices[seen.n - 1].t1 > BASE + 9000 * MS);
	check_slices(&seen);
	release(&seen);
	model_free(model);
}

/* Runs of a function, as a probe tells them. */
static struct event run_at(uint32_t name, int64_t start_ns, int64_t dur_ns)
{
	struct event event = step_at(-1, start_ns, dur_ns);

	event.u.step.name = name;
	return event;
}

/* What makes the weights runs three times, for long, before the loop that comes to be the
 * longest series; by then its steps are handed out. */
TEST(analyses_where_a_step_goes_is_of_one_series)
{
	struct model *model = model_with_device();
	struct step_breakdown mean;

	apply_one(model, ev_name(20, NAME_OP, "normal"));
	apply_one(model, ev_name(21, NAME_OP, "train"));
	for (int i = 0; i < 3; i++) {
		apply_one(model, run_at(20, i * 1000 * MS, 900 * MS));
		apply_one(model, ev_alive(BASE + i * 1000 * MS + 950 * MS));
	}
	for (int i = 0; i < 10; i++) {
		apply_one(model, run_at(21, (3000 + i * 10) * MS, 10 * MS));
		apply_one(model, ev_alive(BASE + (3000 + i * 10 + 10) * MS));
	}
	model_finish(model, false);
	model_lock(model);
	CHECK(model_step_breakdown_mean(model, &mean) > 0);
	CHECK_INT(mean.dur_ns, 10 * MS);
	model_unlock(model);
	model_free(model);
}

TEST(analyses_what_reaches_over_is_in_both)
{
	struct model *model = model_with_device();
	struct model_status status;
	struct seen seen = { NULL, 0, 0 };
	size_t late;

	analyses_watch(model, keep, &seen);
	apply_one(model, op_at(1, 50 * MS, 100 * MS));
	apply_one(model, step_at(0, 0, 100 * MS));
	apply_one(model, step_at(1, 100 * MS, 100 * MS));
	apply_one(model, ev_alive(BASE + 300 * MS));
	CHECK_INT(seen.n, 2);
	CHECK_INT(times_seen(&seen, 1, &late), 2);
	CHECK_INT(late, 0);
	/* One of step 1 that comes now is late, once, and is then carried. */
	apply_one(model, op_at(2, 150 * MS, 250 * MS));
	apply_one(model, step_at(2, 200 * MS, 100 * MS));
	apply_one(model, step_at(3, 300 * MS, 100 * MS));
	apply_one(model, ev_alive(BASE + 500 * MS));
	CHECK_INT(seen.n, 4);
	CHECK_INT(times_seen(&seen, 2, &late), 2);
	CHECK_INT(late, 1);
	CHECK(seen.slices[2].acts[0].flags & ACT_LATE);
	model_finish(model, false);
	check_slices(&seen);
	CHECK_INT(analyses_stats(model).late, 1);
	model_lock(model);
	model_status(model, &status);
	model_unlock(model);
	CHECK_INT(status.late, 1);
	release(&seen);
	model_free(model);
}

static struct event compiled_at(int64_t start_ns, int64_t dur_ns)
{
	return (struct event) {
		.type = EVENT_COMPILE, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.compile = { .start_ns = BASE + start_ns, .dur_ns = dur_ns, .what = "f",
			       .options = "", .log = "" },
	};
}

/* Of a compilation only its end is told. Steps lack one that came late, if it was in them. */
TEST(analyses_compilation_before_the_steps_is_not_late)
{
	struct model *model = model_with_device();

	apply_one(model, op_at(1, 10 * MS, 10 * MS));
	apply_one(model, ev_alive(BASE + 3000 * MS));
	apply_one(model, compiled_at(500 * MS, 3000 * MS));
	for (int i = 0; i < 4; i++)
		apply_one(model, step_at(i, (4000 + i * 100) * MS, 100 * MS));
	apply_one(model, ev_alive(BASE + 4500 * MS));
	CHECK_INT(analyses_stats(model).late, 0);
	apply_one(model, compiled_at(4050 * MS, 700 * MS));
	apply_one(model, step_at(4, 4700 * MS, 100 * MS));
	apply_one(model, ev_alive(BASE + 5000 * MS));
	model_finish(model, false);
	CHECK_INT(analyses_stats(model).late, 1);
	model_free(model);
}

TEST(analyses_without_steps_there_are_seconds)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };

	analyses_watch(model, keep, &seen);
	for (int i = 0; i < 40; i++) {
		apply_one(model, op_at((uint64_t)i + 1, i * 100 * MS, 90 * MS));
		apply_one(model, ev_alive(BASE + i * 100 * MS + 95 * MS));
	}
	/* One second behind the line: 0 ... 2 s are out. */
	CHECK_INT(seen.n, 2);
	CHECK_INT(seen.slices[1].t1, BASE + 2000 * MS);
	CHECK_INT(seen.slices[0].n, 10);
	/* Nothing for an hour is one slice. */
	apply_one(model, op_at(100, 3600 * 1000 * MS, MS));
	model_finish(model, false);
	check_slices(&seen);
	CHECK_INT(seen.n, 6);
	CHECK_INT(seen.slices[4].t1, BASE + 3600 * 1000 * MS);
	release(&seen);
	model_free(model);
}

/* Until something is handed out, what began first may still come. */
TEST(analyses_begin_with_the_first_of_all)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };

	analyses_watch(model, keep, &seen);
	apply_one(model, op_at(2, 50 * MS, 100 * MS));
	apply_one(model, ev_alive(BASE + 160 * MS));
	CHECK_INT(seen.n, 0);
	apply_one(model, op_at(1, 10 * MS, 155 * MS));
	apply_one(model, ev_alive(BASE + 2000 * MS));
	model_finish(model, false);
	check_slices(&seen);
	CHECK_INT(seen.slices[0].t0, BASE + 10 * MS);
	CHECK_INT(seen.slices[seen.n - 1].t1, BASE + 165 * MS);
	CHECK_INT(analyses_stats(model).late, 0);
	release(&seen);
	model_free(model);
}

struct truth { int64_t start_ns, end_ns; };

/* Ops and steps in any order of arrival, the line moving all the while. */
static void any_order(bool steps)
{
	enum { OPS = 3000 };
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };
	struct truth truth[OPS];
	struct event *events = xreallocarray(NULL, OPS + 100, sizeof(*events));
	size_t n = 0, n_late = 0, late;

	analyses_watch(model, keep, &seen);
	for (int i = 0; i < OPS; i++) {
		int64_t start = (int64_t)test_below(5000 * (uint64_t)MS);
		int64_t dur =
			(int64_t)test_below(test_below(20) ? 2 * (uint64_t)MS : 400 * (uint64_t)MS);

		truth[i] = (struct truth) { BASE + start, BASE + start + dur };
		events[n++] = op_at((uint64_t)i + 1, start, dur);
	}
	for (int i = 0; steps && i < 100; i++)
		events[n++] = step_at(i, i * 50 * MS + (int64_t)test_below(10 * (uint64_t)MS),
				      30 * MS);
	/* By the time they were written, shaken. */
	for (size_t i = 0; i < n; i++) {
		size_t least = i;

		for (size_t k = i + 1; k < n; k++)
			if (events[k].time_ns < events[least].time_ns)
				least = k;
		struct event event = events[least];
		events[least] = events[i];
		events[i] = event;
	}
	for (size_t i = 0; i < n; i += 1 + test_below(60)) {
		size_t other = i + test_below(n - i < 40 ? n - i : 40);
		struct event event = events[other];

		events[other] = events[i];
		events[i] = event;
	}
	for (size_t i = 0; i < n; ) {
		size_t count = 1 + test_below(50);

		if (count > n - i)
			count = n - i;
		model_apply(model, &events[i], count);
		i += count;
		apply_one(model, ev_alive(events[i - 1].time_ns - 20 * MS));
	}
	model_finish(model, false);
	check_slices(&seen);
	for (int i = 0; i < OPS; i++) {
		size_t times = times_seen(&seen, (uint64_t)i + 1, &late);

		CHECK(late <= 1);
		n_late += late;
		if (!late)
			CHECK_INT(times, times_touched(&seen, truth[i].start_ns, truth[i].end_ns));
		else
			CHECK(times <=
			      1 + times_touched(&seen, truth[i].start_ns, truth[i].end_ns));
		CHECK(times > 0);
	}
	CHECK_INT(analyses_stats(model).handed, OPS);
	CHECK_INT(analyses_stats(model).late, n_late);
	CHECK_INT(analyses_stats(model).dropped, 0);
	CHECK(n_late < OPS / 2);
	free(events);
	release(&seen);
	model_free(model);
}

TEST(analyses_any_order_of_arrival_with_steps)
{
	any_order(true);
}

TEST(analyses_any_order_of_arrival_without_steps)
{
	any_order(false);
}

/* Far more than fits, and no line: still each of them once. */
TEST(analyses_a_full_array_is_handed_out)
{
	struct model_options options = { .memory_limit = 8 << 20 };
	struct model *model = model_new(&options);
	struct seen seen = { NULL, 0, 0 };
	uint64_t total = 0, cut = 0;
	const int n = 200000;

	analyses_watch(model, keep, &seen);
	apply_one(model, ev_process(PID, "p"));
	for (int i = 0; i < n; i++)
		apply_one(model, op_at(0, i * 1000, 900));
	apply_one(model, step_at(0, 0, n * INT64_C(1000)));
	model_finish(model, false);
	check_slices(&seen);
	for (size_t i = 0; i < seen.n; i++) {
		CHECK(seen.slices[i].n <= 8192 + 1);
		cut += seen.slices[i].cut;
		for (size_t k = 0; k < seen.slices[i].n; k++)
			total += seen.slices[i].acts[k].start_ns >= seen.slices[i].t0;
	}
	CHECK_INT(total, n);
	CHECK(cut > 0);
	CHECK_INT(analyses_stats(model).dropped, 0);
	release(&seen);
	model_free(model);
}

/* Times that cannot be right cost a few slices, not a life. */
TEST(analyses_wild_times_are_few_slices)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };
	struct event event = op_at(1, 0, 1);

	analyses_watch(model, keep, &seen);
	event.u.op.start_ns = 1;
	event.time_ns = 0;
	apply_one(model, event);
	event.u.op.start_ns = INT64_MAX / 8;
	event.u.op.instance = 2;
	apply_one(model, event);
	event.u.op.start_ns = INT64_MAX / 5;
	event.u.op.dur_ns = INT64_C(2000000000000000);
	event.u.op.instance = 3;
	apply_one(model, event);
	for (int i = 0; i < 100; i++) {
		apply_one(model, op_at(10 + (uint64_t)i, i * 100 * MS, 200 * MS));
		apply_one(model, ev_alive(BASE + i * 100 * MS));
	}
	model_finish(model, false);
	check_slices(&seen);
	CHECK(seen.n < 40);
	release(&seen);
	model_free(model);
}

TEST(analyses_losses_are_told)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };
	struct event lost = { .type = EVENT_LOST, .time_ns = BASE + 130 * MS };

	lost.u.lost = (struct event_lost) { BASE + 120 * MS, BASE + 130 * MS, 12, false, 0 };
	analyses_watch(model, keep, &seen);
	for (int i = 0; i < 3; i++)
		apply_one(model, step_at(i, i * 100 * MS, 100 * MS));
	apply_one(model, lost);
	apply_one(model, ev_alive(BASE + 400 * MS));
	CHECK_INT(seen.n, 3);
	CHECK_INT(seen.slices[0].lost, 0);
	CHECK_INT(seen.slices[1].lost, 12);
	CHECK_INT(seen.slices[2].lost, 0);
	release(&seen);
	model_free(model);
}

/* What a device did: launch and run with their places. */
TEST(analyses_a_command_is_a_launch_and_a_run)
{
	struct model *model = model_with_device();
	struct seen seen = { NULL, 0, 0 };
	struct event copy = ev_copy(2, DIR_H2D, 4096, 500, 200);
	struct model_row row;
	const struct act *acts;

	copy.u.command.flags = CMD_BLOCKING | CMD_PINNED;
	copy.u.command.call_dur_ns = 1000;
	analyses_watch(model, keep, &seen);
	apply_one(model, ev_op(5, 77, 0, 0, 2000, 0));
	apply_one(model, ev_kernel(1, 1, 1, 100, 50));
	apply_one(model, copy);
	model_finish(model, false);
	CHECK_INT(seen.n, 1);
	CHECK_INT(seen.slices[0].n, 5);
	acts = seen.slices[0].acts;
	CHECK_INT(acts[0].kind, ACT_OP);
	CHECK_INT(acts[0].op, 77);
	CHECK_INT(acts[1].kind, ACT_LAUNCH);
	CHECK_INT(acts[1].start_ns, BASE + 90);
	CHECK_INT(acts[1].end_ns, BASE + 93);
	CHECK_INT(acts[1].call_ns, BASE + 100);
	CHECK_INT(acts[2].kind, ACT_RUN);
	CHECK_INT(acts[2].start_ns, BASE + 100);
	CHECK_INT(acts[2].end_ns, BASE + 150);
	CHECK_INT(acts[2].call_ns, BASE + 90);
	CHECK_INT(acts[2].device, 0);
	CHECK_INT(acts[2].name, acts[1].name);
	row = row_of(model, ROW_QUEUE, 0);
	CHECK_INT(acts[2].row, row.id);
	CHECK_INT(acts[3].kind, ACT_LAUNCH);
	CHECK_INT(acts[3].amount, 4096);
	CHECK(acts[3].flags & ACT_BLOCKING);
	CHECK(acts[4].flags & ACT_PINNED);
	CHECK_INT(acts[4].direction, DIR_H2D);
	release(&seen);
	model_free(model);
}

TEST(analyses_sort_is_stable_and_right)
{
	for (int round = 0; round < 200; round++) {
		size_t n = test_below(round < 100 ? 100 : round < 190 ? 3000 : 60000);
		struct start_key *keys = xreallocarray(NULL, 2 * n + 1, sizeof(*keys));
		uint64_t range = (uint64_t)1 << test_below(62);

		for (size_t i = 0; i < n; i++)
			keys[i] = (struct start_key) {
				.start = (int64_t)(test_below(range) - range / (test_below(3) + 1)),
				.at = (uint32_t)i,
			};
		start_keys_sort(keys, keys + n, n);
		for (size_t i = 1; i < n; i++)
			CHECK(keys[i - 1].start < keys[i].start ||
			      (keys[i - 1].start == keys[i].start && keys[i - 1].at < keys[i].at));
		free(keys);
	}
}

TEST(analyses_names_of_input)
{
	CHECK(name_is_input("input"));
	CHECK(name_is_input("input/make"));
	CHECK(name_is_input("IteratorGetNext"));
	CHECK(name_is_input("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
	CHECK(name_is_input("Iterator::Root::Prefetch"));
	CHECK(name_is_input("data"));
	CHECK(!name_is_input("input_layer"));
	CHECK(!name_is_input("batch_norm"));
	CHECK(!name_is_input("BatchMatMul"));
	CHECK(!name_is_input("step 12"));
	CHECK(!name_is_input("database"));
}
