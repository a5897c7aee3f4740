/* SPDX-License-Identifier: MIT */
/*
 * What a JAX program spends on calls that could be part of its jitted step.
 *
 * Definition: the calls are those of compiled functions from Python, the outermost ones of the
 * thread that has most of them in a step. One of them is the step's own: that of the function
 * whose runs are the steps (its program has "jit_" before its name), else the longest. Each
 * other call could be part of it. Its time is overhead where no kernel of its process runs. So
 * is the time between it and the call before it, if both come from one line of the source. A
 * call in which something is traced or compiled is not overhead; recompiles.c reports it.
 *
 * The cost is all of this overhead: what one jitted function would save at most. A wait for a
 * result between two calls of one line is included. Limit: work that Python itself does between
 * two calls of one line looks the same.
 *
 * This is computed for steps only, and only where no device but the processor works; elsewhere
 * the launches are what costs. Complexity: O(acts) for a slice. State: PLACES_MAX sums, by
 * line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/lines/lines.h"
#include "model/steps/steps.h"

#define PLACES_MAX 256u

struct jit_calls_sum { int64_t in_ns, between_ns; uint64_t calls, waits; };

struct jit_calls_place {
	uint32_t frame;			/* 1 + index; if a line has several frames, the first */
	struct jit_calls_sum sum;
};

/* A call in the current slice. */
struct jit_calls_call {
	uint32_t act, place;		/* place: its index, NONE: unknown */
	bool compiles;
	uint64_t waits;			/* waits in the time before it, since the previous call */
};

struct jit_calls {
	struct basis basis;
	struct jit_calls_place *places;		/* owned */
	size_t n, cap;
	/* 1 + index of the place; by thread, for the current slice */
	struct act_slots by_frame, calls_of;
	struct jit_calls_call *calls;		/* owned */
	size_t n_calls, cap_calls;
	struct jit_calls_sum sum;
	uint32_t own_name;		/* of the own call in the last step */
	int64_t worst_ns, worst_t0, worst_t1;
	uint32_t worst_row;
};

static bool is_call(struct model *model, const struct act *act)
{
	const char *type = act->kind == ACT_OP && act->command == FW_JAX ?
			   names_raw(&model->names, act->op_name) : NULL;

	return type && !strcmp(type, "PjitFunction") && act->thread != NONE &&
	       act->work != WORK_INPUT;
}

/* The thread with most of the calls; NONE: there is none, or a device works. */
static uint32_t jit_calls_find_thread(struct model *model, struct jit_calls *j,
				      const struct slice *slice)
{
	uint32_t most = NONE;

	if (slice_has_device_work(slice))
		return NONE;
	for (size_t i = 0; i < slice->n_rest; i++)
		if (is_call(model, &slice->acts[slice->rest[i]]))
			*slot_of(&j->calls_of, slice->acts[slice->rest[i]].thread) = 0;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (!is_call(model, act))
			continue;
		++*slot_of(&j->calls_of, act->thread);
		if (most == NONE ||
		    *slot_of(&j->calls_of, act->thread) > *slot_of(&j->calls_of, most))
			most = act->thread;
	}
	return most;
}

static uint32_t jit_calls_place(struct model *model, struct jit_calls *j, const struct act *act)
{
	uint32_t frame = frame_of_process(model, act->process, act->object), *slot;

	if (!frame)
		return NONE;
	slot = slot_of(&j->by_frame, frame);
	for (size_t i = 0; i < j->n && !*slot; i++)
		if (same_line(model, j->places[i].frame - 1, frame - 1))
			*slot = (uint32_t)i + 1;
	if (!*slot && j->n < PLACES_MAX) {
		grow(&j->places, &j->cap, j->n, sizeof(*j->places));
		j->places[j->n++] = (struct jit_calls_place) { .frame = frame };
		*slot = (uint32_t)j->n;
	}
	return *slot ? *slot - 1 : NONE;
}

