/* SPDX-License-Identifier: MIT */
/*
 * Graphs: their nodes and edges, the lines of source that made the nodes (see query/lines.h), and
 * what nodes cost; and settings (EVENT_INFO). The rules of query.h apply.
 *
 * Ops that ran are joined to nodes by name: by the name as it is; without
 * "StatefulPartitionedCall/" (an inlined function); without everything up to "/_N/" (a lowered
 * branch or loop); with "_RetVal" for "_retval_RetVal" (a result); or, if the type is the same,
 * by the longest end of the path. If several graphs have a node with this name, the node of the
 * graph that the op reports is taken, else the latest node. The order of ops is never used. Each
 * op that ran belongs to at most one node; times are sums over all processes.
 */
#ifndef MODEL_QUERY_GRAPH_H
#define MODEL_QUERY_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define GRAPH_NONE UINT32_MAX

enum graph_rule {
	GRAPH_NOT = 0,			/* the op is joined to no node */
	GRAPH_EXACT, GRAPH_INLINED, GRAPH_LOWERED, GRAPH_RESULT, GRAPH_SUFFIX,
	GRAPH_RULES
};
const char *graph_rule_name(enum graph_rule rule);	/* "exactly", ... */

/* How a node's line was found. The first five are the probe's. */
enum graph_line {
	GRAPH_LINE_NONE,
	GRAPH_LINE_EXACT,		/* where the node was made */
	/* found by the node's name: the line of the node that it was made of or is a part of */
	GRAPH_LINE_NAME,
	GRAPH_LINE_CALL,	/* an argument or a result: the first call of its function */
	GRAPH_LINE_FIRST,		/* an eager op: the first op of its type */
	/* the line of its inputs or else of its consumers, at most 4 edges away */
	GRAPH_LINE_EDGE,
	GRAPH_LINES
};
const char *graph_line_name(enum graph_line how);	/* "exactly", ... */

struct graph_node {
	uint32_t index;			/* identifies the node in other queries */
	uint32_t pid;
	const char *graph, *name, *type;
	const char *device;		/* NULL: the node was not placed on a device */
	const char *file, *function;	/* NULL: unknown */
	uint32_t line;			/* 0: unknown */
	enum graph_line how;		/* how file, function and line were found */
	uint32_t lent;			/* GRAPH_LINE_EDGE: the node whose line this is */
	const char *attributes;		/* lines of the form "key=value"; *borrowed while locked* */
	uint32_t same;			/* how many other nodes have this name in this process */
	bool mixed;			/* the ops counted here may belong to any of these nodes */
	/* The ops that were joined to this node. */
	enum graph_rule rule;		/* how the last of them was joined */
	uint64_t count;
	int64_t total_ns, mean_ns;
	/* Waits: the start of an op minus the end of its last input, within the same step. */
	uint64_t waits;			/* how often a wait was measured */
	int64_t wait_mean_ns, wait_p50_ns, wait_p99_ns;	/* -1: none was measured */
	/* the input that it waited for most often, or GRAPH_NONE */
	uint32_t waited_for;
	/* How often its ops were handed to a thread pool, and how long they waited for a thread. */
	uint64_t handed;
	int64_t queued_p50_ns, queued_p99_ns;
	const char *pool;		/* the last pool; NULL: unknown */
};
/* False: no such node. [locked] */
bool model_graph_node(struct model *model, uint32_t index, struct graph_node *out);

/*
 * Finds a node by its full name, by "graph:name" where several graphs have the name, by a unique
 * prefix, by the unique last parts of its path, or by a regular expression that matches only one
 * name; the first of these rules that matches anything decides. false: `error` is a sentence with
 * the names that match or, if none does, similar names. Among nodes with the same name one that
 * ran is taken, else the latest. [locked]
 */
bool model_graph_find(struct model *model, const char *text, uint32_t *index, char *error,
		      size_t error_size);
/* How many names match by these rules if `text` is not a full name; writes the first of them, at
 * most max. The model owns the names. [locked] */
size_t model_graph_choices(struct model *model, const char *text, const char **names, size_t max);

/* The other nodes with the same name in this process, by how often they ran. The caller owns
 * *out. [locked] */
size_t model_graph_same(struct model *model, uint32_t index, uint32_t **out);

struct graph_edge {
	uint32_t node;			/* GRAPH_NONE: not in this graph */
	/* as written, without the slot; stored in the same block as the array */
	const char *name;
	bool control;
	uint32_t slot;			/* which output of the producer it is */
};
/* The inputs of a node, in order, and its consumers. One block, owned by the caller. [locked] */
size_t model_graph_inputs(struct model *model, uint32_t index, struct graph_edge **out);
size_t model_graph_outputs(struct model *model, uint32_t index, struct graph_edge **out);

struct graph_counts {
	uint64_t nodes, graphs, edges, with_line;
	uint64_t ops;			/* different ops that ran, without constant folding */
	uint64_t joined[GRAPH_RULES];	/* of these ops, by rule */
	const char *not_joined[8];	/* names of some of the ops that are joined to no node */
	uint64_t lines[GRAPH_LINES];	/* the same ops by how their line was found */
	uint64_t dropped;		/* nodes that were dropped because there were too many */
	/* Ops that ran on the processor, and on a device. */
	uint64_t on_cpu, on_device;
};
void model_graph_counts(struct model *model, struct graph_counts *out);	/* [locked] */

struct info_row {
	uint32_t pid;
	const char *scope, *key, *value;
};
size_t model_infos(struct model *model, struct info_row **out);	/* [locked] */

#endif
