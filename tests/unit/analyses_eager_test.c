/* SPDX-License-Identifier: MIT */
/* Programs that call their ops one by one: what of a step is compute, its critical
 * path, what goes around small ops. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/analyses/analyses.h"
#include "model/core/model.h"
#include "model/query/time.h"
#include "model/query/work.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEPS 8

static struct act *op(struct bench *bench, const char *name, int64_t start_ns, int64_t end_ns)
{
	struct act *act = bench_act(bench, ACT_OP, BASE + start_ns, BASE + end_ns);

	act->thread = 1;
	act->name = bench_name(bench, name);
	act->command = FW_PYTORCH;
	act->flags = ACT_WORKS;
	return act;
}

static void make_threads(struct bench *bench)
{
	thread_get(bench->model, 0, 41);
	thread_get(bench->model, 0, 42);
}

/* n ops of 3 us, 2 us of it in an op inside, 1 us between two; then one of big_us. */
static int64_t loop(struct bench *bench, int64_t at, int n, int64_t big_us)
{
	int64_t begin = at;

	for (int i = 0; i < n; i++) {
		int64_t from = at + 1 + i * 4 * US;

		op(bench, "aten::mul", from, from + 3 * US);
		op(bench, "aten::empty", from + 500, from + 2500);
	}
	at += n * 4 * US + US;
	op(bench, "aten::conv2d", at, at + big_us * US);
	op(bench, "Optimizer.step#By.step", begin, at + big_us * US + US);
	return at + big_us * US + US;
}

TEST(eager_overhead_is_told)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_overhead);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * 500 * US;

		CHECK_INT(loop(&bench, t0, 75, 190) - t0, 492 * US);
		bench_step(&bench, BASE + t0, BASE + t0 + 500 * US);
	}
	CHECK_INT(bench_review(&bench, "framework-overhead", &found), 1);
	/* 75 times 3 us and 1 us, the ends of the step, what is at its end */
	CHECK(found.cost_ns >= 300 * US && found.cost_ns <= 312 * US);
	CHECK(strstr(found.title, "62 % of each step") || strstr(found.title, "61 % of each step"));
	CHECK(strstr(found.title, "75 of them take 3.00 µs each"));
	CHECK(strstr(found.lines[0], "empty 150 µs"));
	CHECK_INT(found.severity, SEVERITY_WARNING);
	CHECK_INT(found.evidence.row, 0);
	bench_release(&bench);
}

/* What tftop adds to a step is not the program's. */
TEST(eager_overhead_without_own_cost)
{
	struct bench bench;
	struct finding found;
	struct event_cost *cost;

	for (int64_t own_ns = 0; own_ns <= 1000 * US; own_ns += 100 * US) {
		bench_init(&bench, &analysis_overhead);
		make_threads(&bench);
		cost = &process_at(bench.model, 0)->cost;
		*cost = (struct event_cost) {
			.pairs = own_ns ? 9 : 0, .steps = 100, .bare = 9, .step_ns = 400 * US,
			.wall_ns = own_ns, .wall_low_ns = own_ns, .wall_high_ns = own_ns,
			.cpu_high_ns = 1,
		};
		for (int i = 0; i < STEPS; i++) {
			loop(&bench, i * 500 * US, 75, 190);
			bench_step(&bench, BASE + i * 500 * US, BASE + (i + 1) * 500 * US);
		}
		if (own_ns >= 300 * US) {
			CHECK_INT(bench_review(&bench, "framework-overhead", &found), 0);
		} else {
			CHECK_INT(bench_review(&bench, "framework-overhead", &found), 1);
			CHECK(found.cost_ns >= 300 * US - own_ns);
			CHECK(found.cost_ns <= 312 * US - own_ns);
			CHECK((strstr(found.lines[1], "tftop's own cost is taken off") != NULL) ==
			      (own_ns > 0));
		}
		bench_release(&bench);
	}
}

