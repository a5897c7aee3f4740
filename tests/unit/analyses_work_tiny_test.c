/* SPDX-License-Identifier: MIT */
/* Small kernels: runs of them, and only where they are the matter. */
#include <stdio.h>
#include <string.h>

#include "model/analyses/thresholds.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

/* n kernels from start on, each so long, launched just before it ran. */
static int64_t burst(struct bench *bench, uint32_t name, uint64_t op, int64_t start, int n,
		     int64_t dur, int64_t pause)
{
	for (int i = 0; i < n; i++) {
		struct act *act = bench_kernel(bench, name, start, start + dur);

		act->op = op;
		act->op_name = bench_name(bench, "sgd");
		act->call_ns = start - 2 * US;
		act->call_dur_ns = US;
		start += dur + pause;
	}
	return start;
}

TEST(work_tiny_worked_example)
{
	struct bench bench;
	struct finding finding;
	uint32_t update, conv;

	bench_init(&bench, &analysis_tiny);
	update = bench_name(&bench, "sgd_update");
	conv = bench_name(&bench, "conv");
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * MS;

		burst(&bench, conv, 1, t + 100 * US, 2, 200 * US, 4 * US);
		burst(&bench, update, 2, t + 600 * US, 40, 2 * US, 4 * US);
		bench_step(&bench, t, t + MS);
	}
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK_STR(finding.id, "small-kernels");
	CHECK_INT(finding.cost_ns, 39 * 4 * US);
	CHECK(has(finding.title, "small kernels: 40 under "));
	CHECK(has(finding.title, "per step on queue 0, gaps between launches take 66 % of that "
		  "time"));
	CHECK_STR(finding.lines[0], "most of it: sgd_update × 40 in sgd, 1.0 times per step");
	CHECK_STR(finding.evidence.key, "sgd_update");
	bench_release(&bench);
}

/* Four kernels in turns, whose names are too long for one line. */
TEST(work_tiny_long_names)
{
	struct bench bench;
	struct finding finding;
	char text[128];

	bench_init(&bench, &analysis_tiny);
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * MS;

		for (int k = 0; k < 40; k++) {
			snprintf(text, sizeof(text), "kernel_%d_%080d", k % 4, 0);
			burst(&bench, bench_name(&bench, text), 2, t + k * 6 * US, 1, 2 * US, 0);
		}
		bench_step(&bench, t, t + MS);
	}
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK(has(finding.lines[0], "most of it: kernel_0_0"));
	CHECK(has(finding.lines[0], ", kernel_1_0"));
	CHECK(!has(finding.lines[0], "kernel_2"));
	CHECK(has(finding.lines[0], "00, … × 10 in sgd, 1.0 times per step"));
	bench_release(&bench);
}

/* What one step of these would say, ten times over; the share set to 0. */
static size_t said(void (*play)(struct bench *bench, int64_t t), struct finding *finding)
{
	struct bench bench;
	size_t n;

	bench_init(&bench, &analysis_tiny);
	model_threshold_set(bench.model, THRESHOLD_SMALL_SHARE, 0);
	for (int64_t i = 0; i < 10; i++) {
		play(&bench, BASE + i * MS);
		bench_step(&bench, BASE + i * MS, BASE + (i + 1) * MS);
	}
	n = bench_review(&bench, NULL, finding);
	bench_release(&bench);
	return n;
}

static void two_in_an_op(struct bench *bench, int64_t t)
{
	for (int i = 0; i < 4; i++)
		burst(bench, 1, (uint64_t)i + 1, t + (100 + i * 12) * US, 2, 2 * US, 4 * US);
}

static void ten_across_ops(struct bench *bench, int64_t t)
{
	for (int i = 0; i < 5; i++)
		burst(bench, 1, (uint64_t)i + 1, t + (100 + i * 12) * US, 2, 2 * US, 4 * US);
}

static void with_copies_between(struct bench *bench, int64_t t)
{
	for (int i = 0; i < 8; i++) {
		burst(bench, 1, 1, t + (100 + i * 20) * US, 2, 2 * US, 4 * US);
		bench_copy(bench, DIR_D2D, 10, 0, t + (113 + i * 20) * US, t + (114 + i * 20) * US);
	}
}

static void long_ones(struct bench *bench, int64_t t)
{
	burst(bench, 1, 1, t + 100 * US, 20, 30 * US, 4 * US);
}

static void far_apart(struct bench *bench, int64_t t)
{
	burst(bench, 1, 1, t + 100 * US, 2, 2 * US, 4 * US);
	burst(bench, 1, 1, t + 600 * US, 2, 2 * US, 4 * US);
}

TEST(work_tiny_only_runs_count)
{
	struct finding finding;

	CHECK_INT(said(two_in_an_op, NULL), 0);
	CHECK_INT(said(with_copies_between, NULL), 0);
	CHECK_INT(said(long_ones, NULL), 0);
	CHECK_INT(said(far_apart, NULL), 0);
	CHECK_INT(said(ten_across_ops, &finding), 1);
	CHECK(has(finding.title, "small kernels: 10 under "));
	CHECK_INT(finding.cost_ns, 9 * 4 * US);
}

TEST(work_tiny_too_little_to_matter)
{
	struct bench bench;

	bench_init(&bench, &analysis_tiny);
	for (int64_t i = 0; i < 10; i++) {
		burst(&bench, 1, 1, BASE + i * MS, 4, 2 * US, 4 * US);	/* 12 us of 1000 */
		bench_step(&bench, BASE + i * MS, BASE + (i + 1) * MS);
	}
	CHECK_INT(bench_review(&bench, NULL, NULL), 0);
	bench_release(&bench);
}

