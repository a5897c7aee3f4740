/* SPDX-License-Identifier: MIT */
/* Copies on the critical path, copies that need not be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define STEP (10 * MS)

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

TEST(work_copies_exposed_time_is_the_cost)
{
	struct bench bench;
	struct finding finding;

	bench_init(&bench, &analysis_copies);
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * STEP;

		/* 3 ms alone, 1 ms under a kernel */
		bench_copy(&bench, DIR_H2D, 40000000, 0, t + MS, t + 5 * MS);
		bench_kernel(&bench, bench_name(&bench, "conv2d_1"), t + 4 * MS, t + 9 * MS);
		bench_step(&bench, t, t + STEP);
	}
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK_STR(finding.id, "copy-bound");
	CHECK_INT(finding.cost_ns, 3 * MS);
	/* It began before the copy ended: not what comes next, but nothing else does. */
	CHECK(has(finding.title, "40 000 000 bytes host→device per step, pageable"));
	CHECK(has(finding.title, "10.0 GB/s"));
	CHECK(has(finding.lines[0], "1.00 ms of it while a kernel runs"));
	CHECK_INT(finding.evidence.t1 - finding.evidence.t0, 4 * MS);
	bench_release(&bench);
}

TEST(work_copies_hidden_or_short_are_no_finding)
{
	struct bench bench;

	bench_init(&bench, &analysis_copies);
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * STEP;

		bench_copy(&bench, DIR_H2D, 40000000, 5, t + 2 * MS, t + 5 * MS);
		bench_kernel(&bench, 1, t + MS, t + 9 * MS);
		/* the loss of one step and the update of another, 1 % of a step */
		bench_copy(&bench, DIR_D2H, 4, 6, t + 9 * MS, t + 9 * MS + 100 * US);
		bench_step(&bench, t, t + STEP);
	}
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}

TEST(work_copies_few_steps_say_nothing)
{
	struct bench bench;

	bench_init(&bench, &analysis_copies);
	for (int64_t i = 0; i < 4; i++) {
		bench_copy(&bench, DIR_H2D, 1000000, 5, BASE + i * STEP, BASE + i * STEP + 8 * MS);
		bench_step(&bench, BASE + i * STEP, BASE + (i + 1) * STEP);
	}
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}

/* Step i with uploads of objects given as text, "K" is a kernel, small letters
 * downloads, capitals uploads; each lasts 500 us. */
static void play(struct bench *bench, int64_t i, const char *what)
{
	int64_t t = BASE + i * STEP;

	for (int64_t k = 0; what[k]; k++) {
		int64_t start = t + k * 500 * US, end = start + 500 * US;

		if (what[k] == 'K')
			bench_kernel(bench, 1, start, end);
		else if (what[k] >= 'a')
			bench_copy(bench, DIR_D2H, 1000000, (uint32_t)(what[k] - 'a' + 1), start,
				   end);
		else
			bench_copy(bench, DIR_H2D, 1000000, (uint32_t)(what[k] - 'A' + 1), start,
				   end);
	}
	bench_step(bench, t, t + STEP);
}

static size_t played(const char *what, const char *id, struct finding *finding)
{
	struct bench bench;
	size_t n;

	bench_init(&bench, &analysis_copies);
	for (int64_t i = 0; i < 8; i++)
		play(&bench, i, what);
	n = bench_review(&bench, id, finding);
	bench_release(&bench);
	return n;
}

TEST(work_copies_repeated_only_when_nothing_used_them)
{
	struct finding finding;

	CHECK_INT(played("ABABAK", "repeated-copy", &finding), 1);
	CHECK(has(finding.title, "1 000 000 bytes host→device, 3.0 times more than needed per "
		  "step"));
	CHECK_INT(finding.cost_ns, 3 * 500 * US);
	CHECK_INT(played("KaaKaa", "repeated-copy", &finding), 1);
	CHECK(has(finding.title, "device→host, 2.0 times more than needed"));
	/* another batch in the same buffer, another loss from the same place */
	CHECK_INT(played("AKaAKaAKa", "repeated-copy", NULL), 0);
	CHECK_INT(played("ABCK", "repeated-copy", NULL), 0);
	/* copied elsewhere between the two */
	CHECK_INT(played("AbAK", "repeated-copy", NULL), 0);
}

TEST(work_copies_round_trips)
{
	struct finding finding;

	CHECK_INT(played("KaAKaAK", "round-trip", &finding), 1);
	CHECK(has(finding.title, "1 000 000 bytes device→host and back, 2.0 times per step"));
	CHECK_INT(finding.cost_ns, 2 * 2 * 500 * US);
	CHECK_INT(played("AKa", "round-trip", NULL), 0);
	CHECK_INT(played("KaBKbA", "round-trip", &finding), 1);
	CHECK(has(finding.title, "1.0 times"));
}

