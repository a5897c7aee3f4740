/* SPDX-License-Identifier: MIT */
/* Joins the ops that ran to nodes, by name, and measures how long each waited for its inputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/graph/graph.h"

#define BREATHE 256u
#define LATE_NS 1000000000		/* nodes may arrive after their first runs */
#define PERIOD_NS 100000000

/* ---- joining ---- */

bool graph_is_op(struct model *model, const struct ident *ident)
{
	static const char *const not_ops[] = { "function", "session", "eager" };
	const char *type;

	if (ident->framework != FW_TENSORFLOW && ident->framework != FW_PYTORCH &&
	    ident->framework != FW_JAX)
		return false;
	type = names_raw(&model->names, ident->type);
	if (!type)
		return false;
	for (size_t i = 0; i < sizeof(not_ops) / sizeof(not_ops[0]); i++)
		if (!strcmp(type, not_ops[i]))
			return false;
	return true;
}

static bool same_type(struct model *model, uint32_t node, uint32_t type)
{
	return names_resolve(&model->names, gnode_at(model->graphs, node)->type) ==
	       names_resolve(&model->names, type);
}

/* Ranks a node: best with a source line of its own, then with any line, then if it is placed on a
 * device (as it runs, not as it was written). */
static int worth_of(const struct gnode *node)
{
	bool own = node->origin != ORIGIN_CALL && node->origin != ORIGIN_FIRST;

	return (node->line ? 2 + 2 * own : 0) + (node->device != 0);
}

/* What joining needs to know of an op that ran. */
struct graph_wanted {
	uint32_t process, type;
	uint32_t graph;			/* only nodes of this graph, 0: of any */
};

/* The best-ranked node of this name and type, the latest among equals; else, if `any`, the latest
 * of any type. */
static uint32_t graph_pick_node(struct model *model, const struct graph_wanted *want,
				const char *name, bool any)
{
	struct graphs *g = model->graphs;
	size_t length = strlen(name);
	uint32_t first, best = NONE;
	int best_worth = -1;
	unsigned tries = 0;

	if (want->graph) {
		first = graph_placed_in(model, want->process, want->graph, name, length);
		return first != NONE && (any || same_type(model, first, want->type)) ? first : NONE;
	}
	first = graph_named(model, want->process, name, length);
	for (uint32_t i = first; i != NONE && tries++ < 64;
	     i = graph_next(model, gnode_at(g, i)->next, name, length)) {
		int worth = worth_of(gnode_at(g, i));

		if (!same_type(model, i, want->type) || worth <= best_worth)
			continue;
		best = i;
		best_worth = worth;
	}
	return best != NONE || !any ? best : first;
}

/* The part of the name after the last "/_12/". */
static const char *after_lowered(const char *name)
{
	const char *found = NULL;

	for (const char *p = strstr(name, "/_"); p; p = strstr(p + 2, "/_")) {
		size_t digits = strspn(p + 2, "0123456789");

		if (digits && p[2 + digits] == '/')
			found = p + 3 + digits;
	}
	return found;
}

/* A function's result runs under a name other than its node's. */
static bool result_name(const char *name, char *out, size_t size)
{
	static const char ending[] = "_retval_RetVal";
	size_t length = strlen(name), end = sizeof(ending) - 1;

	if (length <= end || length >= size || strcmp(name + length - end, ending))
		return false;
	snprintf(out, size, "%.*s_RetVal", (int)(length - end), name);
	return true;
}

