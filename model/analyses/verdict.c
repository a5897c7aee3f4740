/* SPDX-License-Identifier: MIT */
/*
 * What bounds a step: verdicts with numbers.
 *
 * Definition: over the steps after the warm-up (with the time between them where it is short;
 * per second where there are no steps), the mean of each class of the breakdown is compared
 * with the whole. A class is reported when its share exceeds its threshold: input-share and
 * input-share-high (5 and 20 %, as in XProf), launch-share and sync-share. Its cost is the mean
 * of the class: removing the cause saves at most this, because the class contains only time in
 * which no device worked. For launch and sync the cost is not more than in the median step, and the
 * threshold is that step's, because what else runs on the host makes some steps long; what is told
 * is the cost as a share of the mean step. What small kernels explain (tiny.c)
 * is not reported as launch-bound again. Copies have an analysis of their own (copies.c). A
 * step in which no threshold is exceeded is bound by its largest class; compute is as it should
 * be.
 *
 * What tftop itself adds to a step is in none of these times where it was measured (own.c), so that
 * a program is not called launch-bound because its launches are slow under tftop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/basis.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define SECONDS_MIN 5
#define CALLS_LEAST 32u			/* of so many calls of bare steps the median is told */
#define MEDIAN_OF 512u			/* how many steps a median is taken of */
#define BUSY_MUCH 70	/* per cent: if threads are this busy, more of them would help */

/* Means, per step or per second. */
struct means {
	uint64_t n;			/* 0: too little to report */
	bool steps;
	int64_t whole_ns, ns[STEP_CLASS_COUNT];
	int64_t mean_ns;		/* what shares are of: the mean step */
	int64_t mean_launch_ns;
	bool apart;			/* that step is another than that of the other findings */
	const struct step_sums *sums;	/* the sums that have the worst step */
	struct own_part own;		/* tftop's own part, which the times above are without */
	uint64_t launches;
};

static int64_t per(int64_t sum, int64_t n, int64_t one)
{
	return n ? (int64_t)((__int128)sum * one / n) : 0;
}

static void take_means(struct model *model, const struct breakdown *b, struct means *means)
{
	const struct step_sums *sums = b->steps.n ? &b->steps : &b->seconds;
	bool steps = b->steps.n > 0;
	int64_t n = steps ? (int64_t)sums->n : sums->sum.dur_ns, one = steps ? 1 : 1000000000;
	struct findings_status status;

	*means = (struct means) { .steps = steps, .sums = sums };
	if (steps ? b->steps.n < (uint64_t)model_threshold(model, THRESHOLD_MIN_STEPS) :
		    sums->sum.dur_ns < SECONDS_MIN * INT64_C(1000000000))
		return;
	means->n = (uint64_t)n;
	means->whole_ns = per(sums->sum.dur_ns + (steps ? b->between.sum.dur_ns : 0), n, one);
	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		means->ns[c] = per(sums->sum.ns[c] + (steps ? b->between.sum.ns[c] : 0), n, one);
	means->launches = (uint64_t)per((int64_t)b->launches, n, one);
	means->mean_ns = means->whole_ns;
	means->mean_launch_ns = means->ns[STEP_LAUNCH];
	if (!steps)
		return;
	analyses_progress(model, &status);
	own_take(model, b, means->ns, &means->own);
	means->whole_ns -= means->own.whole_ns;
	/* bare steps are in none of these means, and shorter */
	means->apart = means->own.whole_ns || b->calls[CALLS_BARE].total;
	means->mean_ns = means->apart ? means->whole_ns : status.step_ns;
	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		means->ns[c] -= means->own.ns[c];
	means->mean_launch_ns = means->ns[STEP_LAUNCH];
}