/* Finds the calls that start in the slice, with what is inside and between them. */
static void find_calls(struct model *model, struct jit_calls *j, const struct slice *slice,
		       uint32_t thread)
{
	struct jit_calls_call *last = NULL;
	int64_t until_ns = INT64_MIN;
	uint64_t waits = 0;

	j->n_calls = 0;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		bool within = act->start_ns < until_ns;

		if (act->thread != thread)
			continue;
		if (act->kind == ACT_COMPILE && within && last)
			last->compiles = true;
		waits += act->kind == ACT_WAIT;
		if (within || !is_call(model, act))
			continue;
		until_ns = act->end_ns;
		if (act->start_ns < slice->t0)
			continue;
		grow(&j->calls, &j->cap_calls, j->n_calls, sizeof(*j->calls));
		last = &j->calls[j->n_calls++];
		*last = (struct jit_calls_call) {
			.act = slice->rest[i], .place = jit_calls_place(model, j, act),
			.waits = waits,
		};
		waits = 0;
	}
}

/* How much of [from, to) no kernel ran. *at: a run that may reach into it; the times of successive
 * calls must not go backwards. */
static int64_t idle_ns(const struct slice *slice, size_t *at, uint32_t process, int64_t from,
		       int64_t to)
{
	int64_t ns = 0;

	for (size_t i = *at; i < slice->n_runs; i++) {
		const struct act *run = &slice->acts[slice->runs[i]];

		if (run->start_ns >= to || from >= to)
			break;
		*at += i == *at && run->end_ns <= to;
		if (!act_is_kernel(run) || run->process != process || run->end_ns <= from)
			continue;
		ns += run->start_ns > from ? run->start_ns - from : 0;
		from = run->end_ns;
	}
	return ns + (to > from ? to - from : 0);
}

static bool is_step(struct model *model, const struct act *act)
{
	const struct steps *steps = steps_best(model);
	const char *step = steps ? names_raw(&model->names, steps->name) : NULL;
	const char *name = names_raw(&model->names, act->name);

	return step && name && !strncmp(step, "jit_", 4) && !strcmp(step + 4, name);
}

/* The index of the call that is the step's own. */
static size_t find_own(struct model *model, const struct jit_calls *j, const struct slice *slice)
{
	size_t most = 0;

	for (size_t i = 1; i < j->n_calls; i++) {
		const struct act *act = &slice->acts[j->calls[i].act];
		const struct act *best = &slice->acts[j->calls[most].act];
		int more = is_step(model, act) - is_step(model, best);

		if (more > 0 || (!more && act->end_ns - act->start_ns >
				 best->end_ns - best->start_ns))
			most = i;
	}
	return most;
}

static void add_sum(struct jit_calls_sum *to, const struct jit_calls_sum *sum)
{
	add_ns(&to->in_ns, sum->in_ns);
	add_ns(&to->between_ns, sum->between_ns);
	to->calls += sum->calls;
	to->waits += sum->waits;
}

static void jit_calls_add(struct model *model, struct jit_calls *j, const struct slice *slice,
			  struct jit_calls_sum *all)
{
	size_t own = find_own(model, j, slice), at = 0;

	for (size_t i = 0; i < j->n_calls; i++) {
		const struct jit_calls_call *call = &j->calls[i], *before = i ? call - 1 : NULL;
		const struct act *act = &slice->acts[call->act];
		struct jit_calls_sum sum = { .calls = 1 };

		if (i == own) {
			j->own_name = act->name;
			continue;
		}
		if (call->compiles)
			continue;
		if (before && before->place == call->place && call->place != NONE) {
			sum.between_ns = idle_ns(slice, &at, act->process,
						 slice->acts[before->act].end_ns, act->start_ns);
			sum.waits = call->waits > 0;
		}
		sum.in_ns = idle_ns(slice, &at, act->process, act->start_ns, act->end_ns);
		add_sum(all, &sum);
		if (call->place != NONE)
			add_sum(&j->places[call->place].sum, &sum);
	}
}

