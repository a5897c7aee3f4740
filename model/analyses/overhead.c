/* SPDX-License-Identifier: MIT */
/*
 * What a framework that calls its ops one by one spends around them.
 *
 * Definition: on the thread that runs most of the step's ops, a piece is a stretch of time in
 * which no op and no kernel of the processor begins or ends. A piece no longer than small-op is
 * overhead: checks, dispatch and allocation around the work, within an op or, between two ops,
 * in Python. Longer pieces compute, as far as tftop knows, and so do kernels. Fetching batches
 * is reported elsewhere. A small op is one that consists only of overhead and is in no other
 * such op. The numbers are of the steps after the warm-up, or else of seconds.
 *
 * Where fewer than one in INTERRUPTED pieces of an op's name is long, the long ones are
 * overhead, too: the thread was interrupted in them.
 *
 * All of this is the cost: what fewer and larger ops would save at most, without what tftop itself
 * adds to a step where that was measured (model_own_cost()). Limit: small work that is worth its
 * time looks the same.
 *
 * This is computed only where no device but the processor works; elsewhere the launches are
 * what costs. Complexity: O(edges) for a slice. State: PLACES_MAX sums, by op and place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/query/cost.h"
#include "model/steps/steps.h"

#define PLACES_MAX 4096u
#define OPEN_MAX 64
#define NAMES_TOLD 3
#define INTERRUPTED 20			/* one in this many pieces of an op may be long */

struct overhead_place {
	uint32_t name;
	/* time in small pieces, and in other pieces */
	int64_t ns[SCOPE_COUNT], long_ns[SCOPE_COUNT];
	uint64_t count[SCOPE_COUNT], pieces[SCOPE_COUNT], long_pieces[SCOPE_COUNT];
};

struct overhead_sum { int64_t in_ops_ns, between_ns, small_ns; uint64_t small; };

struct open_op {
	uint32_t act;
	bool works;			/* something in it is more than overhead */
	int64_t small_ns;
	uint64_t small;			/* small ops within it, if it is not small itself */
};

struct overhead {
	struct basis basis;
	struct overhead_sum sum[SCOPE_COUNT];
	struct overhead_place *places;		/* owned */
	size_t n_places, cap_places;
	struct map by_name;
	struct act_slots ops_of;		/* by thread, for the current slice */
	int64_t worst_ns, worst_t0, worst_t1;
	uint32_t worst_row;
	/* For the current slice: */
	const struct slice *slice;
	enum scope scope;
	int64_t small_ns, last_ns;
	uint32_t thread, kernels, inputs;	/* the last two: how many are open */
	struct overhead_sum now;
	struct open_op open[OPEN_MAX];
	int depth;
	struct open_op outside;
};

static bool is_eager(const struct act *act)
{
	return act->kind == ACT_OP && act->command == FW_PYTORCH && !(act->flags & ACT_ASYNC);
}

/* The thread with most of the step's ops; NONE: there is none, or a device works. */
static uint32_t overhead_find_thread(struct overhead *o, const struct slice *slice,
				     uint32_t process)
{
	uint32_t most = NONE;

	if (slice_has_device_work(slice))
		return NONE;
	for (size_t i = 0; i < slice->n_rest; i++)
		if (slice->acts[slice->rest[i]].thread != NONE)
			*slot_of(&o->ops_of, slice->acts[slice->rest[i]].thread) = 0;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (!is_eager(act) || act->thread == NONE ||
		    (process != NONE && act->process != process))
			continue;
		++*slot_of(&o->ops_of, act->thread);
		if (most == NONE || *slot_of(&o->ops_of, act->thread) > *slot_of(&o->ops_of, most))
			most = act->thread;
	}
	return most;
}

static struct overhead_place *overhead_place(struct overhead *o, const struct act *act)
{
	uint32_t at = map_get(&o->by_name, act->name);

	if (at == MAP_NONE) {
		if (o->n_places == PLACES_MAX)
			return NULL;
		grow(&o->places, &o->cap_places, o->n_places, sizeof(*o->places));
		at = (uint32_t)o->n_places++;
		o->places[at] = (struct overhead_place) { .name = act->name };
		map_set(&o->by_name, act->name, at);
	}
	return &o->places[at];
}

static void add_piece(struct overhead *o, const struct act *act, int64_t ns, bool small)
{
	struct overhead_place *place = overhead_place(o, act);

	if (!place)
		return;
	add_ns(small ? &place->ns[o->scope] : &place->long_ns[o->scope], ns);
	place->pieces[o->scope]++;
	place->long_pieces[o->scope] += !small;
}

static struct open_op *top(struct overhead *o)
{
	return o->depth ? &o->open[o->depth - 1] : &o->outside;
}

