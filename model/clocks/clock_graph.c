/* SPDX-License-Identifier: MIT */
#include "model/clocks/clock_graph.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define NO_LINK UINT32_MAX
/* rebuild the tree after this many queries, because error bars change even if no line does */
#define REMAKE 256

/* Converts ticks of `node` to ns of `other`. */
struct clock_link {
	uint32_t node, other;
	struct clock *own;		/* owned; NULL: attached */
	const struct clock *clock;	/* own, or borrowed */
};

struct clock_graph {
	struct clock_link *links;		/* owned */
	size_t n, cap;
	uint32_t nodes;
	bool stale;			/* the tree is out of date */
	uint32_t asked;
	uint32_t parent[CLOCK_NODES];	/* link towards the reference, or NO_LINK */
	int64_t error[CLOCK_NODES];	/* sum of error bars up to the reference */
};

struct clock_graph *clock_graph_new(void)
{
	return xcalloc(1, sizeof(struct clock_graph));
}

static void link_release(struct clock_link *link)
{
	if (!link->own)
		return;
	clock_release(link->own);
	free(link->own);
}

void clock_graph_free(struct clock_graph *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->n; i++)
		link_release(&graph->links[i]);
	free(graph->links);
	free(graph);
}

uint32_t clock_graph_node(struct clock_graph *graph)
{
	if (graph->nodes == CLOCK_NODES)
		return CLOCK_NODES;
	graph->stale = true;
	return graph->nodes++;
}

static struct clock_link *link_add(struct clock_graph *graph, uint32_t node, uint32_t other)
{
	grow(&graph->links, &graph->cap, graph->n, sizeof(*graph->links));
	graph->links[graph->n] = (struct clock_link) { .node = node, .other = other };
	graph->stale = true;
	return &graph->links[graph->n++];
}

static struct clock *link_of_hosts(struct clock_graph *graph, uint32_t node, uint32_t other)
{
	struct clock_link *link;

	for (size_t i = 0; i < graph->n; i++)
		if (graph->links[i].own && graph->links[i].node == node &&
		    graph->links[i].other == other)
			return graph->links[i].own;
	link = link_add(graph, node, other);
	link->clock = link->own = xcalloc(1, sizeof(*link->own));
	return link->own;
}

bool clock_graph_message(struct clock_graph *graph, uint32_t from, int64_t sent_ns, uint32_t to,
			 int64_t received_ns)
{
	struct clock_change change;
	struct clock *clock;
	bool had;

	if (from >= graph->nodes || to >= graph->nodes || from == to)
		return false;
	/* In a link the higher node's clock counts the ticks, the lower node's is the host. */
	clock = from < to ? link_of_hosts(graph, to, from) : link_of_hosts(graph, from, to);
	had = clock_has(clock);
	if (from < to)
		clock_bound(clock, (uint64_t)received_ns, sent_ns, false, &change);
	else
		clock_bound(clock, (uint64_t)sent_ns, received_ns, true, &change);
	free(change.before);
	graph->stale |= change.changed || clock_has(clock) != had;
	return true;
}

bool clock_graph_attach(struct clock_graph *graph, uint32_t node, uint32_t other,
			const struct clock *clock)
{
	if (node >= graph->nodes || other >= graph->nodes || node == other)
		return false;
	link_add(graph, node, other)->clock = clock;
	return true;
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

/* Dijkstra's algorithm from the reference. */
static void clock_graph_make_tree(struct clock_graph *graph)
{
	bool done[CLOCK_NODES] = { false };

	for (uint32_t i = 0; i < graph->nodes; i++) {
		graph->parent[i] = NO_LINK;
		graph->error[i] = i ? INT64_MAX : 0;
	}
	for (;;) {
		uint32_t nearest = CLOCK_NODES;

		for (uint32_t i = 0; i < graph->nodes; i++)
			if (!done[i] && (!i || graph->parent[i] != NO_LINK) &&
			    (nearest == CLOCK_NODES || graph->error[i] < graph->error[nearest]))
				nearest = i;
		if (nearest == CLOCK_NODES)
			break;
		done[nearest] = true;
		for (uint32_t l = 0; l < graph->n; l++) {
			const struct clock_link *link = &graph->links[l];
			uint32_t far = link->node == nearest ? link->other :
				       link->other == nearest ? link->node : nearest;
			int64_t error;

			if (done[far] || !clock_has(link->clock))
				continue;
			error = sum(graph->error[nearest], clock_error(link->clock));
			if (graph->parent[far] == NO_LINK || error < graph->error[far]) {
				graph->parent[far] = l;
				graph->error[far] = error;
			}
		}
	}
	graph->stale = false;
}

bool clock_graph_map(struct clock_graph *graph, uint32_t node, uint64_t ticks, int64_t *ns,
		     int64_t *error_ns)
{
	if (node >= graph->nodes)
		return false;
	if (graph->stale || ++graph->asked % REMAKE == 0)
		clock_graph_make_tree(graph);
	*error_ns = 0;
	while (node) {
		const struct clock_link *link;
		uint8_t segment;

		if (graph->parent[node] == NO_LINK)
			return false;
		link = &graph->links[graph->parent[node]];
		if (link->node == node) {
			*error_ns = sum(*error_ns, clock_error_at(link->clock, ticks));
			ticks = (uint64_t)clock_map(link->clock, ticks, &segment);
			node = link->other;
		} else {
			ticks = clock_back(link->clock, (int64_t)ticks);
			*error_ns = sum(*error_ns, clock_error_at(link->clock, ticks));
			node = link->node;
		}
	}
	*ns = (int64_t)ticks;
	return true;
}

uint64_t clock_graph_violations(const struct clock_graph *graph)
{
	uint64_t violations = 0;

	for (size_t i = 0; i < graph->n; i++)
		if (graph->links[i].own)
			violations += graph->links[i].own->violations;
	return violations;
}
