/* SPDX-License-Identifier: MIT */
/*
 * Which waits stall a device, and what that costs.
 *
 * Definition: a wait belongs to a place: the call that waited, the op around it, and the line
 * of that op. Consider a gap of a device (a time without work, idle.c) that ends with a run
 * launched by thread T. The part of the gap from the start of a wait of T to T's next wait, or
 * to the end of the gap, is the idle time of that wait, if
 *  - the wait ended when the device had nothing left to do, and
 *  - it ended before the run was launched: T could not launch while it waited.
 * So the gap is what a synchronisation leaves behind: the device has run out of work, T wakes
 * up, does something, and launches. With several devices, the longest gap counts and not the
 * sum. Doing without the wait saves at most the shorter of the idle time and the wait itself:
 * everything after it would be earlier by no more than the wait took.
 *
 * A line (or an op, where no line is known) is reported when what it could save exceeds
 * stall-share of a step. The median of the steps is used, because a thread sometimes wakes up
 * late. A gap that reaches into the next step belongs to the step in which it ends.
 *
 * Limits: a thread that launches and has never waited is assumed not to depend on another
 * thread's wait; a wait that spins in the program's own code is not seen.
 *
 * Bounds: PLACES_MAX places; for a gap, the last RING waits of a thread are examined; ops
 * around a wait down to STACK. Complexity: O(1) for an act, O(RING) for a gap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/hist.h"
#include "model/base/map.h"
#include "model/base/util.h"
#include "model/lines/lines.h"
#include "model/query/waits.h"
#include "model/steps/steps.h"

#define PLACES_MAX 4096u
#define RING 8u
#define STACK 24u
#define BETWEEN 2	/* in steps: a longer time between two steps belongs to neither */

struct waits_place {
	uint32_t call, op;		/* names; op 0: none */
	uint32_t frame;	/* 1 + index; if a line has several frames, the first; 0: none */
	uint32_t next, group;
	uint64_t count, stalls;
	int64_t total_ns, max_ns, idle_ns, saved_ns;
};

/* The waits that a finding is about: all waits of a line or, without one, of an op. */
struct waits_group {
	uint32_t place;	/* index of the first place; the place that idles most is reported */
	uint64_t count[SCOPE_COUNT];
	int64_t idle_ns[SCOPE_COUNT], saved_ns[SCOPE_COUNT], total_ns[SCOPE_COUNT];
	int64_t now_ns;			/* time saved since the last step ended */
	struct hist hist;		/* time saved, for the steps that have any */
	int64_t worst_ns, t0, t1;
	uint32_t row;
};

struct seen_wait {
	int64_t start_ns, end_ns;
	int64_t idle_ns, saved_ns;	/* for the device that it has let idle longest so far */
	uint32_t place;
};

/* A thread that waits. */
struct waits_waiter {
	struct seen_wait ring[RING];
	uint32_t n;			/* number of all its waits */
	uint32_t slice;			/* number of the slice in which the stack is valid */
	uint32_t depth;
	uint32_t stack[STACK];		/* acts: the ops around */
};

struct waits {
	struct basis basis;
	uint32_t slice;			/* number of the slice, from 1 */
	uint32_t step_name;	/* name of the functions whose runs the steps are; 0: none */
	struct waits_place *places;		/* owned */
	size_t n_places, cap_places;
	struct waits_group *groups;		/* owned */
	size_t n_groups, cap_groups;
	struct map by_key, by_group;	/* the first place; the group, by line or op */
	struct act_slots of_thread;		/* 1 + index of its waiter */
	struct waits_waiter *waiters;		/* owned */
	size_t n_waiters, cap_waiters;
	int64_t *until_ns;		/* owned; for each device: it worked up to here, 0: never */
	size_t n_devices;
};

/* ---- places ---- */

/* The nearest line of the program from which it is known to be called. */
static uint32_t line_frame(struct model *model, uint32_t frame)
{
	while (frame) {
		const struct source_frame *f = frame_at(model->lines, frame - 1);

		if (f->file && f->line)
			break;
		frame = frame_caller(model->lines, frame);
	}
	return frame;
}

static uint64_t line_key(struct model *model, uint32_t frame)
{
	const struct source_frame *f = frame ? frame_at(model->lines, frame - 1) : NULL;

	return f ? (uint64_t)names_resolve(&model->names, f->file) << 32 | f->line : 0;
}

static uint32_t group_new(struct waits *w, uint64_t key, uint32_t place)
{
	uint32_t at = map_get(&w->by_group, key);

	if (at != MAP_NONE)
		return at;
	at = (uint32_t)w->n_groups++;
	grow(&w->groups, &w->cap_groups, at, sizeof(*w->groups));
	w->groups[at] = (struct waits_group) { .place = place };
	map_set(&w->by_group, key, at);
	return at;
}