static void overhead_count_piece(struct overhead *o, int64_t now_ns)
{
	int64_t ns = now_ns - o->last_ns;
	const struct act *act = o->depth ? &o->slice->acts[top(o)->act] : NULL;

	o->last_ns = now_ns;
	if (ns <= 0)
		return;
	if (act && (!is_eager(act) || act->flags & ACT_RANGE))
		act = NULL;
	if (o->kernels || o->inputs || ns > o->small_ns) {
		top(o)->works = true;
		if (act && !o->kernels && !o->inputs)
			add_piece(o, act, ns, false);
	} else if (act) {
		add_ns(&o->now.in_ops_ns, ns);
		add_piece(o, act, ns, true);
	} else {
		add_ns(&o->now.between_ns, ns);
	}
}

/* Counts the op if it is small, otherwise passes on the small ops inside it. */
static void close_op(struct overhead *o)
{
	struct open_op done = o->open[--o->depth], *around = top(o);
	const struct act *act = &o->slice->acts[done.act];

	o->inputs -= act->work == WORK_INPUT;
	if (!done.works && is_eager(act) && !(act->flags & ACT_RANGE)) {
		done.small = 1;
		done.small_ns = act->end_ns - act->start_ns;
		if (overhead_place(o, act))
			overhead_place(o, act)->count[o->scope]++;
	}
	around->works = around->works || done.works;
	around->small += done.small;
	add_ns(&around->small_ns, done.small_ns);
}

static void overhead_count_edge(struct overhead *o, uint32_t at, bool begins)
{
	const struct act *act = &o->slice->acts[at];
	int k = o->depth;

	overhead_count_piece(o, begins ? act_start(o->slice, act) : act->end_ns);
	if (act->kind == ACT_RUN) {
		o->kernels += begins ? 1 : o->kernels ? -1u : 0;
	} else if (begins) {
		if (o->depth == OPEN_MAX)
			return;
		o->open[o->depth++] = (struct open_op) { .act = at };
		o->inputs += act->work == WORK_INPUT;
	} else {
		while (k > 0 && o->open[k - 1].act != at)
			k--;
		while (k > 0 && o->depth >= k)
			close_op(o);
	}
}

static bool is_ours(const struct overhead *o, const struct act *act)
{
	return act->thread == o->thread && act->end_ns > act->start_ns &&
	       act->end_ns > o->slice->t0 && act->start_ns < o->slice->t1 &&
	       !(act->flags & ACT_ASYNC) && (act->kind == ACT_OP || act->kind == ACT_RUN);
}

static void overhead_walk_edges(struct overhead *o)
{
	const struct slice *slice = o->slice;
	size_t end = 0, begin = 0;

	for (;;) {
		while (begin < slice->n && !is_ours(o, &slice->acts[begin]))
			begin++;
		while (end < slice->n && !is_ours(o, &slice->acts[slice->ends[end].at]))
			end++;
		if (end < slice->n && slice->ends[end].start <= slice->t1 &&
		    (begin == slice->n ||
		     slice->ends[end].start <= slice->acts[begin].start_ns))
			overhead_count_edge(o, slice->ends[end++].at, false);
		else if (begin < slice->n)
			overhead_count_edge(o, (uint32_t)begin++, true);
		else
			break;
	}
	overhead_count_piece(o, slice->t1);
	while (o->depth)
		close_op(o);
}

static void overhead_slice(struct model *model, void *state, const struct slice *slice)
{
	struct overhead *o = state;
	const struct steps *steps = steps_best(model);
	uint32_t thread = overhead_find_thread(o, slice,
					       slice->step && steps ? steps->process : NONE);
	struct overhead_sum *sum;

	if (!basis_add(&o->basis, slice, &o->scope) || thread == NONE)
		return;
	o->slice = slice;
	o->thread = thread;
	o->small_ns = model_threshold(model, THRESHOLD_SMALL_OP) * 1000;
	o->last_ns = slice->t0;
	o->kernels = o->inputs = 0;
	o->depth = 0;
	o->now = (struct overhead_sum) { 0 };
	o->outside = (struct open_op) { 0 };
	overhead_walk_edges(o);
	sum = &o->sum[o->scope];
	add_ns(&sum->in_ops_ns, o->now.in_ops_ns);
	add_ns(&sum->between_ns, o->now.between_ns);
	add_ns(&sum->small_ns, o->outside.small_ns);
	sum->small += o->outside.small;
	if (o->now.in_ops_ns + o->now.between_ns > o->worst_ns) {
		o->worst_ns = o->now.in_ops_ns + o->now.between_ns;
		o->worst_t0 = slice->t0;
		o->worst_t1 = slice->t1;
		o->worst_row = thread_at(model, thread)->row != NONE ?
			       thread_at(model, thread)->row + 1 : 0;
	}
}

/* ---- the finding ---- */

/* Writes " at train.py:88", where the ops that cost most are called. */
static void place_of_most(struct model *model, const struct overhead *o, char *out)
{
	const struct overhead_place *most = NULL;
	enum scope scope = basis_scope(&o->basis);

	for (size_t i = 0; i < o->n_places; i++)
		if (o->places[i].count[scope] &&
		    (!most || o->places[i].ns[scope] > most->ns[scope]))
			most = &o->places[i];
	op_place_text(model, most ? most->name : 0, out, PLACE_TEXT);
}

