/* SPDX-License-Identifier: MIT */
#include "model/analyses/zeroing.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define SLACK_NS 2000			/* the same as in the walk (critical.c) */
#define NOT_PLACED INT64_MIN

void zeroing_release(struct zeroing *zeroing)
{
	free(zeroing->new_end);
	free(zeroing->end_at);
	free(zeroing->last.of);
	free(zeroing->of_queue.of);
	free(zeroing->of_process.of);
	free(zeroing->shifts);
}

size_t zeroing_bytes(const struct zeroing *zeroing)
{
	return zeroing->cap * (sizeof(*zeroing->new_end) + sizeof(*zeroing->end_at)) +
	       (zeroing->last.n + zeroing->of_queue.n + zeroing->of_process.n) * sizeof(uint32_t) +
	       zeroing->cap_shifts * sizeof(*zeroing->shifts);
}

static void zeroing_begin(struct zeroing *zeroing, const struct slice *slice)
{
	if (zeroing->cap < slice->n) {
		zeroing->cap = slice->n + slice->n / 2;
		free(zeroing->new_end);
		free(zeroing->end_at);
		zeroing->new_end = xreallocarray(NULL, zeroing->cap, sizeof(*zeroing->new_end));
		zeroing->end_at = xreallocarray(NULL, zeroing->cap, sizeof(*zeroing->end_at));
	}
	for (size_t i = 0; i < slice->n; i++)
		zeroing->new_end[i] = NOT_PLACED;
	for (size_t i = 0; i < slice->n; i++) {		/* NONE + 1 is 0, the first slot */
		*slot_of(&zeroing->last, slice->acts[i].thread + 1) = 0;
		*slot_of(&zeroing->of_queue, slice->acts[i].queue + 1) = 0;
		*slot_of(&zeroing->of_process, slice->acts[i].process + 1) = 0;
	}
	zeroing->n_shifts = 0;
}

/* What an act waited for: when the last of it ended, before and after the removal. */
struct held { int64_t end_ns, new_ns; bool any; };

static void held_by(struct held *held, int64_t end_ns, int64_t new_ns)
{
	if (!held->any || end_ns > held->end_ns)
		held->end_ns = end_ns;
	if (!held->any || new_ns > held->new_ns)
		held->new_ns = new_ns;
	held->any = true;
}

/* The new start of what started at start_ns. */
static int64_t begins(const struct held *held, int64_t start_ns)
{
	return held->any ? held->new_ns + start_ns - held->end_ns : start_ns;
}

/* ---- ops ---- */

/* Places act number i of the slice, an op that is not part of another op on its thread. */
static void place_op(struct zeroing *zeroing, const struct slice *slice, size_t i,
		     uint32_t finished, bool away)
{
	const struct act *act = &slice->acts[i];
	uint32_t *last = slot_of(&zeroing->last, act->thread + 1);
	struct held held = { .any = false };
	int64_t start_ns = act_start(slice, act);

	if (*last && slice->acts[*last - 1].end_ns > start_ns + SLACK_NS)
		return;
	if (*last)
		held_by(&held, slice->acts[*last - 1].end_ns, zeroing->new_end[*last - 1]);
	if (finished)
		held_by(&held, slice->acts[finished - 1].end_ns, zeroing->new_end[finished - 1]);
	zeroing->new_end[i] = begins(&held, start_ns) + (away ? 0 : act->end_ns - start_ns);
	*last = (uint32_t)i + 1;
}