/* ---- exposed time against a scan of every microsecond ---- */

TEST(work_copies_exposed_against_naive)
{
	for (int round = 0; round < 40; round++) {
		static uint8_t kernel[400], copy[400];
		struct bench bench;
		struct finding finding;
		int64_t exposed = 0;

		memset(kernel, 0, sizeof(kernel));
		memset(copy, 0, sizeof(copy));
		bench_init(&bench, &analysis_copies);
		for (int i = 0; i < 30; i++) {
			int64_t start = (int64_t)test_below(380),
				end = start + 1 + (int64_t)test_below(20);
			bool is_kernel = test_below(2);

			memset((is_kernel ? kernel : copy) + start, 1, (size_t)(end - start));
			/* what reaches over the slice is clipped */
			if (is_kernel)
				bench_kernel(&bench, 1, BASE + (start - 20) * US,
					     BASE + (end - 20) * US);
			else
				bench_copy(&bench, DIR_H2D, 100, 0, BASE + (start - 20) * US,
					   BASE + (end - 20) * US);
		}
		for (int i = 20; i < 380; i++)
			exposed += copy[i] && !kernel[i] ? US : 0;
		bench_step(&bench, BASE, BASE + 360 * US);
		for (int i = 0; i < 5; i++)
			bench_step(&bench, BASE + (400 + i) * US, BASE + (400 + i) * US + 1);
		if (exposed / 6 * 1000 / ((360 * US + 5) / 6) >= 50) {
			CHECK_INT(bench_review(&bench, "copy-bound", &finding), 1);
			CHECK_INT(finding.cost_ns, exposed / 6);
		} else {
			CHECK_INT(bench_review(&bench, "copy-bound", NULL), 0);
		}
		bench_release(&bench);
	}
}

/* On the processor (JAX) memory is neither pinned nor pageable, and no queue is apart. */
TEST(work_copies_by_the_processor)
{
	struct event step = { .type = EVENT_STEP, .pid = PID };
	struct model *model = model_with_device();
	struct findings_status status;
	struct finding *list;
	int found = 0;

	add_processor(model);
	for (int64_t i = 0; i < 12; i++) {
		apply_one(model, ev_copy(9, DIR_H2D, 4000000, i * STEP + MS, 2 * MS));
		step.time_ns = BASE + (i + 1) * STEP;
		step.u.step = (struct event_step) { .number = i, .start_ns = BASE + i * STEP,
						    .dur_ns = STEP };
		apply_one(model, step);
	}
	model_finish(model, false);
	model_lock(model);
	for (size_t i = 0, n = model_findings(model, &status, &list); i < n; i++) {
		if (strcmp(list[i].id, "copy-bound"))
			continue;
		found++;
		CHECK_STR(list[i].title, "copy on the critical path: 4 000 000 bytes copied by the "
			  "processor per step (2.00 GB/s)");
		CHECK(!has(list[i].advice, "pinned") && !has(list[i].advice, "queue"));
	}
	CHECK_INT(found, 1);
	free(list);
	model_unlock(model);
	model_free(model);
}

/* Half of every fourth step is a compilation: what the others cost is told, not a mean of
 * both; in the report of where a step goes they are. */
TEST(work_copies_in_steps_that_compile)
{
	struct event step = { .type = EVENT_STEP, .pid = PID }, compile = step;
	struct model *model = model_with_device();
	struct findings_status status;
	struct finding *list;
	int found = 0;

	compile.type = EVENT_COMPILE;
	for (int64_t i = 0; i < 22; i++) {
		int64_t t = BASE + i * STEP;

		compile.time_ns = step.time_ns = t + STEP;
		compile.u.compile = (struct event_compile) {
			.start_ns = t, .dur_ns = STEP / 2, .what = "step", .options = "", .log = "",
		};
		if (i % 4 == 3)
			apply_one(model, compile);
		else
			apply_one(model, ev_copy(1, DIR_H2D, 4000000, i * STEP + MS, 2 * MS));
		step.u.step = (struct event_step) { .number = i, .start_ns = t, .dur_ns = STEP };
		apply_one(model, step);
	}
	model_finish(model, false);
	model_lock(model);
	for (size_t i = 0, n = model_findings(model, &status, &list); i < n; i++) {
		if (strcmp(list[i].id, "copy-bound"))
			continue;
		found++;
		CHECK_INT(list[i].cost_ns, 2 * MS);
	}
	CHECK_INT(found, 1);
	CHECK_INT(status.steps, 20);
	free(list);
	model_unlock(model);
	model_free(model);
}
