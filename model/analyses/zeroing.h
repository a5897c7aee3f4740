/* SPDX-License-Identifier: MIT */
/*
 * How long a step would be if some of its work took no time: its dependencies, as far as they
 * are known, are followed once more with other durations.
 *
 * Idea: subtracting from the critical path is not enough, because with an op gone, what ran at
 * the same time may determine the step instead. So each act is placed again, in the order of
 * its start: after the act that was seen to delay it, with the same pause in between.
 *
 * What an act waits for is the edges of the critical path and no more:
 *  - an op: the op of the same run of a function that finished last before it began, and the op
 *    before it on its thread;
 *  - a run on a device: its launch, the run before it in its queue, and the run of its process
 *    that finished last, if that was after its launch;
 *  - a call that waits: what its thread did before, and all runs of the queue (of the process,
 *    if the queue is unknown) that had finished when it returned.
 * The step ends when all its ops have ended (or its thread has), with the same pause.
 *
 * Always true: with nothing removed, the step is as long as it was. It never becomes longer,
 * and what is saved is at most what was removed from the critical path. It is a bound: with
 * edges that are unknown, the step may be longer.
 *
 * Complexity: O(n) for ops; for runs O(n log n), like the walk. Memory is kept for the next
 * slice. Source: logical zeroing, Miller et al., IPS-2: The Second Generation of a Parallel
 * Program Measurement System (1990).
 */
#ifndef MODEL_ZEROING_H
#define MODEL_ZEROING_H

#include "model/analyses/critical_ops.h"
#include "model/analyses/critical_ready.h"

/* From at_ns on, everything that a thread does is earlier by this much. */
struct thread_shift {
	int64_t at_ns, shift_ns;
	uint32_t before;		/* the previous shift of the same thread, plus 1 */
};

struct zeroing {
	int64_t *new_end;		/* owned; new end of each act; INT64_MIN: not placed */
	/* owned; for each act that is a run, its index in ready->ends; NONE: it is not a run */
	uint32_t *end_at;
	size_t cap;
	struct act_slots last;		/* last act or shift of each thread, plus 1 */
	struct act_slots of_queue, of_process;	/* the run that ends last so far, plus 1 */
	struct thread_shift *shifts;	/* owned */
	size_t n_shifts, cap_shifts;
};

/* Whether the act is removed. */
typedef bool zeroing_pick(void *arg, const struct act *act);

void zeroing_release(struct zeroing *zeroing);
size_t zeroing_bytes(const struct zeroing *zeroing);
/* How much is saved (0 or more) by removing ops of that run ... */
int64_t zeroing_ops(struct zeroing *zeroing, const struct slice *slice,
		    const struct function_run *run, zeroing_pick *away, void *arg);
/* ... or runs on devices. ready: prepared from the slice; its marks of entered runs are cleared.
 * thread: the thread of the step, or NONE. */
int64_t zeroing_runs(struct zeroing *zeroing, struct critical_ready *ready, uint32_t thread,
		     zeroing_pick *away, void *arg);

#endif
