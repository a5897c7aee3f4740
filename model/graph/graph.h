/* SPDX-License-Identifier: MIT */
/*
 * Graphs in the model: the nodes of each process, how they are joined to the ops that run, and
 * how long ops wait for their inputs. See query/graph.h for the questions.
 *
 * Always true: a node is found by (process, id) and, once its names are known, by (process,
 * graph, name); a name may arrive later than the node. Nodes never move and are never removed.
 * Inputs are resolved when they are needed, and again after new nodes arrived.
 *
 * Waits: an op that ran is stored until the earlier ops of its step have settled, and until the
 * nodes of a first step have arrived. Then, in the order of their ends, each op looks up when its
 * inputs last ended in the same step. So an input is always known before the op that takes it.
 *
 * Bounds: NODES_MAX nodes, TEXT_MAX bytes of their texts, RUNS_MAX stored ops (then the oldest
 * half is taken as settled), INFOS_MAX settings.
 * Complexity: O(inputs) for an op that ran, O(1) for a node.
 */
#ifndef MODEL_GRAPH_GRAPH_H
#define MODEL_GRAPH_GRAPH_H

#include "model/base/hist.h"
#include "model/core/model.h"
#include "model/idents/idents.h"
#include "model/query/graph.h"

#define GRAPH_NODES_MAX (1u << 20)
#define GRAPH_TEXT_MAX ((size_t)256 << 20)
#define GRAPH_RUNS_MAX (1u << 18)
#define GRAPH_INFOS_MAX 4096u
#define GRAPH_INPUTS_MAX 4096u		/* of a node */
#define GRAPH_CONTROL 0x80000000u	/* of an input: a control edge */
#define GRAPH_UNKNOWN 0x7fffffffu	/* the input is not a node of this graph */
#define GRAPH_ENDS 4u
/* how many edges away the node may be that a line is taken from */
#define GRAPH_LENT_MAX 4u

struct gnode {
	uint32_t process, id;
	uint32_t graph, name, type, device, file, line, function;	/* names */
	/* the node whose line it has: itself, another one, or NONE */
	uint32_t lent;
	uint8_t origin;			/* enum node_origin */
	char *inputs, *attributes;	/* owned */
	uint64_t hash;			/* hash of its name; 0: not indexed yet */
	uint32_t next;			/* next node with the same hash */
	uint32_t *in;			/* owned; indices of nodes | GRAPH_CONTROL */
	uint32_t n_in, in_at;		/* in_at: number of nodes when it was made */
	/* waits */
	struct { int64_t step, end_ns; } ended[GRAPH_ENDS];
	uint32_t last;			/* the next entry of `ended` to write */
	struct hist wait;
	int64_t wait_ns;
	uint32_t waited_for, waited_score;	/* majority vote for the input that ended last */
};

/* An op that ran and has not settled yet. */
struct graph_run {
	int64_t start_ns, end_ns, step;
	uint32_t process, ident;
};

struct graph_join {
	uint32_t node;			/* NONE: not joined */
	uint32_t at;			/* number of nodes when it was made */
	uint8_t rule;
	bool own;			/* the node belongs to the graph that ran */
};

struct graph_info {
	uint32_t process, scope, key, value;
};

/* The total cost of a node's ops; made for a question. */
struct graph_use {
	uint64_t count;
	int64_t total_ns;
	/* 1 + the identity of most ops that waited for a thread, 0: none */
	uint32_t ident;
	uint8_t rule;
	bool mixed;			/* includes ops whose graph is unknown */
};

struct graphs {
	struct store nodes, joins;
	struct map by_id;		/* process << 32 | id */
	struct map by_place;		/* hash of process, graph, name */
	struct map by_name;		/* hash of process and name: the latest, then ->next */
	struct map join_by_ident;	/* process << 32 | ident */
	uint32_t first_nameless;	/* all nodes before this one are indexed */
	uint32_t names_then;		/* number of names at the last attempt */
	uint64_t n_named;
	size_t text_bytes;
	uint64_t dropped;
	struct graph_run *runs;		/* owned */
	size_t n_runs, cap_runs;
	int64_t settled_ns;		/* when the runs were last processed */
	struct graph_info *infos;	/* owned */
	size_t n_infos, cap_infos;
	/* for questions, rebuilt after something arrived */
	struct graph_use *uses;		/* owned; of each node */
	uint32_t n_uses;
	uint64_t uses_at;		/* the model's generation */
	uint64_t ran[GRAPH_RULES], lines[GRAPH_LINES];
	uint32_t not_joined[8];		/* names of ops that are joined to no node */
	uint32_t *out_first, *out_next, *out_to;	/* owned; edges by producer */
	uint32_t n_out, out_at;
};

static inline struct gnode *gnode_at(const struct graphs *g, uint32_t i)
{
	return store_at(&g->nodes, i);
}

struct op_row;

/* ---- graph.c ---- */
void graphs_free(struct model *model);
size_t graphs_bytes(const struct model *model);
/* EVENT_NODE, EVENT_INFO. */
void graph_define(struct model *model, const struct arrival *in);
struct graphs *graphs_get(struct model *model);
void graph_index(struct model *model);
/* The node with this name in a graph (itself a name); NONE: there is none. */
uint32_t graph_placed_in(struct model *model, uint32_t process, uint32_t graph, const char *name,
			 size_t length);
/* The first of the nodes with this name, the latest one; graph_next() gives the others. NONE:
 * there are no more. */
uint32_t graph_named(struct model *model, uint32_t process, const char *name, size_t length);
uint32_t graph_next(struct model *model, uint32_t i, const char *name, size_t length);
void graph_resolve(struct model *model, struct gnode *node);

/* A setting of a process's TensorFlow; borrowed, NULL: not reported. key NULL: any setting. */
const char *graph_setting(struct model *model, uint32_t process, const char *key);

/* ---- graph_edges.c ---- */
/* Brings the edges by producer (out_*), and the lines taken along edges, up to date. */
void graph_turn(struct model *model);

/* ---- graph_join.c ---- */
/* An op has ended. */
void graph_ran(struct model *model, uint32_t process, uint32_t ident, const struct event_op *op);
/* All events before settled_ns have arrived. Yields the lock (model_breathe()). */
void graph_settled(struct model *model, int64_t settled_ns);
/* The node of an op's identity in a process, or NONE. */
uint32_t graph_joined(struct model *model, uint32_t process, uint32_t ident, enum graph_rule *rule);
/* Whether that node belongs to the very graph that ran; otherwise it was joined by name alone. */
bool graph_joined_own(struct model *model, uint32_t process, uint32_t ident);
/* Whether this is an op of a graph, not a function or a range. */
bool graph_is_op(struct model *model, const struct ident *ident);
/* The device on which an op of this type and name was placed; borrowed, NULL: unknown. */
const char *graph_placed(struct model *model, uint32_t process, uint32_t type, uint32_t name);

/* ---- graph_query.c ---- */
/* Where an op comes from; false: unknown. */
bool graph_source(struct model *model, uint32_t ident, const char **file, uint32_t *line);
/* Adds to the row how long its nodes waited for their last inputs. */
void graph_latency(struct model *model, uint32_t ident, struct op_row *row);

#endif
