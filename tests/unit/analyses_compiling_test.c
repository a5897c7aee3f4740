/* SPDX-License-Identifier: MIT */
/* Compiling that takes much of the whole run, also before the first step. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/core/model.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define S INT64_C(1000000000)

static void compile_for(struct bench *bench, const char *what, const char *where, int64_t start_ns,
			int64_t dur_ns)
{
	struct act *act = bench_act(bench, ACT_COMPILE, BASE + start_ns, BASE + start_ns + dur_ns);

	act->name = bench_name(bench, what);
	act->op_name = bench_name(bench, where);
}

/* Steps of a second from from_s on. */
static void steps_to(struct bench *bench, int from_s, int to_s)
{
	for (int i = from_s; i < to_s; i++)
		bench_step(bench, BASE + i * S, BASE + (i + 1) * S);
}

/* 12 s of the first 20: what two threads compile at once counts once; later it is little. */
TEST(compiling_before_the_first_step_is_told_while_it_is_much)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_compiling);
	compile_for(&bench, "torch.compile 0/0", "/home/me/train.py:88 step", 1 * S, 9 * S);
	compile_for(&bench, "torch.compile 1/0", "", 8 * S, 5 * S);
	bench_between(&bench, BASE, BASE + 20 * S);
	CHECK_INT(bench_review(&bench, NULL, &found), 1);	/* there are no steps yet */
	CHECK(found.cost_ns == 12 * S / 20 && found.severity == SEVERITY_WARNING);
	steps_to(&bench, 20, 40);
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_STR(found.id, "compile-time");
	CHECK(found.severity == SEVERITY_NOTE);
	CHECK_STR(found.title, "compiling took 12.0 s, 31 % of the run so far");
	CHECK_STR(found.lines[0], "torch.compile 0/0 took most, 9.00 s at train.py:88");
	CHECK(strstr(found.advice, "TORCHINDUCTOR_CACHE_DIR"));
	CHECK_INT(found.cost_ns, 12 * S / 20);
	CHECK_INT(found.evidence.t1 - found.evidence.t0, 9 * S);
	steps_to(&bench, 40, 100);
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}

TEST(compiling_for_less_than_ten_seconds_is_not_told)
{
	struct bench bench;

	bench_init(&bench, &analysis_compiling);
	compile_for(&bench, "XLA jit_step", "", 0, 9 * S);
	bench_between(&bench, BASE, BASE + 9 * S);
	steps_to(&bench, 9, 19);
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	compile_for(&bench, "XLA jit_step", "", 19 * S, S);
	steps_to(&bench, 19, 20);
	CHECK_INT(bench_review(&bench, NULL, NULL), 1);
	bench_release(&bench);
}

/* Other steps are shown: what was compiled before them still counts, the steps are new. */
TEST(compiling_goes_on_with_other_steps)
{
	struct bench bench;
	struct finding found;

	bench_init(&bench, &analysis_compiling);
	compile_for(&bench, "XLA jit_step", "", 0, 15 * S);
	bench_between(&bench, BASE, BASE + 20 * S);
	steps_to(&bench, 20, 30);
	analysis_compiling.restart(bench.state);
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	steps_to(&bench, 30, 50);
	CHECK_INT(bench_review(&bench, NULL, &found), 1);
	CHECK_INT(found.cost_ns, 15 * S / 20);
	CHECK(strstr(found.advice, "jax_compilation_cache_dir"));
	bench_release(&bench);
}

/* What is compiled again in steps is told as that. */
TEST(compiling_again_and_again_is_told_once)
{
	struct bench bench;
	struct model *model;
	void *again;

	bench_init(&bench, &analysis_compiling);
	model = bench.model;
	again = analysis_state(model, ANALYSIS_RECOMPILES);
	for (int i = 0; i < 20; i++) {
		struct bench other = { .model = model, .analysis = &analysis_recompiles,
				       .state = again, .next_number = i };

		compile_for(&bench, "XLA jit_step", "", i * S, S * 6 / 10);
		compile_for(&other, "XLA jit_step", "", i * S, S * 6 / 10);
		steps_to(&bench, i, i + 1);
		steps_to(&other, i, i + 1);
		free(other.acts);
		CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	}
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}