int64_t zeroing_ops(struct zeroing *zeroing, const struct slice *slice,
		    const struct function_run *run, zeroing_pick *away, void *arg)
{
	int64_t end_ns = INT64_MIN, new_ns = INT64_MIN;
	uint32_t finished = 0;		/* index of the last one so far, plus 1 */
	size_t at = 0;

	zeroing_begin(zeroing, slice);
	for (size_t n = 0; n < slice->n_rest; n++) {
		uint32_t i = slice->rest[n];
		const struct act *act = &slice->acts[i];

		if (!critical_ops_has(run, act) || act->end_ns <= slice->t0 ||
		    act->end_ns > slice->t1 + SLACK_NS)
			continue;
		for (; at < slice->n && slice->ends[at].start <= act->start_ns + SLACK_NS; at++)
			if (zeroing->new_end[slice->ends[at].at] != NOT_PLACED)
				finished = slice->ends[at].at + 1;
		place_op(zeroing, slice, i, finished, away(arg, act));
		if (zeroing->new_end[i] == NOT_PLACED)
			continue;
		if (act->end_ns > end_ns)
			end_ns = act->end_ns;
		if (zeroing->new_end[i] > new_ns)
			new_ns = zeroing->new_end[i];
	}
	return end_ns > new_ns ? end_ns - new_ns : 0;
}

/* ---- runs of devices ---- */

/* By how much the thread is earlier at t_ns. */
static int64_t shift_at(struct zeroing *zeroing, uint32_t thread, int64_t t_ns)
{
	uint32_t at = *slot_of(&zeroing->last, thread + 1);

	while (at && zeroing->shifts[at - 1].at_ns > t_ns)
		at = zeroing->shifts[at - 1].before;
	return at ? zeroing->shifts[at - 1].shift_ns : 0;
}

/* The run that finished last, of those that have been placed. */
static bool finished_run(const struct zeroing *zeroing, const struct critical_ready *ready,
			 const struct act *act, uint32_t queue, int64_t until_ns, int64_t *end_ns,
			 int64_t *new_ns)
{
	size_t at = ready_finished(ready, act->process, queue, until_ns + SLACK_NS);

	if (at == ready->n_ends)
		return false;
	*end_ns = ready->ends[at].start;
	*new_ns = zeroing->new_end[ready->ends[at].at];
	return true;
}

static void place_run(struct zeroing *zeroing, struct critical_ready *ready, uint32_t i, bool away)
{
	const struct act *act = &ready->slice->acts[i];
	int64_t start_ns = act_start(ready->slice, act), end_ns, new_ns;
	int64_t launched_ns = act->call_ns + (act->flags & ACT_BLOCKING ? 0 : act->call_dur_ns);
	struct held held = { .any = false };

	if (zeroing->end_at[i] == NONE)
		return;			/* it lies completely before the slice */
	if (launched_ns > start_ns)
		launched_ns = start_ns;
	if (act->call_ns)
		held_by(&held, launched_ns,
			launched_ns - shift_at(zeroing, act->thread, launched_ns));
	if (finished_run(zeroing, ready, act, act->queue, start_ns, &end_ns, &new_ns))
		held_by(&held, end_ns, new_ns);
	if (finished_run(zeroing, ready, act, NONE, start_ns, &end_ns, &new_ns) &&
	    (!act->call_ns || end_ns >= launched_ns))
		held_by(&held, end_ns, new_ns);
	zeroing->new_end[i] = begins(&held, start_ns) + (away ? 0 : act->end_ns - start_ns);
	ready->entered[zeroing->end_at[i]] = 0;
}

/* Finishes the runs that end by until_ns: the last one of each queue and process. */
static void finish_until(struct zeroing *zeroing, const struct slice *slice, int64_t until_ns,
			 size_t *at)
{
	for (; *at < slice->n && slice->ends[*at].start <= until_ns; ++*at) {
		uint32_t i = slice->ends[*at].at;
		const struct act *act = &slice->acts[i];
		uint32_t *last[] = { slot_of(&zeroing->of_queue, act->queue + 1),
				     slot_of(&zeroing->of_process, act->process + 1) };

		if (act->kind != ACT_RUN || zeroing->new_end[i] == NOT_PLACED)
			continue;
		for (int k = 0; k < 2; k++)
			if (!*last[k] || zeroing->new_end[i] > zeroing->new_end[*last[k] - 1])
				*last[k] = i + 1;
	}
}

