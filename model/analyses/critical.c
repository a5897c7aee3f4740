/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a step: a walk back from its end along what was being waited for. Each
 * moment of the step is in exactly one edge.
 *
 * Idea: a step is a graph of starts and ends. Its longest path can be found without building
 * the graph, because at each moment only the predecessor that finished last delayed what came
 * next ("last finisher"). The walk is always on a host thread or in a run, at a time t, and
 * goes back:
 *  - On a thread, in a call that waited: to the run that finished last among those that were
 *    waited for; the time from its end to t is sync. If there is no such run, all of it is
 *    sync.
 *  - On a thread, elsewhere: to the start of the innermost thing that the thread was doing:
 *    input, launch, op (of a framework), or host. What is inside an input op is input.
 *  - In a run: to its start; the edge is kernel, copy or comm. Then to what the run waited for:
 *    the run before it in its queue, or the run of its process that finished last, if that was
 *    after its launch (queue); else to its launch (launch), and on along the launching thread.
 *
 * The walk begins at the end of the step, on the step's thread. If that thread waited for
 * nothing in the step and a device of its process has not finished yet, the host runs ahead,
 * and the walk begins in what the device runs then.
 *
 * Always true: the edges lie end to end and cover [t0, t1) exactly; t never grows, and no run
 * is entered twice. The last finisher of another queue is taken for the cause without proof,
 * because dependencies between queues are not recorded. Device times that are wrong by less
 * than SLACK_NS make no negative edge; beyond that, an edge has length 0 at worst.
 *
 * Worked example: a thread launches A and B (2 us each) and waits. A runs from 3 to 10, B from
 * 11 to 20; the wait returns at 22. Back from 22: sync 2, kernel 9, queue 1, kernel 7, launch
 * 3. The launch of B is on no path, because it was hidden.
 *
 * What the host did in the edges host and input is known where a thread was looked at
 * (critical_host.h). On the processor, the time between ops of two threads lies on the thread of
 * the step; where that is a pool's, it is what the thread did that the pool waits for.
 *
 * Complexity: close to O(n) for a slice. Memory: PARTS_MAX names, PATH_STEPS steps, and what the
 * host did.
 *
 * Sources: critical path after HTA, critical_path_analysis.py; last finisher after Schulz,
 * Extracting Critical Path Graphs from MPI Applications (2005).
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/costly.h"
#include "model/analyses/critical_host.h"
#include "model/analyses/critical_ops.h"
#include "model/analyses/critical_ready.h"
#include "model/analyses/sweep.h"
#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define SLACK_NS 2000
#define PARTS_MAX 4096u
#define PATH_TYPE PATH_KINDS		/* a part that is a type of ops, stored beside the others */
#define ACTS_LIMIT (1u << 19)		/* slices with more acts have no path */

struct part_sum {
	uint8_t kind;
	uint32_t name;
	int64_t ns[SCOPE_COUNT];
	uint64_t count[SCOPE_COUNT];
};

struct step_path { int64_t start_ns, dur_ns, ns[PATH_KINDS]; };

/* ---- the walk ---- */

struct critical {
	struct basis basis;
	int64_t ns[SCOPE_COUNT][PATH_KINDS];
	struct part_sum *parts;		/* owned */
	size_t n_parts, cap_parts;
	struct map by_key;
	struct step_path *steps;	/* owned; a ring, grown until PATH_STEPS */
	size_t cap_steps;
	uint64_t n_steps;
	struct critical_host host;
	struct critical_ready ready;		/* prepared from the current slice */
	struct costly costly;
};

static void critical_release(void *state)
{
	struct critical *critical = state;

	free(critical->parts);
	free(critical->steps);
	critical_host_release(&critical->host);
	map_release(&critical->by_key);
	ready_release(&critical->ready);
	costly_release(&critical->costly);
}

static size_t critical_bytes(const void *state)
{
	const struct critical *critical = state;

	return critical->cap_parts * sizeof(*critical->parts) + map_bytes(&critical->by_key) +
	       critical->cap_steps * sizeof(*critical->steps) +
	       critical_host_bytes(&critical->host) + ready_bytes(&critical->ready) +
	       costly_bytes(&critical->costly);
}

