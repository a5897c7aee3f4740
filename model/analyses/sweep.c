/* SPDX-License-Identifier: MIT */
#include "model/analyses/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

struct slice_sweep *sweep_of(const struct model *model)
{
	return analysis_state(model, ANALYSIS_SWEEP);
}

struct sweep_device *sweep_device_of(const struct model *model, uint32_t device)
{
	struct slice_sweep *sweep = sweep_of(model);

	return device < sweep->n_devices && sweep->devices[device].idle.known ?
	       &sweep->devices[device] : NULL;
}

/* ---- names and the time that each holds ---- */

void holders_take(struct holders *holders, const struct holder *one)
{
	int least = 0;

	for (int i = 0; i < holders->n; i++) {
		struct holder *holder = &holders->list[i];

		if (holder->name == one->name) {
			add_ns(&holder->ns, one->ns);
			holder->count += one->count;
			return;
		}
		if (holder->ns < holders->list[least].ns)
			least = i;
	}
	if (holders->n < HOLDERS)
		least = holders->n++;
	else if (holders->list[least].ns >= one->ns)
		return;
	holders->list[least] = *one;
}

void holders_add(struct holders *holders, uint32_t name, int64_t ns)
{
	holders_take(holders, &(struct holder) { name, ns, 1 });
}

const struct holder *holders_most(const struct holders *holders)
{
	const struct holder *most = NULL;

	for (int i = 0; i < holders->n; i++)
		if (!most || holders->list[i].ns > most->ns)
			most = &holders->list[i];
	return most;
}

/* ---- threads ---- */

struct sweep_thread *sweep_thread_at(struct slice_sweep *sweep, uint32_t thread)
{
	struct sweep_thread *t = &sweep->threads[thread];

	if (t->seen != sweep->number)
		*t = (struct sweep_thread) { .seen = sweep->number, .devices = NONE };
	return t;
}

/* Whether the act has no time within the slice. */
static bool is_void(const struct act *act, const struct slice *slice)
{
	return act->end_ns <= act->start_ns || act->end_ns <= slice->t0;
}

/* A call without duration still enqueued something, so it is not skipped. */
static bool is_skipped(const struct act *act, const struct slice *slice)
{
	return is_void(act, slice) && (act->kind != ACT_LAUNCH || act->start_ns < slice->t0);
}

static void idle_count_all(struct slice_sweep *sweep)
{
	for (uint32_t d = 0; d < sweep->n_devices; d++)
		if (sweep->devices[d].idle.linked)
			idle_count(sweep, sweep->devices[d].idle.thread, sweep->now_ns);
}

/*
 * Fetching that is asynchronous, or on a thread that goes through no step: it counts for the
 * threads that wait for it. Fetching inside another op that fetches belongs to that op, and may be
 * ahead of time.
 */
static void fetch_edge(struct slice_sweep *sweep, const struct act *act, bool begins,
		       struct sweep_thread *thread)
{
	if (!(act->flags & ACT_FETCH) || !sweep_has(sweep, act))
		return;
	if (!(act->flags & ACT_ASYNC)) {
		if (thread->worker || (begins ? thread->inputs > 0 : !thread->fetching))
			return;
		thread->fetching = begins;
	}
	if (begins ? !sweep->fetches : sweep->fetches == 1)
		idle_count_all(sweep);
	if (begins) {
		sweep->fetches++;
		sweep->fetch_name = act->name;
	} else {
		sweep->fetches -= sweep->fetches > 0;
	}
}

static void op_edge(struct model *model, struct slice_sweep *sweep, const struct act *act,
		    bool begins, struct sweep_thread *thread)
{
	bool input = act->work == WORK_INPUT;

	fetch_edge(sweep, act, begins, thread);
	if (act->flags & ACT_ASYNC || sweep_is_step(sweep, act))
		return;
	if (input && (begins ? !sweep->inputs : sweep->inputs == 1))
		idle_count_all(sweep);
	if (begins) {
		if (thread->ops < SWEEP_STACK) {
			thread->stack[thread->ops] = act->name;
			thread->input_at[thread->ops] = input;
		}
		thread->ops++;
		if (input && sweep->host_only)
			sweep->input_thread = act->thread;
		if (input && !thread->inputs++)
			thread->input_since_ns = sweep->now_ns;
		sweep->inputs += input;
		return;
	}
	thread->ops -= thread->ops > 0;
	if (!input || !thread->inputs)
		return;
	sweep->inputs--;
	if (--thread->inputs == 0 && !thread->worker)
		breakdown_input(sweep, act->thread, sweep->now_ns - thread->input_since_ns);
}