static uint32_t place_get(struct model *model, struct waits *w, uint32_t call, uint32_t op,
			  uint32_t frame)
{
	uint64_t line = line_key(model, frame);
	uint64_t key = map_mix((uint64_t)call << 32 | op) ^ map_mix(line + 1);
	uint32_t first = map_get(&w->by_key, key), at;

	for (at = first; at != MAP_NONE; at = w->places[at].next)
		if (w->places[at].call == call && w->places[at].op == op &&
		    line_key(model, w->places[at].frame) == line)
			return at;
	if (w->n_places == PLACES_MAX)
		return NONE;
	grow(&w->places, &w->cap_places, w->n_places, sizeof(*w->places));
	at = (uint32_t)w->n_places++;
	w->places[at] = (struct waits_place) {
		.call = call, .op = op, .frame = frame, .next = first,
		/* A name stands for no file and line. */
		.group = group_new(w, line ? line : op ? op : UINT64_MAX - call, at),
	};
	map_set(&w->by_key, key, at);
	return at;
}

/* ---- threads ---- */

static struct waits_waiter *waiter_of(struct waits *w, uint32_t thread)
{
	uint32_t slot = thread < w->of_thread.n ? w->of_thread.of[thread] : 0;
	struct waits_waiter *waiter = slot ? &w->waiters[slot - 1] : NULL;

	if (waiter && waiter->slice != w->slice) {
		waiter->slice = w->slice;
		waiter->depth = 0;
	}
	return waiter;
}

static void waiter_make(struct waits *w, uint32_t thread)
{
	uint32_t *slot = slot_of(&w->of_thread, thread);

	if (*slot)
		return;
	grow(&w->waiters, &w->cap_waiters, w->n_waiters, sizeof(*w->waiters));
	w->waiters[w->n_waiters++] = (struct waits_waiter) { .slice = 0 };
	*slot = (uint32_t)w->n_waiters;
}

static void pop_ended(const struct slice *slice, struct waits_waiter *waiter, int64_t t_ns)
{
	while (waiter->depth && slice->acts[waiter->stack[waiter->depth - 1]].end_ns <= t_ns)
		waiter->depth--;
}

static void op_begins(struct waits *w, const struct slice *slice, uint32_t at)
{
	const struct act *act = &slice->acts[at];
	struct waits_waiter *waiter = act->flags & ACT_ASYNC ? NULL : waiter_of(w, act->thread);

	if (!waiter)
		return;
	pop_ended(slice, waiter, act->start_ns);
	if (waiter->depth == STACK)
		waiter->depth--;
	waiter->stack[waiter->depth++] = at;
}

/* The range of the step itself is left out. */
static bool is_step(const struct waits *w, const struct slice *slice, const struct act *op)
{
	return slice->step && (op->name == w->step_name ||
			       (op->start_ns == slice->t0 && op->end_ns == slice->t1));
}

/*
 * Looks at the ops around: takes the innermost op's name, if the wait itself does not give one, and
 * the innermost line that one of the ops gives.
 */
static uint32_t waits_place(struct model *model, struct waits *w, const struct slice *slice,
			    struct waits_waiter *waiter, const struct act *act)
{
	uint32_t op = act->op_name, frame = 0;

	pop_ended(slice, waiter, act->start_ns);
	for (uint32_t i = waiter->depth; i-- > 0 && !frame; ) {
		const struct act *around = &slice->acts[waiter->stack[i]];

		if (around->end_ns < act->end_ns)
			continue;
		if (is_step(w, slice, around))
			op = op == around->name ? 0 : op;
		else if (!op)
			op = around->name;
		frame = line_frame(model, frame_of_process(model, around->process,
							   around->object));
	}
	return place_get(model, w, act->name, op ? steps_plain(model, op) : 0, frame);
}

/* ---- what is counted where ---- */

/* Whether the slice counts: as soon as there are steps, only steps and short times between them
 * do. */
static bool is_averaged(const struct waits *w, const struct slice *slice, bool averaged)
{
	return averaged && (slice->step || !w->basis.steps || slice->t1 - slice->t0 <=
			    BETWEEN * (w->basis.ns[SCOPE_STEP] / (int64_t)w->basis.steps));
}