/* Writes "sub_ 1.2 ms in 50, select 840 µs in 100, ..." for those that cost most. */
static void names_line(struct model *model, const struct overhead *o, char line[FINDING_TEXT])
{
	enum scope scope = basis_scope(&o->basis);
	int64_t below = INT64_MAX;
	size_t at = 0;

	for (int told = 0; told < NAMES_TOLD; told++) {
		const struct overhead_place *most = NULL;
		char time[FMT_MAX];

		for (size_t i = 0; i < o->n_places; i++)
			if (o->places[i].ns[scope] < below &&
			    (!most || o->places[i].ns[scope] > most->ns[scope]))
				most = &o->places[i];
		if (!most || !most->ns[scope])
			break;
		below = most->ns[scope];
		at += (size_t)snprintf(line + at, FINDING_TEXT - at, "%s%.60s %s", told ? ", "
				       "" : "most in ",
				       names_short(&model->names, most->name),
				       fmt_time(time, basis_per(&o->basis, most->ns[scope])));
	}
	if (at)
		snprintf(line + at, FINDING_TEXT - at, " %s", basis_word(model, &o->basis));
}

/* The time of long pieces in ops that hardly ever have any: the thread was interrupted in them. */
static int64_t interrupted_ns(const struct overhead *o, enum scope scope)
{
	int64_t ns = 0;

	for (size_t i = 0; i < o->n_places; i++)
		if (o->places[i].long_pieces[scope] * INTERRUPTED < o->places[i].pieces[scope])
			add_ns(&ns, o->places[i].long_ns[scope]);
	return ns;
}

/* How much of the time around ops tftop itself makes, where that was measured. */
static int64_t own_part(const struct model *model, const struct basis *basis, int64_t around_ns)
{
	int64_t own_ns = basis->steps ? own_cost_step_ns(model) : 0;

	return own_ns < around_ns ? own_ns : around_ns;
}

static void overhead_review(struct model *model, void *state, struct findings *findings)
{
	const struct overhead *o = state;
	const struct basis *basis = &o->basis;
	const struct overhead_sum *sum = &o->sum[basis_scope(basis)];
	int64_t in_ops_ns = basis_per(basis, sum->in_ops_ns +
				      interrupted_ns(o, basis_scope(basis)));
	int64_t between_ns = basis_per(basis, sum->between_ns);
	int64_t own_ns = own_part(model, basis, in_ops_ns + between_ns);
	int64_t whole_ns = basis_whole(basis) - own_ns;
	char share[FMT_MAX], count[FMT_MAX], time[FMT_MAX], other[FMT_MAX], own[FMT_MAX];
	char place[PLACE_TEXT];
	struct finding finding = {
		.id = "framework-overhead", .severity = SEVERITY_WARNING,
		.cost_ns = in_ops_ns + between_ns - own_ns, .of_ns = whole_ns,
		.evidence = { .kind = EVIDENCE_TIME, .t0 = o->worst_t0, .t1 = o->worst_t1,
			      .row = o->worst_row },
		.advice = "use ops on whole tensors instead of many small ones, or a larger batch; "
			  "optimizers with 'foreach' or 'fused', and torch.compile, merge small "
			  "ops",
	};

	if (!basis_ready(model, basis) || !sum->small ||
	    per_mille(finding.cost_ns, whole_ns) <
	    model_threshold(model, THRESHOLD_OVERHEAD_SHARE) * 10)
		return;
	place_of_most(model, o, place);
	snprintf(finding.title, FINDING_TEXT,
		 "framework overhead: %s of %s is spent around ops; %s of them take %s each%s%s",
		 fmt_share(share, (uint64_t)finding.cost_ns, (uint64_t)whole_ns),
		 basis_each(model, basis),
		 fmt_count(count, basis_count(basis, sum->small)),
		 fmt_time(time, sum->small_ns / (int64_t)sum->small), *place ? ", most" : "",
		 place);
	names_line(model, o, finding.lines[0]);
	snprintf(finding.lines[1], FINDING_TEXT, "%s%s within ops, %s between them, in Python%s%s",
		 fmt_time(time, in_ops_ns), own_ns ? "" : " of it", fmt_time(other, between_ns),
		 own_ns ? "; tftop's own cost is taken off: " : "",
		 own_ns ? fmt_time(own, own_ns) : "");
	finding_add(findings, &finding);
}

static void overhead_release(void *state)
{
	struct overhead *o = state;

	free(o->places);
	free(o->ops_of.of);
	map_release(&o->by_name);
}

static size_t overhead_bytes(const void *state)
{
	const struct overhead *o = state;

	return o->cap_places * sizeof(*o->places) + map_bytes(&o->by_name) +
	       o->ops_of.n * sizeof(*o->ops_of.of);
}

const struct analysis analysis_overhead = {
	.name = "framework overhead", .size = sizeof(struct overhead), .slice = overhead_slice,
	.per_step = true, .needs_ops = true,
	.review = overhead_review, .release = overhead_release, .bytes = overhead_bytes,
};
