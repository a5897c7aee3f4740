/* SPDX-License-Identifier: MIT */
/*
 * Graphs of device work that are launched as a whole (CUDA graphs): what a launch consists of and
 * how long it takes. As in query.h, functions marked [locked] need the model's lock.
 *
 * A launch is counted when its records have arrived and settled, half a second later. Times are
 * the device's own.
 */
#ifndef MODEL_QUERY_REPLAYS_H
#define MODEL_QUERY_REPLAYS_H

#include <stddef.h>
#include <stdint.h>

struct model;

/* A kind of node: what ran, in the op that it was captured in. */
struct replay_node {
	const char *name, *op;		/* op NULL: not known */
	uint64_t count;			/* in all launches */
	int64_t total_ns;
};

/* Graphs of one name, of all processes. */
struct replay_row {
	const char *name;
	const char *op;			/* that launched it last, NULL none */
	uint64_t launches;		/* whose nodes were seen */
	/* launches that were reported as a whole, without their nodes */
	uint64_t whole;
	uint64_t nodes;			/* in all launches */
	/* from the first node's start to the last one's end */
	int64_t total_ns, min_ns, max_ns;
	int64_t busy_ns;		/* of the launches with nodes: any node ran ... */
	int64_t gap_ns;			/* ... none did, between two ... */
	int64_t max_gap_ns;		/* ... at most so long */
	int64_t call_ns;		/* the host's launch calls of these */
	uint64_t unkept;		/* nodes without a place in the list below */
	struct replay_node *node;	/* the longest first */
	size_t n_nodes;
};

/* The longest first. [locked] */
size_t model_replays(struct model *model, struct replay_row **out);
void model_replays_free(struct replay_row *rows, size_t count);

#endif