static void waits_count_wait(struct model *model, struct waits *w, const struct slice *slice,
			     const struct act *act, bool averaged)
{
	struct waits_waiter *waiter = waiter_of(w, act->thread);
	uint32_t at = waiter ? waits_place(model, w, slice, waiter, act) : NONE;
	int64_t ns = act->end_ns - act->start_ns;
	struct waits_place *place;
	struct waits_group *group;

	if (at == NONE)
		return;
	place = &w->places[at];
	place->count++;
	add_ns(&place->total_ns, ns);
	place->max_ns = ns > place->max_ns ? ns : place->max_ns;
	group = &w->groups[place->group];
	if (averaged) {
		group->count[basis_scope(&w->basis)]++;
		add_ns(&group->total_ns[basis_scope(&w->basis)], ns);
	}
	/* If one wait is inside another, the thread waits for the outer one. */
	if (waiter->n && waiter->ring[(waiter->n - 1) % RING].end_ns > act->start_ns)
		return;
	waiter->ring[waiter->n++ % RING] = (struct seen_wait) {
		.start_ns = act->start_ns, .end_ns = act->end_ns, .place = at,
	};
}

/* Counts what exceeds the idle time of another device's gap that was counted already. */
static void waits_count_stalls(struct model *model, struct waits *w, struct seen_wait *wait,
			       int64_t idle_ns, const struct act *run, bool averaged)
{
	struct waits_place *place = &w->places[wait->place];
	struct waits_group *group = &w->groups[place->group];
	int64_t whole_ns = wait->end_ns - wait->start_ns, saved_ns;

	if (idle_ns <= wait->idle_ns)
		return;
	saved_ns = idle_ns < whole_ns ? idle_ns : whole_ns;
	place->stalls += !wait->idle_ns;
	add_ns(&place->idle_ns, idle_ns - wait->idle_ns);
	add_ns(&place->saved_ns, saved_ns - wait->saved_ns);
	if (averaged) {
		add_ns(&group->idle_ns[basis_scope(&w->basis)], idle_ns - wait->idle_ns);
		add_ns(&group->saved_ns[basis_scope(&w->basis)], saved_ns - wait->saved_ns);
		add_ns(&group->now_ns, saved_ns - wait->saved_ns);
	}
	if (averaged && saved_ns > group->worst_ns) {
		group->worst_ns = saved_ns;
		group->t0 = wait->start_ns;
		group->t1 = run->start_ns;
		group->row = thread_at(model, run->thread)->row != NONE ?
			     thread_at(model, run->thread)->row + 1 : 0;
	}
	wait->idle_ns = idle_ns;
	wait->saved_ns = saved_ns;
}

/* The device was idle from from_ns until this run. */
static void waits_close_gap(struct model *model, struct waits *w, const struct act *run,
			    int64_t from_ns, bool averaged)
{
	struct waits_waiter *waiter = waiter_of(w, run->thread);
	int64_t to_ns = run->start_ns;
	int64_t call_ns = run->call_ns && run->call_ns < to_ns ? run->call_ns : to_ns;

	for (uint32_t i = waiter ? waiter->n : 0, k = 0; i-- > 0 && k < RING; k++) {
		struct seen_wait *wait = &waiter->ring[i % RING];
		int64_t begin_ns = wait->start_ns > from_ns ? wait->start_ns : from_ns;

		if (wait->end_ns < from_ns)
			return;
		/* A call that waits for its own work does not delay that work. */
		if (wait->end_ns > call_ns)
			continue;
		waits_count_stalls(model, w, wait, to_ns - begin_ns, run, averaged);
		to_ns = begin_ns;
	}
}

static void ran(struct model *model, struct waits *w, const struct slice *slice,
		const struct act *act, bool averaged)
{
	int64_t *until_ns;

	if (act->flags & ACT_WORKS || act->device >= w->n_devices)
		return;
	until_ns = &w->until_ns[act->device];
	if (*until_ns && act->start_ns > *until_ns && !slice_partial(slice) && act->thread != NONE)
		waits_close_gap(model, w, act, *until_ns, averaged);
	if (act->end_ns > *until_ns)
		*until_ns = act->end_ns;
}

static void waits_reserve(struct model *model, struct waits *w, const struct slice *slice)
{
	if (w->n_devices < model->devices.n) {
		w->until_ns = xreallocarray(w->until_ns, model->devices.n, sizeof(*w->until_ns));
		memset(w->until_ns + w->n_devices, 0,
		       (model->devices.n - w->n_devices) * sizeof(*w->until_ns));
		w->n_devices = model->devices.n;
	}
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (act->kind == ACT_WAIT && act->thread != NONE)
			waiter_make(w, act->thread);
	}
}

static void step_ends(struct waits *w)
{
	for (size_t i = 0; i < w->n_groups; i++) {
		struct waits_group *group = &w->groups[i];

		if (group->now_ns > 0)
			hist_add(&group->hist, group->now_ns);
		group->now_ns = 0;
	}
}

