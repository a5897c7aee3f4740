/* SPDX-License-Identifier: MIT */
/*
 * Several hosts on one timeline: every time of another host is converted to host 0's clock when
 * the event comes in, so that the rest of the model knows only one clock.
 *
 * Idea: two hosts' CLOCK_MONOTONIC have nothing in common, but their wall clocks agree to some
 * milliseconds. Each process reports both clocks, which gives a first estimate, accurate to
 * HOSTS_WALL_NS. Messages between hosts (EVENT_FLOW, reported by both sides under one key) then
 * bound the offset from both sides, as launches and waits bound a device's clock. The graph of
 * clocks converts each host's times to host 0 over the messages that bound them best.
 *
 * Always true: host 0's times are unchanged; a host whose clock is unknown keeps its own times,
 * and model_hosts() says so; spans stay where they were drawn when the map gets better; a
 * duration changes only by drift.
 *
 * Complexity: O(hosts on the path) for an event of another host; O(1) for a message, plus the
 * graph's tree when a line changed. Bounds: HOSTS_MAX hosts; HOSTS_FLOWS messages wait for their
 * other side, then the oldest are dropped.
 *
 * Source: see model/clocks/clock_graph.h. Threads: under the model's lock.
 */
#ifndef MODEL_HOSTS_H
#define MODEL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"
#include "model/clocks/clock_graph.h"
#include "model/event.h"

#define HOSTS_MAX CLOCK_NODES
#define HOSTS_FLOWS 8192u
#define HOSTS_WALL_NS 100000000	/* wall clocks within one cluster differ by less than this */

struct model;

struct host {
	bool has_wall, linked;		/* linked: the graph knows its wall clock */
	int64_t wall_ns;		/* its wall clock minus its CLOCK_MONOTONIC */
	int64_t error_ns;		/* error bar at the last event that was converted */
	struct clock wall;		/* maps to host 0 by the wall clocks alone */
};

struct flow_side { uint64_t key; int64_t at_ns; uint16_t host; bool received, waits; };

struct hosts {
	struct clock_graph *graph;	/* owned; NULL: there is only host 0 so far */
	uint32_t n;			/* nodes in the graph */
	struct host *list[HOSTS_MAX];	/* owned */
	struct host first;		/* host 0's wall clock */
	struct flow_side *flows;	/* owned; ring of HOSTS_FLOWS */
	uint32_t next_flow;
	struct map flow_by_key;		/* -> index in flows */
	struct event mapped;
};

/* The event with its times on host 0's clock; valid until the next call. */
const struct event *hosts_map(struct model *model, const struct event *event);
/* What is to be added to the error bar of anything on that host. */
int64_t hosts_error(const struct model *model, uint16_t host);
void hosts_new(struct model *model);
size_t hosts_bytes(const struct model *model);
void hosts_free(struct model *model);

#endif
