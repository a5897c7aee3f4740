/* SPDX-License-Identifier: MIT */
/*
 * Idle causes, step breakdown and overlap against an oracle that looks at each
 * nanosecond of a few thousand and asks all acts what they do then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define THREADS 4
#define DEVICES 2
#define SLICES 6
#define SLICE 700			/* ns */
#define MS INT64_C(1000000)

struct world {
	struct model *model;
	struct act acts[400];
	size_t n;
	struct slice slices[SLICES];
	struct act part[400];		/* of one slice */
	int64_t gap_ns;			/* launch-gap */
	uint8_t states[THREADS][SLICES * SLICE];	/* enum host_state */
	int64_t handed_ns;		/* the oracle's, while it walks */
};

static void world_new(struct world *world, int gap_us)
{
	memset(world, 0, sizeof(*world));
	world->model = model_with_device();
	CHECK(model_threshold_set(world->model, THRESHOLD_LAUNCH_GAP, gap_us));
	world->gap_ns = gap_us * 1000;
	apply_one(world->model, ev_device(2, "0000:02:00.0"));
	for (int t = 1; t <= THREADS; t++) {
		struct event event = ev_op(1, (uint64_t)t, 0, 0, 1, 0);

		event.u.op.tid = event.tid = PID + (uint32_t)t;
		apply_one(world->model, event);
	}
	CHECK_INT(world->model->devices.n, DEVICES);
	for (int i = 0; i < SLICES; i++)
		world->slices[i] = (struct slice) {
			.t0 = BASE + i * SLICE, .t1 = BASE + (i + 1) * SLICE,
			.whole_t1 = BASE + (i + 1) * SLICE, .number = i, .step = i % 3 != 2,
			.lost = test_below(8) == 0,
		};
}

static struct act *put(struct world *world, enum act_kind kind, int64_t start_ns, int64_t end_ns)
{
	struct act *act = &world->acts[world->n++];

	*act = (struct act) {
		.kind = (uint8_t)kind, .start_ns = BASE + start_ns, .end_ns = BASE + end_ns,
		.device = NONE, .queue = NONE,
	};
	return act;
}