/* A small op in which the thread was interrupted is no work; a large one is. */
TEST(eager_overhead_of_an_interrupted_thread)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_overhead);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * 1000 * US;

		loop(&bench, t0, 75, 190);
		op(&bench, "aten::mul", t0 + 500 * US, t0 + 600 * US);
		bench_step(&bench, BASE + t0, BASE + t0 + 1000 * US);
	}
	CHECK_INT(bench_review(&bench, "framework-overhead", &found), 1);
	CHECK(found.cost_ns >= 400 * US && found.cost_ns <= 420 * US);
	bench_release(&bench);
}

TEST(eager_overhead_is_none)
{
	struct bench bench;

	for (int round = 0; round < 4; round++) {
		bench_init(&bench, &analysis_overhead);
		make_threads(&bench);
		for (int i = 0; i < STEPS; i++) {
			int64_t t0 = i * 1000 * US;

			if (round == 0) {
				/* few of them beside large ones */
				loop(&bench, t0, 25, 800);
			} else {
				loop(&bench, t0, 75, 190);
			}
			if (round == 1)		/* a device works: it is told otherwise */
				bench_kernel(&bench, 1, BASE + t0, BASE + t0 + US);
			if (round == 2)		/* made for the next batch */
				op(&bench, "batch", t0, t0 + 499 * US)->work = WORK_INPUT;
			if (round == 3) {	/* another framework's, of a graph */
				for (size_t k = 0; k < bench.n; k++)
					bench.acts[k].command = FW_TENSORFLOW;
			}
			bench_step(&bench, BASE + t0, BASE + t0 + 1000 * US);
		}
		if (bench_review(&bench, NULL, NULL))
			test_fail(__FILE__, __LINE__, "round %d", round);
		bench_release(&bench);
	}
}

/* A kernel of oneDNN in an op is work, whatever it takes. */
TEST(eager_kernels_are_no_overhead)
{
	struct bench bench;
	struct finding found;
	int64_t cost[2];

	for (int with = 0; with < 2; with++) {
		bench_init(&bench, &analysis_overhead);
		make_threads(&bench);
		for (int i = 0; i < STEPS; i++) {
			for (int k = 0; k < 10; k++) {
				int64_t from = i * 100 * US + k * 10 * US;
				struct act *run;

				op(&bench, "aten::linear", from, from + 8 * US);
				if (!with)
					continue;
				run = bench_kernel(&bench, 1, BASE + from + US,
						   BASE + from + 6 * US);
				run->flags = ACT_WORKS;
				run->thread = 1;
			}
			bench_step(&bench, BASE + i * 100 * US, BASE + (i + 1) * 100 * US);
		}
		CHECK(with || bench_review(&bench, "framework-overhead", &found) == 1);
		if (with)
			CHECK_INT(bench_review(&bench, "framework-overhead", &found), 0);
		cost[with] = found.cost_ns;
		bench_release(&bench);
	}
	CHECK_INT(cost[0], 100 * US);
}

/* ---- through the model ---- */

static void feed_op(struct model *model, uint32_t pid, uint64_t instance, uint64_t parent,
		    uint16_t depth, int64_t start_ns, int64_t dur_ns)
{
	struct event event = ev_op(7, instance, parent, start_ns, dur_ns, 0);

	event.pid = event.tid = event.u.op.tid = pid;
	event.u.op.depth = depth;
	event.u.op.step = -1;
	event.u.op.framework = FW_PYTORCH;
	apply_one(model, event);
}

/* What lies within an op is compute, the outermost are on the path; those of another
 * process, which loads samples, are not. */