struct critical_walk {
	struct critical *critical;
	struct critical_ready *ready;
	enum scope scope;
	int64_t t_ns;
	uint32_t thread;		/* the current thread, when not in a run */
	uint32_t own_thread;		/* that of the step; NONE: unknown */
	uint32_t asking_thread;		/* that waits for a pool, to which that one belongs; NONE */
	size_t run;			/* index in ends; n_ends: on a thread */
	int64_t ns[PATH_KINDS];
};

static void critical_count_part(struct critical *critical, enum scope scope, enum path_kind kind,
				uint32_t name, int64_t ns)
{
	uint64_t key = (uint64_t)kind << 32 | name;
	uint32_t at = map_get(&critical->by_key, key);

	if (at == MAP_NONE) {
		if (critical->n_parts == PARTS_MAX)
			return;
		grow(&critical->parts, &critical->cap_parts, critical->n_parts,
		     sizeof(*critical->parts));
		at = (uint32_t)critical->n_parts++;
		critical->parts[at] = (struct part_sum) { .kind = (uint8_t)kind, .name = name };
		map_set(&critical->by_key, key, at);
	}
	critical->parts[at].ns[scope] += ns;
	critical->parts[at].count[scope]++;
}

/* The thread whose doings an edge of the current thread consists of. */
static uint32_t who_acts(const struct critical_walk *walk, enum path_kind kind)
{
	bool waits = kind == PATH_HOST && walk->thread == walk->own_thread;

	return waits && walk->asking_thread != NONE ? walk->asking_thread : walk->thread;
}

/* Adds one edge, back to to_ns or to the start of the slice. */
static void go(struct critical_walk *walk, int64_t to_ns, enum path_kind kind, uint32_t name)
{
	int64_t t0 = walk->ready->slice->t0;

	if (to_ns < t0)
		to_ns = t0;
	if (to_ns >= walk->t_ns)
		return;
	walk->ns[kind] += walk->t_ns - to_ns;
	critical_count_part(walk->critical, walk->scope, kind, name, walk->t_ns - to_ns);
	critical_host_edge(&walk->critical->host, kind, who_acts(walk, kind), to_ns, walk->t_ns);
	walk->t_ns = to_ns;
}

static void enter(struct critical_walk *walk, size_t run)
{
	walk->run = run;
	walk->ready->entered[run] = 1;
}

static bool is_step(const struct slice *slice, const struct act *act)
{
	return act->kind == ACT_OP && slice->step && act->start_ns == slice->t0 &&
	       act->end_ns == slice->t1;
}

static void step_host(struct critical_walk *walk)
{
	struct critical_ready *ready = walk->ready;
	const struct segment *segment = ready_segment(ready, walk->thread, walk->t_ns);
	const struct act *act;
	size_t run;
	bool step;

	if (!segment || segment->end_ns < walk->t_ns) {
		go(walk, segment ? segment->end_ns : INT64_MIN, PATH_HOST, 0);
		return;
	}
	act = &ready->slice->acts[segment->act];
	if (act->kind == ACT_WAIT || (act->kind == ACT_LAUNCH && (act->flags & ACT_BLOCKING))) {
		run = ready_finished(ready, act->process, act->queue, walk->t_ns + SLACK_NS);
		if (run < ready->n_ends && ready->ends[run].start > segment->start_ns) {
			go(walk, ready->ends[run].start, PATH_SYNC, act->name);
			enter(walk, run);
		} else {
			go(walk, segment->start_ns, PATH_SYNC, act->name);
		}
		return;
	}
	/* The range of a step has another name each time, which says nothing. */
	step = is_step(ready->slice, act);
	go(walk, segment->start_ns, segment->input ? PATH_INPUT :
	   act->kind == ACT_LAUNCH ? PATH_LAUNCH :
	   act->kind == ACT_COMPILE ? PATH_OTHER :
	   (act->flags & ACT_WORKS) && !step ? PATH_OP : PATH_HOST, step ? 0 : act->name);
}

static enum path_kind kind_of_run(const struct act *act)
{
	return act->work == WORK_COMM ? PATH_COMM : act_is_kernel(act) ? PATH_KERNEL : PATH_COPY;
}