/* Places the return of a call that waited: after everything that it waited for. */
static void place_wait(struct zeroing *zeroing, struct critical_ready *ready, const struct act *act)
{
	int64_t start_ns = act_start(ready->slice, act), end_ns, new_ns;
	int64_t shift_ns = shift_at(zeroing, act->thread, start_ns);
	int64_t returns_ns = act->end_ns - shift_ns, heard_ns = 0;
	uint32_t *last = slot_of(&zeroing->last, act->thread + 1), late;

	late = act->queue != NONE ? *slot_of(&zeroing->of_queue, act->queue + 1) :
				    *slot_of(&zeroing->of_process, act->process + 1);
	if (finished_run(zeroing, ready, act, act->queue, act->end_ns, &end_ns, &new_ns) &&
	    end_ns > start_ns) {
		returns_ns = start_ns - shift_ns;
		heard_ns = act->end_ns - end_ns;
	}
	if (late && zeroing->new_end[late - 1] + heard_ns > returns_ns)
		returns_ns = zeroing->new_end[late - 1] + heard_ns;
	if (returns_ns > act->end_ns)
		returns_ns = act->end_ns;
	if (zeroing->n_shifts == zeroing->cap_shifts)
		grow(&zeroing->shifts, &zeroing->cap_shifts, zeroing->n_shifts,
		     sizeof(*zeroing->shifts));
	zeroing->shifts[zeroing->n_shifts++] = (struct thread_shift) {
		act->end_ns, act->end_ns - returns_ns, *last,
	};
	*last = (uint32_t)zeroing->n_shifts;
}

static bool waits(const struct act *act)
{
	return act->kind == ACT_WAIT || (act->kind == ACT_LAUNCH && (act->flags & ACT_BLOCKING));
}

/* Marks all runs as entered, because only runs that have been placed may be found. */
static void begin_runs(struct zeroing *zeroing, struct critical_ready *ready)
{
	const struct slice *slice = ready->slice;

	zeroing_begin(zeroing, slice);
	for (size_t i = 0; i < slice->n_runs; i++)
		zeroing->end_at[slice->runs[i]] = NONE;
	for (size_t i = 0; i < ready->n_ends; i++)
		zeroing->end_at[ready->ends[i].at] = (uint32_t)i;
	if (ready->n_ends)
		memset(ready->entered, 1, ready->n_ends);
}

int64_t zeroing_runs(struct zeroing *zeroing, struct critical_ready *ready, uint32_t thread,
		     zeroing_pick *away, void *arg)
{
	const struct slice *slice = ready->slice;
	int64_t saved_ns = 0;
	size_t run = 0, over = 0;
	uint32_t i;

	begin_runs(zeroing, ready);
	for (size_t at = 0; at < slice->n; at++) {
		const struct act *act = &slice->acts[slice->ends[at].at];

		if (!waits(act) || act->end_ns <= slice->t0 || act->end_ns > slice->t1)
			continue;
		for (; run < slice->n_runs &&
		       slice->acts[slice->runs[run]].start_ns <= act->end_ns; run++) {
			i = slice->runs[run];
			place_run(zeroing, ready, i, away(arg, &slice->acts[i]));
		}
		finish_until(zeroing, slice, act->end_ns + SLACK_NS, &over);
		place_wait(zeroing, ready, act);
	}
	if (thread != NONE) {
		saved_ns = shift_at(zeroing, thread, slice->t1);
	} else if (ready->n_ends) {
		for (; run < slice->n_runs; run++) {
			i = slice->runs[run];
			place_run(zeroing, ready, i, away(arg, &slice->acts[i]));
		}
		i = ready->ends[ready->n_ends - 1].at;
		saved_ns = slice->acts[i].end_ns - zeroing->new_end[i];
	}
	return saved_ns > 0 ? saved_ns : 0;
}
