/* SPDX-License-Identifier: MIT */
/*
 * What tftop adds to steps is in no verdict: programs whose launches, pauses or ops take longer
 * under tftop, with bare steps that say so.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/pairs.h"
#include "model/core/model.h"
#include "model/query/findings.h"
#include "model/query/time.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define STEPS 200
#define FIRST 8				/* that are never bare */

/* ---- pairs ---- */

static int64_t added_of(int n, int every, bool mostly, int64_t added_ns, int64_t noise_ns)
{
	struct step_pairs pairs;
	uint32_t random = 1;
	int64_t result;

	memset(&pairs, 0, sizeof(pairs));
	for (int i = 0; i < n; i++) {
		bool bare = (i % every == every - 1) != mostly;
		int64_t ns = 100000 + i * 10;	/* it grows, for neighbours alike */

		random = random * 1664525u + 1013904223u;
		if (noise_ns)
			ns += (int64_t)(random >> 8) % (2 * noise_ns) - noise_ns;
		pairs_step(&pairs, bare, ns + (bare ? 0 : added_ns));
	}
	result = pairs_added_ns(&pairs);
	pairs_release(&pairs);
	return result;
}

TEST(own_pairs)
{
	/* six differences are the fewest */
	CHECK_INT(added_of(4 * 6, 4, false, 500, 0), 0);
	CHECK_INT(added_of(4 * 6 + 1, 4, false, 500, 0), 500);
	CHECK_INT(added_of(4 * 6 + 1, 4, true, 500, 0), 500);
	CHECK_INT(added_of(5000, 4, false, 0, 0), 0);
	/* more than the ring holds, and noise that is larger than what is added */
	CHECK_INT(added_of(5000, 4, false, 0, 3000), 0);
	CHECK(llabs(added_of(5000, 4, false, 2000, 3000) - 2000) < 600);
	CHECK(llabs(added_of(5000, 33, true, 2000, 3000) - 2000) < 600);
	/* what is less with callbacks is no cost */
	CHECK_INT(added_of(5000, 4, false, -500, 0), 0);
}

TEST(own_pairs_are_of_neighbours)
{
	struct step_pairs pairs;

	memset(&pairs, 0, sizeof(pairs));
	for (int i = 0; i < 30; i++) {
		pairs_step(&pairs, false, 2000);
		pairs_step(&pairs, true, 1000);
		pairs_break(&pairs);
	}
	CHECK_INT(pairs.n, 0);
	CHECK_INT(pairs_added_ns(&pairs), 0);
}

/* ---- verdicts ---- */

/* A step: a batch is fetched, a kernel launched, which runs, and is waited for. */
struct own_shape {
	int64_t input_us, launch_us, kernel_us, wait_us;
	int64_t own_us;			/* the launch takes so much longer where ops are seen */
	int64_t op_us;			/* without kernel: an op of the processor, for so long */
	bool mostly;			/* most steps are bare */
	bool measured;
};

static void put_op(struct model *model, uint32_t name, int64_t start_ns, int64_t dur_ns)
{
	static uint64_t instance;
	struct event event = ev_op(name, ++instance, 0, start_ns, dur_ns, 0);

	event.u.op.framework = FW_PYTORCH;
	event.u.op.step = -1;
	apply_one(model, event);
}

static void put_kernel(struct model *model, const struct own_shape *shape, uint32_t number,
		       int64_t launch_us, int64_t *now)
{
	struct event event = ev_kernel(1, 1, number + 1, *now + launch_us * US,
				       shape->kernel_us * US);

	event.u.command.call_ns = BASE + *now;
	event.u.command.call_dur_ns = (uint32_t)(launch_us * US);
	apply_one(model, event);
	apply_one(model, ev_clock(1, BASE + *now, TICKS));
	*now += launch_us * US;
	event = (struct event) {
		.type = EVENT_WAIT, .pid = PID, .tid = PID,
		.u.wait = { .name = 22, .queue = 1, .start_ns = BASE + *now,
			    .dur_ns = (shape->kernel_us + shape->wait_us) * US },
	};
	*now += (shape->kernel_us + shape->wait_us) * US;
	event.time_ns = BASE + *now;
	apply_one(model, event);
}

