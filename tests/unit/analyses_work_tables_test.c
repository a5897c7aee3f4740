/* SPDX-License-Identifier: MIT */
/* What the tables know beyond sums: spread, percentiles of ops, trends. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/base/hist.h"
#include "model/core/model.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

/* Small values have buckets of their own, so the spread is exact. */
TEST(work_hist_spread_against_naive)
{
	for (int round = 0; round < 50; round++) {
		struct hist hist = { 0 };
		uint64_t naive[8] = { 0 }, got[8];
		int64_t values[100], low = 63, high = 0;

		for (int i = 0; i < 100; i++) {
			values[i] = (int64_t)(10 + test_below(1 + test_below(50)));
			low = values[i] < low ? values[i] : low;
			high = values[i] > high ? values[i] : high;
			hist_add(&hist, values[i]);
		}
		for (int i = 0; i < 100; i++)
			naive[(values[i] - low) * 8 / (high - low + 1)]++;
		hist_spread(&hist, low, high, 8, got);
		CHECK(memcmp(naive, got, sizeof(got)) == 0);
		/* one value only, and none */
		hist_spread(&hist, 20, 20, 8, got);
		CHECK_INT(got[0], 100);
		hist_release(&hist);
		hist_spread(&hist, 0, 9, 8, got);
		CHECK_INT(got[0], 0);
	}
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

TEST(work_ops_have_percentiles)
{
	struct model *model = model_with_device();
	struct op_row *rows;
	int64_t durs[500], sum = 0;
	size_t n;

	for (int i = 0; i < 500; i++) {
		durs[i] = 1 + (int64_t)test_below(1000000);
		sum += durs[i];
		/* two of one name, in one row: of two domains */
		struct event op = ev_op(3, (uint64_t)i + 1, 0, i * 2000000, durs[i], 0);

		op.u.op.domain = (uint32_t)i % 2;
		apply_one(model, op);
	}
	qsort(durs, 500, sizeof(*durs), by_value);
	n = model_ops(model, &rows);
	CHECK_INT(n, 1);
	CHECK_INT(rows[0].count, 500);
	CHECK_INT(rows[0].min_ns, durs[0]);
	CHECK_INT(rows[0].max_ns, durs[499]);
	CHECK_INT(rows[0].mean_ns, sum / 500);
	CHECK(llabs(rows[0].p50_ns - durs[249]) <= durs[249] / 50);
	CHECK(llabs(rows[0].p99_ns - durs[494]) <= durs[494] / 50);
	free(rows);
	model_free(model);
}

TEST(work_kernels_have_a_spread)
{
	struct model *model = model_with_device();
	struct kernel_row *rows;
	uint64_t sum = 0;

	for (int i = 0; i < 160; i++)
		apply_one(model, ev_kernel(1, 1, (uint32_t)i + 1, i * 100000, 1000 + i * 10));
	CHECK_INT(model_kernels(model, &rows), 1);
	for (unsigned i = 0; i < KERNEL_SPREAD; i++)
		sum += rows[0].spread[i];
	CHECK_INT(sum, 160);
	CHECK(rows[0].spread[0] >= 8 && rows[0].spread[KERNEL_SPREAD - 1] >= 8);
	model_kernels_free(rows, 1);
	model_free(model);
}

/* Two launch shapes of one kernel are one row; what did not run has no point. */
TEST(work_trends_of_kernels)
{
	struct bench bench;
	struct kernel_trend *trends;
	size_t n;

	bench_init(&bench, &analysis_slowdown);
	for (int64_t step = 0; step < 96; step++) {
		int64_t t = BASE + step * 1000 * US;

		bench_kernel(&bench, bench_name(&bench, "a"), t, t + 100 * US)->object = 1;
		bench_kernel(&bench, bench_name(&bench, "a"), t + 100 * US, t + 400 * US)->object =
			2;
		if (step >= 48)
			bench_kernel(&bench, bench_name(&bench, "b"), t + 500 * US,
				     t + (600 + step) * US);
		bench_step(&bench, t, t + 1000 * US);
	}
	n = slowdown_trends(bench.state, &bench.model->names, &trends);
	CHECK_INT(n, 2);
	CHECK_STR(trends[0].raw_name, "a");
	CHECK_INT(trends[0].n, TREND_POINTS);
	for (unsigned i = 0; i < TREND_POINTS; i++) {
		CHECK_INT(trends[0].mean_ns[i], 200 * US);
		CHECK_INT(trends[1].mean_ns[i] > 0, i >= TREND_POINTS / 2);
	}
	/* six steps a point: the last is of steps 90 ... 95 */
	CHECK_INT(trends[1].mean_ns[TREND_POINTS - 1], (100 * 2 + 90 + 95) * US / 2);
	free(trends);
	bench_release(&bench);
}
