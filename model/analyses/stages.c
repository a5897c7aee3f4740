/* SPDX-License-Identifier: MIT */
/*
 * What the stages of an input pipeline reveal about the time that a step waits for its batch.
 *
 * Definitions, for one batch: the stage that accounts for most of the wait has work of its own;
 * n calls at once would need at least an nth of it. The pipeline then needs the wait without
 * that stage, plus this. If batches are made ahead, that costs the step nothing as long as it
 * is no longer than the rest of the step. All of these are bounds: where the step itself needs
 * the cores, less is saved.
 */
#include <stdio.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "model/analyses/sweep.h"
#include "model/base/util.h"
#include "model/input/input.h"
#include "model/steps/steps.h"

/* Whether the stage can work on several elements at once. */
static bool takes_calls(const struct input_row *row)
{
	return !strncmp(row->name, "Map", 3) || !strncmp(row->name, "ParallelMap", 11) ||
	       strstr(row->name, "Interleave") || strstr(row->name, "Batch");
}

static void calls_text(char *text, size_t size, int32_t calls)
{
	if (calls == 1)
		snprintf(text, size, "runs on one thread");
	else
		snprintf(text, size, "runs %d calls at once", (int)calls);
}

static void say_prefetch(char *text, size_t size, const struct input_hold *hold,
			 int64_t needs_ns, int64_t rest_ns, const char *word)
{
	char time[FMT_MAX];

	if (hold->prefetched)
		*text = '\0';
	else if (needs_ns <= rest_ns)
		snprintf(text, size, "prefetch(1) would hide it behind the %s", word);
	else
		snprintf(text, size, "prefetch(1) would hide %s of it behind the %s",
			 fmt_time(time, rest_ns), word);
}

static void stages_advise(const struct input_hold *hold, int64_t work_ns, int64_t others_ns,
			  int32_t calls, int64_t whole_ns, const char *word,
			  struct finding *finding)
{
	int32_t threads = hold->root.parallelism;
	int64_t rest_ns = whole_ns - finding->cost_ns, stage_ns = work_ns / calls, needs_ns,
		best_ns;
	bool more = takes_calls(&hold->most) && calls < threads;
	char prefetch[80], first[FMT_MAX], best[FMT_MAX], what[150];

	if (more)
		stage_ns = work_ns / threads;
	needs_ns = others_ns + stage_ns;
	best_ns = needs_ns > rest_ns ? needs_ns : rest_ns;
	say_prefetch(prefetch, sizeof(prefetch), hold, needs_ns, rest_ns, word);
	fmt_time(best, best_ns);
	if (more)
		snprintf(what, sizeof(what), "with num_parallel_calls=%d the stage would need "
			 "about %s%s",
			 (int)threads, fmt_time(first, stage_ns), *prefetch ? "; " : "");
	else if (!hold->prefetched)
		*what = '\0';
	else
		snprintf(what, sizeof(what), "it already runs ahead of the %s%s: only less work "
			 "per batch (cache(), cheaper ops) would help", word,
			 takes_calls(&hold->most) ? " and on as many threads as there are" :
			 " on its one thread");
	if (best_ns < whole_ns && (more || !hold->prefetched))
		snprintf(finding->advice, FINDING_TEXT, "%s%s: a %s would take %s at best",
			 what, prefetch, word, best);
	else
		snprintf(finding->advice, FINDING_TEXT, "%s%s", what, prefetch);
}

bool stages_review(struct model *model, uint32_t process, int64_t whole_ns,
		   struct finding *finding)
{
	struct input_hold hold;
	int64_t batches, work_ns, others_ns;
	int32_t calls, threads;
	const char *word = step_noun(steps_are_passes(model));
	char runs[FMT_MAX], work[FMT_MAX], rest[FMT_MAX];

	if (!input_holder(model, process, &hold) || !hold.most.parent || !hold.root.calls)
		return false;
	batches = (int64_t)hold.root.calls;
	threads = hold.root.parallelism > 0 ? hold.root.parallelism : 1;
	calls = hold.most.ahead && hold.most.parallelism > 1 ? hold.most.parallelism : 1;
	if (calls > threads)
		calls = threads;
	work_ns = hold.most.work_ns / batches;
	others_ns = (int64_t)((__int128)finding->cost_ns * (hold.root.wait_ns - hold.most.held_ns) /
			      hold.root.wait_ns);
	calls_text(runs, sizeof(runs), calls);
	snprintf(finding->lines[0], FINDING_TEXT, "%.120s %s and accounts for %lld %% of that wait",
		 hold.most.path, runs,
		 (long long)((__int128)hold.most.held_ns * 100 / hold.root.wait_ns));
	snprintf(finding->lines[1], FINDING_TEXT,
		 "its work per batch takes %s; without the wait a %s would take %s",
		 fmt_time(work, work_ns), word, fmt_time(rest, whole_ns - finding->cost_ns));
	stages_advise(&hold, work_ns, others_ns, calls, whole_ns, word, finding);
	return true;
}