int64_t verdict_between_ns(const struct model *model)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;

	return per(b->between.sum.dur_ns, (int64_t)b->steps.n, 1);
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median over evenly spread steps, of one class or (STEP_CLASS_COUNT) of the whole. */
static int64_t verdict_median(const struct breakdown *b, int class)
{
	int64_t ns[MEDIAN_OF];
	size_t n = 0, stride = b->n / MEDIAN_OF + 1;

	for (size_t i = 0; i < b->n; i += stride)
		if (!b->rows[i].warm_up && !b->rows[i].lost && !b->rows[i].paused &&
		    !b->rows[i].bare)
			ns[n++] = class < STEP_CLASS_COUNT ? b->rows[i].ns[class] :
							     b->rows[i].dur_ns;
	if (!n)
		return 0;
	qsort(ns, n, sizeof(*ns), by_value);
	return ns[n / 2];
}

/*
 * Waking up and launching sometimes take long, when something else uses the cores, so that a mean
 * would be determined by a few steps. Here the median step is used.
 */
static void take_medians(const struct breakdown *b, struct means *means)
{
	static const int classes[] = { STEP_LAUNCH, STEP_SYNC };
	int64_t n = (int64_t)b->steps.n;

	if (!means->steps)
		return;
	means->whole_ns = verdict_median(b, STEP_CLASS_COUNT) + b->between.sum.dur_ns / n -
			  means->own.whole_ns;
	for (int i = 0; i < 2; i++) {
		int64_t typical_ns = verdict_median(b, classes[i]) +
				     b->between.sum.ns[classes[i]] / n -
				     means->own.ns[classes[i]];

		if (typical_ns < means->ns[classes[i]])
			means->ns[classes[i]] = typical_ns > 0 ? typical_ns : 0;
	}
}

static bool passes(struct model *model, const struct means *means, int64_t ns,
		   enum threshold threshold)
{
	return (__int128)ns * 100 >=
	       (__int128)means->whole_ns * model_threshold(model, threshold) && ns > 0;
}

/* Only where the shares are of another step than those of the other findings. */
static int64_t verdict_of_ns(const struct means *means)
{
	return means->apart ? means->mean_ns : 0;
}

static const char *each(const struct model *model, const struct means *means)
{
	return !means->steps ? "the time" : steps_are_passes(model) ? "each pass" : "each step";
}

static const char *per_word(const struct model *model, const struct means *means)
{
	return !means->steps ? "per second" : steps_are_passes(model) ? "per pass" : "per step";
}

/* The step with most time of the class, or the time before a step, and the row of the thread. */
static struct evidence verdict_worst_step(struct model *model, const struct breakdown *b,
					  const struct means *means, enum step_class class)
{
	static const enum host_state states[STEP_CLASS_COUNT] = {
		[STEP_INPUT] = HOST_INPUT, [STEP_SYNC] = HOST_SYNC,
	};
	const struct step_sums *sums = means->sums;
	uint32_t holder = class == STEP_LAUNCH ? 0 : b->holder[states[class]];

	if (means->steps && b->between.worst_ns[class] > sums->worst_ns[class])
		sums = &b->between;
	return (struct evidence) {
		.kind = EVIDENCE_TIME, .t0 = sums->worst_t0[class], .t1 = sums->worst_t1[class],
		.row = holder && thread_at(model, holder - 1)->row != NONE ?
		       thread_at(model, holder - 1)->row + 1 : 0,
	};
}

static const char *name_of(struct model *model, const struct holder *holder, const char *none)
{
	return holder ? names_short(&model->names, holder->name) : none;
}

/* Says what the numbers of a finding about that class are without. */
static void own_line(const struct means *means, enum step_class class, struct finding *finding)
{
	const struct own_part *own = &means->own;
	char time[FMT_MAX];
	int at = 0;

	while (at < FINDING_LINES && finding->lines[at][0])
		at++;
	if (at == FINDING_LINES)
		return;
	if (own->ns[class])
		snprintf(finding->lines[at], FINDING_TEXT, "without tftop's own %s per step",
			 fmt_time(time, own->ns[class]));
	else if (own->whole_ns)
		snprintf(finding->lines[at], FINDING_TEXT, "of a step without tftop's own %s",
			 fmt_time(time, own->whole_ns));
}

/* ---- input ---- */