static void jit_calls_slice(struct model *model, void *state, const struct slice *slice)
{
	struct jit_calls *j = state;
	uint32_t thread = jit_calls_find_thread(model, j, slice);
	struct jit_calls_sum sum = { 0 };
	enum scope scope;

	if (!basis_add(&j->basis, slice, &scope) || scope != SCOPE_STEP || thread == NONE)
		return;
	find_calls(model, j, slice, thread);
	if (j->n_calls < 2)
		return;
	jit_calls_add(model, j, slice, &sum);
	add_sum(&j->sum, &sum);
	if (sum.in_ns + sum.between_ns > j->worst_ns) {
		j->worst_ns = sum.in_ns + sum.between_ns;
		j->worst_t0 = slice->t0;
		j->worst_t1 = slice->t1;
		j->worst_row = thread_at(model, thread)->row != NONE ?
			       thread_at(model, thread)->row + 1 : 0;
	}
}

static void jit_calls_review(struct model *model, void *state, struct findings *findings)
{
	const struct jit_calls *j = state;
	const struct basis *basis = &j->basis;
	const struct jit_calls_place *most = NULL;
	char share[FMT_MAX], count[FMT_MAX], time[FMT_MAX], other[FMT_MAX], place[PLACE_TEXT];
	struct finding finding = {
		.id = "framework-overhead", .severity = SEVERITY_WARNING,
		.evidence = { .kind = EVIDENCE_TIME, .t0 = j->worst_t0, .t1 = j->worst_t1,
			      .row = j->worst_row },
		.advice = "make these calls a part of the jitted step; fetch results together, so "
			  "that the host waits only once",
	};

	if (!basis->steps || !basis_ready(model, basis) || !j->sum.calls)
		return;
	finding.cost_ns = basis_cost(basis, j->sum.in_ns + j->sum.between_ns);
	finding.of_ns = basis_whole(basis);
	if (per_mille(finding.cost_ns, basis_whole(basis)) <
	    model_threshold(model, THRESHOLD_OVERHEAD_SHARE) * 10)
		return;
	for (size_t i = 0; i < j->n; i++)
		if (!most || j->places[i].sum.in_ns + j->places[i].sum.between_ns >
			     most->sum.in_ns + most->sum.between_ns)
			most = &j->places[i];
	frame_place_text(model, most ? most->frame : 0, place, sizeof(place));
	snprintf(finding.title, FINDING_TEXT,
		 "framework overhead: %s of each step is spent around calls other than %.60s; %s "
		 "of them take %s each%s%s",
		 fmt_share(share, (uint64_t)finding.cost_ns, (uint64_t)basis_whole(basis)),
		 names_short(&model->names, j->own_name), basis_times(count, basis, j->sum.calls),
		 fmt_time(time, (j->sum.in_ns + j->sum.between_ns) / (int64_t)j->sum.calls),
		 *place ? ", most" : "", place);
	snprintf(finding.lines[0], FINDING_TEXT, "%s of it within the calls, %s between them, in "
		 "Python",
		 fmt_time(time, basis_per(basis, j->sum.in_ns)),
		 fmt_time(other, basis_per(basis, j->sum.between_ns)));
	if (basis_count(basis, j->sum.waits))
		snprintf(finding.lines[1], FINDING_TEXT,
			 "%s times %s, the next call comes after a wait for a result",
			 basis_times(count, basis, j->sum.waits), basis_word(model, basis));
	finding_add(findings, &finding);
}

static void jit_calls_release(void *state)
{
	struct jit_calls *j = state;

	free(j->places);
	free(j->calls);
	free(j->by_frame.of);
	free(j->calls_of.of);
}

static size_t jit_calls_bytes(const void *state)
{
	const struct jit_calls *j = state;

	return j->cap * sizeof(*j->places) + j->cap_calls * sizeof(*j->calls) +
	       (j->by_frame.n + j->calls_of.n) * sizeof(uint32_t);
}

const struct analysis analysis_jit_calls = {
	.name = "calls of jitted functions", .size = sizeof(struct jit_calls),
	.per_step = true, .needs_ops = true,
	.slice = jit_calls_slice, .review = jit_calls_review, .release = jit_calls_release,
	.bytes = jit_calls_bytes,
};