static uint32_t join_in(struct model *model, const struct graph_wanted *want, const char *name,
			uint8_t *rule)
{
	static const char *const calls[] = { "StatefulPartitionedCall/", "PartitionedCall/" };
	uint32_t node = graph_pick_node(model, want, name, true);
	const char *part = name;
	char result[1024];
	bool more = true;

	*rule = GRAPH_EXACT;
	if (node != NONE)
		return node;
	*rule = GRAPH_INLINED;
	while (more && node == NONE) {
		more = false;
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && !more; i++)
			if (!strncmp(part, calls[i], strlen(calls[i]))) {
				part += strlen(calls[i]);
				node = graph_pick_node(model, want, part, true);
				more = true;
			}
	}
	if (node != NONE)
		return node;
	*rule = GRAPH_LOWERED;
	part = after_lowered(name);
	if (part && (node = graph_pick_node(model, want, part, true)) != NONE)
		return node;
	*rule = GRAPH_RESULT;
	if (result_name(name, result, sizeof(result)) &&
	    (node = graph_pick_node(model, want, result, true)) != NONE)
		return node;
	*rule = GRAPH_SUFFIX;
	for (part = strchr(name, '/'); part; part = strchr(part, '/'))
		if ((node = graph_pick_node(model, want, ++part, false)) != NONE)
			return node;
	*rule = GRAPH_NOT;
	return NONE;
}

/* graph: the graph that ran, 0: unknown. own: whether the node belongs to it. */
static uint32_t graph_join_name(struct model *model, uint32_t process, uint32_t graph,
				uint32_t type, const char *name, uint8_t *rule, bool *own)
{
	struct graph_wanted want = { process, type, graph };
	uint32_t node = graph ? join_in(model, &want, name, rule) : NONE;

	*own = node != NONE;
	if (*own)
		return node;
	want.graph = 0;
	return join_in(model, &want, name, rule);
}

/* The key has a join already, perhaps an outdated one. */
static struct graph_join *join_of(struct model *model, uint32_t process, uint32_t ident)
{
	struct graphs *g = model->graphs;
	uint64_t key = (uint64_t)process << 32 | ident;
	uint32_t at = map_get(&g->join_by_ident, key);
	struct graph_join *j;

	if (at != NONE)
		return store_at(&g->joins, at);
	j = store_new(&g->joins);
	map_set(&g->join_by_ident, key, g->joins.n - 1);
	*j = (struct graph_join) { .node = NONE, .at = NONE };
	return j;
}

uint32_t graph_joined(struct model *model, uint32_t process, uint32_t ident, enum graph_rule *rule)
{
	struct graphs *g = model->graphs;
	const struct ident *what = ident_at(model, ident);
	struct graph_join *j = join_of(model, process, ident);
	const char *name;

	if (j->at != g->n_named) {
		name = names_raw(&model->names, what->name);
		j->rule = GRAPH_NOT;
		j->own = false;
		j->node = name && graph_is_op(model, what) ?
			  graph_join_name(model, process, what->domain, what->type, name, &j->rule,
					  &j->own) :
			  NONE;
		/* its name has not arrived yet */
		j->at = names_defined(&model->names, what->name) &&
			names_defined(&model->names, what->type) &&
			(!what->domain || names_defined(&model->names, what->domain)) ?
			(uint32_t)g->n_named : NONE;
	}
	if (rule)
		*rule = (enum graph_rule)j->rule;
	return j->node;
}

bool graph_joined_own(struct model *model, uint32_t process, uint32_t ident)
{
	return graph_joined(model, process, ident, NULL) != NONE &&
	       join_of(model, process, ident)->own;
}

const char *graph_placed(struct model *model, uint32_t process, uint32_t type, uint32_t name)
{
	const char *text = model->graphs ? names_raw(&model->names, name) : NULL;
	uint32_t node;
	uint8_t rule;
	bool own;

	if (!text || !names_defined(&model->names, name))
		return NULL;
	graph_index(model);
	node = graph_join_name(model, process, 0, type, text, &rule, &own);
	if (node == NONE || !gnode_at(model->graphs, node)->device)
		return NULL;
	return names_raw(&model->names, gnode_at(model->graphs, node)->device);
}

const char *graph_rule_name(enum graph_rule rule)
{
	static const char *const names[GRAPH_RULES] = {
		"not at all", "exactly", "as inlined", "as a branch or loop",
		"as a result", "by the end of its path",
	};

	return rule < GRAPH_RULES ? names[rule] : "";
}

/* ---- waits ---- */