TEST(eager_ops_are_the_step)
{
	struct model *model = model_with_device();
	struct step_breakdown mean;
	struct critical_path path;
	struct path_part *parts;
	int64_t t0 = 0;
	uint64_t n;

	apply_one(model, ev_process(PID + 1, "worker"));
	for (int i = 0; i < STEPS; i++, t0 += 100 * US) {
		feed_op(model, PID, 2 + (uint64_t)i * 10, 1 + (uint64_t)i * 10, 1, t0 + 20 * US,
			40 * US);
		feed_op(model, PID, 1 + (uint64_t)i * 10, 0, 0, t0 + 10 * US, 60 * US);
		feed_op(model, PID, 3 + (uint64_t)i * 10, 0, 0, t0 + 70 * US, 20 * US);
		feed_op(model, PID + 1, 1 + (uint64_t)i, 0, 0, t0 + US, 98 * US);
		apply_one(model, (struct event) {
			.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + t0 + 100 * US,
			.u.step = { .name = 8, .number = -1, .start_ns = BASE + t0,
				    .dur_ns = 100 * US } });
	}
	model_finish(model, false);
	model_lock(model);
	n = model_step_breakdown_mean(model, &mean);
	CHECK_INT(n, STEPS - 2);
	CHECK_INT(mean.ns[STEP_COMPUTE], 80 * US);
	CHECK_INT(mean.ns[STEP_HOST], 20 * US);
	n = model_critical(model, &path, 1, &parts);
	CHECK_INT(path.ns[PATH_OP], 80 * US);
	CHECK_INT(path.ns[PATH_HOST], 20 * US);
	CHECK(n == 1 && parts[0].kind == PATH_OP);
	free(parts);
	model_unlock(model);
	model_free(model);
}

/* ---- compiling again ---- */

static void compile(struct bench *bench, const char *what, const char *where, int64_t start_ns,
		    int64_t dur_ns)
{
	struct act *act = bench_act(bench, ACT_COMPILE, BASE + start_ns, BASE + start_ns + dur_ns);

	act->thread = 1;
	act->name = bench_name(bench, what);
	act->op_name = bench_name(bench, where);
}

TEST(eager_recompiles_are_told)
{
	struct bench bench;
	struct finding found;
	char what[40];

	bench_init(&bench, &analysis_recompiles);
	make_threads(&bench);
	for (int i = 0; i < 10; i++) {
		int64_t t0 = i * 1000 * US;

		snprintf(what, sizeof(what), "torch.compile 2/%d", i + 1);
		if (i < 4)
			compile(&bench, what, "/home/me/train.py:88 Net.forward", t0, 500 * US);
		if (i < 2)	/* twice is no habit */
			compile(&bench, "torch.compile 3/0", "/home/me/train.py:90 f", t0, US);
		compile(&bench, "oneDNN convolution", "", t0 + 700 * US, 5 * US);
		if (i < 2)
			compile(&bench, "trace step()", "", t0 + 600 * US, US);
		bench_step(&bench, BASE + t0, BASE + t0 + 1000 * US);
	}
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_STR(found.id, "recompiles");
	CHECK_INT(found.cost_ns, 4 * 500 * US / 10);
	CHECK(strstr(found.title, "recompiled 4 times"));
	CHECK(strstr(found.title, "at train.py:88"));
	CHECK(strstr(found.lines[0], "torch.compile 2: 2.00 ms in total"));
	CHECK(strstr(found.advice, "dynamic=True"));
	CHECK_INT(found.evidence.t1 - found.evidence.t0, 500 * US);
	bench_release(&bench);
}

/* Between two steps, as TensorFlow does: at the place of the function's calls. What JAX
 * traces it compiles, and that is told. What came before the first step is no part of it. */
