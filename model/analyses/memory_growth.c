/* SPDX-License-Identifier: MIT */
/*
 * Memory that grows from step to step.
 *
 * Definition: for each allocator, the live bytes at the end of each step are sampled (of every
 * second, fourth, … step in a long run). After the warm-up, the samples are cut into four
 * parts. Memory grows when both the lowest and the highest sample of each part are above those
 * of the part before, so that the floor rises and not only the ceiling, and when the rise is at
 * least as large as the mean swing within a part: memory that comes and goes at random rises in
 * all four parts once in some hundred runs. The growth is the rise of the floor per step. What
 * an op holds of it is how much more the op has at the last sample than when the growth was
 * last marked (at the end of the warm-up, or later if samples were thinned out).
 *
 * Growth costs no time until memory is full. So its cost per step is 0, and the finding says
 * when memory will be full: the rest of the device's memory divided by the growth.
 *
 * Complexity: O(samples) for a review. State: none beside the books of model/memory.
 */
#include <stdio.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/memory/memory_internal.h"
#include "model/steps/steps.h"

static void say_holder(struct model *model, uint32_t account, char line[FINDING_TEXT])
{
	const struct memory_state *memory = model->memory;
	const struct memory_pool *pool = pool_at(memory, account);
	uint64_t steps = memory->sampled_steps - memory->mark_steps;
	char bytes[FMT_MAX], place[PLACE_TEXT];

	if (!pool->grown || memory->sampled_steps <= memory->mark_steps)
		return;
	op_place_text(model, pool->grown_op, place, sizeof(place));
	snprintf(line, FINDING_TEXT, "%s of that per %s %s %.100s%s",
		 fmt_all_bytes(bytes, pool->grown / steps), step_noun(steps_are_passes(model)),
		 pool->grown_op ? "is held by" : "was allocated",
		 pool->grown_op ? names_short(&model->names, pool->grown_op) : "outside of any op",
		 place);
}

static int64_t ns_per_step(const struct memory_state *memory)
{
	int64_t ns = memory->last_step_end_ns - memory->first_step_end_ns;

	return memory->steps > 1 && ns > 0 ? ns / (int64_t)(memory->steps - 1) : 0;
}

/* Time until the device's memory is full; INT64_MAX: unknown. */
static int64_t ns_until_full(struct model *model, uint32_t account, char line[FINDING_TEXT])
{
	const struct memory_state *memory = model->memory;
	const struct memory_pool *pool = pool_at(memory, account);
	const struct device *device;
	uint32_t from, to;
	uint64_t growth, live, steps;
	char size[FMT_MAX], when[FMT_MAX], count[FMT_MAX];
	int64_t ns;

	if (pool->total == NONE)
		return INT64_MAX;
	device = device_at(model, pool->device);
	growth = memory_growth(memory, pool_at(memory, pool->total), &from, &to);
	live = memory->book.accounts[pool->total].live + memory->book.accounts[pool->total].left;
	if (!growth || device->memory_bytes <= live)
		return INT64_MAX;
	steps = (device->memory_bytes - live) / growth;
	if (__builtin_mul_overflow((int64_t)(steps >> 1), ns_per_step(memory), &ns) ||
	    __builtin_mul_overflow(ns, 2, &ns))
		return INT64_MAX;
	snprintf(line, FINDING_TEXT, "%.40s's %s would be full after %s more %s, in %s",
		 device_label(model, pool->device),
		 fmt_all_bytes(size, device->memory_bytes),
		 fmt_count(count, steps), step_nouns(steps_are_passes(model)),
		 fmt_time(when, ns));
	return ns;
}

static void memory_growth_report(struct model *model, uint32_t account, uint64_t growth,
				 uint32_t from, uint32_t to, struct findings *findings)
{
	const struct memory_state *memory = model->memory;
	const struct memory_pool *pool = pool_at(memory, account);
	int64_t soon = model_threshold(model, THRESHOLD_MEMORY_SOON) * 1000000;
	bool passes = steps_are_passes(model);
	struct finding finding = {
		.id = "memory-growth", .subject = account, .severity = SEVERITY_NOTE,
		.evidence = { .kind = EVIDENCE_MEMORY },
	};
	char per_step[FMT_MAX], in_all[FMT_MAX];

	snprintf(finding.advice, FINDING_TEXT, passes ?
		 "free or reuse what a pass allocates; a cache, or a list that keeps the outputs "
		 "of all passes, is the usual cause" :
		 "free or reuse what a step allocates; a list that keeps the outputs or losses of "
		 "all steps is the usual cause");
	finding.evidence.key = names_raw(&model->names, names_resolve(&model->names, pool->name));
	snprintf(finding.title, FINDING_TEXT,
		 "memory grows: %s more of %.60s are live after each %s, %s in the last %llu %s",
		 fmt_all_bytes(per_step, growth), finding.evidence.key, step_noun(passes),
		 fmt_all_bytes(in_all, pool->samples[to] - pool->samples[from]),
		 (unsigned long long)((to - from) * memory->stride), step_nouns(passes));
	say_holder(model, account, finding.lines[0]);
	if (ns_until_full(model, account, finding.lines[1]) < soon)
		finding.severity = SEVERITY_WARNING;
	if (model->lost_events || model->lost_packets)
		snprintf(finding.lines[2], FINDING_TEXT,
			 "events were lost; if frees were among them, memory grows less than this");
	finding_add(findings, &finding);
}

static void memory_growth_review(struct model *model, void *state, struct findings *findings)
{
	const struct memory_state *memory = model->memory;
	uint64_t least = (uint64_t)model_threshold(model, THRESHOLD_MEMORY_GROWTH);
	uint64_t steps = (uint64_t)model_threshold(model, THRESHOLD_MEMORY_STEPS);

	if (memory->steps < GROWTH_WARM_UP + steps)
		return;
	for (uint32_t i = 0; i < memory->book.n_accounts; i++) {
		const struct memory_pool *pool = pool_at(memory, i);
		uint32_t from, to;
		uint64_t growth = memory_growth(memory, pool, &from, &to);

		if (pool->name && growth && growth >= least)
			memory_growth_report(model, i, growth, from, to, findings);
	}
}

const struct analysis analysis_memory_growth = {
	.name = "memory growth",
	.review = memory_growth_review,
};
