/* SPDX-License-Identifier: MIT */
/* Steps in which only the processor works: cores, the path from op to op, classes. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/acts/act.h"
#include "model/core/model.h"
#include "model/query/cores.h"
#include "model/query/time.h"
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

static struct act *collective(struct bench *bench, const char *name, uint32_t thread, int64_t start,
			      int64_t end)
{
	struct act *act = op(bench, name, "", thread, 0, start, end);

	act->work = WORK_COMM;
	act->flags = ACT_RANGE;
	return act;
}

/* Between two ops, the exposed part of collectives that other threads are in meanwhile. */
TEST(cores_path_through_collectives)
{
	struct critical_path path;
	struct bench bench;

	bench_init(&bench, &analysis_critical);
	op(&bench, "before", "Mul", 1, 7, 0, 30);
	collective(&bench, "hidden", 5, 5, 25);
	collective(&bench, "long", 5, 26, 60);
	collective(&bench, "late", 6, 50, 65);
	collective(&bench, "within", 7, 52, 58);
	collective(&bench, "of another", 8, 31, 69)->process = 1;
	op(&bench, "after", "Mul", 1, 7, 70, 92);
	collective(&bench, "last", 5, 80, 95);
	bench_step(&bench, BASE, BASE + STEP_US * US);
	CHECK_INT(on_path(&bench, false, "late"), 15 * US);
	CHECK_INT(on_path(&bench, false, "long"), 20 * US);
	CHECK_INT(on_path(&bench, false, "last"), 3 * US);
	CHECK_INT(on_path(&bench, false, "hidden"), -1);
	CHECK_INT(on_path(&bench, false, "within"), -1);
	CHECK_INT(on_path(&bench, false, "of another"), -1);
	CHECK(critical_step(bench.state, BASE, &path));
	CHECK_INT(path.ns[PATH_OP], 52 * US);
	CHECK_INT(path.ns[PATH_COMM], 38 * US);
	CHECK_INT(path.ns[PATH_HOST], 10 * US);
	bench_release(&bench);
}

/* A step of 100 us: an op of 60, then a range on another thread that is 30 of the rest. */
static int64_t comm_of(const char *name)
{
	struct model *model = model_with_device();
	struct step_breakdown mean;

	apply_one(model, ev_name(30, NAME_OP, "mul"));
	apply_one(model, ev_name(31, NAME_RANGE, name));
	for (int i = 0; i < MANY; i++) {
		int64_t at = i * STEP_US * US;
		struct event op = ev_op(30, (uint64_t)i * 2 + 1, 0, at, 60 * US, 0);
		struct event range = ev_op(31, (uint64_t)i * 2 + 2, 0, at + 50 * US, 40 * US,
					   OP_RANGE);
		struct event step = {
			.type = EVENT_STEP, .pid = PID, .tid = PID,
			.time_ns = BASE + at + STEP_US * US,
			.u.step = { .number = i, .start_ns = BASE + at, .dur_ns = STEP_US * US },
		};

		op.u.op.framework = range.u.op.framework = FW_PYTORCH;
		range.tid = range.u.op.tid = PID + 7;
		apply_one(model, op);
		apply_one(model, range);
		apply_one(model, step);
	}
	model_finish(model, false);
	CHECK(model_step_breakdown_mean(model, &mean) > MANY / 2);
	CHECK_INT(mean.ns[STEP_COMPUTE] / US, 60);
	CHECK_INT(mean.ns[STEP_COMM] + mean.ns[STEP_HOST], 40 * US);
	model_free(model);
	return mean.ns[STEP_COMM];
}

TEST(cores_collectives_by_name)
{
	CHECK_INT(comm_of("gloo:all_reduce"), 30 * US);
	CHECK_INT(comm_of("mpi:broadcast"), 30 * US);
	CHECK_INT(comm_of("c10d::allreduce_"), 0);
	CHECK_INT(comm_of("igloo: pack"), 0);
}

/* A function's run of 50 us on each 100, with 30 of ops on a thread of a pool. On another one an
 * input pipeline is in Python meanwhile, and may sleep there. */
static struct model *model_of_runs(void)
{
	static const int64_t ops[3][2] = { { 5, 20 }, { 30, 45 }, { -30, 65 } };
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_OP, "step"));
	apply_one(model, ev_name(31, NAME_OP, "mul"));
	apply_one(model, ev_name(32, NAME_OP, "PyFunc"));
	for (int i = 0; i < MANY; i++) {
		int64_t at = (i + 1) * STEP_US * US;
		struct event root = ev_op(30, (uint64_t)i * 4 + 1, 0, at, 50 * US, 0);
		struct event step = {
			.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + at + 50 * US,
			.u.step = { .number = -1, .name = 30, .start_ns = BASE + at,
				    .dur_ns = 50 * US },
		};

		for (int k = 0; k < 3; k++) {
			struct event op = ev_op(k == 2 ? 32 : 31, (uint64_t)(i * 4 + k + 2), 0,
						at + ops[k][0] * US,
						(ops[k][1] - ops[k][0]) * US, 0);

			op.u.op.framework = FW_TENSORFLOW;
			op.u.op.step = k == 2 ? 1000 + i : 1 + i;
			op.tid = op.u.op.tid = PID + (k == 2 ? 2 : 1);
			apply_one(model, op);
		}
		root.u.op.framework = FW_TENSORFLOW;
		root.u.op.step = -1;
		apply_one(model, root);
		apply_one(model, step);
	}
	model_finish(model, false);
	return model;
}

TEST(cores_run_beside_an_input_pipeline)
{
	struct model *model = model_of_runs();
	struct step_breakdown mean;
	struct critical_path path;
	struct path_part *parts;

	CHECK(model_step_breakdown_mean(model, &mean) > MANY / 2);
	CHECK_INT(mean.dur_ns, 50 * US);
	CHECK_INT(mean.ns[STEP_COMPUTE], 30 * US);
	CHECK_INT(mean.ns[STEP_HOST], 20 * US);
	model_critical(model, &path, 0, &parts);
	free(parts);
	CHECK_INT(path.ns[PATH_OP], 30 * US);
	CHECK_INT(path.ns[PATH_HOST], 20 * US);
	model_free(model);
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