TEST(eager_retraces_are_told)
{
	struct bench bench;
	struct finding found;

	for (int xla = 0; xla < 2; xla++) {
		bench_init(&bench, &analysis_recompiles);
		make_threads(&bench);
		compile(&bench, "trace f()", "trace 1", 0, 900 * US);
		bench_between(&bench, BASE, BASE + 1000 * US);
		for (int i = 1; i <= 10; i++) {
			int64_t t0 = i * 1000 * US;

			if (xla)
				compile(&bench, "XLA jit_f", "/home/me/train.py:88 f", t0, 50 * US);
			bench_step(&bench, BASE + t0, BASE + t0 + 500 * US);
			compile(&bench, "trace f()", "trace 2", t0 + 500 * US, 400 * US);
			bench_between(&bench, BASE + t0 + 500 * US, BASE + t0 + 1000 * US);
		}
		CHECK_INT(bench_review(&bench, NULL, &found), 1);
		if (xla)
			CHECK_STR(found.title, "recompiled 10 times: inputs change (shapes, types) "
				  "at train.py:88");
		else
			CHECK_STR(found.title, "traced again 10 times: trace f(), because its "
				  "inputs change");
		CHECK(xla || strstr(found.lines[0], "the longest took 400 µs"));
		CHECK(xla || strstr(found.advice, "reduce_retracing"));
		CHECK_INT(found.cost_ns, (xla ? 50 : 400) * US);
		bench_release(&bench);
	}
}

/* What says nothing of its place, and of no framework. */
TEST(eager_recompiles_without_a_place)
{
	static const char *const where[] = { "", "-O3 -DN=16", "12 passes", "a:b", "x.cl:" };
	struct bench bench;
	struct finding found;

	for (size_t k = 0; k < sizeof(where) / sizeof(where[0]); k++) {
		bench_init(&bench, &analysis_recompiles);
		make_threads(&bench);
		for (int i = 0; i < 6; i++) {
			compile(&bench, "program of relu", where[k], i * US, 500);
			bench_step(&bench, BASE + i * US, BASE + (i + 1) * US);
		}
		CHECK_INT(bench_review(&bench, NULL, &found), 1);
		CHECK(strstr(found.title, "recompiled 6 times: program of relu"));
		CHECK(strstr(found.advice, "keep "));
		bench_release(&bench);
	}
}

/* A step of 100 us: 10 its batch, 20 forward with a gap, backward on another thread, 8 of
 * the optimizer around an op of its own. */
static void phases_step(struct bench *bench, int64_t t0)
{
	op(bench, "enumerate(DataLoader)#It.__next__", t0, t0 + 10 * US)->work = WORK_INPUT;
	op(bench, "aten::conv2d", t0 + 15 * US, t0 + 25 * US);
	op(bench, "aten::convolution", t0 + 16 * US, t0 + 24 * US);
	op(bench, "aten::relu", t0 + 30 * US, t0 + 35 * US);
	for (int i = 0; i < 3; i++) {
		int64_t at = t0 + (40 + 10 * i) * US;
		struct act *act = op(bench, "autograd::engine::evaluate_function: ReluBackward0",
				     at, at + 8 * US);

		act->thread = 2;
		op(bench, "aten::threshold_backward", at + US, at + 2 * US)->thread = 2;
	}
	op(bench, "Optimizer.step#SGD.step", t0 + 80 * US, t0 + 88 * US)->flags |= ACT_RANGE;
	op(bench, "aten::add_", t0 + 82 * US, t0 + 84 * US);
	op(bench, "a range", t0, t0 + 100 * US)->flags |= ACT_RANGE;
	bench_step(bench, BASE + t0, BASE + t0 + 100 * US);
}

TEST(phases_of_a_step)
{
	struct step_phases mean;
	struct bench bench;

	bench_init(&bench, &analysis_phases);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++)
		phases_step(&bench, i * 100 * US);
	CHECK_INT(phases_mean(bench.state, &mean), STEPS);
	CHECK_INT(mean.whole_ns, 100 * US);
	CHECK_INT(mean.ns[PHASE_INPUT], 10 * US);
	CHECK_INT(mean.ns[PHASE_FORWARD], 20 * US);
	CHECK_INT(mean.ns[PHASE_BACKWARD], 28 * US);
	CHECK_INT(mean.ns[PHASE_OPTIMIZER], 8 * US);
	CHECK_INT(mean.ns[PHASE_OTHER], 34 * US);
	bench_release(&bench);
}