static void step_run(struct critical_walk *walk)
{
	const struct critical_ready *ready = walk->ready;
	const struct act *act = &ready->slice->acts[ready->ends[walk->run].at];
	/* As far as is known, a call that waits for its work launched it when the call started. */
	int64_t launched_ns = act->call_ns +
			      (act->flags & ACT_BLOCKING ? 0 : act->call_dur_ns), end_ns;
	int64_t from_ns = walk->t_ns;
	size_t before, other;

	go(walk, act->start_ns, kind_of_run(act), act->name);
	costly_run(&walk->critical->costly, act, from_ns - walk->t_ns);
	if (launched_ns > walk->t_ns)
		launched_ns = walk->t_ns;	/* it started before the call returned */
	before = ready_finished(ready, act->process, act->queue, walk->t_ns + SLACK_NS);
	other = ready_finished(ready, act->process, NONE, walk->t_ns + SLACK_NS);
	if (other < ready->n_ends &&
	    (before == ready->n_ends || ready->ends[other].start > ready->ends[before].start))
		before = other;
	end_ns = before < ready->n_ends ? ready->ends[before].start : INT64_MIN;
	walk->run = ready->n_ends;
	if (act->call_ns ? end_ns >= launched_ns : before < ready->n_ends) {
		go(walk, end_ns, PATH_QUEUE, 0);
		enter(walk, before);
	} else if (act->call_ns) {
		go(walk, act->call_ns, PATH_LAUNCH, act->name);
		walk->thread = act->thread;
	} else {
		go(walk, INT64_MIN, PATH_OTHER, 0);
	}
}

/* The thread that a slice belongs to, of that process unless it is NONE: that of the step, else the
 * one that last launched or waited, else the one that was seen last; NONE: there is none. */
static uint32_t critical_owner_thread(const struct slice *slice, uint32_t process)
{
	uint32_t seen = NONE;
	bool any = false;

	for (size_t i = 0; i < slice->n_rest && slice->step; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (act_is_host(act) && is_step(slice, act) &&
		    (process == NONE || act->process == process))
			return act->thread;
	}
	for (size_t i = slice->n; i-- > 0; ) {
		const struct act *act = &slice->acts[i];

		if (!act_is_host(act) || (process != NONE && act->process != process))
			continue;
		if (!any)
			seen = act->thread;
		any = true;
		if (act->kind == ACT_OP)
			continue;
		return act->thread != NONE ? act->thread : seen;
	}
	return seen;
}

static void keep_step(struct critical *critical, const struct slice *slice,
		      const int64_t ns[PATH_KINDS])
{
	struct step_path *step;

	if (critical->n_steps < PATH_STEPS)
		grow(&critical->steps, &critical->cap_steps, (size_t)critical->n_steps,
		     sizeof(*critical->steps));
	step = &critical->steps[critical->n_steps++ % PATH_STEPS];
	step->start_ns = slice->t0;
	step->dur_ns = slice->t1 - slice->t0;
	memcpy(step->ns, ns, sizeof(step->ns));
}

static void keep_path(struct model *model, const struct critical_walk *walk,
		      const struct slice *slice)
{
	for (int k = 0; k < PATH_KINDS; k++)
		walk->critical->ns[walk->scope][k] += walk->ns[k];
	critical_host_slice(model, &walk->critical->host, &walk->critical->basis, walk->scope);
	if (slice->step)
		keep_step(walk->critical, slice, walk->ns);
}

static bool waits_for_devices(const struct slice *slice, uint32_t thread)
{
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];

		if (act->thread == thread && act->end_ns > slice->t0 && act->end_ns <= slice->t1 &&
		    (act->kind == ACT_WAIT ||
		     (act->kind == ACT_LAUNCH && act->flags & ACT_BLOCKING)))
			return true;
	}
	return false;
}

/*
 * The thread of the step has finished it without waiting for anything, while a device of its
 * process continues to work: the slower of the two determines the speed of the loop, and that is
 * the device. Returns, of the runs that reach beyond the end, the one that started last; a
 * kernel is preferred to other work. Returns n_ends if there is none.
 */
