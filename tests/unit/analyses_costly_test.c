/* SPDX-License-Identifier: MIT */
/* Ops of which there is a cheaper form: which they are, what they cost on the path,
 * how long a step would be without them; against a plain placing of all ops anew. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/op_class.h"
#include "model/analyses/zeroing.h"
#include "model/base/util.h"
#include "model/analyses/thresholds.h"
#include "model/core/model.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEPS 8

TEST(costly_classes)
{
	static const struct { const char *name; enum op_class op_class; } rows[] = {
		{ "MaxPool", OP_CLASS_POOLING }, { "_MklNativeMaxPoolGrad", OP_CLASS_POOLING },
		{ "AvgPool3D", OP_CLASS_POOLING }, { "aten::max_pool2d", OP_CLASS_POOLING },
		{ "pooling jit:avx512_core", OP_CLASS_POOLING },
		{ "ThreadPoolDevice", OP_CLASS_NONE }, { "thread_pool_task", OP_CLASS_NONE },
		{ "Transpose", OP_CLASS_LAYOUT }, { "reorder jit:blk", OP_CLASS_LAYOUT },
		{ "_MklToTf", OP_CLASS_LAYOUT }, { "nchwToNhwcKernel", OP_CLASS_LAYOUT },
		{ "Conv2DTranspose", OP_CLASS_NONE }, { "conv_transpose2d", OP_CLASS_NONE },
		{ "Cast", OP_CLASS_CAST }, { "aten::_to_copy", OP_CLASS_CAST },
		{ "aten::copy_", OP_CLASS_COPY }, { "ConcatV2", OP_CLASS_COPY },
		{ "AddV2", OP_CLASS_CHAIN }, { "ReluGrad", OP_CLASS_CHAIN },
		{ "AssignSubVariableOp", OP_CLASS_NONE }, { "ResourceApplyAdam", OP_CLASS_NONE },
		{ "BiasAdd", OP_CLASS_CHAIN }, { "BiasAddGrad", OP_CLASS_NONE },
		{ "Conv2D", OP_CLASS_NONE }, { "_MklNativeConv2DBackpropInput", OP_CLASS_NONE },
		{ "MatMul", OP_CLASS_NONE }, { "Softmax", OP_CLASS_NONE }, { "Foo", OP_CLASS_NONE },
		{ "", OP_CLASS_NONE }, { NULL, OP_CLASS_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (op_class_of(rows[i].name) != rows[i].op_class)
			test_fail(__FILE__, __LINE__, "'%s' is %d", rows[i].name,
				  op_class_of(rows[i].name));
	for (int i = OP_CLASS_NONE + 1; i < OP_CLASSES; i++)
		CHECK(*op_class_word((enum op_class)i) && *op_class_advice((enum op_class)i));
	CHECK_STR(op_type_plain("_MklNativeMaxPool"), "MaxPool");
	CHECK_STR(op_type_plain("MaxPool"), "MaxPool");
	CHECK_STR(op_type_plain("_Mkl"), "_Mkl");
}

/* ---- by hand ---- */

static struct act *op(struct bench *bench, const char *type, uint32_t thread, int64_t start,
		      int64_t end)
{
	struct act *act = bench_act(bench, ACT_OP, BASE + start * US, BASE + end * US);
	char name[64];

	snprintf(name, sizeof(name), "net/%s", type);
	act->thread = thread;
	act->name = bench_name(bench, name);
	act->op_name = bench_name(bench, type);
	act->amount = 7;
	act->flags = ACT_WORKS;
	act->row = 3;
	return act;
}

/* Of a step, in microseconds from its begin. */
struct planned {
	const char *type;
	uint32_t thread;
	int64_t start, end;
};

/* Steps of 100 us, each of these ops. */
static void make_steps(struct bench *bench, const struct planned *ops, size_t n)
{
	bench_init(bench, &analysis_critical);
	for (int i = 0; i < STEPS; i++) {
		for (size_t k = 0; k < n; k++)
			op(bench, ops[k].type, ops[k].thread, 100 * i + ops[k].start,
			   100 * i + ops[k].end);
		bench_step(bench, BASE + 100 * i * US, BASE + 100 * (i + 1) * US);
	}
}

