/* SPDX-License-Identifier: MIT */
/*
 * Verdicts on programs whose causes are known to the nanosecond, and silence
 * where nothing is wrong; bandwidth against the sums.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/findings.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEPS 20
#define OTHER_PID (PID + 7)

/* One step: input, then a launch of 5 us or more, a pause, the kernel, a wait. */
struct shape {
	int64_t input_us, launch_us, pause_us, kernel_us, wait_us, rest_us;
	int64_t between_us;		/* of it input */
	int64_t maker_us;		/* another thread makes batches for so long */
	int64_t other_us;		/* after the kernel another process's runs for so long */
	int64_t late_us;		/* every third wait, or launch, ends so much later */
	bool launch_late;
	bool unheard;			/* no record of the kernels comes */
};

static void one_step(struct model *model, const struct shape *shape, int number, int64_t *now)
{
	uint64_t instance = (uint64_t)number * 10 + 1;
	int64_t begin = *now, call_ns = (5 + shape->launch_us) * US, run;
	struct event event;

	if (shape->input_us) {
		apply_one(model, ev_op(20, instance, 0, *now, shape->input_us * US, OP_RANGE));
		*now += shape->input_us * US;
	}
	run = *now + call_ns + shape->pause_us * US;
	event = ev_kernel(1, 1, (uint32_t)number + 1, run, shape->kernel_us * US);
	event.u.command.call_ns = BASE + *now;
	event.u.command.call_dur_ns = (uint32_t)call_ns;
	if (!shape->unheard)
		apply_one(model, event);
	event = (struct event) {
		.type = EVENT_WAIT, .pid = PID, .tid = PID,
		.u.wait = { .name = 22, .queue = 1, .start_ns = BASE + *now + call_ns },
	};
	if (shape->other_us) {
		struct event other = ev_kernel(1, 2, (uint32_t)number + 1,
					       run + shape->kernel_us * US, shape->other_us * US);

		other.pid = OTHER_PID;
		apply_one(model, other);
	}
	*now = run + (shape->kernel_us + shape->wait_us) * US;
	event.u.wait.dur_ns = BASE + *now - event.u.wait.start_ns;
	event.time_ns = BASE + *now;
	apply_one(model, event);
	*now += shape->rest_us * US;
	apply_one(model, ev_op(21, instance + 1, 0, begin, *now - begin, OP_RANGE));
	if (shape->maker_us) {
		event = ev_op(23, instance + 2, 0, begin, shape->maker_us * US, OP_RANGE);
		event.tid = event.u.op.tid = PID + 1;
		apply_one(model, event);
	}
	if (shape->between_us)
		apply_one(model,
			  ev_op(20, instance + 3, 0, *now, shape->between_us * US, OP_RANGE));
	*now += shape->between_us * US;
}

/* A process with the same device. */
static void other_process(struct model *model)
{
	struct event events[] = {
		ev_process(OTHER_PID, "/usr/bin/python serve.py"), ev_name(2, NAME_KERNEL, "other"),
		ev_device(1, "0000:65:00.0"), ev_queue(1, 1), ev_clock(1, BASE, TICKS),
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		events[i].pid = OTHER_PID;
		apply_one(model, events[i]);
	}
}

static struct model *run_steps(const struct shape *shape, int steps)
{
	struct model *model = model_with_device();
	int64_t now = 0;

	apply_one(model, ev_name(20, NAME_RANGE, "input"));
	apply_one(model, ev_name(21, NAME_RANGE, "step"));
	apply_one(model, ev_name(22, NAME_CALL, "clFinish"));
	apply_one(model, ev_name(23, NAME_RANGE, "input/make"));
	if (shape->other_us)
		other_process(model);
	for (int i = 0; i < steps; i++) {
		struct shape this = *shape;

		if (i % 3 == 0)
			*(shape->launch_late ? &this.launch_us : &this.wait_us) += shape->late_us;
		one_step(model, &this, i, &now);
	}
	model_finish(model, false);
	return model;
}

/* The only finding there is; id NULL: there must be none. */
static struct finding only(struct model *model, const char *id)
{
	struct finding *list, found;
	struct findings_status status;
	size_t n;

	memset(&found, 0, sizeof(found));
	model_lock(model);
	n = model_findings(model, &status, &list);
	model_unlock(model);
	if (!id && n)
		test_fail(__FILE__, __LINE__, "said: %s", list[0].title);
	CHECK_INT(n, id ? 1 : 0);
	if (n)
		found = list[0];
	free(list);
	if (id)
		CHECK_STR(found.id, id);
	return found;
}

