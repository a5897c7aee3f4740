/* SPDX-License-Identifier: MIT */
#include "model/analyses/critical_ready.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/rows/rows.h"

#define SCAN_MAX 4096u			/* how many runs of other queues are examined to find one */

/* Whether the act is late and lies completely before the slice. */
static bool is_past(const struct slice *slice, const struct act *act)
{
	return act->end_ns <= slice->t0 && act->start_ns < slice->t0;
}

/* The entry of a thread, which is made if it is new. */
static struct host_thread *thread_of(struct critical_ready *ready, uint32_t thread)
{
	/* NONE + 1 is 0, the first slot */
	uint32_t *slot = slot_of(&ready->of_thread, thread + 1);

	if (!*slot) {
		grow(&ready->threads, &ready->cap_threads, ready->n_threads,
		     sizeof(*ready->threads));
		ready->threads[ready->n_threads++] = (struct host_thread) { .thread = thread };
		*slot = (uint32_t)ready->n_threads;
	}
	return &ready->threads[*slot - 1];
}

/* Adds the act behind the others of its thread; of those that start together, the longest comes
 * first. */
static void add_host(struct critical_ready *ready, const struct act *act, uint32_t index)
{
	struct host_thread *thread = thread_of(ready, act->thread);
	struct host_key *host = ready->host;
	size_t at = thread->end++;

	for (; at > thread->begin && host[at - 1].start_ns == act->start_ns &&
	     host[at - 1].end_ns < act->end_ns; at--)
		host[at] = host[at - 1];
	host[at] = (struct host_key) { act->start_ns, act->end_ns, index };
}

static void add_segment(struct critical_ready *ready, int64_t start_ns, int64_t end_ns,
			uint32_t act, bool input)
{
	if (end_ns <= start_ns)
		return;
	ready->segments[ready->n_segments++] = (struct segment) { start_ns, end_ns, act, input };
}

struct open_act { int64_t end_ns; uint32_t act; bool input; };

/* Flattens the acts of one thread, host[begin] ... host[end - 1], to segments of what is on top. */
static void ready_flatten_thread(struct critical_ready *ready, size_t begin, size_t end)
{
	struct open_act stack[DEPTH_MAX];
	int64_t at_ns = INT64_MIN;
	size_t depth = 0;

	for (size_t i = begin; i < end; i++) {
		const struct host_key *key = &ready->host[i];
		const struct act *act = &ready->slice->acts[key->act];
		bool input = act->kind == ACT_OP && act->work == WORK_INPUT;

		while (depth && stack[depth - 1].end_ns <= key->start_ns) {
			depth--;
			add_segment(ready, at_ns, stack[depth].end_ns, stack[depth].act,
				    stack[depth].input);
			if (stack[depth].end_ns > at_ns)
				at_ns = stack[depth].end_ns;
		}
		if (depth)
			add_segment(ready, at_ns, key->start_ns, stack[depth - 1].act,
				    stack[depth - 1].input);
		if (depth == DEPTH_MAX)
			depth--;
		stack[depth] = (struct open_act) {
			key->end_ns, key->act, input || (depth && stack[depth - 1].input),
		};
		depth++;
		at_ns = key->start_ns;
	}
	while (depth--) {
		add_segment(ready, at_ns, stack[depth].end_ns, stack[depth].act,
			    stack[depth].input);
		if (stack[depth].end_ns > at_ns)
			at_ns = stack[depth].end_ns;
	}
}

static void ready_reserve(struct critical_ready *ready, const struct slice *slice)
{
	size_t n_host = slice->n - slice->n_runs;

	if (ready->cap_host < n_host) {
		ready->cap_host = n_host + n_host / 2;
		free(ready->host);
		free(ready->segments);
		ready->host = xreallocarray(NULL, ready->cap_host, sizeof(*ready->host));
		/* Each act starts one segment and ends one. */
		ready->segments = xreallocarray(NULL, ready->cap_host,
						2 * sizeof(*ready->segments));
	}
	if (ready->cap_ends < slice->n_runs) {
		ready->cap_ends = slice->n_runs + slice->n_runs / 2;
		free(ready->ends);
		free(ready->entered);
		ready->ends = xreallocarray(NULL, ready->cap_ends, sizeof(*ready->ends));
		ready->entered = xreallocarray(NULL, ready->cap_ends, 1);
	}
}

