/* SPDX-License-Identifier: MIT */
/*
 * A slice prepared for the walk of critical.c: what each thread did on top of its stack, as
 * segments end to end, and the runs in the order of their ends.
 *
 * Always true: the segments of a thread follow each other and do not overlap; only acts that
 * lie in the slice or reach into it are there. Indices are those of the slice's acts.
 * Complexity: O(n) to prepare and for all questions about threads; a question about runs costs
 * O(log n) and looks at SCAN_MAX runs at most. Memory is kept for the next slice.
 */
#ifndef MODEL_CRITICAL_READY_H
#define MODEL_CRITICAL_READY_H

#include "model/analyses/analyses.h"

/* A segment: what a thread did on top of its stack for a while. */
struct segment {
	int64_t start_ns, end_ns;
	uint32_t act;
	bool input;
};

struct host_key {
	int64_t start_ns, end_ns;
	uint32_t act;
};

/* A thread that did something in the slice. */
struct host_thread {
	uint32_t thread;
	/* number of acts; then where they start in `host`, then in `segments` */
	size_t n, begin, end;
};

struct critical_ready {
	const struct slice *slice;
	struct host_thread *threads;	/* owned */
	size_t n_threads, cap_threads;
	struct act_slots of_thread;		/* index of a thread in `threads`, plus 1 */
	struct host_key *host;		/* owned; acts grouped by thread, by start, longest first */
	struct segment *segments;	/* owned; grouped by thread, in the order of `host` */
	size_t n_segments;
	struct start_key *ends;		/* owned; runs by their end; `kind`: the queue */
	size_t n_ends;
	uint8_t *entered;	/* owned; for each entry of ends: the path has passed through it */
	size_t cap_host, cap_ends;
};

static inline bool act_is_host(const struct act *act)
{
	return act->kind == ACT_LAUNCH || act->kind == ACT_WAIT || act->kind == ACT_COMPILE ||
	       (act->kind == ACT_OP && !(act->flags & ACT_ASYNC));
}

void ready_make(struct critical_ready *ready, const struct slice *slice);
void ready_release(struct critical_ready *ready);
size_t ready_bytes(const struct critical_ready *ready);
/* The thread's last segment that starts before t_ns; NULL: none. t_ns must not grow from one call
 * to the next, because later segments are dropped. */
const struct segment *ready_segment(struct critical_ready *ready, uint32_t thread, int64_t t_ns);
/* The run that finished last before until_ns, in a queue (NONE: in any queue of the process), and
 * that the path has not passed through yet; n_ends: there is none. */
size_t ready_finished(const struct critical_ready *ready, uint32_t process, uint32_t queue,
		      int64_t until_ns);
/* The run on the processor that nothing launched, on the op's thread or for it on another one, that
 * finished last in (from_ns, until_ns] and that the path has not passed through yet; n_ends: there
 * is none. */
size_t ready_ran(const struct critical_ready *ready, const struct act *op, int64_t from_ns,
		 int64_t until_ns);

#endif
