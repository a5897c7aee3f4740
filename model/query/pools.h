/* SPDX-License-Identifier: MIT */
/*
 * Thread pools: what is handed to them, how long it waits for a thread. The rules of
 * query.h apply. Sums are exact for the whole run.
 *
 * A closure is what is handed to a pool: a run of ops that became ready, a part of a
 * parallel loop. The first op of a closure has waited as long as the closure; those
 * behind it were run inline and have not waited. A pool is the threads of one name
 * in a process.
 */
#ifndef MODEL_QUERY_POOLS_H
#define MODEL_QUERY_POOLS_H

#include <stddef.h>
#include <stdint.h>

struct model;

struct pool_row {
	uint16_t host;
	uint32_t pid;
	const char *name;		/* of its threads */
	uint32_t threads;		/* that ran a closure */
	uint64_t closures, with_ops;	/* finished; of them, in which an op began */
	uint64_t timed;			/* of those begun, whose wait is known */
	int64_t wait_ns, max_wait_ns;	/* of them */
	/* in closures; from each thread's first one to its last report */
	int64_t busy_ns, alive_ns;
	/* from the first to the last of all; wait_ns / span_ns: mean depth */
	int64_t span_ns;
	uint64_t ops;			/* handed to it */
	int64_t op_wait_ns, op_max_wait_ns, op_p50_ns, op_p99_ns;	/* their waits */
};

/* The one that ops waited longest for first. *out owned by the caller. [locked] */
size_t model_pools(struct model *model, struct pool_row **out);

#endif