/* Counts the acts by thread, then places them. */
static void place_host(struct critical_ready *ready, const struct slice *slice)
{
	size_t begin = 0;

	for (size_t i = 0; i < ready->n_threads; i++)
		*slot_of(&ready->of_thread, ready->threads[i].thread + 1) = 0;
	ready->n_threads = 0;
	for (size_t i = 0; i < slice->n_launches; i++)
		thread_of(ready, slice->acts[slice->launches[i]].thread)->n++;
	for (size_t i = 0; i < slice->n_rest; i++)
		thread_of(ready, slice->acts[slice->rest[i]].thread)->n++;
	for (size_t i = 0; i < ready->n_threads; i++) {
		struct host_thread *thread = &ready->threads[i];

		thread->begin = thread->end = begin;
		begin += thread->n;
	}
	for (size_t i = 0; i < slice->n; i++)
		if (act_is_host(&slice->acts[i]) && !is_past(slice, &slice->acts[i]))
			add_host(ready, &slice->acts[i], (uint32_t)i);
}

void ready_make(struct critical_ready *ready, const struct slice *slice)
{
	size_t n = 0;

	ready->slice = slice;
	ready_reserve(ready, slice);
	place_host(ready, slice);
	ready->n_segments = 0;
	for (size_t i = 0; i < ready->n_threads; i++) {
		struct host_thread *thread = &ready->threads[i];
		size_t begin = ready->n_segments;

		ready_flatten_thread(ready, thread->begin, thread->end);
		thread->begin = begin;
		thread->end = ready->n_segments;
	}
	for (size_t i = 0; i < slice->n; i++) {
		struct start_key key = slice->ends[i];

		if (key.kind != ACT_RUN ||
		    (key.start <= slice->t0 && is_past(slice, &slice->acts[key.at])))
			continue;
		key.kind = slice->acts[key.at].queue;
		ready->ends[n++] = key;
	}
	ready->n_ends = n;
	if (n)
		memset(ready->entered, 0, n);
}

void ready_release(struct critical_ready *ready)
{
	free(ready->threads);
	free(ready->of_thread.of);
	free(ready->host);
	free(ready->segments);
	free(ready->ends);
	free(ready->entered);
}

size_t ready_bytes(const struct critical_ready *ready)
{
	return ready->cap_threads * sizeof(*ready->threads) +
	       ready->of_thread.n * sizeof(*ready->of_thread.of) +
	       ready->cap_host * (sizeof(*ready->host) + 2 * sizeof(*ready->segments)) +
	       ready->cap_ends * (sizeof(*ready->ends) + 1);
}

/* ---- look-ups ---- */

const struct segment *ready_segment(struct critical_ready *ready, uint32_t index, int64_t t_ns)
{
	uint32_t slot = index + 1 < ready->of_thread.n ? ready->of_thread.of[index + 1] : 0;
	struct host_thread *thread;

	if (!slot)
		return NULL;
	thread = &ready->threads[slot - 1];
	while (thread->end > thread->begin &&
	       ready->segments[thread->end - 1].start_ns >= t_ns)
		thread->end--;
	return thread->end == thread->begin ? NULL : &ready->segments[thread->end - 1];
}

size_t ready_finished(const struct critical_ready *ready, uint32_t process, uint32_t queue,
		      int64_t until_ns)
{
	size_t low = FIRST_NOT(i, 0, ready->n_ends, ready->ends[i].start <= until_ns);

	for (size_t scanned = 0; low-- > 0 && scanned < SCAN_MAX; scanned++) {
		const struct start_key *end = &ready->ends[low];

		if (!ready->entered[low] && (queue == NONE || end->kind == queue) &&
		    ready->slice->acts[end->at].process == process)
			return low;
	}
	return ready->n_ends;
}

size_t ready_ran(const struct critical_ready *ready, const struct act *op, int64_t from_ns,
		 int64_t until_ns)
{
	size_t low = FIRST_NOT(i, 0, ready->n_ends, ready->ends[i].start <= until_ns);

	for (size_t scanned = 0; low-- > 0 && ready->ends[low].start > from_ns &&
				 scanned < SCAN_MAX; scanned++) {
		const struct act *act = &ready->slice->acts[ready->ends[low].at];

		if (!ready->entered[low] && act->flags & ACT_WORKS && !act->call_ns &&
		    (act->thread == op->thread || (op->op && act->op == op->op)))
			return low;
	}
	return ready->n_ends;
}