static void waits_slice(struct model *model, void *state, const struct slice *slice)
{
	struct waits *w = state;
	const struct steps *steps = steps_best(model);
	enum scope scope;
	bool averaged = is_averaged(w, slice, basis_add(&w->basis, slice, &scope));

	w->slice++;
	w->step_name = steps && steps_are_runs(steps) ?
		       names_resolve(&model->names, steps->name) : 0;
	waits_reserve(model, w, slice);
	for (size_t i = 0; i < slice->n && w->n_waiters; i++) {
		const struct act *act = &slice->acts[i];

		/* Ops may reach over the borders of slices. */
		if (act->kind == ACT_OP)
			op_begins(w, slice, (uint32_t)i);
		else if (act->kind == ACT_WAIT && act_counts(slice, act))
			waits_count_wait(model, w, slice, act, averaged);
		else if (act->kind == ACT_RUN && act_counts(slice, act))
			ran(model, w, slice, act, averaged);
	}
	if (slice->step && averaged)
		step_ends(w);
}

/* ---- the findings ---- */

/* Cost per step or second in the typical case. */
static int64_t typical_ns(const struct waits *w, const struct waits_group *group)
{
	int64_t mean_ns = basis_per(&w->basis, group->saved_ns[basis_scope(&w->basis)]);
	uint64_t n = w->basis.steps, with = group->hist.total, without;
	int64_t median_ns;

	if (!n)
		return mean_ns;
	without = n > with ? n - with : 0;
	if (!with || without * 2 >= n)
		return 0;
	/* The median over all steps; those without any such wait come first. */
	median_ns = hist_percentile(&group->hist, (unsigned)((n / 2 - without) * 1000 / with + 1));
	return median_ns < mean_ns ? median_ns : mean_ns;
}

/* The place of the group at which devices idle most. */
static const struct waits_place *most_of(const struct waits *w, const struct waits_group *group)
{
	const struct waits_place *most = &w->places[group->place];

	for (size_t i = group->place; i < w->n_places; i++)
		if (&w->groups[w->places[i].group] == group &&
		    w->places[i].idle_ns > most->idle_ns)
			most = &w->places[i];
	return most;
}

/* Whether the program fetches a value: the names that PyTorch and JAX use for that. */
static bool fetches_value(const char *op)
{
	static const char *const words[] = {
		"item", "_local_scalar_dense", "nonzero", "tolist", "is_nonzero", "__array__",
	};

	for (size_t i = 0; op && i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(op, words[i]))
			return true;
	return false;
}

/* Includes the short time between steps. */
static int64_t whole_ns(const struct model *model, const struct waits *w)
{
	return basis_whole(&w->basis) + (w->basis.steps ? verdict_between_ns(model) : 0);
}

static void waits_report(struct model *model, const struct waits *w,
			 const struct waits_group *group, int64_t cost_ns,
			 struct findings *findings)
{
	const struct waits_place *place = most_of(w, group);
	enum scope scope = basis_scope(&w->basis);
	int64_t idle_ns = basis_per(&w->basis, group->idle_ns[scope]);
	const char *op = place->op ? names_short(&model->names, place->op) : NULL;
	char where[PLACE_TEXT], time[FMT_MAX], share[FMT_MAX], count[FMT_MAX];
	struct finding finding = {
		.id = "sync-stall", .subject = (uint32_t)(group - w->groups),
		.severity = SEVERITY_WARNING, .cost_ns = cost_ns,
		.evidence = { .kind = EVIDENCE_TIME, .t0 = group->t0, .t1 = group->t1,
			      .row = group->row },
	};

	frame_place_text(model, place->frame, where, sizeof(where));
	snprintf(finding.title, FINDING_TEXT,
		 "sync-stall: the device idles %s of %s, %s, after the wait of %.80s%s",
		 fmt_time(time, idle_ns),
		 w->basis.steps ? basis_each(model, &w->basis) : "each second",
		 fmt_share(share, (uint64_t)idle_ns, (uint64_t)whole_ns(model, w)),
		 op ? op : names_short(&model->names, place->call), where);
	basis_times(count, &w->basis, group->count[scope]);
	snprintf(finding.lines[0], FINDING_TEXT, "%s wait%s %s in %.80s, %s; meanwhile the host "
		 "launches nothing, and the device runs out of work",
		 count, strcmp(count, "1.0") ? "s" : "", basis_word(model, &w->basis),
		 names_short(&model->names, place->call),
		 fmt_time(time, basis_per(&w->basis, group->total_ns[scope])));
	if (fetches_value(op))
		snprintf(finding.advice, FINDING_TEXT, "keep the value on the device and read it "
			 "a %s later, or only every few %s, so that the host can run ahead",
			 step_noun(steps_are_passes(model)), step_nouns(steps_are_passes(model)));
	else
		snprintf(finding.advice, FINDING_TEXT, "wait only where a result is needed, and "
			 "enqueue the next work before that; events order work without the host");
	finding_add(findings, &finding);
}