static void own_one_step(struct model *model, const struct own_shape *shape, uint32_t number,
			 int64_t *now)
{
	bool bare = number >= FIRST && (number % 4 == 3) != shape->mostly;
	int64_t begin = *now, own_us = bare ? 0 : shape->own_us;
	struct event event = { .pid = PID, .tid = PID };

	if (shape->input_us)
		put_op(model, 20, *now, shape->input_us * US);
	*now += shape->input_us * US;
	if (!bare)
		put_op(model, 7, *now, shape->op_us ? (shape->op_us + own_us) * US : US);
	if (shape->kernel_us)
		put_kernel(model, shape, number, shape->launch_us + own_us, now);
	else
		*now += (shape->op_us + own_us) * US;
	put_op(model, 21, *now, US);
	*now += US;
	event.time_ns = BASE + *now;
	if (bare) {
		event.type = EVENT_BARE;
		event.u.bare = (struct event_bare) {
			.tid = PID, .steps = 1, .start_ns = BASE + begin, .dur_ns = *now - begin,
		};
		apply_one(model, event);
	}
	event.type = EVENT_STEP;
	event.u.step = (struct event_step) {
		.name = 8, .number = -1, .start_ns = BASE + begin, .dur_ns = *now - begin,
	};
	apply_one(model, event);
}

static struct model *own_run(const struct own_shape *shape)
{
	struct model *model = model_with_device();
	struct event event = { .type = EVENT_COST, .pid = PID, .tid = PID };
	int64_t now = 0, own_ns = shape->own_us * US;

	apply_one(model, ev_name(20, NAME_OP, "enumerate(DataLoader)#It.__next__"));
	apply_one(model, ev_name(21, NAME_OP, "Optimizer.step#SGD.step"));
	apply_one(model, ev_name(22, NAME_CALL, "cudaDeviceSynchronize"));
	for (uint32_t i = 0; i < STEPS; i++)
		own_one_step(model, shape, i, &now);
	event.time_ns = BASE + now;
	event.u.cost = (struct event_cost) {
		.pairs = 48, .every = 1, .steps = STEPS, .bare = 48, .step_ns = MS,
		.wall_ns = own_ns, .wall_low_ns = own_ns, .wall_high_ns = own_ns,
		.cpu_ns = own_ns, .cpu_low_ns = own_ns, .cpu_high_ns = own_ns,
	};
	if (shape->measured)
		apply_one(model, event);
	model_finish(model, false);
	return model;
}

/* The finding with that id; its id is "" if there is none. */
static struct finding told(const struct own_shape *shape, const char *id, struct step_bound *bound)
{
	struct finding *list, found = { .id = "" };
	struct model *model = own_run(shape);
	struct findings_status status;

	model_lock(model);
	for (size_t i = 0, n = model_findings(model, &status, &list); i < n; i++)
		if (!strcmp(list[i].id, id))
			found = list[i];
	CHECK(model_bound(model, bound));
	model_unlock(model);
	free(list);
	model_free(model);
	return found;
}

TEST(own_launches_are_not_the_program_s)
{
	struct own_shape shape = { .launch_us = 300, .kernel_us = 4000, .own_us = 1500 };
	struct step_bound bound;
	struct finding found = told(&shape, "launch-bound", &bound);

	/* unknown: it is told as it was seen */
	CHECK_INT(found.cost_ns, 1800 * US);
	CHECK_STR(found.lines[1], "");
	CHECK_INT(bound.own_ns, 0);
	shape.measured = true;
	CHECK_STR(told(&shape, "launch-bound", &bound).id, "");
	CHECK_INT(bound.whole_ns, 4301 * US);
	shape.mostly = true;
	CHECK_STR(told(&shape, "launch-bound", &bound).id, "");
	CHECK_INT(bound.whole_ns, 4301 * US);
}

TEST(own_part_is_taken_off_and_said)
{
	struct own_shape shape = {
		.launch_us = 2000, .kernel_us = 4000, .own_us = 1000, .measured = true,
	};
	struct step_bound bound;

	for (int mostly = 0; mostly < 2; mostly++) {
		struct finding found;
		double us = 0;
		char *call;

		shape.mostly = mostly;
		found = told(&shape, "launch-bound", &bound);
		CHECK_INT(found.cost_ns, 2000 * US);
		CHECK(strstr(found.title, " 33 % of each step"));
		CHECK_STR(found.lines[1], "without tftop's own 1.00 ms per step");
		call = strstr(found.lines[0], "a launch call takes ");
		CHECK(call && strstr(call, "ms in steps without callbacks around ops"));
		us = call ? 1000 * strtod(call + strlen("a launch call takes "), NULL) : 0;
		CHECK(us > 1960 && us < 2040);
	}
}

