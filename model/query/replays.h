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

/* A kind of node: what ran, and the op in which it was captured. */
struct replay_node {
	const char *name, *op;		/* op NULL: unknown */
	uint64_t count;			/* sum over all launches */
	int64_t total_ns;
};

/* All graphs of one name, of all processes. */
struct replay_row {
	const char *name;
	const char *op;			/* the op that launched it last; NULL: none */
	uint64_t launches;		/* launches whose nodes were seen */
	/* launches that were reported as a whole, without their nodes */
	uint64_t whole;
	uint64_t nodes;			/* sum over all launches */
	/* from the start of the first node to the end of the last one */
	int64_t total_ns, min_ns, max_ns;
	int64_t busy_ns;	/* For launches with nodes: the time in which any node ran ... */
	int64_t gap_ns;			/* ... the time between nodes in which none ran ... */
	int64_t max_gap_ns;		/* ... and the longest such gap */
	int64_t call_ns;		/* duration of the host's launch calls of these launches */
	uint64_t unkept;		/* nodes for which there was no room in the list below */
	struct replay_node *node;	/* those with most time first */
	size_t n_nodes;
};

/* The graphs, those with most time first. [locked] */
size_t model_replays(struct model *model, struct replay_row **out);
void model_replays_free(struct replay_row *rows, size_t count);

#endif