static void fill(struct world *world)
{
	int64_t end = SLICES * SLICE;

	for (int i = 0; i < 60; i++) {
		int64_t call = (int64_t)test_below((uint64_t)end), start, length;
		bool copy = test_below(3) == 0, blocks = copy && test_below(2);
		struct act launch, *run;

		start = call + (int64_t)test_below(60) +
			(test_below(12) ? 0 : (int64_t)test_below(2000));
		length = 1 + (int64_t)test_below(40);
		launch = *put(world, ACT_LAUNCH, call, call + (int64_t)test_below(30));
		launch.call_ns = BASE + start;
		launch.amount = copy ? 100 : 0;
		launch.thread = (uint32_t)test_below(THREADS - 1);
		launch.flags = blocks ? ACT_BLOCKING : 0;
		world->acts[world->n - 1] = launch;
		run = put(world, ACT_RUN, start, start + length);
		run->call_ns = test_below(9) ? launch.start_ns : 0;
		if (!run->call_ns)
			world->acts[world->n - 2].call_ns = 0;
		run->thread = launch.thread;
		run->device = (uint32_t)test_below(DEVICES);
		run->command = copy ? COMMAND_COPY : COMMAND_KERNEL;
		run->direction = copy ? (uint8_t)(DIR_H2D + test_below(3)) : DIR_NONE;
		run->work = copy ? WORK_COPY : test_below(6) ? WORK_OTHER : WORK_COMM;
		run->amount = launch.amount;
		run->flags = launch.flags;
	}
	for (int i = 0; i < 60; i++) {
		int64_t start = (int64_t)test_below((uint64_t)end);
		struct act *act = put(world, test_below(3) ? ACT_OP : test_below(4) ? ACT_WAIT :
				      ACT_COMPILE, start, start + (int64_t)test_below(120));

		act->thread = (uint32_t)test_below(THREADS);
		act->work = test_below(3) ? WORK_OP : WORK_INPUT;
		act->name = 1 + (uint32_t)test_below(5);
		act->flags = act->kind == ACT_OP && test_below(10) == 0 ? ACT_ASYNC : 0;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool is_void(const struct act *act)
{
	return act->end_ns <= act->start_ns;
}

static bool at(const struct act *act, int64_t t)
{
	return act->start_ns <= t && act->end_ns > t;
}

static void hand_out(struct world *world)
{
	struct slice_space space = { .cap = 0 };

	qsort(world->acts, world->n, sizeof(world->acts[0]), by_start);
	for (int i = 0; i < SLICES; i++) {
		struct slice *slice = &world->slices[i];

		slice->n = 0;
		for (size_t k = 0; k < world->n; k++)
			if (world->acts[k].start_ns < slice->t1 &&
			    (world->acts[k].end_ns > slice->t0 ||
			     world->acts[k].start_ns >= slice->t0))
				world->part[slice->n++] = world->acts[k];
		slice->acts = world->part;
		slice_index(slice, &space);
		analysis_sweep.slice(world->model, sweep_of(world->model), slice);
	}
	slice_space_release(&space);
}

/* ---- the oracle ---- */

static bool is_worker(const struct world *world, const struct slice *slice, uint32_t thread)
{
	bool kernels = false, any = false, launches = false;

	for (size_t i = 0; i < world->n; i++) {
		const struct act *act = &world->acts[i];

		if (act->kind != ACT_LAUNCH || act->start_ns >= slice->t1 ||
		    (act->end_ns <= slice->t0 && act->start_ns < slice->t0))
			continue;
		kernels |= !act->amount;
		any |= act->thread == thread;
		launches |= act->thread == thread && !act->amount;
	}
	return kernels ? launches : any;
}

static enum host_state state_at(const struct world *world, uint32_t thread, int64_t t)
{
	enum host_state state = HOST_NOTHING;

	for (size_t i = 0; i < world->n; i++) {
		const struct act *act = &world->acts[i];
		enum host_state one;

		if (act->kind == ACT_RUN || act->thread != thread || !at(act, t) ||
		    act->flags & ACT_ASYNC)
			continue;
		one = act->kind == ACT_WAIT || act->flags & ACT_BLOCKING ? HOST_SYNC :
		      act->kind == ACT_LAUNCH ? HOST_LAUNCH : act->kind == ACT_COMPILE ?
		      HOST_COMPILE : act->work == WORK_INPUT ? HOST_INPUT : HOST_CODE;
		if (one > state)
			state = one;
	}
	return state;
}

static bool inputs_at(const struct world *world, int64_t t)
{
	for (size_t i = 0; i < world->n; i++)
		if (world->acts[i].kind == ACT_OP && world->acts[i].work == WORK_INPUT &&
		    !(world->acts[i].flags & ACT_ASYNC) && at(&world->acts[i], t))
			return true;
	return false;
}

static enum step_class class_at(struct world *world, const struct slice *slice, int64_t t)
{
	bool runs[STEP_CLASS_COUNT] = { false }, state[HOST_STATES] = { false }, queued = false;

	for (size_t i = 0; i < world->n; i++) {
		const struct act *act = &world->acts[i];

		if (act->kind == ACT_RUN && at(act, t))
			runs[act->work == WORK_COMM ? STEP_COMM : !act->direction ? STEP_COMPUTE :
			     act->direction == DIR_H2D ? STEP_H2D : act->direction == DIR_D2H ?
			     STEP_D2H : STEP_D2D] = true;
		queued |= act->kind == ACT_RUN && act->call_ns && act->call_ns <= t &&
			  act->start_ns > t && !(act->flags & ACT_BLOCKING) &&
			  /* what another slice launched and a later one runs is not known */
			  (act->start_ns < slice->t1 || act->call_ns >= slice->t0);
		if (act->kind == ACT_LAUNCH && act->start_ns == t && act->call_ns > t &&
		    !(act->flags & ACT_BLOCKING))
			world->handed_ns = t;
	}
	for (uint32_t thread = 0; thread < THREADS; thread++)
		if (is_worker(world, slice, thread))
			state[world->states[thread][t - BASE]] = true;
	for (enum step_class c = STEP_COMPUTE; c <= STEP_D2D; c++)
		if (runs[c]) {
			world->handed_ns = t + 1;
			return c;
		}
	if (state[HOST_COMPILE])
		return STEP_COMPILE;
	if (state[HOST_LAUNCH]) {
		world->handed_ns = t + 1;
		return STEP_LAUNCH;
	}
	if (queued)
		return t < world->handed_ns + world->gap_ns ? STEP_LAUNCH : STEP_OTHER;
	if (state[HOST_SYNC])
		return STEP_SYNC;
	if (state[HOST_INPUT] || (inputs_at(world, t) && !state[HOST_CODE]))
		return STEP_INPUT;
	return state[HOST_CODE] ? STEP_HOST : STEP_OTHER;
}

/* t goes up from call to call, through all of a gap. */
static enum idle_cause cause_at(struct world *world, const struct slice *slice,
				uint32_t device, int64_t t)
{
	const struct act *next = NULL, *last = NULL;
	int64_t begin = INT64_MIN, call;
	uint32_t thread;

	for (size_t i = 0; i < world->n; i++) {
		const struct act *act = &world->acts[i];

		if (act->kind != ACT_RUN || act->device != device || is_void(act))
			continue;
		if (act->start_ns > t) {
			if (!next && act->start_ns < slice->t1)
				next = act;
			continue;
		}
		last = act;
		if (act->end_ns > begin)
			begin = act->end_ns;
	}
	thread = next ? next->thread : last->thread;
	if (t == begin)
		world->handed_ns = begin;
	if (world->states[thread][t - BASE] == HOST_LAUNCH)
		world->handed_ns = t + 1;
	if (slice->lost)
		return IDLE_OTHER;
	call = !next ? INT64_MAX : next->call_ns ? next->call_ns :
	       next->start_ns - begin <= world->gap_ns ? begin : INT64_MAX;
	if (t >= call && next->flags & ACT_BLOCKING && next->direction)
		return IDLE_COPY;
	if (t >= call) {
		if (world->handed_ns < call)
			world->handed_ns = call;
		return t < world->handed_ns + world->gap_ns ? IDLE_LAUNCH : IDLE_OTHER;
	}
	switch (world->states[thread][t - BASE]) {
	case HOST_SYNC:
		return IDLE_SYNC;
	case HOST_LAUNCH:
		return IDLE_LAUNCH;
	case HOST_INPUT:
		return IDLE_INPUT;
	case HOST_NOTHING:
		return inputs_at(world, t) ? IDLE_INPUT : IDLE_HOST;
	default:
		return IDLE_HOST;
	}
}

static void check_breakdown(struct world *world)
{
	struct step_breakdown got;

	for (int i = 0; i < SLICES; i++) {
		const struct slice *slice = &world->slices[i];
		int64_t want[STEP_CLASS_COUNT] = { 0 }, sum = 0;

		for (int64_t t = slice->t0; t < slice->t1; t++)
			want[class_at(world, slice, t)]++;
		if (!slice->step) {
			CHECK(!model_step_breakdown(world->model, slice->t0, &got));
			continue;
		}
		CHECK(model_step_breakdown(world->model, slice->t0, &got));
		CHECK_INT(got.dur_ns, SLICE);
		CHECK_INT(got.lost, slice->lost);
		for (int c = 0; c < STEP_CLASS_COUNT; c++) {
			if (got.ns[c] != want[c])
				printf("slice %d class %s\n", i,
				       step_class_name((enum step_class)c));
			CHECK_INT(got.ns[c], want[c]);
			sum += got.ns[c];
		}
		CHECK_INT(sum, got.dur_ns);
	}
}

static void check_devices(struct world *world)
{
	for (uint32_t d = 0; d < DEVICES; d++) {
		struct overlap_row overlap, seen = { .device = d };
		struct idle_gap idle;
		int64_t first = INT64_MAX, last = 0, want[IDLE_COUNT] = { 0 };
		int64_t to = world->slices[SLICES - 1].t1;

		for (size_t i = 0; i < world->n; i++) {
			const struct act *act = &world->acts[i];

			if (act->kind != ACT_RUN || act->device != d || is_void(act))
				continue;
			if (act->start_ns < first)
				first = act->start_ns;
			if (act->end_ns > last && act->start_ns < to)
				last = act->end_ns < to ? act->end_ns : to;
		}
		for (int64_t t = first; t < last; t++) {
			bool kernel = false, copy = false, comm = false;
			const struct slice *slice = &world->slices[(t - BASE) / SLICE];

			for (size_t i = 0; i < world->n; i++) {
				const struct act *act = &world->acts[i];

				if (act->kind != ACT_RUN || act->device != d || !at(act, t))
					continue;
				comm |= act->work == WORK_COMM;
				copy |= act->work != WORK_COMM && act->direction;
				kernel |= act->work != WORK_COMM && !act->direction;
			}
			seen.compute_ns += kernel;
			seen.copy_ns += copy;
			seen.comm_ns += comm;
			seen.copy_hidden_ns += copy && kernel;
			seen.comm_hidden_ns += comm && kernel;
			if (!kernel && !copy && !comm)
				want[cause_at(world, slice, d, t)]++;
		}
		CHECK(model_overlap(world->model, d, &overlap));
		CHECK(memcmp(&overlap, &seen, sizeof(seen)) == 0);
		CHECK(model_idle(world->model, d, &idle));
		CHECK_INT(idle.start_ns, first);
		CHECK_INT(idle.end_ns, last);
		for (int c = 0; c < IDLE_COUNT; c++)
			CHECK_INT(idle.ns[c], want[c]);
	}
}

TEST(analyses_sweep_is_what_each_instant_says)
{
	static const int gaps_us[] = { 50, 1, 0 };

	for (int round = 0; round < 12; round++) {
		struct world *world = xcalloc(1, sizeof(*world));

		world_new(world, gaps_us[round % 3]);
		fill(world);
		for (uint32_t thread = 0; thread < THREADS; thread++)
			for (int64_t t = 0; t < SLICES * SLICE; t++)
				world->states[thread][t] =
					(uint8_t)state_at(world, thread, BASE + t);
		hand_out(world);
		check_breakdown(world);
		check_devices(world);
		model_free(world->model);
		free(world);
	}
}

/* A window's causes add up to its idle time, and a gap is found by its time. */
TEST(analyses_idle_windows_and_gaps)
{
	struct model *model = model_with_device();
	struct idle_gap gap, whole;
	struct device_row row;
	int64_t sum = 0;

	/* Each 100 us: 40 us of work, launched after 30 us within "input". */
	apply_one(model, ev_name(20, NAME_RANGE, "input"));
	for (int i = 0; i < 200; i++) {
		struct event kernel = ev_kernel(1, 1, (uint32_t)i + 1, i * 100000, 40000);

		kernel.u.command.call_ns = BASE + i * 100000 - 10000;
		kernel.u.command.call_dur_ns = 5000;
		apply_one(model, kernel);
		apply_one(model,
			  ev_op(20, (uint64_t)i + 1, 0, i * 100000 + 45000, 30000, OP_RANGE));
	}
	model_finish(model, false);
	CHECK(model_idle(model, 0, &whole));
	CHECK_INT(whole.ns[IDLE_INPUT], 199 * 30000);
	CHECK_INT(whole.ns[IDLE_LAUNCH], 199 * 10000);
	CHECK_INT(whole.ns[IDLE_HOST], 199 * 20000);
	CHECK(model_idle_at(model, 0, BASE + 5 * 100000 + 60000, &gap));
	CHECK_INT(gap.start_ns, BASE + 540000);
	CHECK_INT(gap.end_ns, BASE + 600000);
	CHECK_INT(gap.ns[IDLE_INPUT], 30000);
	CHECK_INT(idle_most(&gap), IDLE_INPUT);
	CHECK(!model_idle_at(model, 0, BASE + 5 * 100000 + 10000, &gap));
	for (int i = 0; i < 100; i++) {
		int64_t t0 = BASE + (int64_t)test_below(20000000);
		int64_t t1 = t0 + 1 + (int64_t)test_below(3000000);

		CHECK(model_idle_window(model, 0, t0, t1, &gap));
		CHECK(model_device_window(model, 0, t0, t1, &row));
		sum = 0;
		for (int c = 0; c < IDLE_COUNT; c++)
			sum += gap.ns[c];
		CHECK_INT(sum, t1 - t0 - row.busy_ns);
	}
	/* A whole number of turns has the whole's shares. */
	CHECK(model_idle_window(model, 0, BASE + 1000000, BASE + 3000000, &gap));
	CHECK_INT(gap.ns[IDLE_INPUT], 20 * 30000);
	CHECK_INT(gap.ns[IDLE_HOST], 20 * 20000);
	CHECK_INT(gap.ns[IDLE_LAUNCH], 20 * 10000);
	model_free(model);
}
