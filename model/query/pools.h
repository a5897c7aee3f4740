/* SPDX-License-Identifier: MIT */
/*
 * Thread pools: what is handed to them, and how long it waits for a thread. The rules of query.h
 * apply. Sums are exact for the whole run.
 *
 * A closure is the unit of work that is handed to a pool: some ops that became ready, or a part
 * of a parallel loop. The first op of a closure has waited as long as the closure; the ops after
 * it run inline and have not waited. A pool is the threads of a process with the same name.
 */
#ifndef MODEL_QUERY_POOLS_H
#define MODEL_QUERY_POOLS_H

#include <stddef.h>
#include <stdint.h>

struct model;

struct pool_row {
	uint16_t host;
	uint32_t pid;
	const char *name;		/* the name of its threads */
	uint32_t threads;		/* how many of its threads ran a closure */
	/* closures that finished; those in which an op started */
	uint64_t closures, with_ops;
	uint64_t timed;			/* closures that started and whose waiting time is known */
	int64_t wait_ns, max_wait_ns;	/* waiting time of these closures */
	/* busy_ns: in closures; alive_ns: from each thread's first closure to its last report */
	int64_t busy_ns, alive_ns;
	/* from the first to the last report of all threads; wait_ns / span_ns is the mean depth */
	int64_t span_ns;
	uint64_t ops;			/* ops that were handed to the pool */
	/* how long these ops waited for a thread */
	int64_t op_wait_ns, op_max_wait_ns, op_p50_ns, op_p99_ns;
};

/* The pools; those for which ops waited longest come first. The caller owns *out. [locked] */
size_t model_pools(struct model *model, struct pool_row **out);

#endif