static void host_edge(struct model *model, struct slice_sweep *sweep, const struct act *act,
		      bool begins)
{
	struct sweep_thread *thread;
	enum host_state before, after;
	uint32_t *count;

	if (act->thread >= sweep->n_threads)
		return;
	thread = sweep_thread_at(sweep, act->thread);
	if (thread->devices != NONE)
		idle_count(sweep, act->thread, sweep->now_ns);
	before = sweep_state(thread);
	if (act->kind == ACT_OP) {
		op_edge(model, sweep, act, begins, thread);
	} else {
		bool waits = act->kind == ACT_WAIT || act->flags & ACT_BLOCKING;

		count = act->kind == ACT_COMPILE ? &thread->compiling :
			waits ? &thread->waiting : &thread->launching;
		if (begins)
			++*count;
		else
			*count -= *count > 0;
		if (act->kind == ACT_COMPILE && sweep_has(sweep, act))
			sweep->compiles = begins ? sweep->compiles + 1 :
					  sweep->compiles - (sweep->compiles > 0);
		if (begins && waits)
			thread->wait_name = act->name;
	}
	after = sweep_state(thread);
	if (!thread->worker || before == after)
		return;
	sweep->workers[before]--;
	sweep->workers[after]++;
	if (after == HOST_INPUT)
		sweep->input_thread = act->thread;
	else if (after == HOST_SYNC)
		sweep->wait_thread = act->thread;
	else if (after == HOST_CODE)
		sweep->code_thread = act->thread;
}

/* ---- devices ---- */

/* Whether the work is in a queue: the host waits for a blocking copy until it is done, so that is
 * not time in a queue. A graph waits as one unit. */
static bool is_queued(const struct act *act)
{
	return !(act->flags & ACT_BLOCKING) && !(act->kind == ACT_RUN && act->flags & ACT_NODE);
}

static bool is_comm(const struct act *act)
{
	return act->work == WORK_COMM || act->direction == DIR_SEND || act->direction == DIR_RECV;
}

static bool runs_kernel(const struct act *act)
{
	return act->direction == DIR_NONE && act->command != COMMAND_COPY &&
	       act->command != COMMAND_MIGRATE;
}

static void sweep_count_run(struct slice_sweep *sweep, const struct act *act, int by)
{
	uint32_t *count = is_comm(act) ? &sweep->comm : runs_kernel(act) ? &sweep->compute :
			  act->direction == DIR_H2D ? &sweep->h2d :
			  act->direction == DIR_D2H ? &sweep->d2h : &sweep->d2d;

	/* if another device works, the processor's work counts as the host's */
	if ((act->flags & ACT_WORKS) && !sweep->host_only)
		return;
	if (!sweep_has(sweep, act))
		count = &sweep->foreign;
	else if (by > 0 && !act->call_ns)
		sweep->ran_thread = act->thread;
	*count = (uint32_t)((int)*count + by);
}

static void run_edge(struct model *model, struct slice_sweep *sweep, uint32_t at, bool begins)
{
	const struct act *act = &sweep->slice->acts[at];
	struct sweep_device *device;
	uint32_t *count;
	bool known;

	sweep_count_run(sweep, act, begins ? 1 : -1);
	if (begins && act->call_ns && act->call_ns < act->start_ns && is_queued(act) &&
	    act->start_ns > sweep->slice->t0 && sweep_has(sweep, act))
		sweep->queued -= sweep->queued > 0;
	if (act->device >= sweep->n_devices)
		return;
	device = &sweep->devices[act->device];
	overlap_piece(sweep, device, sweep->now_ns);
	count = is_comm(act) ? &device->comm : runs_kernel(act) ? &device->compute :
		&device->copies;
	if (begins) {
		known = device->idle.known;
		if (!(device->comm + device->compute + device->copies))
			idle_ends(model, sweep, act->device, sweep->now_ns);
		++*count;
		device->next = sweep->after[at];
		/* a run that continues from the previous slice is not the last one that started */
		if (!device->idle.linked && (act->start_ns >= sweep->slice->t0 || !known))
			device->idle.thread = act->thread;
		return;
	}
	--*count;
	if (device->comm + device->compute + device->copies ||
	    (device->next != NONE &&
	     sweep->slice->acts[device->next].start_ns <= sweep->now_ns))
		return;
	idle_begins(model, sweep, act->device, sweep->now_ns);
}

/* ---- the sweep ---- */