/* Of a graph, by the scopes; what runs it as a whole is none of them. */
TEST(phases_of_a_graph)
{
	static const char *const names[] = {
		"net/conv/Conv2D", "Partitioned/gradient_tape/net/conv/Conv2DBackpropFilter",
		"Partitioned/Adam_1/Sub", "gradients_1/Relu_grad/ReluGrad", "net/sgd_like/MatMul",
	};
	static const int64_t want[STEP_PHASES] = { 20 * US, 10 * US, 0, 20 * US, 50 * US };
	struct step_phases mean;
	struct bench bench;

	bench_init(&bench, &analysis_phases);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * 100 * US;

		for (int k = 0; k < 5; k++)
			op(&bench, names[k], t0 + k * 20 * US, t0 + (k * 20 + 10) * US)->command =
				FW_TENSORFLOW;
		op(&bench, "train_step()", t0, t0 + 100 * US)->command = FW_TENSORFLOW;
		bench.acts[bench.n - 1].flags = 0;
		bench_step(&bench, BASE + t0, BASE + t0 + 100 * US);
	}
	CHECK_INT(phases_mean(bench.state, &mean), STEPS);
	for (int i = 0; i < STEP_PHASES; i++)
		CHECK_INT(mean.ns[i], want[i]);
	bench_release(&bench);
}

/* What a graph waits for stands on no thread, beside what makes the batch. */
TEST(phases_of_a_graph_that_fetches)
{
	struct step_phases mean;
	struct bench bench;

	bench_init(&bench, &analysis_phases);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * 100 * US;
		struct act *fetch = op(&bench, "IteratorGetNext", t0, t0 + 70 * US);

		fetch->work = WORK_INPUT;
		fetch->flags |= ACT_ASYNC | ACT_FETCH;
		op(&bench, "PyFunc", t0 + 5 * US, t0 + 65 * US)->command = FW_TENSORFLOW;
		op(&bench, "gradients/MatMul", t0 + 70 * US, t0 + 100 * US)->command =
			FW_TENSORFLOW;
		bench_step(&bench, BASE + t0, BASE + t0 + 100 * US);
	}
	CHECK_INT(phases_mean(bench.state, &mean), STEPS);
	CHECK_INT(mean.ns[PHASE_INPUT], 70 * US);
	CHECK_INT(mean.ns[PHASE_FORWARD], 0);
	bench_release(&bench);
}

/* The path leads through the fetching too. */
TEST(eager_path_of_a_graph_that_fetches)
{
	struct critical_path path;
	struct path_part *parts;
	struct bench bench;

	bench_init(&bench, &analysis_critical);
	make_threads(&bench);
	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * 100 * US;
		struct act *fetch = op(&bench, "IteratorGetNext", t0, t0 + 70 * US);

		fetch->work = WORK_INPUT;
		fetch->flags |= ACT_ASYNC | ACT_FETCH;
		op(&bench, "gradients/MatMul", t0 + 70 * US, t0 + 95 * US);
		bench_step(&bench, BASE + t0, BASE + t0 + 100 * US);
	}
	critical_parts(bench.state, &bench.model->names, &path, 0, &parts);
	free(parts);
	CHECK_INT(path.ns[PATH_INPUT], 70 * US);
	CHECK_INT(path.ns[PATH_OP], 25 * US);
	CHECK_INT(path.ns[PATH_HOST], 5 * US);
	bench_release(&bench);
}

TEST(phases_without_a_backward_pass)
{
	struct step_phases mean;
	struct bench bench;

	bench_init(&bench, &analysis_phases);
	make_threads(&bench);
	op(&bench, "aten::conv2d", 0, 50 * US);
	bench_step(&bench, BASE, BASE + 100 * US);
	CHECK_INT(phases_mean(bench.state, &mean), 0);
	bench_release(&bench);
}
