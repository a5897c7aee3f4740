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
 *  - A run on the processor that nothing launched is a part of what its thread did: on along that
 *    thread. In an op, each such run of its thread, and of others for it, is entered in turn. Where
 *    the thread did nothing before, back to the one that was waiting; what that one waited until
 *    the thread began is queue. A run outside of all ops: to the run that finished last, or to the
 *    waiting thread.
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
 * Complexity: close to O(n) for a slice. Memory: the sums (critical_sums.h), and what the host did.
 *
 * Sources: critical path after HTA, critical_path_analysis.py; last finisher after Schulz,
 * Extracting Critical Path Graphs from MPI Applications (2005).
 */
#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/costly.h"
#include "model/analyses/critical_host.h"
#include "model/analyses/critical_ops.h"
#include "model/analyses/critical_ready.h"
#include "model/analyses/critical_sums.h"
#include "model/analyses/sweep.h"
#include "model/analyses/work.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define SLACK_NS 2000
#define ACTS_LIMIT (1u << 19)		/* slices with more acts have no path */

/* ---- the walk ---- */

struct critical {
	struct basis basis;
	struct critical_sums sums;
	struct critical_host host;
	struct critical_ready ready;		/* prepared from the current slice */
	struct costly costly;
};

static void critical_release(void *state)
{
	struct critical *critical = state;

	critical_sums_release(&critical->sums);
	critical_host_release(&critical->host);
	ready_release(&critical->ready);
	costly_release(&critical->costly);
}

static size_t critical_bytes(const void *state)
{
	const struct critical *critical = state;

	return critical_sums_bytes(&critical->sums) + critical_host_bytes(&critical->host) +
	       ready_bytes(&critical->ready) + costly_bytes(&critical->costly);
}

struct critical_walk {
	struct critical *critical;
	struct critical_ready *ready;
	enum scope scope;
	int64_t t_ns;
	uint32_t thread;		/* the current thread, when not in a run */
	uint32_t own_thread;		/* that of the step; NONE: unknown */
	uint32_t asking_thread;		/* that waits for a pool, to which that one belongs; NONE */
	/* that waited for the processor's runs which the current one ran; NONE: that is itself */
	uint32_t waiting_thread;
	bool returned;			/* just now, to the waiting thread */
	bool devices;		/* others than the processor: what that runs is the host's */
	size_t run;			/* index in ends; n_ends: on a thread */
	int64_t ns[PATH_KINDS];
};

/* The thread for which all is done. */
static uint32_t who_asks(const struct critical_walk *walk)
{
	return walk->asking_thread != NONE ? walk->asking_thread : walk->own_thread;
}

