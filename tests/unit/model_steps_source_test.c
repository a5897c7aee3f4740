/* SPDX-License-Identifier: MIT */
/* Which series of steps is shown: of JAX, of serving engines, and not of what is guessed within
 * ranges, compilations and autotuning. */
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum {
	XLA_RUN = 40, CALL, JIT_INIT, JIT_CONVERT, JIT_STEP, STEP, CONVERT, DECODE, EXECUTE, LAYER,
	REDZONE, GEMM, EAGER, RELU, KERNEL_NAMES = 60
};

static struct model *model_named(void)
{
	static const struct { uint32_t id; enum name_kind kind; const char *text; } names[] = {
		{ XLA_RUN, NAME_OP_TYPE, "XLA run" }, { CALL, NAME_OP_TYPE, "PjitFunction" },
		{ JIT_INIT, NAME_OP, "jit_init" }, { JIT_CONVERT, NAME_OP, "jit_convert" },
		{ JIT_STEP, NAME_OP, "jit_step" }, { STEP, NAME_OP, "step" },
		{ CONVERT, NAME_OP, "convert" }, { DECODE, NAME_RANGE, "step[DECODE bs=8]" },
		{ EXECUTE, NAME_RANGE, "execute_context_1(9)_generation_3(3)" },
		{ LAYER, NAME_RANGE, "decode one" },
		{ REDZONE, NAME_KERNEL, "RedzoneAllocatorKernelImpl" },
		{ GEMM, NAME_KERNEL, "gemm_api" }, { EAGER, NAME_OP, "MatMul" },
		{ RELU, NAME_OP, "Relu" },
	};
	struct model *model = model_with_device();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		apply_one(model, ev_name(names[i].id, names[i].kind, names[i].text));
	for (uint32_t i = 0; i < 20; i++) {
		char text[] = { 'k', (char)('a' + i), '\0' };

		apply_one(model, ev_name(KERNEL_NAMES + i, NAME_KERNEL, text));
	}
	return model;
}

static void jax_op(struct model *model, uint32_t type, uint32_t name, int64_t start_ns,
		   int64_t dur_ns)
{
	static uint64_t instance = 1000;
	struct event event = ev_op(name, ++instance, 0, start_ns, dur_ns, 0);

	event.u.op.op_type = type;
	event.u.op.framework = FW_JAX;
	apply_one(model, event);
}

static void range(struct model *model, uint32_t name, int64_t start_ns, int64_t dur_ns)
{
	static uint64_t instance = 900000;

	apply_one(model, ev_op(name, ++instance, 0, start_ns, dur_ns, OP_RANGE));
}

/* Runs n kernels of 20 us one after the other, each of another name; returns when they ended. */
static int64_t kernels(struct model *model, uint32_t first, uint32_t n, int64_t now_ns)
{
	static uint32_t correlation;

	for (uint32_t i = 0; i < n; i++, now_ns += 25 * US)
		apply_one(model, ev_kernel(first + i, 1, ++correlation, now_ns, 20 * US));
	return now_ns;
}

/* Finishes the model and checks the number of steps and their source; NULL: there are none. */
static void check_steps(struct model *model, size_t n, const char *source)
{
	struct step_stats stats;
	struct step_row *rows;

	model_finish(model, false);
	model_lock(model);
	CHECK_INT(model_steps(model, &stats, &rows), n);
	if (source)
		CHECK_STR(stats.source, source);
	model_unlock(model);
	free(rows);
	model_free(model);
}

/* One run that takes longest and many that take little are not the loop, whose first runs count
 * although they took less than those before. */
TEST(steps_of_jax_are_the_loop_with_its_earlier_runs)
{
	struct model *model = model_named();

	jax_op(model, XLA_RUN, JIT_INIT, 0, 900 * MS);
	for (int64_t i = 0; i < 100; i++) {
		int64_t begin = 1000 * MS + i * 2 * MS;

		for (int64_t k = 0; k < 5; k++)
			jax_op(model, XLA_RUN, JIT_CONVERT, begin + k * 10 * US, 5 * US);
		jax_op(model, CALL, STEP, begin + 100 * US, 50 * US);
		jax_op(model, XLA_RUN, JIT_STEP, begin + 100 * US, MS);
	}
	check_steps(model, 100, "jit_step");
}

/* The threads of XLA end runs, and what they tell may arrive in another order. */
TEST(steps_of_jax_that_arrive_late_are_apart)
{
	static const int order[] = { 0, 2, 1, 3, 6, 5, 4, 7 };
	struct model *model = model_named();
	struct step_stats stats;
	struct step_row *rows;

	for (int i = 0; i < 8; i++)
		jax_op(model, XLA_RUN, JIT_STEP, order[i] * 10 * MS, 8 * MS);
	CHECK_INT(model_steps(model, &stats, &rows), 8);
	for (int i = 1; i < 8; i++) {
		CHECK_INT(rows[i].start_ns, BASE + (i * 10 - 2) * MS);
		CHECK_INT(rows[i].dur_ns, 10 * MS);
	}
	CHECK_INT(stats.mean_ns, 78 * MS / 8);
	free(rows);
	model_free(model);
}