/* How many threads other than the workers make batches, and how busy they are. */
static unsigned makers(const struct breakdown *b, const struct means *means, int64_t *share)
{
	int64_t all_ns = means->sums->sum.dur_ns + (means->steps ? b->between.sum.dur_ns : 0);
	int64_t busy = 0;

	for (uint32_t i = 0; i < b->n_inputs; i++)
		add_ns(&busy, b->inputs[i].busy_ns);
	*share = b->n_inputs && all_ns ? per(busy, all_ns, 100) / b->n_inputs : 0;
	return b->n_inputs;
}

static void threads_text(char *text, size_t size, unsigned n)
{
	if (n == 1)
		snprintf(text, size, "one thread");
	else
		snprintf(text, size, "%u threads", n);
}

static void input_lines(struct model *model, const struct breakdown *b, const struct means *means,
			struct finding *finding)
{
	const struct holder *made = holders_most(&b->made);
	int64_t share, left = means->whole_ns - finding->cost_ns, batch_ns, all_ns;
	const struct steps *steps = steps_best(model);
	unsigned n = makers(b, means, &share), workers = steps ?
		loader_workers(model, steps->process, finding->evidence.t1) : 0;
	const char *word = step_noun(steps_are_passes(model));
	char threads[FMT_MAX], time[FMT_MAX];

	if ((!n || !made) && workers) {
		snprintf(finding->lines[0], FINDING_TEXT, "no thread of this process makes "
			 "batches, but %s that it started "
			 "may", fmt_many(threads, workers, "process"));
		snprintf(finding->advice, FINDING_TEXT, "start more of them, or do less work per "
			 "sample, if they never idle");
		return;
	}
	if (!n || !made) {
		snprintf(finding->lines[0], FINDING_TEXT,
			 "no other thread makes batches: the launching thread makes them itself");
		snprintf(finding->advice, FINDING_TEXT, "a thread that makes the next batch "
			 "during the %s would hide up to %s of it", word,
			 fmt_time(time, left < finding->cost_ns ? left :
				    finding->cost_ns));
		return;
	}
	threads_text(threads, sizeof(threads), n);
	snprintf(finding->lines[0], FINDING_TEXT, "%.80s runs on %s, busy %lld %% of the time",
		 name_of(model, made, "input"), threads, (long long)(share > 100 ? 100 : share));
	batch_ns = made->ns / (int64_t)(made->count ? made->count : 1);
	snprintf(finding->lines[1], FINDING_TEXT, "one run takes %s; without the wait a "
		 "%s would take %s",
		 fmt_time(time, batch_ns), word,
		 fmt_time(threads, left));
	/* The time that they need per step, relative to how long a step could be. */
	all_ns = means->steps ? made->ns / (int64_t)means->n : 0;
	if (share >= BUSY_MUCH && left > 0 && means->steps)
		snprintf(finding->advice, FINDING_TEXT, "%lld threads, and as many batches made "
			 "ahead, would keep up with the %s",
			 (long long)(all_ns / left >= n ? all_ns / left + 1 : n + 1), word);
	else if (share >= BUSY_MUCH)
		snprintf(finding->advice, FINDING_TEXT, "more threads would keep up");
	else
		snprintf(finding->advice, FINDING_TEXT, "its threads are not always busy: making "
			 "more batches ahead (prefetch) would hide the wait");
}