TEST(analyses_verdict_input)
{
	const struct shape slow = { .input_us = 3000, .kernel_us = 6000, .wait_us = 20 };
	const struct shape between = { .between_us = 3000, .kernel_us = 6000, .wait_us = 20 };
	const struct shape some = { .input_us = 600, .kernel_us = 6000, .maker_us = 6500 };
	struct finding finding;
	struct step_bound bound;
	struct model *model = run_steps(&slow, STEPS);

	finding = only(model, "input-bound");
	CHECK_INT(finding.cost_ns, 3000 * US);
	CHECK_INT(finding.severity, SEVERITY_WARNING);
	CHECK(strstr(finding.title, "input-bound: 33 % of each step waits for input"));
	CHECK(model_bound(model, &bound));
	CHECK_INT(bound.kind, BOUND_COMPUTE);
	CHECK_INT(bound.whole_ns, 9025 * US);
	model_free(model);
	/* It counts as well where the step's range does not hold it. */
	model = run_steps(&between, STEPS);
	finding = only(model, "input-bound");
	/* the place is the time between, that of another step is none */
	CHECK_INT(finding.evidence.t1 - finding.evidence.t0, 3000 * US);
	CHECK(finding.cost_ns <= 3000 * US && finding.cost_ns >= 2800 * US);
	model_free(model);
	model = run_steps(&some, STEPS);
	finding = only(model, "input-bound");
	CHECK_INT(finding.severity, SEVERITY_NOTE);
	CHECK(strstr(finding.lines[0], "input/make runs on one thread"));
	model_free(model);
}

TEST(analyses_verdict_launch)
{
	const struct shape shape = { .launch_us = 1500, .kernel_us = 4000, .wait_us = 20 };
	const struct shape waits = { .pause_us = 1500, .kernel_us = 4000, .wait_us = 20 };
	struct model *model = run_steps(&shape, STEPS);
	struct idle_gap idle;

	CHECK_INT(only(model, "launch-bound").cost_ns, 1505 * US);
	model_free(model);
	/* What was handed over and waits longer than that takes waits for something else. */
	model = run_steps(&waits, STEPS);
	only(model, NULL);
	CHECK(model_idle(model, 0, &idle));
	CHECK_INT(idle.ns[IDLE_LAUNCH], (STEPS - 1) * 55 * US);
	CHECK_INT(idle.ns[IDLE_OTHER], (STEPS - 1) * 1450 * US);
	model_free(model);
}

/* The cost is that of the median step, the share that of the cost in the mean step. */
TEST(analyses_verdict_share_is_that_of_the_cost)
{
	const struct shape shape = {
		.launch_us = 1500, .kernel_us = 4000, .wait_us = 20, .late_us = 9000,
		.launch_late = true,
	};
	struct model *model = run_steps(&shape, STEPS);
	struct finding finding = only(model, "launch-bound");
	struct findings_status status;
	char share[FMT_MAX];

	model_lock(model);
	model_findings(model, &status, NULL);
	model_unlock(model);
	CHECK_INT(finding.cost_ns, 1505 * US);
	CHECK(finding_of_ns(&finding, &status) > 8000 * US);
	fmt_share(share, (uint64_t)finding.cost_ns, (uint64_t)finding_of_ns(&finding, &status));
	CHECK(strstr(finding.title, share));
	CHECK(strstr(finding.lines[1], "launch takes 4.5"));
	model_free(model);
}

TEST(analyses_verdict_sync)
{
	const struct shape shape = { .kernel_us = 4000, .wait_us = 1500 };
	struct model *model = run_steps(&shape, STEPS);
	struct finding finding = only(model, "sync-bound");

	CHECK_INT(finding.cost_ns, 1500 * US);
	CHECK(strstr(finding.lines[0], "clFinish"));
	model_free(model);
}

/* A device that nothing is heard of may have worked all the time. */
TEST(analyses_verdict_no_sync_where_nothing_is_heard)
{
	const struct shape shape = { .kernel_us = 4000, .wait_us = 1500, .unheard = true };
	struct model *model = run_steps(&shape, STEPS);

	only(model, NULL);
	CHECK_INT(status_of(model).kernels, 0);
	model_free(model);
}

/* The same wait, but the device works for another process meanwhile. */
TEST(analyses_verdict_sync_is_not_behind_another_process)
{
	const struct shape shape = { .kernel_us = 4000, .wait_us = 1500, .other_us = 1490 };
	struct model *model = run_steps(&shape, STEPS);

	only(model, NULL);
	CHECK_INT(status_of(model).kernels, 2 * STEPS);
	model_free(model);
}

/* Something else has the cores now and then: a mean says so, and no step does. */
TEST(analyses_verdict_of_the_typical_step)
{
	struct shape shape = { .kernel_us = 4000, .wait_us = 100, .late_us = 9000 };
	struct model *model = run_steps(&shape, STEPS);

	only(model, NULL);
	model_free(model);
	shape.launch_late = true;
	model = run_steps(&shape, STEPS);
	only(model, NULL);
	model_free(model);
	/* What is so in every step stands, and costs no more. */
	shape.wait_us = 1500;
	model = run_steps(&shape, STEPS);
	CHECK_INT(only(model, "sync-bound").cost_ns, 1500 * US);
	model_free(model);
}