/* Where the step is a run of a function: an op that is not of it, as it reaches beyond it. An input
 * pipeline runs such ops ahead, and may sleep in one. */
static bool is_beside_run(const struct slice_sweep *sweep, const struct act *act)
{
	const struct slice *slice = sweep->slice;

	return slice->step && sweep->step_name && act->work != WORK_COMM &&
	       (act->start_ns < slice->t0 || act->end_ns > slice->t1);
}

static void sweep_take_edge(struct model *model, struct slice_sweep *sweep, uint32_t at,
			    bool begins)
{
	const struct act *act = &sweep->slice->acts[at];

	if (act->kind == ACT_RUN) {
		run_edge(model, sweep, at, begins);
		return;
	}
	if (act->kind == ACT_LAUNCH && begins && act->call_ns > act->start_ns &&
	    act->start_ns >= sweep->slice->t0 && sweep_has(sweep, act) && is_queued(act)) {
		sweep->queued++;
		sweep->handed_ns = sweep->now_ns;
	}
	if (act->end_ns <= act->start_ns)
		return;
	if (sweep->host_only && sweep_has(sweep, act) && !is_beside_run(sweep, act) &&
	    (act->work == WORK_COMM || (act->flags & ACT_WORKS && act->work != WORK_INPUT)))
		*(act->work == WORK_COMM ? &sweep->comm : &sweep->compute) += begins ? 1u : -1u;
	host_edge(model, sweep, act, begins);
}

static void sweep_reserve(struct model *model, struct slice_sweep *sweep)
{
	size_t n = sweep->slice->n;

	if (sweep->cap < n) {
		free(sweep->after);
		sweep->cap = n + n / 2;
		sweep->after = xreallocarray(NULL, sweep->cap, sizeof(*sweep->after));
	}
	if (sweep->n_devices < model->devices.n) {
		sweep->devices = xreallocarray(sweep->devices, model->devices.n,
					       sizeof(*sweep->devices));
		memset(sweep->devices + sweep->n_devices, 0,
		       (model->devices.n - sweep->n_devices) * sizeof(*sweep->devices));
		sweep->n_devices = model->devices.n;
	}
	if (sweep->n_threads < model->threads.n) {
		sweep->threads = xreallocarray(sweep->threads, model->threads.n,
					       sizeof(*sweep->threads));
		memset(sweep->threads + sweep->n_threads, 0,
		       (model->threads.n - sweep->n_threads) * sizeof(*sweep->threads));
		sweep->n_threads = model->threads.n;
	}
}

/* Whether there are only ops and kernels of the processor, and nothing was launched to a device. */
static bool is_host_only(const struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;
	bool works = false;

	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];

		if (!(act->flags & ACT_WORKS) && sweep_has(sweep, act))
			return false;
		works = true;
	}
	for (size_t i = 0; i < slice->n_rest && !works; i++)
		works = slice->acts[slice->rest[i]].flags & ACT_WORKS;
	/* time in which nothing runs is of the kind that all else is */
	return !slice->n_launches && (works || (!slice->n_runs && sweep_on_processor(sweep)));
}

/* Chains each device's runs, and counts what waits at the start. */
static void sweep_prepare_slice(struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;

	sweep->compute = sweep->comm = sweep->h2d = sweep->d2h = sweep->d2d = 0;
	sweep->queued = sweep->inputs = sweep->fetches = sweep->foreign = sweep->compiles = 0;
	sweep->input_thread = sweep->wait_thread = sweep->code_thread = sweep->ran_thread = NONE;
	memset(sweep->workers, 0, sizeof(sweep->workers));
	for (uint32_t d = 0; d < sweep->n_devices; d++)
		sweep->devices[d].next = NONE;
	for (size_t i = slice->n_runs; i-- > 0; ) {
		const struct act *act = &slice->acts[slice->runs[i]];

		if (is_void(act, slice))
			continue;
		if (act->device < sweep->n_devices) {
			sweep->after[slice->runs[i]] = sweep->devices[act->device].next;
			sweep->devices[act->device].next = slice->runs[i];
		}
		sweep->queued += act->call_ns && act->call_ns < slice->t0 &&
				 act->start_ns > slice->t0 && sweep_has(sweep, act) &&
				 is_queued(act);
	}
}

static void devices_begin(struct model *model, struct slice_sweep *sweep)
{
	for (uint32_t d = 0; d < sweep->n_devices; d++) {
		struct sweep_device *device = &sweep->devices[d];

		device->compute = device->comm = device->copies = 0;
		device->since_ns = sweep->slice->t0;
		if (device->idle.known &&
		    (device->next == NONE ||
		     sweep->slice->acts[device->next].start_ns > sweep->slice->t0))
			idle_begins(model, sweep, d, sweep->slice->t0);
	}
}

