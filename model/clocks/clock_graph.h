/* SPDX-License-Identifier: MIT */
/*
 * A graph of clocks: hosts and devices are nodes, what is known between two of them is a link.
 * Times of any clock are converted to the reference (node 0) over the links whose error bars have
 * the smallest sum.
 *
 * Links: between two hosts there is the hull of their messages (a message is sent on one before
 * it is received on the other, which gives the bounds of model/clocks/clock.h in both
 * directions), made by the first message. A device's clock is attached.
 *
 * Always true: a node that no path reaches is reported as unknown, never taken for the reference.
 * An error bar is the sum along the path, and so an upper limit whenever each link's error bar
 * is.
 *
 * Complexity: a message takes O(links of the node) to find its link, then as long as a bound of a
 * clock. The tree is made in O(nodes^2 + links) by the first question after a line changed, and
 * now and then since error bars change too. A question is O(path).
 *
 * Worked example: host 1 is 500 (+-10) ahead of host 0 and a device 2000 (+-3) ahead of host 1,
 * so device ticks 9000 are 6500 (+-13) of host 0.
 *
 * Source: Perfetto's clock_synchronizer (graph of clocks); the tree weighted by accuracy is
 * Jabbarifar's (2013), Dijkstra's algorithm.
 *
 * Ownership: the graph owns its links; an attached clock is *borrowed until the graph is freed*.
 * Threads: the owner's lock.
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
/* Makes a node; the first one, 0, is the reference. CLOCK_NODES: there are too many. */
uint32_t clock_graph_node(struct clock_graph *graph);
/* A message that `from` sent at sent_ns of its clock and `to` had received by received_ns of its
 * own. false: no such nodes. */
bool clock_graph_message(struct clock_graph *graph, uint32_t from, int64_t sent_ns, uint32_t to,
			 int64_t received_ns);
/* clock maps ticks of `node` to ns of `other`. */
bool clock_graph_attach(struct clock_graph *graph, uint32_t node, uint32_t other,
			const struct clock *clock);
/* Converts a node's time to the reference; false: unknown. */
bool clock_graph_map(struct clock_graph *graph, uint32_t node, uint64_t ticks, int64_t *ns,
		     int64_t *error_ns);
/* How many contradictions between hosts, that is, steps of their clocks, there were so far. */
uint64_t clock_graph_violations(const struct clock_graph *graph);

#endif