TEST(analyses_verdict_is_silent_where_nothing_is_wrong)
{
	const struct shape good = {
		.input_us = 100, .pause_us = 20, .kernel_us = 6000, .wait_us = 30, .rest_us = 50,
		.maker_us = 5500,
	};
	const struct shape slow = { .input_us = 3000, .kernel_us = 6000 };
	struct step_bound bound;
	struct model *model = run_steps(&good, STEPS);

	only(model, NULL);
	CHECK(model_bound(model, &bound));
	CHECK_INT(bound.kind, BOUND_COMPUTE);
	model_free(model);
	/* Two of warm-up and four are too few to say anything. */
	model = run_steps(&slow, 6);
	only(model, NULL);
	CHECK(!model_bound(model, &bound));
	model_free(model);
}

/* What is found of steps whose kernel takes us[i] in step i. */
static struct finding of_kernels(const int64_t *us, int n)
{
	struct finding *list, found = { .id = "" };
	struct model *model = model_with_device();
	struct findings_status status;
	int64_t now = 0;
	size_t count;

	apply_one(model, ev_name(21, NAME_RANGE, "step"));
	apply_one(model, ev_name(22, NAME_CALL, "clFinish"));

	for (int i = 0; i < n; i++) {
		const struct shape shape = { .kernel_us = us[i], .wait_us = 20 };

		one_step(model, &shape, i, &now);
	}
	model_finish(model, false);
	model_lock(model);
	count = model_findings(model, &status, &list);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].id, "slower-steps"))
			found = list[i];
	free(list);
	model_free(model);
	return found;
}

TEST(analyses_slower_steps)
{
	int64_t us[400];
	struct finding finding;

	/* a step up by half, with noise of a tenth: told with the step, and what it costs */
	for (int i = 0; i < 60; i++)
		us[i] = (i < 40 ? 4000 : 6000) + i % 7 * 60;
	finding = of_kernels(us, 60);
	CHECK(strstr(finding.title, "steps got slower: from step 40 on they take 6."));
	CHECK(strstr(finding.lines[0], "most of it in compute"));
	CHECK(finding.cost_ns > 600 * US && finding.cost_ns < 800 * US);
	/* many steps, which share bins */
	for (int i = 0; i < 400; i++)
		us[i] = (i < 200 ? 4000 : 6000) + i % 7 * 60;
	CHECK(strstr(of_kernels(us, 400).title, "from step 20"));
	/* not: steps that vary, a few slow ones, faster ones, too few after the change */
	for (int i = 0; i < 60; i++)
		us[i] = 4000 + i * 37 % 11 * 400;
	CHECK_STR(of_kernels(us, 60).id, "");
	for (int i = 0; i < 60; i++)
		us[i] = i / 5 == 6 ? 9000 : 4000;
	CHECK_STR(of_kernels(us, 60).id, "");
	for (int i = 0; i < 60; i++)
		us[i] = i < 30 ? 6000 : 4000;
	CHECK_STR(of_kernels(us, 60).id, "");
	for (int i = 0; i < 60; i++)
		us[i] = i < 54 ? 4000 : 6000;
	CHECK_STR(of_kernels(us, 60).id, "");
}

TEST(analyses_breakdown_mean_is_exact)
{
	const struct shape shape = {
		.input_us = 700, .pause_us = 60, .kernel_us = 6000, .wait_us = 30, .rest_us = 50,
	};
	struct model *model = run_steps(&shape, STEPS);
	struct step_breakdown mean;

	CHECK_INT(model_step_breakdown_mean(model, &mean), STEPS - 2);
	CHECK_INT(mean.ns[STEP_INPUT], 700 * US);
	CHECK_INT(mean.ns[STEP_LAUNCH], 55 * US);
	CHECK_INT(mean.ns[STEP_COMPUTE], 6000 * US);
	CHECK_INT(mean.ns[STEP_SYNC], 30 * US);
	CHECK_INT(mean.ns[STEP_OTHER], 60 * US);
	CHECK_INT(mean.dur_ns, 6845 * US);
	model_free(model);
}

TEST(analyses_bandwidth_is_bytes_over_busy_time)
{
	struct model *model = model_with_device();
	struct bandwidth_row *rows;
	size_t n;

	/* Two at once: 200 us are busy with 3 MB, the faster did 2 MB in 150 us. */
	apply_one(model, ev_copy(1, DIR_H2D, 1000000, 1000, 100 * US));
	apply_one(model, ev_copy(2, DIR_H2D, 2000000, 1000 + 50 * US, 150 * US));
	apply_one(model, ev_copy(1, DIR_D2H, 1000, 300 * US, 10));
	apply_one(model, ev_copy(1, DIR_D2H, 100000, 400 * US, 100 * US));
	model_finish(model, false);
	model_lock(model);
	n = model_bandwidth(model, &rows);
	model_unlock(model);
	CHECK_INT(n, 2);
	CHECK_INT(rows[0].direction, DIR_H2D);
	CHECK_INT(rows[0].bytes, 3000000);
	CHECK_INT(rows[0].busy_ns, 200 * US);
	CHECK_INT(rows[0].mean_bytes_per_s, 15000000000);
	CHECK_INT(rows[0].best_bytes_per_s, 13333333333);
	/* A small one is no best, however fast. */
	CHECK_INT(rows[1].best_bytes_per_s, 1000000000);
	CHECK_INT(rows[1].count, 2);
	free(rows);
	model_free(model);
}
