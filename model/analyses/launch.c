/* SPDX-License-Identifier: MIT */
/*
 * What launches cost the host, how long the work then waits, and how much of it
 * waits at a time, per queue.
 *
 * Definitions (HTA's cuda_kernel_launch_stats and queue length, for any API):
 *  - call: how long the host's call took; blocking ones, which wait for the work
 *    itself, are left out.
 *  - delay: from the call's end to the start of the run, 0 if that came first,
 *    as it often does: the device is quicker than the call's way back.
 *  - depth: one more at a call's begin, one less at the start of its run. What
 *    was handed over in one slice and begins in a later one is carried.
 *  - empty: depth 0 and nothing running; full: depth of QUEUE_LIMIT or more.
 *  - a queue is watched from its first act on: before, it was not there.
 *
 * No finding is made of these alone: an empty queue costs what the device could
 * have done, which is what the idle causes say; a full one costs the host only
 * if it had something else to do.
 *
 * Complexity: O(n log n) a slice for the order of the starts, nearly sorted.
 * Memory: QUEUES_KEPT queues, each with CARRY_MAX carried starts at most; what
 * comes beyond is counted in no depth.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/work.h"
#include "model/base/hist.h"
#include "model/model-internal.h"
#include "model/base/util.h"

#define QUEUES_KEPT 1024u
#define CARRY_MAX 16384u

struct launch_queue {
	uint32_t queue;
	struct hist call, delay;
	int64_t call_max_ns, delay_max_ns;
	uint64_t launches, kernels, shorter;
	int64_t from_ns;		/* its first act */
	int64_t watched_ns, empty_ns, full_ns;
	__int128 depth_ns;		/* depth by time */
	uint32_t depth_max;
	int64_t *starts;		/* owned; runs to come, of what is handed over */
	size_t n_starts, cap_starts;
};

struct launches {
	struct launch_queue **queues;	/* owned, as are they; in the order they came */
	size_t n, cap;
	struct map by_queue;
};

static void launch_release(void *state)
{
	struct launches *all = state;

	for (size_t i = 0; i < all->n; i++) {
		hist_release(&all->queues[i]->call);
		hist_release(&all->queues[i]->delay);
		free(all->queues[i]->starts);
		free(all->queues[i]);
	}
	free(all->queues);
	map_release(&all->by_queue);
}

static size_t launch_bytes(const void *state)
{
	const struct launches *all = state;
	size_t bytes = map_bytes(&all->by_queue);

	for (size_t i = 0; i < all->n; i++)
		bytes += sizeof(**all->queues) + all->queues[i]->cap_starts * sizeof(int64_t) +
			 ((size_t)all->queues[i]->call.n + all->queues[i]->delay.n) *
			 sizeof(uint64_t);
	return bytes;
}

static struct launch_queue *queue_of(struct launches *all, uint32_t queue, int64_t from_ns)
{
	uint32_t at = map_get(&all->by_queue, queue);

	if (at != MAP_NONE)
		return all->queues[at];
	if (queue == NONE || all->n == QUEUES_KEPT)
		return NULL;
	grow(&all->queues, &all->cap, all->n, sizeof(*all->queues));
	map_set(&all->by_queue, queue, (uint32_t)all->n);
	all->queues[all->n] = xcalloc(1, sizeof(**all->queues));
	all->queues[all->n]->queue = queue;
	all->queues[all->n]->from_ns = from_ns;
	return all->queues[all->n++];
}

/* ---- costs: each act for itself ---- */

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

/* ---- depth: a sweep over one queue ---- */

/* Changes of one queue within a slice. */
struct change {
	int64_t at_ns;
	int8_t waiting, running;
};

struct changes {
	struct change *list;		/* owned */
	size_t n, cap;
};

static void add_change(struct changes *changes, int64_t at_ns, int waiting, int running)
{
	grow(&changes->list, &changes->cap, changes->n, sizeof(*changes->list));
	changes->list[changes->n++] = (struct change) { at_ns, (int8_t)waiting, (int8_t)running };
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* [from, to) within the slice; what begins after it is carried. */
static void add_waiting(struct launch_queue *queue, struct changes *changes,
			const struct slice *slice, int64_t from_ns, int64_t to_ns)
{
	if (to_ns <= slice->t0 || to_ns <= from_ns)
		return;
	add_change(changes, from_ns < slice->t0 ? slice->t0 : from_ns, 1, 0);
	if (to_ns < slice->t1) {
		add_change(changes, to_ns, -1, 0);
		return;
	}
	if (queue->n_starts == CARRY_MAX)
		return;
	grow(&queue->starts, &queue->cap_starts, queue->n_starts, sizeof(*queue->starts));
	queue->starts[queue->n_starts++] = to_ns;
}

static void add_carried(struct launch_queue *queue, struct changes *changes,
			const struct slice *slice)
{
	size_t n = queue->n_starts;

	queue->n_starts = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t start_ns = queue->starts[i];	/* read before its place is taken */

		add_waiting(queue, changes, slice, slice->t0, start_ns);
	}
}