void graph_ran(struct model *model, uint32_t process, uint32_t ident, const struct event_op *op)
{
	struct graphs *g;

	/* steps are random numbers */
	if (op->step == -1 || (op->flags & (OP_RANGE | OP_MARK)) || op->framework < FW_TENSORFLOW)
		return;
	g = graphs_get(model);
	if (g->n_runs >= GRAPH_RUNS_MAX)
		graph_settled(model, INT64_MIN);
	grow(&g->runs, &g->cap_runs, g->n_runs, sizeof(*g->runs));
	g->runs[g->n_runs++] = (struct graph_run) {
		.start_ns = op->start_ns, .end_ns = op->start_ns + op->dur_ns, .step = op->step,
		.process = process, .ident = ident,
	};
}

static void note_wait(struct gnode *node, int64_t wait_ns, uint32_t from)
{
	hist_add(&node->wait, wait_ns);
	add_ns(&node->wait_ns, wait_ns);
	/* Boyer and Moore's majority vote */
	if (node->waited_for == from) {
		node->waited_score++;
	} else if (!node->waited_score) {
		node->waited_for = from;
		node->waited_score = 1;
	} else {
		node->waited_score--;
	}
}

static void graph_take_run(struct model *model, const struct graph_run *run)
{
	struct graphs *g = model->graphs;
	uint32_t i = graph_joined(model, run->process, run->ident, NULL), from = NONE;
	int64_t last_ns = INT64_MIN;
	struct gnode *node;

	if (i == NONE)
		return;
	node = gnode_at(g, i);
	graph_resolve(model, node);
	for (uint32_t k = 0; k < node->n_in; k++) {
		uint32_t input = node->in[k] & ~GRAPH_CONTROL;
		const struct gnode *producer;

		if (input == GRAPH_UNKNOWN)
			continue;
		producer = gnode_at(g, input);
		for (uint32_t e = 0; e < GRAPH_ENDS; e++)
			if (producer->ended[e].end_ns && producer->ended[e].step == run->step &&
			    producer->ended[e].end_ns <= run->start_ns &&
			    producer->ended[e].end_ns > last_ns) {
				last_ns = producer->ended[e].end_ns;
				from = input;
			}
	}
	if (from != NONE)
		note_wait(node, run->start_ns - last_ns, from);
	node->ended[node->last].step = run->step;
	node->ended[node->last].end_ns = run->end_ns;
	node->last = (node->last + 1) % GRAPH_ENDS;
}

static int by_end(const void *a, const void *b)
{
	const struct graph_run *x = a, *y = b;

	return ASCENDING(x, y, end_ns) ?: ASCENDING(x, y, start_ns);
}

/* Sorts the runs that have settled to the front, by end; returns how many. */
static size_t take_due(struct graphs *g, int64_t until_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n_runs; i++)
		if (g->runs[i].end_ns <= until_ns) {
			struct graph_run run = g->runs[i];

			g->runs[i] = g->runs[n];
			g->runs[n++] = run;
		}
	if (n)
		qsort(g->runs, n, sizeof(*g->runs), by_end);
	return n;
}

void graph_settled(struct model *model, int64_t settled_ns)
{
	struct graphs *g = model->graphs;
	bool forced = settled_ns == INT64_MIN, last = settled_ns == INT64_MAX;
	size_t n;

	if (!g || !g->n_runs)
		return;
	if (forced) {
		qsort(g->runs, g->n_runs, sizeof(*g->runs), by_end);
		settled_ns = g->runs[g->n_runs / 2].end_ns;
	} else if (!last) {
		if (settled_ns < g->settled_ns + PERIOD_NS)
			return;
		g->settled_ns = settled_ns;
		settled_ns -= LATE_NS;
	}
	n = take_due(g, settled_ns);
	graph_index(model);
	for (size_t i = 0; i < n && g->nodes.n; i++) {
		graph_take_run(model, &g->runs[i]);
		if (!forced && i % BREATHE == BREATHE - 1)
			model_breathe(model);
	}
	g->n_runs -= n;
	if (n)
		memmove(g->runs, g->runs + n, g->n_runs * sizeof(*g->runs));
}
