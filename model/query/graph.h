/* SPDX-License-Identifier: MIT */
/*
 * Graphs: nodes, what they take from each other, where in the source they come
 * from (files and lines: query/lines.h), what they cost. And how things are set up
 * (EVENT_INFO). The rules of query.h apply.
 *
 * What runs is joined to the nodes by name: as it is; without
 * "StatefulPartitionedCall/" (an inlined function); without all up to "/_N/" (a
 * lowered branch or loop); with "_RetVal" for "_retval_RetVal" (a result); by the
 * longest end of its path, when the type is the same. Of nodes of one name in several
 * graphs it is that of the graph that the op says it ran in, where it says one that has
 * such a node, else the latest. The order of ops is never used. Each executed op belongs
 * to at most one node; times are all processes' together.
 */
#ifndef MODEL_QUERY_GRAPH_H
#define MODEL_QUERY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define GRAPH_NONE UINT32_MAX

enum graph_rule {
	GRAPH_NOT = 0,			/* joined to no node */
	GRAPH_EXACT, GRAPH_INLINED, GRAPH_LOWERED, GRAPH_RESULT, GRAPH_SUFFIX,
	GRAPH_RULES
};
const char *graph_rule_name(enum graph_rule rule);	/* "exactly", ... */

/* How a node's line was found. The first five are the probe's. */
enum graph_line {
	GRAPH_LINE_NONE,
	GRAPH_LINE_EXACT,		/* where the node was made */
	GRAPH_LINE_NAME,		/* by its name: what it was made of, or is a part of */
	GRAPH_LINE_CALL,		/* an argument or result: its function's first call */
	GRAPH_LINE_FIRST,		/* an eager op: the first of its type */
	/* what it takes, else who takes from it, up to 4 edges away */
	GRAPH_LINE_EDGE,
	GRAPH_LINES
};
const char *graph_line_name(enum graph_line how);	/* "exactly", ... */

struct graph_node {
	uint32_t index;			/* names it in the other questions */
	uint32_t pid;
	const char *graph, *name, *type;
	const char *device;		/* NULL: not placed */
	const char *file, *function;	/* NULL: not known */
	uint32_t line;			/* 0: not known */
	enum graph_line how;		/* file, function, line were found */
	uint32_t lent;			/* GRAPH_LINE_EDGE: they are this node's */
	const char *attributes;		/* "key=value" lines; *borrowed while locked* */
	uint32_t same;			/* other nodes of that name in this process */
	bool mixed;			/* what ran under it may have been any one of these */
	/* of the ops that were joined to it */
	enum graph_rule rule;		/* of the last one */
	uint64_t count;
	int64_t total_ns, mean_ns;
	/* Start minus end of its last input, in the same step. */
	uint64_t waits;			/* so often measured */
	int64_t wait_mean_ns, wait_p50_ns, wait_p99_ns;	/* -1 none */
	uint32_t waited_for;		/* the input it waited for most, GRAPH_NONE */
	/* Handed to a thread pool, so often; its waits for a thread. */
	uint64_t handed;
	int64_t queued_p50_ns, queued_p99_ns;
	const char *pool;		/* the last one's, NULL not known */
};
/* False: no such node. [locked] */
bool model_graph_node(struct model *model, uint32_t index, struct graph_node *out);

/*
 * By full name, "graph:name" where several graphs have it, by a beginning that only one
 * name has, by the last parts of its path that only one has, by a regular expression that
 * only one matches; the first
 * of these that any matches decides. false: a sentence that names those that match
 * or, when none does, what is near. Of nodes of one name: one that ran, the latest.
 * [locked]
 */
bool model_graph_find(struct model *model, const char *text, uint32_t *index, char *error,
		      size_t error_size);
/* How many names match as above, when it is none's full name; the first of them,
 * at most max. Names are the model's. [locked] */
size_t model_graph_choices(struct model *model, const char *text, const char **names, size_t max);

/* The other nodes of its name in this process, those that ran most first. *Owned by the
 * caller*. [locked] */
size_t model_graph_same(struct model *model, uint32_t index, uint32_t **out);

struct graph_edge {
	uint32_t node;			/* GRAPH_NONE: not in this graph */
	const char *name;		/* as written, without slot; owned by the array's block */
	bool control;
	uint32_t slot;			/* output of the producer */
};
/* What it takes, in order; who takes from it. One block, *owned by the caller*.
 * [locked] */
size_t model_graph_inputs(struct model *model, uint32_t index, struct graph_edge **out);
size_t model_graph_outputs(struct model *model, uint32_t index, struct graph_edge **out);

struct graph_counts {
	uint64_t nodes, graphs, edges, with_line;
	uint64_t ops;			/* different ones that ran, constant folding apart */
	uint64_t joined[GRAPH_RULES];	/* of them, by rule */
	const char *not_joined[8];	/* names of some that are joined to none */
	uint64_t lines[GRAPH_LINES];	/* of these ops, how they got theirs */
	uint64_t dropped;		/* beyond the bounds */
	/* Ops that ran on the processor although nodes are on a device. */
	uint64_t on_cpu, on_device;
};
void model_graph_counts(struct model *model, struct graph_counts *out);	/* [locked] */

struct info_row {
	uint32_t pid;
	const char *scope, *key, *value;
};
size_t model_infos(struct model *model, struct info_row **out);	/* [locked] */

#endif