/* Nothing is beside it: what it is on the path is what would be saved. */
TEST(costly_all_of_it)
{
	static const struct planned ops[] = {
		{ "Conv2D", 1, 0, 40 },
		{ "_MklNativeMaxPool", 1, 41, 61 },
		{ "MaxPoolGrad", 2, 62, 72 },
		{ "Relu", 1, 73, 90 },
	};
	struct bench bench;
	struct finding found;

	make_steps(&bench, ops, sizeof(ops) / sizeof(ops[0]));
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_STR(found.id, "costly-op");
	CHECK_INT(found.cost_ns, 30 * US);
	CHECK_STR(found.title, "costly-op: pooling holds 30 % of the critical path");
	CHECK_STR(found.lines[0], "MaxPool 20.0 µs, MaxPoolGrad 10.0 µs per step");
	CHECK_STR(found.lines[1], "30.0 µs of 100 µs on the path; if they took no time, a step "
		  "would take 70.0 µs at best");
	CHECK_INT(found.evidence.kind, EVIDENCE_OP);
	CHECK_STR(found.evidence.key, "net/_MklNativeMaxPool");
	CHECK_INT(found.evidence.row, 3);
	bench_release(&bench);
}

/* What runs beside it holds the step when it is away. */
TEST(costly_beside_another)
{
	static const struct planned ops[] = {
		{ "Conv2D", 1, 0, 40 },
		{ "MatMul", 2, 40, 75 },
		{ "MaxPool", 1, 40, 60 },
		{ "MatMul", 1, 60, 80 },
	};
	struct bench bench;
	struct finding found;

	make_steps(&bench, ops, sizeof(ops) / sizeof(ops[0]));
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_INT(found.cost_ns, 5 * US);
	CHECK_STR(found.lines[1], "20.0 µs of 100 µs on the path; if they took no time, a step "
		  "would take 95.0 µs at best, because other work runs at the same time");
	bench_release(&bench);
}

/* In a row all but the longest; alone it is needed. */
TEST(costly_in_a_row)
{
	static const struct planned ops[] = {
		{ "Mul", 1, 0, 10 },
		{ "AddV2", 1, 10, 30 },
		{ "Relu", 1, 31, 36 },
		{ "MatMul", 1, 36, 60 },
		{ "Tanh", 1, 60, 90 },
	};
	struct bench bench;
	struct finding found;

	make_steps(&bench, ops, sizeof(ops) / sizeof(ops[0]));
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_INT(found.cost_ns, 15 * US);
	CHECK_STR(found.title, "costly-op: a chain of elementwise ops holds 15 % of the critical "
		  "path");
	CHECK_STR(found.lines[0], "Mul 10.0 µs, Relu 5.00 µs per step");
	bench_release(&bench);
}

/* Below the threshold, and of the work itself, nothing is said. */
TEST(costly_not_said)
{
	static const struct planned ops[] = {
		{ "MaxPool", 1, 0, 9 },
		{ "Conv2D", 1, 10, 90 },
	};
	struct bench bench;

	make_steps(&bench, ops, sizeof(ops) / sizeof(ops[0]));
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench.model->thresholds[THRESHOLD_COSTLY_SHARE] = 9;
	CHECK_INT(bench_review(&bench, NULL, NULL), 1);
	bench_release(&bench);
}

/* ---- of a device ---- */

static void run(struct bench *bench, const char *kernel, const char *of, uint32_t queue,
		int64_t call, int64_t start, int64_t end)
{
	uint32_t name = bench_name(bench, kernel);
	struct act *act = bench_act(bench, ACT_LAUNCH, BASE + call * US, BASE + (call + 2) * US);

	act->name = name;
	act->thread = 0;
	act->queue = queue;
	act = bench_kernel(bench, name, BASE + start * US, BASE + end * US);
	act->queue = queue;
	act->call_ns = BASE + call * US;
	act->call_dur_ns = 2 * US;
	act->op_name = of ? bench_name(bench, of) : 0;
	act->row = 5;
}

static void wait_for(struct bench *bench, int64_t start, int64_t end)
{
	bench_act(bench, ACT_WAIT, BASE + start * US, BASE + end * US)->thread = 0;
}

/* The host waits at the end; a kernel's name, or its op's, says what it is. */
TEST(costly_kernels)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_critical);
	for (int i = 0; i < STEPS; i++) {
		run(&bench, "conv_fwd", NULL, 0, 100 * i, 100 * i + 3, 100 * i + 30);
		run(&bench, "maxpool_fwd", NULL, 0, 100 * i + 2, 100 * i + 31, 100 * i + 51);
		run(&bench, "k7", "model/pool", 0, 100 * i + 4, 100 * i + 52, 100 * i + 62);
		run(&bench, "gemm", "model/pool", 0, 100 * i + 6, 100 * i + 63, 100 * i + 90);
		wait_for(&bench, 100 * i + 8, 100 * i + 92);
		bench_step(&bench, BASE + 100 * i * US, BASE + 100 * (i + 1) * US);
	}
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_INT(found.cost_ns, 30 * US);
	CHECK_STR(found.lines[0], "maxpool_fwd 20.0 µs, k7 10.0 µs per step");
	CHECK_INT(found.evidence.kind, EVIDENCE_KERNEL);
	CHECK_STR(found.evidence.key, "maxpool_fwd");
	CHECK_INT(found.evidence.row, 5);
	bench_release(&bench);
}

