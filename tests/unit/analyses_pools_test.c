/* SPDX-License-Identifier: MIT */
/* pool-bound: ops that wait for a thread while cores are free. */
#include <stdio.h>
#include <string.h>

#include "model/acts/act.h"
#include "model/core/model.h"
#include "model/query/findings.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define WORKER 70u

static void setup(struct bench *bench, uint32_t cores, uint32_t threads)
{
	struct event event = ev_device(2, "");

	bench_init(bench, &analysis_pools);
	event.u.device.api = "cpu";
	event.u.device.gpu = 0;
	event.u.device.units = cores;
	apply_one(bench->model, event);
	for (uint32_t i = 0; i < threads; i++) {
		apply_one(bench->model, (struct event) {
			.type = EVENT_THREAD, .pid = PID, .tid = PID, .time_ns = BASE,
			.u.thread = { .tid = WORKER + i, .name = "tf_Compute" },
		});
		apply_one(bench->model, (struct event){
						.type = EVENT_POOL,
						.pid = PID,
						.tid = PID,
						.time_ns = BASE + MS,
						.u.pool = { .tid = WORKER + i,
							    .closures = 1,
							    .begin_ns = BASE,
							    .end_ns = BASE + MS },
					});
	}
}

static void op(struct bench *bench, const char *name, uint32_t worker, int64_t start_ns,
	       int64_t dur_ns, int64_t wait_ns)
{
	struct act *act = bench_act(bench, ACT_OP, start_ns, start_ns + dur_ns);

	act->name = bench_name(bench, name);
	act->thread = thread_get(bench->model, 0, WORKER + worker);
	act->call_ns = wait_ns ? start_ns - wait_ns : 0;
}

/* Steps of 1 ms: four ops of 200 us that become ready at its begin. */
static size_t play(struct bench *bench, uint32_t threads, struct finding *finding)
{
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * MS;

		for (uint32_t k = 0; k < 4; k++) {
			char name[16];

			snprintf(name, sizeof(name), "branch_%u", k);
			op(bench, name, k % threads, t + k / threads * 200 * US, 200 * US,
			   k / threads * 200 * US);
			/* what is called in it is no second op of the thread */
			op(bench, "inner", k % threads, t + k / threads * 200 * US + 10 * US,
			   20 * US, 0);
		}
		bench_step(bench, t, t + MS);
	}
	return bench_review(bench, NULL, finding);
}

TEST(pools_one_thread_of_two_cores)
{
	struct finding finding;
	struct bench bench;

	setup(&bench, 2, 1);
	CHECK_INT(play(&bench, 1, &finding), 1);
	CHECK_STR(finding.id, "pool-bound");
	CHECK_STR(finding.title, "pool-bound: in 60 % of each step, ops wait for the one thread of "
		  "tf_Compute");
	/* 600 us held, of which a second thread would take half */
	CHECK_INT(finding.cost_ns, 300 * US);
	CHECK(finding.severity == SEVERITY_WARNING);
	CHECK_STR(finding.lines[0], "3.0 ops per step are handed to it and wait 1.20 ms in total; "
		  "branch_3 waits most, up to 600 µs");
	CHECK_STR(finding.evidence.key, "branch_3");
	CHECK_INT(finding.evidence.t1 - finding.evidence.t0, 600 * US);
	bench_release(&bench);
}

/* Of eight cores three, two and then one of those that wait could run. */
TEST(pools_more_cores_than_wait)
{
	struct finding finding;
	struct bench bench;

	setup(&bench, 8, 1);
	CHECK_INT(play(&bench, 1, &finding), 1);
	CHECK_INT(finding.cost_ns, 200 * US * 3 / 4 + 200 * US * 2 / 3 + 200 * US / 2);
	bench_release(&bench);
}

TEST(pools_as_many_threads_as_cores)
{
	struct finding finding;
	struct bench bench;

	setup(&bench, 2, 2);
	CHECK_INT(play(&bench, 2, &finding), 0);
	bench_release(&bench);
	/* nor where their number is not known */
	setup(&bench, 0, 1);
	CHECK_INT(play(&bench, 1, &finding), 0);
	bench_release(&bench);
}

/* While no op runs there, what an op waits for is that the thread wakes up. */
TEST(pools_waking_is_no_wait)
{
	struct finding finding;
	struct bench bench;

	setup(&bench, 4, 1);
	for (int64_t i = 0; i < 10; i++) {
		op(&bench, "late", 0, BASE + i * MS + 700 * US, 100 * US, 700 * US);
		bench_step(&bench, BASE + i * MS, BASE + (i + 1) * MS);
	}
	CHECK_INT(bench_review(&bench, NULL, &finding), 0);
	bench_release(&bench);
}
