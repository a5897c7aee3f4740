/* SPDX-License-Identifier: MIT */
/*
 * For each queue: what launches cost the host, how long the work then waits, and how much work
 * waits at a time.
 *
 * Definitions (HTA's cuda_kernel_launch_stats and queue length, for any API):
 *  - call: the duration of the host's call; blocking calls, which wait for the work itself, are
 *    left out.
 *  - delay: from the end of the call to the start of the run; 0 if the run started first, which
 *    is common, because the device is quicker than the return of the call.
 *  - depth: goes up by one at the start of a call and down by one at the start of its run. What
 *    was handed over in one slice and begins in a later one is carried.
 *  - empty: the depth is 0 and nothing runs; full: the depth is QUEUE_LIMIT or more.
 *  - A queue is watched from its first act on, because it did not exist before.
 *
 * These numbers alone make no finding. An empty queue costs what the device could have done,
 * which the idle causes say; a full queue costs the host only if the host had something else to
 * do.
 *
 * Complexity: close to O(n) for a slice. Memory: QUEUES_KEPT queues, each with at most
 * CARRY_MAX carried starts; further ones are counted in no depth.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/work.h"
#include "model/base/hist.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define QUEUES_KEPT 1024u
#define CARRY_MAX 16384u

struct launch_queue {
	uint32_t queue;
	struct hist call, delay;
	int64_t call_max_ns, delay_max_ns;
	uint64_t launches, kernels, shorter;
	int64_t from_ns;		/* when its first act started */
	int64_t watched_ns, empty_ns, full_ns;
	__int128 depth_ns;		/* sum of depth times duration */
	uint32_t depth_max;
	int64_t *starts;	/* owned; starts of runs of launched work that are still to come */
	size_t n_starts, cap_starts;
	/* For the current slice. */
	struct start_key *waits;	/* owned; times at which something starts to wait, ... */
	/* owned; ... and those at which something stops waiting, with as many spare ones */
	struct start_key *served;
	size_t n_waits, cap_waits, n_served, cap_served;
	int64_t until_ns;		/* something waited or ran up to this time */
};

struct launches {
	/* owned, with each element; in the order in which they were seen */
	struct launch_queue **queues;
	size_t n, cap;
	struct act_slots slots;		/* by queue: its place among them, plus 1 */
};

static void launch_release(void *state)
{
	struct launches *all = state;

	for (size_t i = 0; i < all->n; i++) {
		hist_release(&all->queues[i]->call);
		hist_release(&all->queues[i]->delay);
		free(all->queues[i]->starts);
		free(all->queues[i]->waits);
		free(all->queues[i]->served);
		free(all->queues[i]);
	}
	free(all->queues);
	free(all->slots.of);
}

static size_t launch_bytes(const void *state)
{
	const struct launches *all = state;
	size_t bytes = all->slots.n * sizeof(*all->slots.of);

	for (size_t i = 0; i < all->n; i++)
		bytes += sizeof(**all->queues) + all->queues[i]->cap_starts * sizeof(int64_t) +
			 (all->queues[i]->cap_waits + 2 * all->queues[i]->cap_served) *
			 sizeof(struct start_key) +
			 ((size_t)all->queues[i]->call.n + all->queues[i]->delay.n) *
			 sizeof(uint64_t);
	return bytes;
}

static struct launch_queue *launch_queue(struct launches *all, uint32_t queue,
				     const struct slice *slice, int64_t from_ns)
{
	struct launch_queue *one;
	uint32_t *slot;

	if (queue >= QUEUES_MAX)
		return NULL;
	slot = slot_of(&all->slots, queue);
	if (*slot)
		return all->queues[*slot - 1];
	if (all->n == QUEUES_KEPT)
		return NULL;
	grow(&all->queues, &all->cap, all->n, sizeof(*all->queues));
	one = xcalloc(1, sizeof(*one));
	one->queue = queue;
	one->from_ns = from_ns;
	one->until_ns = from_ns > slice->t0 ? from_ns : slice->t0;
	all->queues[all->n++] = one;
	*slot = (uint32_t)all->n;
	return one;
}