TEST(steps_of_jax_are_calls_where_no_runs_are_seen)
{
	struct model *model = model_named();

	for (int64_t i = 0; i < 30; i++) {
		for (int64_t k = 0; k < 3; k++)
			jax_op(model, CALL, CONVERT, i * MS + k * 20 * US, 10 * US);
		jax_op(model, CALL, STEP, i * MS + 100 * US, 300 * US);
		kernels(model, KERNEL_NAMES, 4, i * MS + 200 * US);
	}
	check_steps(model, 30, "step");
}

TEST(steps_of_serving_engines_by_their_ranges)
{
	struct model *model = model_named();

	for (int64_t i = 0; i < 3; i++) {
		for (uint32_t layer = 0; layer < 20; layer++)
			kernels(model, KERNEL_NAMES, 3, i * 10 * MS + layer * 100 * US);
		range(model, EXECUTE, i * 10 * MS + MS, 2 * MS);
		range(model, DECODE, i * 10 * MS, 9 * MS);
	}
	check_steps(model, 3, "range step");
}

/* Layers within ranges whose names say nothing are no steps, whether the range or the period is
 * known first; what runs outside of ranges may be. */
TEST(steps_are_not_guessed_within_ranges)
{
	for (int late = 0; late < 2; late++) {
		struct model *model = model_named();

		for (int64_t i = 0; i < 4; i++) {
			if (late == 0)
				range(model, LAYER, i * 10 * MS, 9 * MS);
			for (uint32_t layer = 0; layer < 60; layer++)
				kernels(model, KERNEL_NAMES, 3, i * 10 * MS + layer * 100 * US);
			apply_one(model, ev_alive(BASE + i * 10 * MS + 8 * MS));
			if (late == 1)
				range(model, LAYER, i * 10 * MS, 9 * MS);
		}
		check_steps(model, 0, NULL);
	}
}

TEST(steps_are_not_guessed_from_autotuning)
{
	struct model *model = model_named();
	int64_t now_ns = 0;

	for (int i = 0; i < 400; i++) {
		now_ns = kernels(model, KERNEL_NAMES + 10, 2, now_ns);
		now_ns = kernels(model, REDZONE, 1, now_ns);
	}
	for (int i = 0; i < 60; i++)
		now_ns = kernels(model, KERNEL_NAMES, 5, now_ns + 300 * US);
	check_steps(model, 59, "a guess: period of ka");
}

/* Whether the compilation is known before or after what ran in it. */
TEST(steps_are_not_guessed_from_compilations)
{
	for (int late = 0; late < 2; late++) {
		struct model *model = model_named();
		struct event compile = {
			.type = EVENT_COMPILE, .pid = PID, .tid = PID, .time_ns = BASE + 101 * MS,
			.u.compile = { .start_ns = BASE, .dur_ns = 100 * MS },
		};
		int64_t now_ns = 0;

		if (!late)
			apply_one(model, compile);
		while (now_ns < 90 * MS)
			now_ns = kernels(model, KERNEL_NAMES, 4, now_ns + 50 * US);
		apply_one(model, ev_alive(BASE + now_ns));
		if (late)
			apply_one(model, compile);
		check_steps(model, 0, NULL);
	}
}

/* All kernels have one name: the period is that of the outermost ops. */
TEST(steps_are_guessed_from_outermost_ops)
{
	struct model *model = model_named();
	static uint32_t correlation = 500000;
	uint64_t instance = 5000;

	for (int64_t step = 0; step < 50; step++)
		for (int64_t i = 0; i < 6; i++) {
			int64_t begin = step * MS + i * 100 * US;
			struct event op = ev_op(i < 4 ? EAGER : RELU, ++instance, 0, begin,
						80 * US, 0);

			apply_one(model, ev_kernel(GEMM, 1, ++correlation, begin + 10 * US,
						   20 * US));
			op.u.op.framework = FW_TENSORFLOW;
			apply_one(model, op);
		}
	check_steps(model, 49, "a guess: period of Relu");
}

/* The means are of the steps that are shown, and not of those that were shown before. */
TEST(steps_that_change_start_the_findings_again)
{
	struct model *model = model_named();
	struct findings_status status;

	for (int64_t i = 0; i < 30; i++)
		jax_op(model, XLA_RUN, JIT_CONVERT, i * 100 * MS, 100 * MS);
	apply_one(model, ev_alive(BASE + 3000 * MS));
	for (int64_t i = 0; i < 40; i++) {
		jax_op(model, XLA_RUN, JIT_STEP, 3000 * MS + i * 500 * MS, 500 * MS);
		apply_one(model, ev_alive(BASE + 3000 * MS + i * 500 * MS));
	}
	model_finish(model, false);
	model_lock(model);
	model_findings(model, &status, NULL);
	model_unlock(model);
	CHECK(status.steps > 20 && status.steps <= 40);
	CHECK_INT(status.step_ns, 500 * MS);
	model_free(model);
}