/* Without it the step is held by another queue, and not by less than its launches. */
TEST(costly_kernels_beside)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_critical);
	for (int i = 0; i < STEPS; i++) {
		run(&bench, "gemm", NULL, 1, 100 * i, 100 * i + 3, 100 * i + 70);
		run(&bench, "maxpool_fwd", NULL, 0, 100 * i + 2, 100 * i + 5, 100 * i + 80);
		wait_for(&bench, 100 * i + 8, 100 * i + 81);
		bench_step(&bench, BASE + 100 * i * US, BASE + 100 * (i + 1) * US);
	}
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_INT(found.cost_ns, 10 * US);
	bench_release(&bench);
}

/* Two waits in a step: what the first saves, the second's launches gain. */
TEST(costly_kernels_after_a_wait)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_critical);
	for (int i = 0; i < STEPS; i++) {
		run(&bench, "maxpool_fwd", NULL, 0, 100 * i, 100 * i + 3, 100 * i + 23);
		wait_for(&bench, 100 * i + 4, 100 * i + 24);
		run(&bench, "gemm", NULL, 0, 100 * i + 30, 100 * i + 33, 100 * i + 70);
		wait_for(&bench, 100 * i + 34, 100 * i + 71);
		bench_step(&bench, BASE + 100 * i * US, BASE + 100 * (i + 1) * US);
	}
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	/* to where the wait began, and not by all of it */
	CHECK_INT(found.cost_ns, 20 * US);
	bench_release(&bench);
}

/* ---- naive: each op looks at all others ---- */

#define OPS 40

static bool is_away(void *arg, const struct act *act)
{
	return act->name == *(const uint32_t *)arg;
}

static int64_t naive(const struct act *acts, size_t n, uint32_t away)
{
	int64_t now[OPS], end = INT64_MIN, new_end = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		int64_t held = INT64_MIN, held_now = INT64_MIN, last_end = INT64_MIN;
		size_t last = n;

		for (size_t k = 0; k < i; k++) {
			if (acts[k].end_ns <= acts[i].start_ns + 2 * US &&
			    acts[k].end_ns >= last_end) {
				last = k;
				last_end = acts[k].end_ns;
			}
			if (acts[k].thread == acts[i].thread) {
				held = acts[k].end_ns;	/* one after another */
				held_now = now[k];
			}
		}
		if (last < n && now[last] > held_now)
			held_now = now[last];
		if (last < n && acts[last].end_ns > held)
			held = acts[last].end_ns;
		now[i] = (held == INT64_MIN ? acts[i].start_ns
					    : held_now + acts[i].start_ns - held) +
			 (acts[i].name == away ? 0 : acts[i].end_ns - acts[i].start_ns);
		end = acts[i].end_ns > end ? acts[i].end_ns : end;
		new_end = now[i] > new_end ? now[i] : new_end;
	}
	return end - new_end;
}

TEST(costly_zeroing_against_naive)
{
	struct zeroing zeroing = { .cap = 0 };
	struct slice_space space = { .cap = 0 };
	const struct function_run function = { .id = 7 };

	for (int round = 0; round < 500; round++) {
		struct act acts[OPS];
		struct slice slice = { .t0 = 0, .acts = acts, .n = 2 + test_below(OPS - 2) };
		int64_t free_at[3] = { 0, 0, 0 }, t = 0;

		for (size_t i = 0; i < slice.n; i++) {
			uint32_t thread = (uint32_t)test_below(3), away;

			t = (t > free_at[thread] ? t : free_at[thread]) +
			    (int64_t)test_below(20) * US;
			free_at[thread] = t + (10 + (int64_t)test_below(60)) * US + (int64_t)i;
			away = 1 + (uint32_t)test_below(3);
			acts[i] = (struct act) {
				.kind = ACT_OP, .start_ns = t, .end_ns = free_at[thread],
				.thread = thread, .amount = 7, .flags = ACT_WORKS, .name = away,
			};
			slice.t1 = free_at[thread] > slice.t1 ? free_at[thread] : slice.t1;
		}
		slice_index(&slice, &space);
		for (uint32_t away = 0; away < 4; away++) {
			int64_t saved = zeroing_ops(&zeroing, &slice, &function, is_away, &away);

			CHECK(saved >= 0 && (away || !saved));
			if (!round || saved != naive(acts, slice.n, away))
				CHECK_INT(saved, naive(acts, slice.n, away));
		}
	}
	zeroing_release(&zeroing);
	slice_space_release(&space);
}
