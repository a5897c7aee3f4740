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
	uint32_t owed = bare->steps;

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
	/* the step before was given up, and this one follows it */
	if (last && !last->steps && last->from_ns == bare->start_ns)
		owed += last->owed;
	if (last && bare->start_ns == last->end_ns && bare->tid == last->tid && last->steps &&
	    bare->steps) {
		last->end_ns = last->from_ns = bare->start_ns + bare->dur_ns;
		last->steps += bare->steps;
		last->owed += bare->steps;
		return;
	}
	if (bares->n >= BARES_MAX) {
		bares->n -= BARES_MAX / 2;
		memmove(bares->list, bares->list + BARES_MAX / 2, bares->n * sizeof(*bares->list));
	}
	grow(&bares->list, &bares->cap, bares->n, sizeof(*bares->list));
	bares->list[bares->n++] = (struct bare) {
		.start_ns = bare->start_ns, .end_ns = bare->start_ns + bare->dur_ns,
		.tid = bare->tid, .steps = bare->steps, .owed = owed,
		.from_ns = bare->steps ? bare->start_ns + bare->dur_ns : INT64_MAX,
	};
}

void bares_step(struct process *process, int64_t start_ns, int64_t end_ns)
{
	struct bares *bares = &process->bares;
	size_t next = FIRST_NOT(k, 0, bares->n, bares->list[k].start_ns < end_ns);
	struct bare *bare, *before, *after;

	if (!next)
		return;
	bare = &bares->list[next - 1];
	before = next > 1 ? bare - 1 : NULL;
	after = next < bares->n ? bare + 1 : NULL;
	if (bare->end_ns <= start_ns) {
		if (bare->from_ns <= start_ns && (!bare->until_ns || end_ns < bare->until_ns)) {
			bare->from_ns = start_ns;
			bare->until_ns = end_ns;
		}
	} else if (!bare->steps && bare->end_ns <= end_ns) {
		/* it was given up: the step is a bare one, and what ran after that in it is not
		 * one of a sample */
		bare->from_ns = end_ns;
		bare->owed = 1 + (before && before->end_ns == bare->start_ns ? before->owed : 0);
		if (after && after->start_ns == end_ns)
			after->owed += bare->owed;
	}
}

/* The last one before that, if it does not lie within one; NULL: there is none. */
static const struct bare *bare_before(const struct process *process, int64_t ns)
{
	const struct bares *bares = &process->bares;
	size_t next = FIRST_NOT(k, 0, bares->n, bares->list[k].end_ns <= ns);

	return next && !bares_within(process, ns) ? &bares->list[next - 1] : NULL;
}

const struct bare *bares_owed(const struct process *process, int64_t start_ns)
{
	const struct bare *bare = bare_before(process, start_ns);

	return bare && start_ns >= bare->from_ns && start_ns < bare->until_ns ? bare : NULL;
}

bool bares_may_owe(const struct process *process, int64_t start_ns)
{
	const struct bare *bare = bare_before(process, start_ns);

	return bare && !bare->until_ns;
}

bool bares_within(const struct process *process, int64_t ns)
{
	const struct bares *bares = &process->bares;
	size_t at = FIRST_NOT(k, 0, bares->n, bares->list[k].end_ns <= ns);

	return at < bares->n && bares->list[at].start_ns <= ns;
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

	return model_own_cost(model, &cost) && cost.pairs && cost.low_ns > 0 ? cost.ns : 0;
}