/* The thread whose doings an edge of the current thread consists of. */
static uint32_t who_acts(const struct critical_walk *walk, enum path_kind kind)
{
	return kind == PATH_HOST && walk->thread == walk->own_thread ? who_asks(walk) :
								       walk->thread;
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
	critical_sums_part(&walk->critical->sums, walk->scope, kind, name, walk->t_ns - to_ns);
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

static bool is_within(const struct segment *segment, int64_t t_ns)
{
	return segment && segment->end_ns >= t_ns;
}

/* In a call that waits: to what it waited for. */
static void step_wait(struct critical_walk *walk, const struct segment *segment,
		      const struct act *act)
{
	enum path_kind kind = walk->returned ? PATH_QUEUE : PATH_SYNC;
	size_t run = ready_finished(walk->ready, act->process, act->queue, walk->t_ns + SLACK_NS);

	if (run < walk->ready->n_ends && walk->ready->ends[run].start > segment->start_ns) {
		go(walk, walk->ready->ends[run].start, kind, walk->returned ? 0 : act->name);
		enter(walk, run);
	} else {
		go(walk, segment->start_ns, kind, walk->returned ? 0 : act->name);
	}
}

/* The thread did nothing at that time: what it had done was asked for by another one, if by any. */
static void step_outside(struct critical_walk *walk, const struct segment *before)
{
	if (walk->waiting_thread == NONE) {
		go(walk, before ? before->end_ns : INT64_MIN, PATH_HOST, 0);
		return;
	}
	walk->thread = walk->waiting_thread;
	walk->waiting_thread = NONE;
	walk->returned = true;
}

static void step_host(struct critical_walk *walk)
{
	struct critical_ready *ready = walk->ready;
	const struct segment *segment = ready_segment(ready, walk->thread, walk->t_ns);
	const struct act *act;
	size_t run = ready->n_ends;
	int64_t to_ns;
	bool step;

	if (!is_within(segment, walk->t_ns)) {
		step_outside(walk, segment);
		return;
	}
	act = &ready->slice->acts[segment->act];
	if (act->kind == ACT_WAIT || (act->kind == ACT_LAUNCH && (act->flags & ACT_BLOCKING))) {
		step_wait(walk, segment, act);
		walk->returned = false;
		return;
	}
	walk->returned = false;
	if (act->kind == ACT_OP && !segment->input && !(act->flags & ACT_WORKS) && !walk->devices)
		run = ready_ran(ready, act, segment->start_ns, walk->t_ns + SLACK_NS);
	to_ns = run < ready->n_ends ? ready->ends[run].start : segment->start_ns;
	/* The range of a step has another name each time, which says nothing. */
	step = is_step(ready->slice, act);
	go(walk, to_ns, segment->input ? PATH_INPUT :
	   act->kind == ACT_LAUNCH ? PATH_LAUNCH :
	   act->kind == ACT_COMPILE ? PATH_OTHER :
	   (act->flags & ACT_WORKS) && !step ? PATH_OP : PATH_HOST, step ? 0 : act->name);
	if (run < ready->n_ends)
		enter(walk, run);
}

static enum path_kind kind_of_run(const struct act *act)
{
	return act->work == WORK_COMM ? PATH_COMM : act_is_kernel(act) ? PATH_KERNEL : PATH_COPY;
}

/* A run that nothing launched, to the start of which the walk has come, was a part of what its
 * thread did. */
static void leave_processor_run(struct critical_walk *walk, const struct act *act)
{
	struct critical_ready *ready = walk->ready;
	int64_t from_ns = INT64_MIN;
	const struct segment *segment = ready_segment(ready, act->thread, walk->t_ns);
	size_t before;

	walk->run = ready->n_ends;
	if (is_within(segment, walk->t_ns)) {
		if (walk->thread != act->thread && walk->waiting_thread == NONE)
			walk->waiting_thread = walk->thread;
		walk->thread = act->thread;
		return;
	}
	if (walk->thread != NONE) {
		segment = ready_segment(ready, walk->thread, walk->t_ns);
		if (!is_within(segment, walk->t_ns))
			return;		/* it waited for nothing then: on along that thread */
		from_ns = segment->start_ns;
	}
	before = ready_finished(ready, act->process, NONE, walk->t_ns + SLACK_NS);
	if (before < ready->n_ends && ready->ends[before].start > from_ns) {
		go(walk, ready->ends[before].start, PATH_QUEUE, 0);
		enter(walk, before);
	}
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
	if (act->flags & ACT_WORKS && !act->call_ns && act->thread != NONE) {
		leave_processor_run(walk, act);
		return;
	}
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

static void keep_path(struct model *model, const struct critical_walk *walk,
		      const struct slice *slice)
{
	critical_sums_slice(&walk->critical->sums, walk->scope, slice, walk->ns);
	walk->critical->host.asking = who_asks(walk);
	critical_host_slice(model, &walk->critical->host, &walk->critical->basis, walk->scope);
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

/* Where the steps are runs of a function on the processor (XLA's), the thread whose run ends the
 * slice; NONE: there is none. The other threads may be far ahead of it. */
static uint32_t critical_run_thread(const struct slice *slice, uint32_t step_name)
{
	for (size_t i = slice->n; step_name && slice->step && i-- > 0; ) {
		const struct act *act = &slice->acts[slice->ends[i].at];

		if (act->end_ns < slice->t1 - SLACK_NS)
			break;
		if (act_is_host(act) && act->kind == ACT_OP && act->name == step_name &&
		    act->end_ns <= slice->t1 + SLACK_NS)
			return act->thread;
	}
	return NONE;
}

static void find_path(struct model *model, struct critical *critical,
		      struct critical_ready *ready, enum scope scope)
{
	struct critical_walk walk = {
		.critical = critical, .ready = ready, .scope = scope,
		.t_ns = ready->slice->t1, .thread = critical_owner_thread(ready->slice, NONE),
		.run = ready->n_ends, .asking_thread = sweep_asking_pool(sweep_of(model)),
		.waiting_thread = NONE, .devices = slice_has_device_work(ready->slice),
	};
	int64_t t0 = ready->slice->t0;
	uint32_t thread = walk.thread;
	uint32_t ran = critical_run_thread(ready->slice, sweep_of(model)->step_name);

	walk.own_thread = thread;
	if (ran != NONE && ran != thread) {
		walk.waiting_thread = thread;
		walk.thread = ran;
	}
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
	if (act && act->work == WORK_COMM) {
		go(walk, to_ns, PATH_COMM, act->name);
		return;
	}
	if (act)
		costly_op(&walk->critical->costly, act, walk->t_ns - to_ns);
	if (act && act->op_name)
		critical_sums_part(&walk->critical->sums, walk->scope, PATH_TYPE, act->op_name,
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
	if (critical_ops_run(slice, slice->step && steps ? steps->process : NONE,
			     slice->step && steps && steps->source == STEPS_RUN, &run)) {
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

size_t critical_parts(const void *state, struct names *names, struct critical_path *path,
		      size_t max, struct path_part **out)
{
	const struct critical *critical = state;

	*path = critical_sums_mean(&critical->sums, &critical->basis);
	return critical_sums_parts(&critical->sums, &critical->basis, names, max, out);
}

size_t critical_types(const void *state, struct names *names, struct path_part **out)
{
	const struct critical *critical = state;

	return critical_sums_types(&critical->sums, &critical->basis, names, out);
}

bool critical_step(const void *state, int64_t start_ns, struct critical_path *path)
{
	const struct critical *critical = state;

	return critical_sums_step(&critical->sums, start_ns, path);
}

size_t model_critical(struct model *model, struct critical_path *path, size_t max,
		      struct path_part **out)
{
	return critical_parts(analysis_state(model, ANALYSIS_CRITICAL), &model->names, path, max,
			      out);
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
	struct critical_path path = critical_sums_mean(&critical->sums, &critical->basis);

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
