/* SPDX-License-Identifier: MIT */
/* Edges by producer, and the source lines that nodes take along edges. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/graph/graph.h"

static const char *raw(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : NULL;
}

size_t model_graph_inputs(struct model *model, uint32_t index, struct graph_edge **out)
{
	struct graphs *g = model->graphs;
	struct gnode *node;
	size_t n = 0, text;
	char *names;

	*out = NULL;
	if (!g || index >= g->nodes.n)
		return 0;
	node = gnode_at(g, index);
	graph_resolve(model, node);
	text = strlen(node->inputs) + 1;
	*out = xcalloc(1, (node->n_in + 1) * sizeof(**out) + text);
	names = (char *)(*out + node->n_in + 1);
	memcpy(names, node->inputs, text);
	for (char *save = NULL, *p = strtok_r(names, " ", &save); p && n < node->n_in;
	     p = strtok_r(NULL, " ", &save)) {
		struct graph_edge *edge = &(*out)[n];
		uint32_t to = node->in[n++] & ~GRAPH_CONTROL;
		char *colon;

		edge->control = *p == '^';
		p += edge->control;
		colon = strrchr(p, ':');
		if (colon && colon[1] >= '0' && colon[1] <= '9')
			edge->slot = (uint32_t)strtoul(colon + 1, NULL, 10);
		p[strcspn(p, ":")] = '\0';
		edge->name = p;
		edge->node = to == GRAPH_UNKNOWN ? GRAPH_NONE : to;
	}
	return n;
}

/* The node whose line the first neighbour with a line from an earlier round has; NONE: there is
 * none. Data edges come before control edges. */
static uint32_t of_inputs(const struct graphs *g, const struct gnode *node, const uint8_t *round,
			  uint8_t now)
{
	for (uint32_t control = 0; control < 2; control++)
		for (uint32_t k = 0; k < node->n_in; k++) {
			uint32_t from = node->in[k] & ~GRAPH_CONTROL;

			if (from != GRAPH_UNKNOWN && !(node->in[k] & GRAPH_CONTROL) == !control &&
			    gnode_at(g, from)->lent != NONE && round[from] < now)
				return gnode_at(g, from)->lent;
		}
	return NONE;
}

static uint32_t of_takers(const struct graphs *g, uint32_t node, const uint8_t *round, uint8_t now)
{
	for (uint32_t e = g->out_first[node]; e != NONE; e = g->out_next[e])
		if (gnode_at(g, g->out_to[e])->lent != NONE && round[g->out_to[e]] < now)
			return gnode_at(g, g->out_to[e])->lent;
	return NONE;
}

/* Takes lines in rounds: first from a node's inputs, then from those that take its outputs. Each
 * round only uses lines of earlier rounds, so that the order of nodes does not matter. */
static void graph_lend_rounds(struct model *model, uint8_t *round)
{
	struct graphs *g = model->graphs;

	for (uint8_t r = 1; r <= 2 * GRAPH_LENT_MAX; r++)
		for (uint32_t i = 0; i < g->nodes.n; i++) {
			struct gnode *node = gnode_at(g, i);
			uint32_t from;

			if (node->lent != NONE)
				continue;
			from = r <= GRAPH_LENT_MAX ? of_inputs(g, node, round, r) :
						     of_takers(g, i, round, r);
			if (from == NONE)
				continue;
			node->lent = from;
			round[i] = r;
		}
}

static void lend_lines(struct model *model)
{
	struct graphs *g = model->graphs;
	uint8_t *round = xcalloc(g->nodes.n + 1, 1);

	for (uint32_t i = 0; i < g->nodes.n; i++)
		gnode_at(g, i)->lent = gnode_at(g, i)->line && gnode_at(g, i)->file ? i : NONE;
	graph_lend_rounds(model, round);
	free(round);
}

void graph_turn(struct model *model)
{
	struct graphs *g = model->graphs;
	size_t edges = 0;

	if (!g || g->out_at == g->nodes.n + 1)
		return;
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		graph_resolve(model, gnode_at(g, i));
		edges += gnode_at(g, i)->n_in;
	}
	g->out_first = xreallocarray(g->out_first, g->nodes.n + 1, sizeof(uint32_t));
	g->out_next = xreallocarray(g->out_next, edges + 1, sizeof(uint32_t));
	g->out_to = xreallocarray(g->out_to, edges + 1, sizeof(uint32_t));
	memset(g->out_first, 0xff, (g->nodes.n + 1) * sizeof(uint32_t));
	g->n_out = 0;
	for (uint32_t i = g->nodes.n; i-- > 0;) {
		const struct gnode *node = gnode_at(g, i);

		for (uint32_t k = node->n_in; k-- > 0;) {
			uint32_t from = node->in[k] & ~GRAPH_CONTROL;

			if (from == GRAPH_UNKNOWN)
				continue;
			g->out_to[g->n_out] = i;
			g->out_next[g->n_out] = g->out_first[from];
			g->out_first[from] = g->n_out++;
		}
	}
	g->out_at = g->nodes.n + 1;
	lend_lines(model);
}

static bool is_control(const struct gnode *node, uint32_t from)
{
	bool control = true;

	for (uint32_t k = 0; k < node->n_in; k++)
		if ((node->in[k] & ~GRAPH_CONTROL) == from)
			control &= (node->in[k] & GRAPH_CONTROL) != 0;
	return control;
}

size_t model_graph_outputs(struct model *model, uint32_t index, struct graph_edge **out)
{
	struct graphs *g = model->graphs;
	size_t n = 0, most = 0;
	uint32_t last = NONE;

	*out = NULL;
	if (!g || index >= g->nodes.n)
		return 0;
	graph_turn(model);
	for (uint32_t e = g->out_first[index]; e != NONE; e = g->out_next[e])
		most++;
	*out = xcalloc(most + 1, sizeof(**out));
	for (uint32_t e = g->out_first[index]; e != NONE; e = g->out_next[e]) {
		if (g->out_to[e] == last)
			continue;	/* the consumer takes several outputs of the node */
		last = g->out_to[e];
		(*out)[n++] = (struct graph_edge) {
			.node = last, .name = raw(model, gnode_at(g, last)->name),
			.control = is_control(gnode_at(g, last), index),
		};
	}
	return n;
}
