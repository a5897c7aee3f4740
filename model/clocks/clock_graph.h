/* SPDX-License-Identifier: MIT */
/*
 * A graph of clocks: hosts and devices are nodes, what is known between two of
 * them is a link, and any clock is taken to the reference (node 0) over the
 * links whose error bars add up to the least.
 *
 * Links: between hosts the hull of the messages between them (sent on one
 * before received on the other: the bounds of model/clocks/clock.h in both
 * directions), made by the first message; a device's clock is attached.
 *
 * Always true: a node that no path reaches is said to be unknown, never taken
 * for the reference; an error bar is the sum along the path, so an upper limit
 * whenever each link's is.
 *
 * Complexity: a message as a bound of a clock, after finding its link, O(links
 * of the node); the tree O(nodes^2 + links) when asked after a line
 * changed, and now and then, since bars change too; a question O(path).
 *
 * Worked example: host 1 is 500 ahead of host 0 give or take 10, a device 2000
 * ahead of host 1 give or take 3: device ticks 9000 are 6500 of host 0, +-13.
 *
 * Source: Perfetto's clock_synchronizer (graph of clocks); the tree weighted by
 * accuracy is Jabbarifar's (2013), Dijkstra's algorithm.
 *
 * Ownership: the graph owns its links; an attached clock is *borrowed until
 * the graph is freed*. Threads: the owner's lock.
 */
#ifndef MODEL_CLOCK_GRAPH_H
#define MODEL_CLOCK_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/clocks/clock.h"

#define CLOCK_NODES 256u

struct clock_graph;

struct clock_graph *clock_graph_new(void);
void clock_graph_free(struct clock_graph *graph);
/* A new node, the first is 0, the reference. CLOCK_NODES: there are too many. */
uint32_t clock_graph_node(struct clock_graph *graph);
/* Sent by `from` at sent_ns of its clock, there by received_ns of `to`'s.
 * false: no such nodes. */
bool clock_graph_message(struct clock_graph *graph, uint32_t from, int64_t sent_ns, uint32_t to,
			 int64_t received_ns);
/* clock: ticks of node to ns of other. */
bool clock_graph_attach(struct clock_graph *graph, uint32_t node, uint32_t other,
			const struct clock *clock);
/* Time of a node's clock on the reference's; false: not known. */
bool clock_graph_map(struct clock_graph *graph, uint32_t node, uint64_t ticks, int64_t *ns,
		     int64_t *error_ns);
/* Contradictions between hosts so far: steps of their clocks. */
uint64_t clock_graph_violations(const struct clock_graph *graph);

#endif
