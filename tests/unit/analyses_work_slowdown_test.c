/* SPDX-License-Identifier: MIT */
/* Kernels that become slower, and those that only vary. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEP (1000 * US)

typedef int64_t length_fn(int kernel, int step);

/* n steps of four kernels, whose lengths a function gives. */
static size_t played_on(bool processor, int n, length_fn *length, const char *id,
			struct finding *out)
{
	struct event device = ev_device(1, "0000:65:00.0");
	struct bench bench;
	size_t found;

	bench_init(&bench, &analysis_slowdown);
	if (processor) {
		device.u.device.gpu = 0;
		apply_one(bench.model, device);
	}
	for (int step = 0; step < n; step++) {
		int64_t t = BASE + step * STEP;

		for (int kernel = 0; kernel < 4; kernel++) {
			char name[8] = { 'k', (char)('0' + kernel), '\0' };
			int64_t dur = length(kernel, step);

			bench_kernel(&bench, bench_name(&bench, name), t, t + dur);
			t += dur;
		}
		bench_step(&bench, BASE + step * STEP, BASE + (step + 1) * STEP);
	}
	found = bench_review(&bench, id, out);
	bench_release(&bench);
	return found;
}

static size_t played(int n, length_fn *length, const char *id, struct finding *out)
{
	return played_on(false, n, length, id, out);
}

static int64_t steady(int kernel, int step)
{
	return (50 + kernel) * US;
}

static int64_t noisy(int kernel, int step)
{
	return (50 + (int64_t)test_below(60)) * US + (test_below(50) ? 0 : 500 * US);
}

/* k1 takes 30 % more from step 60 on */
static int64_t one_jumps(int kernel, int step)
{
	return (kernel == 1 && step >= 60 ? 130 : 100) * US + step % 4 * US;
}

static int64_t one_creeps(int kernel, int step)
{
	return 100 * US + (kernel == 2 ? step * US / 2 : 0);
}

static int64_t ten_percent(int kernel, int step)
{
	return (step >= 60 ? 110 : 100) * US;
}

static int64_t once_only(int kernel, int step)
{
	return (step >= 50 && step < 70 ? 300 : 100) * US;
}

static int64_t all_jump(int kernel, int step)
{
	return (step >= 60 ? 140 : 100) * US;
}

static int64_t faster(int kernel, int step)
{
	return (step >= 60 ? 50 : 100) * US;
}

/* From step 60 on others take the cores now and then, the wide kernels' more. */
static int64_t interrupted(int kernel, int step)
{
	int64_t dur = 100 * US + (int64_t)test_below(5 * US);

	if (step < 60)
		return dur;
	return dur + (test_below(2) ? 0 : (int64_t)test_below((kernel < 2 ? 300 : 40) * US));
}

/* All take half as long again, k1 twice that. */
static int64_t one_more_than_all(int kernel, int step)
{
	return (step < 60 ? 100 : kernel == 1 ? 200 : 150) * US;
}

static int64_t wide_ones_jump(int kernel, int step)
{
	return (step < 60 ? 100 : kernel < 2 ? 160 : 140) * US;
}

/* What all else on the machine does to kernels on its processor is no finding. */
TEST(work_slowdown_on_the_hosts_processor)
{
	struct finding finding;

	for (int i = 0; i < 20; i++) {
		CHECK_INT(played_on(true, 180, interrupted, NULL, NULL), 0);
		CHECK_INT(played(180, interrupted, "slowing-kernel", NULL), 0);
	}
	CHECK_INT(played_on(true, 120, all_jump, NULL, NULL), 0);
	CHECK_INT(played_on(true, 120, wide_ones_jump, NULL, NULL), 0);
	CHECK_INT(played_on(true, 120, one_jumps, NULL, &finding), 1);
	CHECK_STR(finding.id, "slowing-kernel");
	CHECK_INT(played_on(true, 400, one_creeps, NULL, &finding), 1);
	CHECK(strstr(finding.title, "slowing kernel: k2 takes") != NULL);
	CHECK_INT(played_on(true, 120, one_more_than_all, NULL, &finding), 1);
	CHECK(strstr(finding.title, "slowing kernel: k1 takes 200 µs") != NULL);
}

TEST(work_slowdown_steady_and_noisy_are_no_finding)
{
	CHECK_INT(played(120, steady, NULL, NULL), 0);
	CHECK_INT(played(1000, noisy, NULL, NULL), 0);
	CHECK_INT(played(120, ten_percent, NULL, NULL), 0);
	CHECK_INT(played(120, once_only, NULL, NULL), 0);
	CHECK_INT(played(120, faster, NULL, NULL), 0);
	CHECK_INT(played(11, one_jumps, NULL, NULL), 0);
}

TEST(work_slowdown_of_one_kernel)
{
	struct finding finding;
	int64_t began;

	CHECK_INT(played(120, one_jumps, NULL, &finding), 1);
	CHECK_STR(finding.id, "slowing-kernel");
	CHECK_INT(finding.cost_ns, 30 * US);
	CHECK(strstr(finding.title, "slowing kernel: k1 takes 13") != NULL);
	CHECK(strstr(finding.title, "µs, at first 10") != NULL);
	CHECK(strstr(finding.title, "µs (29 % more") != NULL);
	/* to a bin of at most 8 steps */
	began = (finding.evidence.t0 - BASE) / STEP;
	CHECK(began >= 56 && began <= 64);
	CHECK_INT(played(400, one_creeps, NULL, &finding), 1);
	CHECK(strstr(finding.title, "slowing kernel: k2 takes") != NULL);
}

TEST(work_slowdown_of_a_device)
{
	struct finding finding;

	CHECK_INT(played(120, all_jump, NULL, &finding), 1);
	CHECK_STR(finding.id, "slowing-device");
	CHECK_INT(finding.cost_ns, 4 * 40 * US);
	CHECK(strstr(finding.title, "4 kernels on ") != NULL);
	CHECK(strstr(finding.title, "take 40 % longer") != NULL);
}

/* The same kernel on more data is another matter. */
TEST(work_slowdown_not_of_other_shapes)
{
	struct bench bench;

	bench_init(&bench, &analysis_slowdown);
	for (int step = 0; step < 120; step++) {
		int64_t t = BASE + step * STEP;

		bench_kernel(&bench, 1, t, t + (step < 60 ? 100 : 300) * US)->object =
			step < 60 ? 5 : 6;
		bench_step(&bench, t, t + STEP);
	}
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}