static void input_finding(struct model *model, const struct breakdown *b,
			  const struct means *means, struct findings *findings)
{
	const struct holder *held = holders_most(&b->held[HOST_INPUT]);
	const struct steps *steps = steps_best(model);
	int64_t ns = means->ns[STEP_INPUT];
	char share[FMT_MAX], place[PLACE_TEXT];
	struct finding finding = {
		.id = "input-bound", .cost_ns = ns, .of_ns = verdict_of_ns(means),
		.evidence = verdict_worst_step(model, b, means, STEP_INPUT),
		.severity = passes(model, means, ns, THRESHOLD_INPUT_MUCH) ? SEVERITY_WARNING :
			    SEVERITY_NOTE,
	};

	if (!passes(model, means, ns, THRESHOLD_INPUT_SOME))
		return;
	op_place_text(model, held ? held->name : 0, place, sizeof(place));
	snprintf(finding.title, FINDING_TEXT, "input-bound: %s of %s waits for %.80s%s",
		 fmt_share(share, (uint64_t)ns, (uint64_t)means->mean_ns),
		 each(model, means), name_of(model, held, "input"), place);
	if (!means->steps || !steps ||
	    (!stages_review(model, steps->process, means->whole_ns, &finding) &&
	     !loader_review(model, steps->process, held ? names_raw(&model->names, held->name) :
			    NULL, means->whole_ns, &finding)))
		input_lines(model, b, means, &finding);
	host_wait_line(model, STEP_INPUT, place, &finding);
	own_line(means, STEP_INPUT, &finding);
	finding_add(findings, &finding);
}

/* ---- launch, sync ---- */

/* How long a launch call takes: the median, without the ops' callbacks around it if it is known. */
static void call_text(const struct breakdown *b, const struct means *means, char *text, size_t size)
{
	const struct hist *calls = &b->calls[means->steps ? CALLS_STEP : CALLS_TIME];
	bool bare = means->steps && b->calls[CALLS_BARE].total >= CALLS_LEAST;
	int64_t ns = hist_percentile(bare ? &b->calls[CALLS_BARE] : calls, 500);
	char time[FMT_MAX];

	text[0] = '\0';
	if (ns >= 0)
		snprintf(text, size, ", a launch call takes %s%s", fmt_time(time, ns),
			 bare ? " in steps without callbacks around ops" : "");
}

/* Connects the cost with the class `launch` of tables and reports. */
static void launch_class_line(const struct means *means, int64_t all_ns, int64_t small_ns,
			      struct finding *finding)
{
	char all[FMT_MAX], small[FMT_MAX], others[96] = "";

	if (small_ns)
		snprintf(others, sizeof(others), ", %s of it for the small kernels of another "
			 "finding", fmt_time(small, small_ns));
	if (all_ns > finding->cost_ns)
		snprintf(finding->lines[1], FINDING_TEXT, "launch takes %s of the mean %s%s%s",
			 fmt_time(all, all_ns), means->steps ? "step" : "second", others,
			 all_ns - small_ns > finding->cost_ns ?
			 "; the cost is that of the median step" : "");
}

static void launch_finding(struct model *model, const struct breakdown *b,
			   const struct means *means, struct findings *findings)
{
	int64_t small_ns = tiny_cost_ns(model), ns = means->ns[STEP_LAUNCH] - small_ns;
	char share[FMT_MAX], count[FMT_MAX], call[96];
	struct finding finding = {
		.id = "launch-bound", .cost_ns = ns, .of_ns = verdict_of_ns(means),
		.evidence = verdict_worst_step(model, b, means, STEP_LAUNCH),
		.severity = SEVERITY_WARNING,
	};

	/* If small kernels take a good part of it, they are the cause and have a finding of their
	 * own. */
	if (small_ns > means->ns[STEP_LAUNCH] / 4 ||
	    !passes(model, means, ns, THRESHOLD_LAUNCH_SOME))
		return;
	fmt_count(count, means->launches);
	call_text(b, means, call, sizeof(call));
	snprintf(finding.title, FINDING_TEXT,
		 "launch-bound: devices wait for launches in %s of %s",
		 fmt_share(share, (uint64_t)ns, (uint64_t)means->mean_ns),
		 each(model, means));
	snprintf(finding.lines[0], FINDING_TEXT, "%s launches %s%s", count,
		 per_word(model, means), call);
	launch_class_line(means, means->mean_launch_ns, small_ns, &finding);
	own_line(means, STEP_LAUNCH, &finding);
	snprintf(finding.advice, FINDING_TEXT,
		 "launch fewer, larger (fused) kernels, or launch ahead of the device");
	finding_add(findings, &finding);
}

