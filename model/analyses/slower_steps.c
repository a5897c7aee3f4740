/* SPDX-License-Identifier: MIT */
/*
 * Steps that take longer from some step on.
 *
 * Definition: the steps after the warm-up that compiled nothing are cut into up to BINS bins of
 * equally many steps, each with the median of its steps. The bins are split in two so that the
 * distances to the median of either part add up to least. The steps got slower at the split if the
 * median of the second part is at least `slowdown` % above that of the first, and nearly every bin
 * of the second part is above nearly every bin of the first (the tenth percentile of one above the
 * ninetieth of the other): a few slow steps, and steps that vary, are no such change. Each part has
 * at least PART_LEAST bins. That it is a step of the program and not of the machine is unknown.
 *
 * The cost is what the steps after the split take longer, spread over all steps. The class that
 * grew most, by the means of the steps that have settled, is named.
 *
 * Worked example: 58 steps take about 43 ms up to step 34 and 65 ms from step 35 on. The split is
 * before step 35; 22 ms in 25 of 58 steps cost 9.5 ms per step.
 *
 * Complexity: O(steps + BINS² log BINS) for a review. State: none.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define BINS 96u
#define BIN_SAMPLES 9u			/* steps of a bin that its median is taken of */
#define PART_LEAST 10u
#define COMPILED_PART 10

struct slower_bins {
	int64_t ns[BINS];
	size_t first[BINS];		/* index of its first step */
	size_t n, steps;
};

struct slower_split {
	size_t at;			/* index of the first bin that is slower */
	int64_t before_ns, after_ns;
};

static int slower_by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Copies and sorts. */
static void slower_sort(int64_t *to, const int64_t *from, size_t n)
{
	memcpy(to, from, n * sizeof(*to));
	qsort(to, n, sizeof(*to), slower_by_value);
}

/* steps: indices of those that count, n of them. */
static void slower_fill(const struct steps *all, const size_t *steps, size_t n,
			struct slower_bins *bins)
{
	size_t width = (n + BINS - 1) / BINS;

	*bins = (struct slower_bins) { .steps = n };
	for (size_t at = 0; at < n; at += width, bins->n++) {
		size_t here = n - at < width ? n - at : width, stride = here / BIN_SAMPLES + 1;
		int64_t ns[BIN_SAMPLES + 1];
		size_t k = 0;

		for (size_t i = 0; i < here && k < BIN_SAMPLES; i += stride)
			ns[k++] = all->list[steps[at + i]].dur_ns;
		qsort(ns, k, sizeof(*ns), slower_by_value);
		bins->ns[bins->n] = ns[k / 2];
		bins->first[bins->n] = steps[at];
	}
}

/* Sum of the distances to the median of sorted values. */
static int64_t slower_spread(const int64_t *sorted, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		add_ns(&sum, llabs(sorted[i] - sorted[n / 2]));
	return sum;
}

static bool slower_find(const struct slower_bins *bins, int64_t threshold,
			struct slower_split *out)
{
	int64_t before[BINS], after[BINS], least_ns = INT64_MAX;
	bool found = false;

	for (size_t at = PART_LEAST; at + PART_LEAST <= bins->n; at++) {
		size_t rest = bins->n - at;
		int64_t sum_ns;

		slower_sort(before, bins->ns, at);
		slower_sort(after, bins->ns + at, rest);
		sum_ns = slower_spread(before, at) + slower_spread(after, rest);
		if (sum_ns >= least_ns)
			continue;
		least_ns = sum_ns;
		*out = (struct slower_split) { at, before[at / 2], after[rest / 2] };
		found = after[rest / 10] > before[at - 1 - at / 10] &&
			(__int128)(out->after_ns - out->before_ns) * 100 >=
			(__int128)out->before_ns * threshold;
	}
	return found;
}

/* Names the class whose mean grew most from the steps before t_ns to those after it. */
static void slower_class_line(const struct breakdown *b, int64_t t_ns, struct finding *finding)
{
	int64_t sum[2][STEP_CLASS_COUNT] = { { 0 } }, n[2] = { 0 }, most_ns = 0;
	char before[FMT_MAX], after[FMT_MAX];
	int most = -1;

	for (size_t i = 0; i < b->n; i++) {
		const struct step_breakdown *row = &b->rows[i];
		int late = row->start_ns >= t_ns;

		if (row->warm_up || row->lost || row->paused || row->bare)
			continue;
		n[late]++;
		for (int c = 0; c < STEP_CLASS_COUNT; c++)
			add_ns(&sum[late][c], row->ns[c]);
	}
	for (int c = 0; n[0] && n[1] && c < STEP_CLASS_COUNT; c++) {
		int64_t more_ns = sum[1][c] / n[1] - sum[0][c] / n[0];

		if (more_ns > most_ns) {
			most = c;
			most_ns = more_ns;
		}
	}
	if (most >= 0)
		snprintf(finding->lines[0], FINDING_TEXT, "most of it in %s: %s, before that %s",
			 step_class_name((enum step_class)most),
			 fmt_time(after, sum[1][most] / n[1]),
			 fmt_time(before, sum[0][most] / n[0]));
}

static void slower_report(struct model *model, const struct steps *steps,
			  const struct slower_bins *bins, const struct slower_split *split,
			  struct findings *findings)
{
	const struct step *step = &steps->list[bins->first[split->at]];
	size_t late = (bins->n - split->at) * bins->steps / bins->n;
	char before[FMT_MAX], after[FMT_MAX];
	bool passes = steps_are_passes(model);
	struct finding finding = {
		.id = "slower-steps", .severity = SEVERITY_NOTE,
		.cost_ns = (int64_t)((__int128)(split->after_ns - split->before_ns) *
				     (int64_t)late / (int64_t)bins->steps),
		.evidence = { .kind = EVIDENCE_STEPS, .t0 = step->start_ns,
			      .t1 = step->start_ns + step->dur_ns },
	};

	snprintf(finding.title, FINDING_TEXT,
		 "%s got slower: from %s %lld on they take %s, before that %s (%lld %% more)",
		 step_nouns(passes), step_noun(passes),
		 (long long)(step->number >= 0 ? step->number :
			     (int64_t)bins->first[split->at]),
		 fmt_time(after, split->after_ns), fmt_time(before, split->before_ns),
		 (long long)((split->after_ns - split->before_ns) * 100 / split->before_ns));
	slower_class_line(&sweep_of(model)->breakdown, step->start_ns, &finding);
	snprintf(finding.advice, FINDING_TEXT,
		 "compare one from before with one from after it (diff), and see what else the "
		 "machine did then");
	finding_add(findings, &finding);
}

static void slower_review(struct model *model, void *state, struct findings *findings)
{
	const struct steps *steps = steps_best(model);
	size_t warm_up = (size_t)model_threshold(model, THRESHOLD_WARM_UP), n = 0, *which;
	struct slower_split split;
	struct slower_bins bins;

	if (!steps || steps->n < warm_up + 2 * PART_LEAST)
		return;
	which = xreallocarray(NULL, steps->n, sizeof(*which));
	for (size_t i = warm_up; i < steps->n; i++)
		if (!step_compiles(model, steps, &steps->list[i], COMPILED_PART))
			which[n++] = i;
	slower_fill(steps, which, n, &bins);
	if (slower_find(&bins, model_threshold(model, THRESHOLD_SLOWER), &split) &&
	    split.before_ns > 0)
		slower_report(model, steps, &bins, &split, findings);
	free(which);
}

const struct analysis analysis_slower_steps = {
	.name = "slower steps",
	.review = slower_review,
};
