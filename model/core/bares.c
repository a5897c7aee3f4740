/* SPDX-License-Identifier: MIT */
#include "model/core/bares.h"

#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/cost.h"

#define BARE_PART 16	/* from this part of a time on, bare steps count */

void apply_bare(struct model *model, const struct arrival *in)
{
	const struct event_bare *bare = &in->event->u.bare;
	struct bares *bares = &in->process->bares;
	struct bare *last = bares->n ? &bares->list[bares->n - 1] : NULL;

	/* a saved file has them all at its beginning, so when it was written says nothing */
	if (!span_ok(bare->start_ns, bare->dur_ns, 0)) {
		model_bad(model, bad_time(bare->dur_ns));
		return;
	}
	if (last && bare->start_ns < last->end_ns) {
		model_bad(model, BAD_END);
		return;
	}
	bares->steps += bare->steps;
	if (last && bare->start_ns == last->end_ns && bare->tid == last->tid) {
		last->end_ns += bare->dur_ns;
		last->steps += bare->steps;
		return;
	}
	if (bares->n >= BARES_MAX) {
		bares->n -= BARES_MAX / 2;
		memmove(bares->list, bares->list + BARES_MAX / 2, bares->n * sizeof(*bares->list));
	}
	grow(&bares->list, &bares->cap, bares->n, sizeof(*bares->list));
	bares->list[bares->n++] = (struct bare) {
		bare->start_ns, bare->start_ns + bare->dur_ns, bare->tid, bare->steps,
	};
}

static bool in_order(int64_t low_ns, int64_t ns, int64_t high_ns)
{
	return low_ns <= ns && ns <= high_ns && low_ns >= -TIME_MAX && high_ns <= TIME_MAX;
}

void apply_cost(struct model *model, const struct arrival *in)
{
	const struct event_cost *cost = &in->event->u.cost;

	if (cost->bare > cost->steps || cost->step_ns < 0 || cost->step_ns > TIME_MAX ||
	    (cost->pairs && !cost->step_ns) ||
	    !in_order(cost->wall_low_ns, cost->wall_ns, cost->wall_high_ns) ||
	    !in_order(cost->cpu_low_ns, cost->cpu_ns, cost->cpu_high_ns))
		model_bad(model, BAD_END);
	else
		in->process->cost = *cost;
}

bool bares_count(const struct model *model, uint32_t process, int64_t t0, int64_t t1)
{
	const struct bares *bares = &process_at(model, process)->bares;
	int64_t ns = 0;

	for (size_t i = FIRST_NOT(k, 0, bares->n, bares->list[k].end_ns <= t0);
	     i < bares->n && bares->list[i].start_ns < t1; i++) {
		int64_t from = bares->list[i].start_ns, to = bares->list[i].end_ns;

		ns += (to < t1 ? to : t1) - (from > t0 ? from : t0);
	}
	return ns > (t1 - t0) / BARE_PART;
}

/* The narrower of the two intervals. probes/pytorch/cost.c, which keeps the budget, chooses in the
 * same way. */
static void choose(struct own_cost *out, const struct event_cost *cost)
{
	out->cpu = cost->cpu_high_ns - cost->cpu_low_ns < cost->wall_high_ns - cost->wall_low_ns;
	out->ns = out->cpu ? cost->cpu_ns : cost->wall_ns;
	out->low_ns = out->cpu ? cost->cpu_low_ns : cost->wall_low_ns;
	out->high_ns = out->cpu ? cost->cpu_high_ns : cost->wall_high_ns;
}

bool model_own_cost(const struct model *model, struct own_cost *out)
{
	const struct event_cost *cost = NULL;

	*out = (struct own_cost) { .every = 1 };
	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);

		if (!process->cost.steps)
			continue;
		out->processes++;
		out->steps += process->cost.steps;
		/* a process that was killed has not told its last second */
		out->bare += process->cost.bare > process->bares.steps ? process->cost.bare :
									 process->bares.steps;
		if (!cost || process->cost.pairs > cost->pairs)
			cost = &process->cost;
	}
	if (!cost)
		return false;
	out->pairs = cost->pairs;
	out->every = cost->every ? cost->every : 1;
	out->budget = cost->budget;
	out->step_ns = cost->step_ns;
	choose(out, cost);
	return true;
}

int64_t own_cost_step_ns(const struct model *model)
{
	struct own_cost cost;

	return model_own_cost(model, &cost) && cost.pairs && cost.ns > 0 ? cost.ns : 0;
}
