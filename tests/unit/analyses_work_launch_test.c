/* SPDX-License-Identifier: MIT */
/* Launch costs, delays and the depth of queues, against a scan of every us. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

/* Handed over at call, began at start, over at end. */
static void launched(struct bench *bench, int64_t call, int64_t dur, int64_t start, int64_t end)
{
	struct act *act = bench_act(bench, ACT_LAUNCH, call, call + dur);

	act->queue = 0;
	act->call_ns = start;
	act->command = COMMAND_KERNEL;
	act = bench_kernel(bench, 1, start, end);
	act->call_ns = call;
	act->call_dur_ns = (uint32_t)dur;
}

TEST(work_launch_costs_and_delays)
{
	struct bench bench;
	struct queue_work *queues;

	bench_init(&bench, &analysis_launch);
	for (int i = 0; i < 100; i++)
		launched(&bench, BASE + i * 100 * US, 10 * US, BASE + i * 100 * US + 30 * US,
			 BASE + i * 100 * US + (i < 30 ? 35 : 60) * US);
	/* began before its call returned; waited for by its call */
	launched(&bench, BASE + 10000 * US, 400 * US, BASE + 10100 * US, BASE + 10900 * US);
	bench_act(&bench, ACT_LAUNCH, BASE + 10450 * US, BASE + 10950 * US)->queue = 0;
	bench.acts[bench.n - 1].flags = ACT_BLOCKING;
	bench_step(&bench, BASE, BASE + 11000 * US);
	CHECK_INT(launch_queues(bench.state, &queues), 1);
	CHECK_INT(queues[0].launches, 102);
	CHECK(llabs(queues[0].call_p50_ns - 10 * US) < 200);
	CHECK_INT(queues[0].call_max_ns, 400 * US);
	CHECK(llabs(queues[0].delay_p50_ns - 20 * US) < 400);
	CHECK_INT(queues[0].delay_max_ns, 20 * US);
	CHECK_INT(queues[0].kernels, 101);
	CHECK_INT(queues[0].shorter, 30);
	free(queues);
	bench_release(&bench);
}

#define SPAN 3000
#define SLICES 6

/* What waits and what runs in each microsecond. */
struct naive { int waiting[SPAN], running[SPAN]; };

static void fill(int *cells, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to && i < SPAN; i++)
		cells[i]++;
}

/* The first `until` microseconds. */
static void check_against(const struct naive *naive, const void *state, int until)
{
	struct queue_work *queues;
	int64_t depth = 0, empty = 0;
	int most = 0;

	for (int i = 0; i < until; i++) {
		depth += naive->waiting[i];
		empty += !naive->waiting[i] && !naive->running[i];
		most = naive->waiting[i] > most ? naive->waiting[i] : most;
	}
	CHECK_INT(launch_queues(state, &queues), 1);
	CHECK_INT(queues[0].depth_milli, depth * 1000 / until);
	CHECK_INT(queues[0].empty_ns, empty * US);
	CHECK_INT(queues[0].depth_max, most);
	CHECK_INT(queues[0].watched_ns, until * US);
	free(queues);
}

/* Launches that begin slices later, runs that reach over borders. */
TEST(work_launch_depth_against_naive)
{
	for (int round = 0; round < 30; round++) {
		struct naive naive = { { 0 }, { 0 } };
		struct { int64_t call, start, end; } all[80];
		struct bench bench;

		bench_init(&bench, &analysis_launch);
		for (int i = 0; i < 80; i++) {
			all[i].call = (int64_t)test_below(SPAN - 1);
			all[i].start =
				all[i].call + 1 + (int64_t)test_below(test_below(4) ? 50 : 1500);
			all[i].end = all[i].start + (int64_t)test_below(100);
			fill(naive.waiting, all[i].call, all[i].start);
			fill(naive.running, all[i].start, all[i].end);
		}
		for (int s = 0; s < SLICES; s++) {
			int64_t t0 = s * SPAN / SLICES, t1 = (s + 1) * SPAN / SLICES;

			/* as the engine does it: what touches the slice */
			for (int i = 0; i < 80; i++) {
				if (all[i].call >= t0 && all[i].call < t1) {
					bench_act(&bench, ACT_LAUNCH, BASE + all[i].call * US,
						  BASE + all[i].call * US + US)->queue = 0;
					bench.acts[bench.n - 1].call_ns = BASE + all[i].start * US;
				}
				if (all[i].start < t1 && all[i].end > t0)
					bench_kernel(&bench, 1, BASE + all[i].start * US,
						     BASE + all[i].end * US);
			}
			/* so that the queue is known from the start */
			if (!s)
				bench_kernel(&bench, 1, BASE, BASE);
			bench_step(&bench, BASE + t0 * US, BASE + t1 * US);
			check_against(&naive, bench.state, (int)t1);
		}
		bench_release(&bench);
	}
}
