/* SPDX-License-Identifier: MIT */
/*
 * Graphs in the model: tables of nodes per process, their joining to what runs,
 * waits. See query/graph.h for what comes out.
 *
 * Always true: a node is known by (process, id) and, once its names are there,
 * by (process, graph, name); a name may come later than the node. Nodes never
 * move and are never removed. Inputs are resolved when they are needed, again
 * after nodes came.
 *
 * Waits: what ran is put aside until its step's ops before it have settled, and
 * the nodes of a first step have come; then, in the order of their ends, each op looks
 * up when its inputs last ended in the same step. So an input is always known before the
 * op that takes it.
 *
 * Bounds: NODES_MAX nodes, TEXT_MAX bytes of their texts, RUNS_MAX ops put aside
 * (beyond, the oldest half is taken as settled), INFOS_MAX settings.
 * Complexity: O(inputs) an op that ran, O(1) a node.
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
#define GRAPH_UNKNOWN 0x7fffffffu	/* not a node of this graph */
#define GRAPH_ENDS 4u
#define GRAPH_LENT_MAX 4u		/* edges to the node that a line is taken from */

struct gnode {
	uint32_t process, id;
	uint32_t graph, name, type, device, file, line, function;	/* names */
	uint32_t lent;			/* whose line it has, itself; NONE */
	uint8_t origin;			/* enum node_origin */
	char *inputs, *attributes;	/* owned */
	uint64_t hash;			/* of its name, 0: not indexed yet */
	uint32_t next;			/* of the same hash */
	uint32_t *in;			/* owned; places | GRAPH_CONTROL */
	uint32_t n_in, in_at;		/* in_at: nodes there were when it was made */
	/* waits */
	struct { int64_t step, end_ns; } ended[GRAPH_ENDS];
	uint32_t last;			/* of ended, the next to write */
	struct hist wait;
	int64_t wait_ns;
	uint32_t waited_for, waited_score;	/* majority of those that came last */
};

/* What ran, until it is settled. */
struct graph_run {
	int64_t start_ns, end_ns, step;
	uint32_t process, ident;
};

struct graph_join {
	uint32_t node;			/* NONE */
	uint32_t at;			/* nodes there were */
	uint8_t rule;
	bool own;			/* it is one of the graph that ran */
};

struct graph_info {
	uint32_t process, scope, key, value;
};

/* What a node's ops cost, all together; made for a question. */
struct graph_use {
	uint64_t count;
	int64_t total_ns;
	/* 1 + that of most of those that waited for a thread, 0 none */
	uint32_t ident;
	uint8_t rule;
	bool mixed;			/* ops whose graph is not known are among them */
};

struct graphs {
	struct store nodes, joins;
	struct map by_id;		/* process << 32 | id */
	struct map by_place;		/* hash of process, graph, name */
	struct map by_name;		/* hash of process and name: the latest, then ->next */
	struct map join_by_ident;	/* process << 32 | ident */
	uint32_t first_nameless;	/* before it, all are indexed */
	uint32_t names_then;		/* names there were when that was tried */
	uint64_t n_named;
	size_t text_bytes;
	uint64_t dropped;
	struct graph_run *runs;		/* owned */
	size_t n_runs, cap_runs;
	int64_t settled_ns;		/* when they were last looked through */
	struct graph_info *infos;	/* owned */
	size_t n_infos, cap_infos;
	/* for questions, made anew when something came */
	struct graph_use *uses;		/* owned; of each node */
	uint32_t n_uses;
	uint64_t uses_at;		/* the model's generation */
	uint64_t ran[GRAPH_RULES], lines[GRAPH_LINES];
	uint32_t not_joined[8];		/* names */
	uint32_t *out_first, *out_next, *out_to;	/* owned; edges turned round */
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
/* The node of that name in a graph, a name; NONE. */
uint32_t graph_placed_in(struct model *model, uint32_t process, uint32_t graph, const char *name,
			 size_t length);
/* Nodes of that name, the latest first: the first, NONE; graph_next() on. */
uint32_t graph_named(struct model *model, uint32_t process, const char *name, size_t length);
uint32_t graph_next(struct model *model, uint32_t i, const char *name, size_t length);
void graph_resolve(struct model *model, struct gnode *node);

/* What a process's TensorFlow is set to; borrowed, NULL: not told. key NULL: anything. */
const char *graph_setting(struct model *model, uint32_t process, const char *key);

/* ---- graph_edges.c ---- */
/* Edges turned round (out_*), and lines lent along them, as of now. */
void graph_turn(struct model *model);

/* ---- graph_join.c ---- */
/* An op has ended. */
void graph_ran(struct model *model, uint32_t process, uint32_t ident, const struct event_op *op);
/* All before is final. Breathes. */
void graph_settled(struct model *model, int64_t settled_ns);
/* The node of an op's identity in a process, NONE. */
uint32_t graph_joined(struct model *model, uint32_t process, uint32_t ident, enum graph_rule *rule);
/* Whether that is one of the very graph that ran; else there was its name alone. */
bool graph_joined_own(struct model *model, uint32_t process, uint32_t ident);
/* Is it one of a graph's ops, and not a function or a range? */
bool graph_is_op(struct model *model, const struct ident *ident);
/* The device that an op of that type and name was placed on; borrowed, NULL: not known. */
const char *graph_placed(struct model *model, uint32_t process, uint32_t type, uint32_t name);

/* ---- graph_query.c ---- */
/* Where an op comes from; false: not known. */
bool graph_source(struct model *model, uint32_t ident, const char **file, uint32_t *line);
/* Adds the waits of its nodes for their last inputs. */
void graph_latency(struct model *model, uint32_t ident, struct op_row *row);

#endif
