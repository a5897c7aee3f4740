/* SPDX-License-Identifier: MIT */
/* Steps in which only the processor works: cores, the path from op to op, classes. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/acts/act.h"
#include "model/core/model.h"
#include "model/query/cores.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEP_US 100
#define MANY 40

static struct act *op(struct bench *bench, const char *name, const char *type, uint32_t thread,
		      uint64_t step, int64_t start, int64_t end)
{
	struct act *act = bench_act(bench, ACT_OP, BASE + start * US, BASE + end * US);

	act->thread = thread;
	act->name = bench_name(bench, name);
	act->op_name = bench_name(bench, type);
	act->amount = step;
	act->flags = ACT_WORKS;
	return act;
}

/* By name, of the parts or of the types of the path; -1: not on it. */
static int64_t on_path(struct bench *bench, bool types, const char *name)
{
	struct critical_path path;
	struct path_part *parts;
	int64_t ns = -1;
	size_t n = types ? critical_types(bench->state, &bench->model->names, &parts) :
		critical_parts(bench->state, &bench->model->names, &path, SIZE_MAX, &parts);

	for (size_t i = 0; i < n; i++)
		if (name ? parts[i].name && !strcmp(parts[i].name, name) : !parts[i].name)
			ns = parts[i].ns;
	free(parts);
	return ns;
}

/* Two branches; what an input pipeline runs beside is on no path. */
TEST(cores_path_by_hand)
{
	struct critical_path path;
	struct bench bench;

	bench_init(&bench, &analysis_critical);
	op(&bench, "conv", "Conv2D", 1, 7, 5, 40);
	op(&bench, "side", "Relu", 2, 7, 5, 20);
	op(&bench, "pool", "MaxPool", 2, 7, 42, 60);
	op(&bench, "map", "PyFunc", 3, 8, 41, 89);
	op(&bench, "grad", "MaxPool", 1, 7, 60, 90);
	bench_step(&bench, BASE, BASE + STEP_US * US);
	CHECK_INT(on_path(&bench, false, "conv"), 35 * US);
	CHECK_INT(on_path(&bench, false, "pool"), 18 * US);
	CHECK_INT(on_path(&bench, false, "grad"), 30 * US);
	CHECK_INT(on_path(&bench, false, "side"), -1);
	CHECK_INT(on_path(&bench, false, "map"), -1);
	CHECK_INT(on_path(&bench, false, NULL), 17 * US);
	CHECK_INT(on_path(&bench, true, "MaxPool"), 48 * US);
	CHECK_INT(on_path(&bench, true, "Relu"), -1);
	CHECK(critical_step(bench.state, BASE, &path));
	CHECK_INT(path.ns[PATH_OP], 83 * US);
	CHECK_INT(path.ns[PATH_HOST], 17 * US);
	bench_release(&bench);
}

/* A run that has a small part of the step says nothing of it; nor do ops beside a
 * device that is launched to. */
TEST(cores_path_of_others)
{
	struct bench bench;

	bench_init(&bench, &analysis_critical);
	op(&bench, "conv", "Conv2D", 1, 7, 5, 40);
	bench_step(&bench, BASE, BASE + STEP_US * US);
	CHECK_INT(on_path(&bench, true, "Conv2D"), -1);
	op(&bench, "conv", "Conv2D", 1, 7, 5, 90);
	bench_kernel(&bench, bench_name(&bench, "k"), BASE + 6 * US, BASE + 50 * US);
	bench_step(&bench, BASE, BASE + STEP_US * US);
	CHECK_INT(on_path(&bench, true, "Conv2D"), -1);
	bench_release(&bench);
}

struct interval { int64_t start, end; uint32_t thread; };

/* Counted microsecond by microsecond. */
static void plain(const struct interval *list, int n, int64_t *busy, int64_t *any)
{
	*busy = *any = 0;
	for (int64_t t = 0; t < STEP_US; t++) {
		uint32_t threads = 0;

		for (int i = 0; i < n; i++)
			if (list[i].start <= t && t < list[i].end)
				threads |= 1u << list[i].thread;
		*busy += __builtin_popcount(threads);
		*any += threads != 0;
	}
}

TEST(cores_busy_any)
{
	struct bench bench;

	bench_init(&bench, &analysis_cores);
	for (int thread = 0; thread < 4; thread++)
		store_new(&bench.model->threads);
	for (int round = 0; round < 50; round++) {
		struct interval list[MANY];
		struct cores_use use;
		int64_t busy, any;
		int n = (int)(test_random() % MANY);

		for (int i = 0; i < n; i++) {
			list[i].start = (int64_t)(test_random() % STEP_US);
			list[i].end = list[i].start + (int64_t)(test_random() % 30);
			list[i].thread = (uint32_t)(test_random() % 4);
			op(&bench, "op", "T", list[i].thread, 7, round * STEP_US + list[i].start,
			   round * STEP_US + list[i].end);
		}
		plain(list, n, &busy, &any);
		bench_step(&bench, BASE + round * STEP_US * US, BASE + (round + 1) * STEP_US * US);
		if (!cores_window(bench.state, &bench.model->names, BASE + round * STEP_US * US,
				  BASE + (round + 1) * STEP_US * US, &use))
			use = (struct cores_use) { .span_ns = 0 };
		CHECK_INT(use.busy_ns, busy * US);
		CHECK_INT(use.any_ns, any * US);
	}
	bench_release(&bench);
}

/* Kernels that go on beside others of their thread are not more than the thread. */
TEST(cores_library_is_a_part)
{
	struct cores_use use;
	struct bench bench;

	bench_init(&bench, &analysis_cores);
	for (int thread = 0; thread < 2; thread++)
		store_new(&bench.model->threads);
	store_new(&bench.model->queues);
	queue_at(bench.model, 0)->name = bench_name(&bench, "XLA async");
	for (uint32_t i = 0; i < 4; i++) {
		struct act *run = bench_kernel(&bench, 1, BASE + i * 10 * US,
					       BASE + (i * 10 + 20) * US);

		run->flags = ACT_WORKS;
		run->thread = i / 2;
		run->queue = 0;
	}
	op(&bench, "op", "T", 0, 7, 60, 80);
	bench_step(&bench, BASE, BASE + STEP_US * US);
	CHECK(cores_window(bench.state, &bench.model->names, BASE, BASE + STEP_US * US, &use));
	CHECK_INT(use.busy_ns, (30 + 30 + 20) * US);
	CHECK_STR(use.top, "XLA");
	CHECK_INT(use.top_ns, (30 + 30) * US);
	bench_release(&bench);
}