static void sync_finding(struct model *model, const struct breakdown *b, const struct means *means,
			 struct findings *findings)
{
	const struct holder *held = holders_most(&b->held[HOST_SYNC]);
	int64_t ns = means->ns[STEP_SYNC], worked_ns = 0;
	char share[FMT_MAX], time[FMT_MAX];
	struct finding finding = {
		.id = "sync-bound", .cost_ns = ns, .of_ns = verdict_of_ns(means),
		.evidence = verdict_worst_step(model, b, means, STEP_SYNC),
		.severity = SEVERITY_WARNING,
	};

	/* If no device ever worked, its records are withheld, or the waits are for something else.
	 * If waits of known lines take a good part of it, these are the cause and are reported. */
	for (int c = STEP_COMPUTE; c <= STEP_D2D; c++)
		worked_ns += means->ns[c];
	if (!worked_ns || waits_told_ns(model) > ns / 2 ||
	    !passes(model, means, ns, THRESHOLD_SYNC_SOME))
		return;
	snprintf(finding.title, FINDING_TEXT,
		 "sync-bound: the host waits while no device works in %s of %s",
		 fmt_share(share, (uint64_t)ns, (uint64_t)means->mean_ns),
		 each(model, means));
	if (held)
		snprintf(finding.lines[0], FINDING_TEXT, "most of it in %.80s: %s %s",
			 name_of(model, held, ""),
			 fmt_time(time,
				    per(held->ns, (int64_t)means->n,
					means->steps ? 1 : 1000000000)),
			 per_word(model, means));
	own_line(means, STEP_SYNC, &finding);
	snprintf(finding.advice, FINDING_TEXT,
		 "enqueue the next work before waiting, and wait only where a result is needed");
	finding_add(findings, &finding);
}

void verdict_review(struct model *model, const struct slice_sweep *sweep, struct findings *findings)
{
	const struct breakdown *b = &sweep->breakdown;
	struct means means;

	take_means(model, b, &means);
	if (!means.n)
		return;
	input_finding(model, b, &means, findings);
	host_wait_review(model, sweep, means.whole_ns, means.steps, means.ns[STEP_COMPILE] > 0,
			 findings);
	take_medians(b, &means);
	launch_finding(model, b, &means, findings);
	sync_finding(model, b, &means, findings);
}

/* ---- queries ---- */

bool model_bound(struct model *model, struct step_bound *out)
{
	struct means means;
	enum step_bound_kind most = BOUND_COMPUTE;
	int64_t ns[BOUND_COUNT];

	take_means(model, &sweep_of(model)->breakdown, &means);
	*out = (struct step_bound) { .kind = BOUND_COMPUTE };
	if (!means.n)
		return false;
	ns[BOUND_COMPUTE] = means.ns[STEP_COMPUTE];
	ns[BOUND_COMM] = means.ns[STEP_COMM];
	ns[BOUND_INPUT] = means.ns[STEP_INPUT];
	ns[BOUND_LAUNCH] = means.ns[STEP_LAUNCH];
	ns[BOUND_COPY] = means.ns[STEP_H2D] + means.ns[STEP_D2H] + means.ns[STEP_D2D];
	ns[BOUND_SYNC] = means.ns[STEP_SYNC];
	ns[BOUND_HOST] = means.ns[STEP_HOST] + means.ns[STEP_OTHER];
	ns[BOUND_COMPILE] = means.ns[STEP_COMPILE];
	for (int i = 0; i < BOUND_COUNT; i++)
		if (ns[i] > ns[most])
			most = (enum step_bound_kind)i;
	*out = (struct step_bound) {
		most, ns[most], means.whole_ns, means.own.whole_ns, means.steps,
	};
	return true;
}

const char *step_bound_name(enum step_bound_kind kind)
{
	static const char *const names[BOUND_COUNT] = {
		"compute", "communication", "input", "launch", "copy", "sync", "host",
		"compile",
	};

	return (unsigned)kind < BOUND_COUNT ? names[kind] : "";
}