static void slice_end(struct model *model, struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;

	breakdown_piece(sweep, slice->t1 - sweep->now_ns);
	sweep->now_ns = slice->t1;
	for (uint32_t d = 0; d < sweep->n_devices; d++) {
		overlap_piece(sweep, &sweep->devices[d], slice->t1);
		idle_pause(sweep, d, slice->t1);
	}
	/* Batches that are still being made at the end of the slice. */
	for (size_t i = 0; sweep->inputs && i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		struct sweep_thread *thread;

		if (act->kind != ACT_OP || act->work != WORK_INPUT || act->end_ns < slice->t1 ||
		    act->thread >= sweep->n_threads)
			continue;
		thread = sweep_thread_at(sweep, act->thread);
		if (thread->inputs && !thread->worker)
			breakdown_input(sweep, act->thread, slice->t1 - thread->input_since_ns);
		thread->input_since_ns = slice->t1;
	}
	breakdown_end(model, sweep);
}

static void sweep_slice(struct model *model, void *state, const struct slice *slice)
{
	struct slice_sweep *sweep = state;
	const struct steps *steps = steps_best(model);
	size_t end = 0;
	uint32_t begin = 0;

	sweep->slice = slice;
	sweep->model = model;
	sweep->number++;
	sweep->now_ns = slice->t0;
	sweep->process = slice->step && steps ? steps->process : NONE;
	sweep->step_name = steps && steps_are_runs(steps) ?
			   names_resolve(&model->names, steps->name) : 0;
	sweep->launch_gap_ns = model_threshold(model, THRESHOLD_LAUNCH_GAP) * 1000;
	sweep_reserve(model, sweep);
	sweep->host_only = is_host_only(sweep);
	sweep_prepare_slice(sweep);
	sweep_find_threads(sweep);
	breakdown_begin(model, sweep);
	devices_begin(model, sweep);
	for (;;) {
		int64_t begins_ns, ends_ns, t_ns;
		bool ends;

		while (begin < slice->n && is_skipped(&slice->acts[begin], slice))
			begin++;
		while (end < slice->n && is_void(&slice->acts[slice->ends[end].at], slice))
			end++;
		ends_ns = end == slice->n ? INT64_MAX : slice->ends[end].start;
		if (begin == slice->n && ends_ns >= slice->t1)
			break;
		begins_ns = begin == slice->n ? INT64_MAX : slice->acts[begin].start_ns;
		ends = ends_ns <= begins_ns && ends_ns < slice->t1;
		t_ns = ends ? ends_ns : begins_ns < slice->t0 ? slice->t0 : begins_ns;
		if (t_ns > sweep->now_ns) {
			breakdown_piece(sweep, t_ns - sweep->now_ns);
			sweep->now_ns = t_ns;
		}
		sweep_take_edge(model, sweep, ends ? slice->ends[end].at : begin, !ends);
		if (ends)
			end++;
		else
			begin++;
	}
	slice_end(model, sweep);
}

static void sweep_release(void *state)
{
	struct slice_sweep *sweep = state;

	for (uint32_t d = 0; d < sweep->n_devices; d++)
		idle_release(&sweep->devices[d].idle);
	breakdown_release(&sweep->breakdown);
	free(sweep->devices);
	free(sweep->threads);
	free(sweep->after);
}

static void sweep_review(struct model *model, void *state, struct findings *findings)
{
	verdict_review(model, state, findings);
}

static size_t sweep_bytes(const void *state)
{
	const struct slice_sweep *sweep = state;
	size_t bytes = sweep->n_devices * sizeof(*sweep->devices) +
		       sweep->n_threads * sizeof(*sweep->threads) +
		       sweep->cap * sizeof(*sweep->after) +
		       breakdown_bytes(&sweep->breakdown);

	for (uint32_t d = 0; d < sweep->n_devices; d++)
		bytes += idle_bytes(&sweep->devices[d].idle);
	return bytes;
}

static void sweep_init(struct model *model, void *state)
{
	struct slice_sweep *sweep = state;

	sweep->step_thread = sweep->first_thread = sweep->main_thread = NONE;
}

const struct analysis analysis_sweep = {
	.name = "sweep", .init = sweep_init, .size = sizeof(struct slice_sweep),
	.slice = sweep_slice, .release = sweep_release, .review = sweep_review,
	.bytes = sweep_bytes,
};