/* ---- costs: each act on its own ---- */

static void count_launch(struct launch_queue *queue, const struct act *act)
{
	int64_t call_ns = act->end_ns - act->start_ns, delay_ns;

	queue->launches++;
	if (act->flags & ACT_BLOCKING)
		return;
	hist_add(&queue->call, call_ns);
	if (call_ns > queue->call_max_ns)
		queue->call_max_ns = call_ns;
	if (!act->call_ns || (act->flags & ACT_APPROX))
		return;
	delay_ns = act->call_ns > act->end_ns ? act->call_ns - act->end_ns : 0;
	hist_add(&queue->delay, delay_ns);
	if (delay_ns > queue->delay_max_ns)
		queue->delay_max_ns = delay_ns;
}

static void count_kernel(struct launch_queue *queue, const struct act *act)
{
	queue->kernels++;
	queue->shorter += act->call_ns && !(act->flags & (ACT_BLOCKING | ACT_APPROX)) &&
			  act->end_ns - act->start_ns < act->call_dur_ns;
}

/* ---- depth and emptiness: changes in the order of time ---- */

/* Something waits or runs in [from, to). */
static void is_busy(struct launch_queue *queue, int64_t from_ns, int64_t to_ns)
{
	if (from_ns > queue->until_ns)
		queue->empty_ns += from_ns - queue->until_ns;
	if (to_ns > queue->until_ns)
		queue->until_ns = to_ns;
}

static void add_served(struct launch_queue *queue, int64_t at_ns)
{
	if (queue->n_served == queue->cap_served) {
		queue->cap_served = queue->cap_served ? 2 * queue->cap_served : 16;
		queue->served = xreallocarray(queue->served, queue->cap_served,
					      2 * sizeof(*queue->served));
	}
	queue->served[queue->n_served++] = (struct start_key) { .start = at_ns };
}

/* Adds the part of [from, to) within the slice; a run that starts after the slice is carried. */
static void add_waiting(struct launch_queue *queue, const struct slice *slice, int64_t from_ns,
			int64_t to_ns)
{
	int64_t until_ns = to_ns < slice->t1 ? to_ns : slice->t1;

	if (to_ns <= slice->t0 || to_ns <= from_ns)
		return;
	if (from_ns < slice->t0)
		from_ns = slice->t0;
	if (queue->n_waits == queue->cap_waits)
		grow(&queue->waits, &queue->cap_waits, queue->n_waits, sizeof(*queue->waits));
	queue->waits[queue->n_waits++] = (struct start_key) { .start = from_ns };
	queue->depth_ns += until_ns - from_ns;
	is_busy(queue, from_ns, until_ns);
	if (to_ns < slice->t1) {
		add_served(queue, to_ns);
		return;
	}
	if (queue->n_starts == CARRY_MAX)
		return;
	if (queue->n_starts == queue->cap_starts)
		grow(&queue->starts, &queue->cap_starts, queue->n_starts, sizeof(*queue->starts));
	queue->starts[queue->n_starts++] = to_ns;
}

static void begin_slice(struct launch_queue *queue, const struct slice *slice)
{
	size_t n = queue->n_starts;

	queue->until_ns = slice->t0;
	queue->n_starts = 0;
	for (size_t i = 0; i < n; i++) {
		/* read it before its place is overwritten */
		int64_t start_ns = queue->starts[i];

		add_waiting(queue, slice, slice->t0, start_ns);
	}
}

static void add_running(struct launch_queue *queue, const struct slice *slice,
			const struct act *act)
{
	int64_t start_ns = act_start(slice, act), end_ns = act_end(slice, act);

	if (end_ns > start_ns)
		is_busy(queue, start_ns, end_ns);
}

static void note_depth(struct launch_queue *queue, size_t depth, int64_t ns)
{
	if (depth >= QUEUE_LIMIT)
		queue->full_ns += ns;
	if (depth > queue->depth_max)
		queue->depth_max = (uint32_t)depth;
}