/* Where the host waits for the device, tftop's part of the host costs nothing. */
TEST(own_part_changes_no_other_class)
{
	struct own_shape shape = {
		.launch_us = 10, .kernel_us = 4000, .wait_us = 1500, .own_us = 200,
		.measured = true,
	};
	struct step_bound bound;
	struct finding found = told(&shape, "sync-bound", &bound);

	CHECK_INT(found.cost_ns, 1500 * US);
	CHECK_STR(found.lines[1], "of a step without tftop's own 200 µs");
	CHECK_INT(bound.own_ns, 200 * US);
}

TEST(own_part_is_not_in_the_step_that_waits_for_input)
{
	struct own_shape shape = { .input_us = 1000, .kernel_us = 2000, .own_us = 1000 };
	struct step_bound bound;

	CHECK(strstr(told(&shape, "input-bound", &bound).title, " 25 % of each step"));
	shape.measured = true;
	CHECK(strstr(told(&shape, "input-bound", &bound).title, " 33 % of each step"));
	CHECK_INT(told(&shape, "input-bound", &bound).cost_ns, 1000 * US);
}

TEST(own_part_decides_no_bound)
{
	struct own_shape shape = { .launch_us = 100, .kernel_us = 4000, .own_us = 5000 };
	struct own_shape host = { .input_us = 400, .op_us = 300, .own_us = 300 };
	struct step_bound bound;

	told(&shape, "", &bound);
	CHECK_INT(bound.kind, BOUND_LAUNCH);
	shape.measured = true;
	told(&shape, "", &bound);
	CHECK_INT(bound.kind, BOUND_COMPUTE);
	CHECK_INT(bound.ns, 4000 * US);
	/* ops of the processor */
	told(&host, "", &bound);
	CHECK_INT(bound.kind, BOUND_COMPUTE);
	host.measured = true;
	told(&host, "", &bound);
	CHECK_INT(bound.kind, BOUND_INPUT);
	CHECK_INT(bound.ns, 400 * US);
	CHECK_INT(bound.whole_ns, 701 * US);
	CHECK_INT(bound.own_ns, 300 * US);
}

/* ---- small kernels ---- */

/* n kernels of 2 us, with so long a pause after each. */
static void own_burst(struct bench *bench, int64_t start, int n, int64_t pause_ns)
{
	for (int i = 0; i < n; i++, start += 2 * US + pause_ns) {
		struct act *act = bench_kernel(bench, bench_name(bench, "update"), start,
					       start + 2 * US);

		act->op = bench->bare ? 0 : 1;
		act->call_ns = start - 2 * US;
		act->call_dur_ns = US;
	}
}

static size_t own_tiny(int n, bool measured, struct finding *finding)
{
	struct bench bench;
	size_t found;

	bench_init(&bench, &analysis_tiny);
	if (measured)
		process_at(bench.model, 0)->cost = (struct event_cost) {
			.pairs = 9, .steps = 100, .bare = 9, .step_ns = MS, .wall_ns = 120 * US,
			.wall_low_ns = 120 * US, .wall_high_ns = 120 * US, .cpu_high_ns = 1,
		};
	for (int i = 0; i < 60; i++) {
		int64_t t = BASE + i * MS;

		bench.bare = i % 4 == 3;
		own_burst(&bench, t + 100 * US, n, bench.bare ? US : 4 * US);
		bench_step(&bench, t, t + MS);
	}
	found = bench_review(&bench, "small-kernels", finding);
	bench_release(&bench);
	return found;
}

TEST(own_pauses_of_small_kernels)
{
	struct finding finding;

	CHECK_INT(own_tiny(40, false, &finding), 1);
	CHECK_INT(finding.cost_ns, 39 * 4 * US);
	CHECK_STR(finding.lines[2], "");
	CHECK_INT(own_tiny(40, true, &finding), 1);
	CHECK_INT(finding.cost_ns, 39 * US);
	CHECK_STR(finding.lines[2], "without tftop's own 117 µs per step");
	/* 40 of 2 us and 39 us of pauses */
	CHECK(strstr(finding.title, "gaps between launches take 33 % of that time"));
	CHECK(strstr(finding.advice, "at most 39.0 µs per step"));
	/* 3.6 % of a step are 0.9 % without it */
	CHECK_INT(own_tiny(10, false, &finding), 1);
	CHECK_INT(own_tiny(10, true, &finding), 0);
}
