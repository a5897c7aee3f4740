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

/* An act's time on a thread from at_ns on is so much earlier. */
struct thread_shift {
	int64_t at_ns, shift_ns;
	uint32_t before;		/* of the same thread, plus 1 */
};

struct zeroing {
	int64_t *new_end;		/* owned; by act; INT64_MIN: not placed */
	uint32_t *end_at;		/* owned; by act of a run its place in ready->ends, NONE */
	size_t cap;
	struct act_slots last;		/* by thread: act or shift, plus 1 */
	struct act_slots of_queue, of_process;	/* the run that is over last now, plus 1 */
	struct thread_shift *shifts;	/* owned */
	size_t n_shifts, cap_shifts;
};

/* Is it away? */
typedef bool zeroing_pick(void *arg, const struct act *act);

void zeroing_release(struct zeroing *zeroing);
size_t zeroing_bytes(const struct zeroing *zeroing);
/* What is saved, 0 or more: of the ops of that run ... */
int64_t zeroing_ops(struct zeroing *zeroing, const struct slice *slice,
		    const struct function_run *run, zeroing_pick *away, void *arg);
/* ... of the runs of devices. ready: made of the slice; what it has entered is
 * forgotten. thread: whose step it is, NONE. */
int64_t zeroing_runs(struct zeroing *zeroing, struct critical_ready *ready, uint32_t thread,
		     zeroing_pick *away, void *arg);

#endif