static size_t critical_run_behind(const struct critical_ready *ready, uint32_t thread)
{
	const struct slice *slice = ready->slice;
	uint32_t process = NONE;
	size_t best = ready->n_ends;

	if (thread == NONE || waits_for_devices(slice, thread))
		return best;
	for (size_t i = 0; i < slice->n_launches && process == NONE; i++)
		if (slice->acts[slice->launches[i]].thread == thread)
			process = slice->acts[slice->launches[i]].process;
	for (size_t i = 0; i < slice->n_rest && process == NONE; i++)
		if (slice->acts[slice->rest[i]].thread == thread)
			process = slice->acts[slice->rest[i]].process;
	for (size_t i = ready->n_ends; i-- > 0 && ready->ends[i].start > slice->t1; ) {
		const struct act *act = &slice->acts[ready->ends[i].at], *other;

		if (act->process != process || act->flags & ACT_WORKS || act->start_ns >= slice->t1)
			continue;
		other = best < ready->n_ends ? &slice->acts[ready->ends[best].at] : NULL;
		if (!other || act_is_kernel(act) > act_is_kernel(other) ||
		    (act_is_kernel(act) == act_is_kernel(other) && act->start_ns > other->start_ns))
			best = i;
	}
	return best;
}

static void find_path(struct model *model, struct critical *critical,
		      struct critical_ready *ready, enum scope scope)
{
	struct critical_walk walk = {
		.critical = critical, .ready = ready, .scope = scope,
		.t_ns = ready->slice->t1, .thread = critical_owner_thread(ready->slice, NONE),
		.run = ready->n_ends, .asking_thread = sweep_asking_pool(sweep_of(model)),
	};
	int64_t t0 = ready->slice->t0;
	uint32_t thread = walk.thread;

	walk.own_thread = thread;
	walk.run = critical_run_behind(ready, thread);
	if (walk.run < ready->n_ends) {
		enter(&walk, walk.run);
	} else if (walk.thread == NONE && ready->n_ends) {
		go(&walk, ready->ends[ready->n_ends - 1].start, PATH_OTHER, 0);
		enter(&walk, ready->n_ends - 1);
	}
	/* Each iteration goes back in time or enters a run, which happens once per run. */
	while (walk.t_ns > t0) {
		if (walk.run < ready->n_ends)
			step_run(&walk);
		else if (walk.thread != NONE)
			step_host(&walk);
		else
			go(&walk, t0, PATH_OTHER, 0);
	}
	keep_path(model, &walk, ready->slice);
	costly_end_runs(&critical->costly, ready, thread);
}

/* ---- ops on the processor ---- */

static void ops_edge(void *arg, int64_t to_ns, const struct act *act, uint32_t thread)
{
	struct critical_walk *walk = arg;

	walk->thread = thread != NONE ? thread : walk->own_thread;
	if (act)
		costly_op(&walk->critical->costly, act, walk->t_ns - to_ns);
	if (act && act->op_name)
		critical_count_part(walk->critical, walk->scope, PATH_TYPE, act->op_name,
				    walk->t_ns - to_ns);
	go(walk, to_ns, !act ? PATH_HOST : act->work == WORK_INPUT ? PATH_INPUT : PATH_OP,
	   act ? act->name : 0);
}

static void find_ops_path(struct model *model, struct critical *critical,
			  const struct slice *slice, const struct function_run *run,
			  enum scope scope)
{
	struct critical_walk walk = {
		.critical = critical, .ready = &critical->ready, .scope = scope,
		.t_ns = slice->t1, .own_thread = critical_owner_thread(slice, run->process),
		.asking_thread = sweep_asking_pool(sweep_of(model)),
	};

	critical->ready.slice = slice;
	critical_ops(slice, run, &walk, ops_edge);
	keep_path(model, &walk, slice);
	costly_end_ops(&critical->costly, run);
}

static void critical_slice(struct model *model, void *state, const struct slice *slice)
{
	struct critical *critical = state;
	const struct steps *steps = steps_best(model);
	struct function_run run;
	enum scope scope;

	if (slice->n > ACTS_LIMIT || !basis_add(&critical->basis, slice, &scope))
		return;
	costly_begin(&critical->costly, &model->names, slice, scope);
	if (critical_ops_run(slice, slice->step && steps ? steps->process : NONE, &run)) {
		find_ops_path(model, critical, slice, &run, scope);
		return;
	}
	ready_make(&critical->ready, slice);
	find_path(model, critical, &critical->ready, scope);
}

static void critical_review(struct model *model, void *state, struct findings *findings)
{
	const struct critical *critical = state;

	costly_review(model, &critical->costly, &critical->basis, findings);
}

const struct analysis analysis_critical = {
	.name = "critical", .size = sizeof(struct critical), .release = critical_release,
	.per_step = true, .needs_ops = true,
	.slice = critical_slice, .review = critical_review, .bytes = critical_bytes,
};