static void add_running(struct changes *changes, const struct slice *slice, const struct act *act)
{
	int64_t start_ns = act_start(slice, act), end_ns = act_end(slice, act);

	if (end_ns <= start_ns)
		return;
	add_change(changes, start_ns, 0, 1);
	add_change(changes, end_ns, 0, -1);
}

static void sweep(struct launch_queue *queue, struct changes *changes, const struct slice *slice)
{
	int64_t begin_ns = queue->from_ns > slice->t0 ? queue->from_ns : slice->t0;
	int64_t at_ns = begin_ns, watched_ns = slice->t1 - begin_ns, empty_ns = 0, full_ns = 0;
	int64_t waiting = 0, running = 0, most = 0;
	__int128 depth_ns = 0;

	if (changes->n)
		qsort(changes->list, changes->n, sizeof(*changes->list), by_time);
	for (size_t i = 0; i <= changes->n; i++) {
		int64_t until_ns = i < changes->n ? changes->list[i].at_ns : slice->t1;

		if (until_ns > at_ns) {
			depth_ns += (__int128)waiting * (until_ns - at_ns);
			empty_ns += !waiting && !running ? until_ns - at_ns : 0;
			full_ns += waiting >= QUEUE_LIMIT ? until_ns - at_ns : 0;
			most = waiting > most ? waiting : most;
			at_ns = until_ns;
		}
		if (i < changes->n) {
			waiting += changes->list[i].waiting;
			running += changes->list[i].running;
		}
	}
	queue->watched_ns += watched_ns;
	queue->depth_ns += depth_ns;
	queue->empty_ns += empty_ns;
	queue->full_ns += full_ns;
	if (most > queue->depth_max)
		queue->depth_max = (uint32_t)most;
}

/* ---- a slice ---- */

/* What belongs to one queue: counted, and its changes. */
static void look_at(struct launch_queue *queue, const struct slice *slice, const struct act *act,
		    struct changes *changes)
{
	if (act->kind == ACT_LAUNCH) {
		if (act_counts(slice, act)) {
			count_launch(queue, act);
			add_waiting(queue, changes, slice, act->start_ns, act->call_ns);
		}
		return;
	}
	if (act_is_kernel(act) && act_counts(slice, act))
		count_kernel(queue, act);
	add_running(changes, slice, act);
}

static void launch_slice(struct model *model, void *state, const struct slice *slice)
{
	struct launches *all = state;
	struct changes *changes;
	size_t known = all->n;

	(void)model;
	if (slice->t1 <= slice->t0)
		return;
	for (size_t i = 0; i < slice->n; i++)
		if (slice->acts[i].kind == ACT_LAUNCH || slice->acts[i].kind == ACT_RUN)
			queue_of(all, slice->acts[i].queue, slice->acts[i].start_ns);
	if (!all->n)
		return;
	changes = xcalloc(all->n, sizeof(*changes));
	for (size_t i = 0; i < known; i++)
		add_carried(all->queues[i], &changes[i], slice);
	for (size_t i = 0; i < slice->n; i++) {
		const struct act *act = &slice->acts[i];
		uint32_t at = act->kind == ACT_LAUNCH || act->kind == ACT_RUN ?
			map_get(&all->by_queue, act->queue) : MAP_NONE;

		if (at != MAP_NONE)
			look_at(all->queues[at], slice, act, &changes[at]);
	}
	for (size_t i = 0; i < all->n; i++) {
		sweep(all->queues[i], &changes[i], slice);
		free(changes[i].list);
	}
	free(changes);
}

const struct analysis analysis_launch = {
	.name = "launch", .size = sizeof(struct launches), .release = launch_release,
	.slice = launch_slice, .bytes = launch_bytes,
};

/* ---- questions ---- */

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
