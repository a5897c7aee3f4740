/* SPDX-License-Identifier: MIT */
/*
 * page-faults: memory that the program touches for the first time, over and over. An allocator that
 * gives large blocks back to the system gets new pages for the next one, which the kernel clears
 * and maps one by one; that can take longer than the work on them.
 *
 * Definition: the mean of the series USAGE_FAULT_TIME of the process that runs the steps (or,
 * without steps, of the one where it is highest), over the steps after the warm-up from its second
 * value there on, as the first one holds for the warm-up, too. It is an estimate of the probe's
 * (probes/host/usage_faults.c). Of it counts what one processor does, that is, it is divided by how
 * many processors the process used at once. The cost is that share of a step, but not more than the
 * time in which no device worked or was waited for; where only the processor works, that is the
 * step.
 *
 * Limits: faults on threads that nobody waits for count as well. Lost time that the kernel does not
 * count, above all that of the hypervisor and of cold caches, comes on top.
 */
#include <stdio.h>
#include <string.h>

#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/counters/counters.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"
#include "model/query/counters.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#define STEPLESS_LEAST_NS (5 * INT64_C(1000000000))

/* Means over [t0, t1), in 1/1000 of one processor and in faults per second. */
struct fault_means {
	uint32_t process;
	int64_t t0, t1;
	int64_t fault_time, processor, faults;
};

/* false: the process has no such series, or they are too short. */
static bool fault_means_of(struct model *model, uint32_t process, int64_t t0, int64_t t1,
			   struct fault_means *out)
{
	t0 += USAGE_NS;
	if (t1 - t0 < USAGE_NS)
		return false;
	*out = (struct fault_means) {
		.process = process, .t0 = t0, .t1 = t1,
		.fault_time = counters_usage_mean(model, process, USAGE_FAULT_TIME, t0, t1),
		.processor = counters_usage_mean(model, process, USAGE_PROCESSOR, t0, t1),
		.faults = counters_usage_mean(model, process, USAGE_FAULTS, t0, t1),
	};
	return out->fault_time > 0 && out->processor > 0 && out->faults > 0;
}

/* Of the steps after the warm-up; without steps of the process with most of it. */
static bool fault_means(struct model *model, struct fault_means *out)
{
	const struct steps *steps = steps_best(model);
	size_t warm_up = (size_t)model_threshold(model, THRESHOLD_WARM_UP);
	struct findings_status status;
	struct fault_means one;

	*out = (struct fault_means) { .fault_time = 0 };
	if (steps) {
		if (steps->n < warm_up + (size_t)model_threshold(model, THRESHOLD_MIN_STEPS))
			return false;
		return fault_means_of(model, steps->process, steps->list[warm_up].start_ns,
				      steps->list[steps->n - 1].start_ns +
				      steps->list[steps->n - 1].dur_ns, out);
	}
	analyses_progress(model, &status);
	if (status.settled_ns == INT64_MIN)
		return false;		/* the program ended without any work */
	for (uint32_t i = 0; i < model->processes.n; i++) {
		uint32_t first = counters_usage(model, i, USAGE_FAULT_TIME);
		int64_t t0;

		if (first == NONE)
			continue;
		t0 = series_first_ns(series_at(model->counters, first));
		if (status.settled_ns - t0 >= STEPLESS_LEAST_NS &&
		    fault_means_of(model, i, t0, status.settled_ns, &one) &&
		    one.fault_time > out->fault_time)
			*out = one;
	}
	return out->fault_time > 0;
}

/* The share of a step that faults take, in 1/1000: on as many threads as use the processor. */
static int64_t fault_share(const struct fault_means *means)
{
	int64_t at_once = means->processor > 1000 ? means->processor : 1000;
	int64_t share = means->fault_time * 1000 / at_once;

	return share < 1000 ? share : 1000;
}

/* What faults can lengthen: the time of a step in which no device works or is waited for; all of
 * it, if that is unknown. */