TEST(work_tiny_names_repeated_patterns)
{
	static const char *const names[] = { "scale", "add", "clip" };
	struct bench bench;
	struct finding finding;

	bench_init(&bench, &analysis_tiny);
	for (int64_t i = 0; i < 10; i++) {
		int64_t t = BASE + i * MS;

		for (int k = 0; k < 12; k++)
			burst(&bench, bench_name(&bench, names[k % 3]), 1, t + k * 6 * US, 1,
			      2 * US, 0);
		bench_step(&bench, t, t + MS);
	}
	CHECK_INT(bench_review(&bench, NULL, &finding), 1);
	CHECK(has(finding.lines[0], "scale, add, clip × 4 in sgd"));
	bench_release(&bench);
}

/* ---- against a plain scan, with a given length ---- */

struct piece { int64_t start, end; uint64_t op; bool kernel; uint32_t call; };

static void count_naive(const struct piece *pieces, int n, int64_t below, uint64_t *kernels,
			int64_t *saving)
{
	for (int i = 0, end, to; i < n; i = end > i ? end : i + 1) {
		int in_ops = 0;
		bool whole;

		for (end = i; end < n && pieces[end].kernel &&
		     pieces[end].end - pieces[end].start < below &&
		     (end == i || pieces[end].start - pieces[end - 1].end <= 8 * below); end++)
			;
		for (int from = i; from < end; from = to) {
			for (to = from; to < end && pieces[to].op == pieces[from].op; to++)
				;
			in_ops += to - from >= 3 ? to - from : 0;
		}
		whole = end - i >= 10 && in_ops * 2 < end - i;
		for (int from = i; from < end; from = to) {
			for (to = from; to < end && (whole || pieces[to].op == pieces[from].op);
			     to++)
				;
			for (int k = from; to - from >= 3 && k < to; k++) {
				int64_t pause = k > from ? pieces[k].start - pieces[k - 1].end : 0;

				*kernels += 1;
				if (k > from)
					*saving += pause > pieces[k].call ? pause : pieces[k].call;
			}
		}
	}
}

TEST(work_tiny_against_naive)
{
	for (int round = 0; round < 60; round++) {
		struct bench bench;
		struct finding finding;
		struct piece pieces[200];
		uint64_t kernels = 0;
		int64_t saving = 0, t = BASE;
		char text[64];

		bench_init(&bench, &analysis_tiny);
		model_threshold_set(bench.model, THRESHOLD_SMALL_SHARE, 0);
		model_threshold_set(bench.model, THRESHOLD_SMALL_KERNEL, 25);
		for (int i = 0; i < 200; i++) {
			struct piece *piece = &pieces[i];
			struct act *act;

			t += (int64_t)test_below(test_below(8) ? 5 * US : 400 * US);
			piece->start = t;
			t += (int64_t)test_below(test_below(6) ? 20 * US : 60 * US);
			piece->end = t;
			piece->kernel = test_below(15) != 0;
			piece->op = i ? pieces[i - 1].op + !test_below(4) : 1;
			piece->call = (uint32_t)test_below(4 * US);
			act = piece->kernel ? bench_kernel(&bench, 1, piece->start, piece->end) :
			      bench_copy(&bench, DIR_D2D, 1, 0, piece->start, piece->end);
			act->op = piece->op;
			act->call_ns = piece->start;
			act->call_dur_ns = piece->call;
		}
		count_naive(pieces, 200, 25 * US, &kernels, &saving);
		bench_step(&bench, BASE, t + 1);
		for (int i = 0; i < 9; i++)
			bench_step(&bench, t + 1 + i, t + 2 + i);
		CHECK_INT(bench_review(&bench, NULL, &finding), kernels > 0);
		snprintf(text, sizeof(text), "small kernels: %d under ", (int)((kernels + 5) / 10));
		CHECK(!kernels || has(finding.title, text));
		CHECK(!kernels || finding.cost_ns == saving / 10);
		bench_release(&bench);
	}
}

/* 12 kernels of 2 us that one call of 300 us launched, with pauses of 3 us. */
static void one_graph(struct bench *bench, int64_t t)
{
	for (int i = 0; i < 12; i++) {
		int64_t start = t + 400 * US + i * 5 * US;
		struct act *act = bench_kernel(bench, bench_name(bench, "layer"), start,
					       start + 2 * US);

		act->op = 1;
		act->call_ns = t + 50 * US;
		act->call_dur_ns = 300 * US;
	}
}

/* Each has a twelfth of the call, and what is one graph is not told to become one. */
TEST(work_tiny_kernels_of_a_graph_share_its_launch)
{
	struct finding finding;

	CHECK_INT(said(one_graph, &finding), 1);
	CHECK_INT(finding.cost_ns, 11 * 300 / 12 * US);
	CHECK(!has(finding.advice, "graph"));
}

static void calls_that_overlap(struct bench *bench, int64_t t)
{
	for (int i = 0; i < 12; i++) {
		int64_t start = t + 400 * US + i * 5 * US;
		struct act *act = bench_kernel(bench, bench_name(bench, "layer"), start,
					       start + 2 * US);

		act->op = 1;
		act->call_ns = t + i * US;
		act->call_dur_ns = 300 * US;
	}
}

TEST(work_tiny_costs_at_most_the_step)
{
	struct finding finding;

	CHECK_INT(said(calls_that_overlap, &finding), 1);
	CHECK_INT(finding.cost_ns, MS);
}