/* ---- queries ---- */

static int by_ns(const void *a, const void *b)
{
	const struct path_part *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static struct critical_path mean_path(const struct critical *critical)
{
	const struct basis *basis = &critical->basis;
	struct critical_path path = { .steps = basis->steps, .whole_ns = basis_whole(basis) };

	for (int k = 0; k < PATH_KINDS; k++)
		path.ns[k] = basis_per(basis, critical->ns[basis_scope(basis)][k]);
	return path;
}

/* Lists either the parts of the path or the types of the ops that it leads through. */
static size_t list_parts(const void *state, struct names *names, bool types,
			 struct critical_path *path, size_t max, struct path_part **out)
{
	const struct critical *critical = state;
	enum scope scope = basis_scope(&critical->basis);
	size_t n = 0;

	*path = mean_path(critical);
	*out = xcalloc(critical->n_parts, sizeof(**out));
	for (size_t i = 0; i < critical->n_parts; i++) {
		const struct part_sum *part = &critical->parts[i];

		if (part->count[scope] && (part->kind == PATH_TYPE) == types)
			(*out)[n++] = (struct path_part) {
				.kind = (enum path_kind)part->kind,
				.name = part->name ? names_short(names, part->name) : NULL,
				.ns = basis_per(&critical->basis, part->ns[scope]),
				.count = part->count[scope],
			};
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_ns);
	return n < max ? n : max;
}

size_t critical_parts(const void *state, struct names *names, struct critical_path *path,
		      size_t max, struct path_part **out)
{
	return list_parts(state, names, false, path, max, out);
}

/* Steps follow each other, so this is a bisection over the ring. */
bool critical_step(const void *state, int64_t start_ns, struct critical_path *path)
{
	const struct critical *critical = state;
	uint64_t end = critical->n_steps;
	uint64_t at = FIRST_NOT(i, end > PATH_STEPS ? end - PATH_STEPS : 0, end,
				critical->steps[i % PATH_STEPS].start_ns < start_ns);
	const struct step_path *step = &critical->steps[at % PATH_STEPS];

	if (at == end || step->start_ns != start_ns)
		return false;
	*path = (struct critical_path) { .steps = 1, .whole_ns = step->dur_ns };
	memcpy(path->ns, step->ns, sizeof(path->ns));
	return true;
}

size_t model_critical(struct model *model, struct critical_path *path, size_t max,
		      struct path_part **out)
{
	return critical_parts(analysis_state(model, ANALYSIS_CRITICAL), &model->names, path, max,
			      out);
}

size_t critical_types(const void *state, struct names *names, struct path_part **out)
{
	struct critical_path path;

	return list_parts(state, names, true, &path, SIZE_MAX, out);
}

size_t model_critical_types(struct model *model, struct path_part **out)
{
	return critical_types(analysis_state(model, ANALYSIS_CRITICAL), &model->names, out);
}

bool model_critical_step(struct model *model, int64_t start_ns, struct critical_path *path)
{
	return critical_step(analysis_state(model, ANALYSIS_CRITICAL), start_ns, path);
}

size_t model_critical_host(struct model *model, struct host_time_row **rows)
{
	const struct critical *critical = analysis_state(model, ANALYSIS_CRITICAL);
	struct critical_path path = mean_path(critical);

	return critical_host_mean(model, &critical->host, &critical->basis, &path, rows);
}

size_t model_critical_step_host(struct model *model, int64_t start_ns,
				struct host_time_row **rows)
{
	const struct critical *critical = analysis_state(model, ANALYSIS_CRITICAL);
	struct critical_path path;

	*rows = NULL;
	if (!critical_step(critical, start_ns, &path))
		return 0;
	return critical_host_within(model, &critical->host, start_ns, start_ns + path.whole_ns,
				    &path, rows);
}

const char *path_kind_name(enum path_kind kind)
{
	static const char *const words[PATH_KINDS] = {
		"op", "host", "input", "launch", "queue", "kernel", "copy", "comm", "sync", "other",
	};

	return kind < PATH_KINDS ? words[kind] : "";
}

const char *path_kind_label(enum path_kind kind)
{
	switch (kind) {
	case PATH_HOST: return "other code";
	case PATH_LAUNCH: return "launching";
	case PATH_SYNC: return "waking up";
	default: return path_kind_name(kind);
	}
}
