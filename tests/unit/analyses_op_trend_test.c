/* SPDX-License-Identifier: MIT */
/* How ops' times went over the run: against sums made beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/acts/act.h"
#include "model/core/model.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEP (1000 * US)

static const struct op_trend *trend_named(const struct op_trend *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].raw_name, name) == 0)
			return &list[i];
	return NULL;
}

/* n steps in which `a` takes i + 1 us and launches 2 (i + 1), in a range of another name. */
static void play(struct bench *bench, int n)
{
	for (int i = 0; i < n; i++) {
		int64_t t = BASE + i * STEP, us = (i + 1) * US;
		char text[32];
		uint32_t name;

		snprintf(text, sizeof(text), "step %d", i);
		name = bench_name(bench, text);

		bench_act(bench, ACT_OP, t, t + us)->name = bench_name(bench, "a");
		bench_kernel(bench, bench_name(bench, "k"), t, t + 2 * us)->op_name =
			bench_name(bench, "a");
		bench_kernel(bench, bench_name(bench, "k"), t, t + us)->op_name =
			bench_name(bench, "never ran");
		bench_act(bench, ACT_OP, t, t + us)->name = name;
		bench->acts[bench->n - 1].flags = ACT_RANGE;
		bench_step(bench, t, t + STEP);
	}
}

TEST(op_trends_are_means_per_step)
{
	static const int lengths[] = { 3, 16, 31, 32, 33, 100, 500, 2000 };

	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		struct op_trend *list;
		const struct op_trend *a;
		struct bench bench;
		size_t n;

		bench_init(&bench, &analysis_op_trend);
		play(&bench, lengths[l]);
		n = op_trends(bench.state, &bench.model->names, &list);
		a = trend_named(list, n, "a");
		CHECK(a && trend_named(list, n, "step 1") && !trend_named(list, n, "never ran"));
		CHECK(a->n && a->n <= TREND_POINTS && (int)a->n <= lengths[l]);
		for (uint32_t i = 0; i < a->n; i++) {
			CHECK(a->op_ns[i] > 0 && llabs(a->device_ns[i] - 2 * a->op_ns[i]) <= 2);
			CHECK(!i || a->op_ns[i] > a->op_ns[i - 1]);
		}
		/* means of steps: from the first ones to the last ones */
		CHECK(a->op_ns[a->n - 1] <= lengths[l] * US &&
		      a->op_ns[a->n - 1] > lengths[l] * US * 4 / 5);
		free(list);
		bench_release(&bench);
	}
}