/* The cost of the group; 0: it is not worth reporting. */
static int64_t told_ns(const struct model *model, const struct waits *w,
		       const struct waits_group *group)
{
	const struct waits_place *place = &w->places[group->place];
	int64_t ns = typical_ns(w, group);

	/* If only its call is known, it belongs to sync-bound. */
	if (!place->frame && !place->op)
		return 0;
	return per_mille(ns, whole_ns(model, w)) <
	       model_threshold(model, THRESHOLD_STALL_SHARE) * 10 ? 0 : ns;
}

static void waits_review(struct model *model, void *state, struct findings *findings)
{
	const struct waits *w = state;

	for (size_t i = 0; i < w->n_groups && basis_ready(model, &w->basis); i++) {
		int64_t ns = told_ns(model, w, &w->groups[i]);

		if (ns > 0)
			waits_report(model, w, &w->groups[i], ns, findings);
	}
}

int64_t waits_told_ns(const struct model *model)
{
	const struct waits *w = analysis_state(model, ANALYSIS_WAITS);
	int64_t ns = 0;

	for (size_t i = 0; i < w->n_groups && basis_ready(model, &w->basis); i++)
		add_ns(&ns, told_ns(model, w, &w->groups[i]));
	return ns;
}

static void waits_release(void *state)
{
	struct waits *w = state;

	for (size_t i = 0; i < w->n_groups; i++)
		hist_release(&w->groups[i].hist);
	free(w->places);
	free(w->groups);
	free(w->of_thread.of);
	free(w->waiters);
	free(w->until_ns);
	map_release(&w->by_key);
	map_release(&w->by_group);
}

static size_t waits_bytes(const void *state)
{
	const struct waits *w = state;

	size_t bytes = 0;

	for (size_t i = 0; i < w->n_groups; i++)
		bytes += w->groups[i].hist.n * sizeof(uint64_t);
	return bytes + w->cap_places * sizeof(*w->places) + w->cap_groups * sizeof(*w->groups) +
	       w->of_thread.n * sizeof(uint32_t) + w->cap_waiters * sizeof(*w->waiters) +
	       w->n_devices * sizeof(*w->until_ns) + map_bytes(&w->by_key) +
	       map_bytes(&w->by_group);
}

static void waits_restart(void *state)
{
	struct waits *w = state;

	w->basis = (struct basis) { .steps = 0 };
	for (size_t i = 0; i < w->n_groups; i++) {
		hist_release(&w->groups[i].hist);
		w->groups[i] = (struct waits_group) { .place = w->groups[i].place };
	}
}

const struct analysis analysis_waits = {
	.name = "waits", .size = sizeof(struct waits), .slice = waits_slice,
	.restart = waits_restart,
	.review = waits_review, .release = waits_release, .bytes = waits_bytes,
};

/* ---- queries ---- */

static int by_idle(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	return DESCENDING(x, y, idle_ns) ?: DESCENDING(x, y, total_ns) ?: strcmp(x->call, y->call);
}

size_t model_waits(struct model *model, struct wait_row **out)
{
	const struct waits *w = analysis_state(model, ANALYSIS_WAITS);

	*out = xcalloc(w->n_places + 1, sizeof(**out));
	for (size_t i = 0; i < w->n_places; i++) {
		const struct waits_place *place = &w->places[i];
		const struct source_frame *f =
			place->frame ? frame_at(model->lines, place->frame - 1) : NULL;

		(*out)[i] = (struct wait_row) {
			.call = names_short(&model->names, place->call),
			.op = place->op ? names_short(&model->names, place->op) : NULL,
			.file = f ? names_raw(&model->names,
					      names_resolve(&model->names, f->file)) :
				NULL,
			.function = f && f->function ?
				names_raw(&model->names,
					  names_resolve(&model->names, f->function)) :
				NULL,
			.line = f ? f->line : 0, .count = place->count,
			.total_ns = place->total_ns, .max_ns = place->max_ns,
			.stalls = place->stalls, .idle_ns = place->idle_ns,
			.saved_ns = place->saved_ns,
		};
	}
	qsort(*out, w->n_places, sizeof(**out), by_idle);
	return w->n_places;
}