/* Starts arrive in order; ends within a queue mostly do. */
static void find_depths(struct launch_queue *queue, const struct slice *slice)
{
	size_t in = 0, out = 0;
	int64_t at_ns = slice->t0;

	start_keys_sort(queue->served, queue->served + queue->n_served, queue->n_served);
	while (in < queue->n_waits || out < queue->n_served) {
		bool more = out == queue->n_served ||
			    (in < queue->n_waits &&
			     queue->waits[in].start < queue->served[out].start);
		int64_t until_ns = more ? queue->waits[in].start : queue->served[out].start;

		if (until_ns > at_ns) {
			note_depth(queue, in - out, until_ns - at_ns);
			at_ns = until_ns;
		}
		in += more;
		out += !more;
	}
	if (slice->t1 > at_ns)
		note_depth(queue, in - out, slice->t1 - at_ns);
}

static void end_slice(struct launch_queue *queue, const struct slice *slice)
{
	is_busy(queue, slice->t1, slice->t1);
	queue->watched_ns += slice->t1 - (queue->from_ns > slice->t0 ? queue->from_ns : slice->t0);
	find_depths(queue, slice);
	queue->n_waits = queue->n_served = 0;
}

/* ---- a slice ---- */

/* Counts the acts of one queue, and notes the changes of its depth. */
static void look_at(struct launch_queue *queue, const struct slice *slice, const struct act *act)
{
	if (act->kind == ACT_LAUNCH) {
		if (act_counts(slice, act)) {
			count_launch(queue, act);
			add_waiting(queue, slice, act->start_ns, act->call_ns);
		}
		return;
	}
	if (act_is_kernel(act) && act_counts(slice, act))
		count_kernel(queue, act);
	add_running(queue, slice, act);
}

static void launch_slice(struct model *model, void *state, const struct slice *slice)
{
	struct launches *all = state;

	(void)model;
	if (slice->t1 <= slice->t0)
		return;
	for (size_t i = 0; i < all->n; i++)
		begin_slice(all->queues[i], slice);
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];
		struct launch_queue *queue;

		if (act->kind != ACT_LAUNCH && act->kind != ACT_RUN)
			continue;
		queue = launch_queue(all, act->queue, slice, act->start_ns);
		if (queue)
			look_at(queue, slice, act);
	}
	for (size_t i = 0; i < all->n; i++)
		end_slice(all->queues[i], slice);
}

const struct analysis analysis_launch = {
	.name = "launch", .size = sizeof(struct launches), .release = launch_release,
	.slice = launch_slice, .bytes = launch_bytes,
};

/* ---- queries ---- */

size_t launch_queues(const void *state, struct queue_work **out)
{
	const struct launches *all = state;

	*out = xcalloc(all->n, sizeof(**out));
	for (size_t i = 0; i < all->n; i++) {
		const struct launch_queue *queue = all->queues[i];

		(*out)[i] = (struct queue_work) {
			.queue = queue->queue, .launches = queue->launches,
			.call_p50_ns = hist_percentile(&queue->call, 500),
			.call_p99_ns = hist_percentile(&queue->call, 990),
			.call_max_ns = queue->call.total ? queue->call_max_ns : -1,
			.delay_p50_ns = hist_percentile(&queue->delay, 500),
			.delay_p99_ns = hist_percentile(&queue->delay, 990),
			.delay_max_ns = queue->delay.total ? queue->delay_max_ns : -1,
			.kernels = queue->kernels, .shorter = queue->shorter,
			.watched_ns = queue->watched_ns,
			.depth_milli = queue->watched_ns ?
				(uint64_t)(queue->depth_ns * 1000 / queue->watched_ns) : 0,
			.depth_max = queue->depth_max, .empty_ns = queue->empty_ns,
			.full_ns = queue->full_ns,
		};
	}
	return all->n;
}

size_t model_queue_work(struct model *model, struct queue_work **out)
{
	return launch_queues(analysis_state(model, ANALYSIS_LAUNCH), out);
}