static int64_t fault_limit_ns(struct model *model, int64_t step_ns)
{
	struct step_breakdown mean;
	int64_t limit_ns;

	if (!model_step_breakdown_mean(model, &mean))
		return step_ns;
	limit_ns = mean.ns[STEP_COMPILE] + mean.ns[STEP_LAUNCH] + mean.ns[STEP_INPUT] +
		   mean.ns[STEP_HOST] + mean.ns[STEP_OTHER];
	return sweep_on_processor(sweep_of(model)) ? limit_ns + mean.ns[STEP_COMPUTE] : limit_ns;
}

/* "most memory is allocated by add at train.py:12". Only where the memory is the processor's: no
 * page of a device's is touched here. */
static void say_allocating(struct model *model, uint32_t process, char line[FINDING_TEXT])
{
	const struct line_use *most = NULL;
	char place[PLACE_TEXT];

	if (!sweep_on_processor(sweep_of(model)))
		return;
	for (uint32_t i = 0; i < model->lines->uses.n; i++) {
		const struct line_use *use = use_at(model->lines, i);

		if (frame_at(model->lines, use->frame)->process == process &&
		    use->allocated > (most ? most->allocated : 0))
			most = use;
	}
	if (!most)
		return;
	frame_place_text(model, most->frame + 1, place, sizeof(place));
	snprintf(line, FINDING_TEXT, "most memory is allocated by %.100s%s",
		 names_short(&model->names, ident_at(model, most->ident)->name), place);
}

/* The cost, of whole_ns; 0: it is not worth telling. */
static int64_t fault_cost_ns(struct model *model, const struct fault_means *means, int64_t whole_ns)
{
	int64_t ns = (int64_t)((__int128)whole_ns * fault_share(means) / 1000);
	int64_t limit_ns = steps_best(model) ? fault_limit_ns(model, whole_ns) : whole_ns;

	if (ns > limit_ns)
		ns = limit_ns;
	return (__int128)ns * 100 <
	       (__int128)whole_ns * model_threshold(model, THRESHOLD_FAULT_SHARE) ? 0 : ns;
}

static void fault_say(struct model *model, const struct fault_means *means, int64_t whole_ns,
		      const char *of, struct finding *finding)
{
	char share[FMT_MAX], count[FMT_MAX], time[FMT_MAX];

	snprintf(finding->title, FINDING_TEXT,
		 "page-faults: about %s of %s maps and clears new memory",
		 fmt_share(share, (uint64_t)finding->cost_ns, (uint64_t)whole_ns), of);
	snprintf(finding->lines[0], FINDING_TEXT,
		 "%s page faults per second; one takes about %s of a processor (estimated)",
		 fmt_count(count, (uint64_t)means->faults),
		 fmt_time(time, means->fault_time * 1000000 / means->faults));
	say_allocating(model, means->process, finding->lines[1]);
	snprintf(finding->advice, FINDING_TEXT,
		 "use memory again: write into existing tensors (out=, in place), or take an "
		 "allocator that keeps what is freed, for instance tcmalloc by LD_PRELOAD");
}

static void page_faults_review(struct model *model, void *state, struct findings *findings)
{
	const char *of = !steps_best(model) ? "the time" :
			 steps_are_passes(model) ? "each pass" : "each step";
	struct findings_status status;
	struct fault_means means;
	struct finding finding = { .id = "page-faults", .severity = SEVERITY_NOTE };
	int64_t whole_ns;
	uint32_t row;

	(void)state;
	if (!fault_means(model, &means))
		return;
	analyses_progress(model, &status);
	whole_ns = steps_best(model) && status.step_ns ? status.step_ns : 1000000000;
	finding.cost_ns = fault_cost_ns(model, &means, whole_ns);
	if (!finding.cost_ns)
		return;
	if ((__int128)finding.cost_ns * 100 >=
	    (__int128)whole_ns * model_threshold(model, THRESHOLD_FAULT_MUCH))
		finding.severity = SEVERITY_WARNING;
	row = row_of_process(model, means.process);
	finding.evidence = (struct evidence) {
		.kind = EVIDENCE_TIME, .t0 = means.t0, .t1 = means.t1,
		.row = row == NONE ? 0 : row + 1,
	};
	fault_say(model, &means, whole_ns, of, &finding);
	finding_add(findings, &finding);
}

const struct analysis analysis_page_faults = {
	.name = "page-faults", .review = page_faults_review,
};
