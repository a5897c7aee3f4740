/* SPDX-License-Identifier: MIT */
/*
 * Several hosts on one timeline: every time of another host is taken to host
 * 0's clock at the door, so that the rest of the model knows one clock only.
 *
 * Idea: two hosts' CLOCK_MONOTONIC have nothing in common; their wall clocks
 * agree to some milliseconds (each process tells both), which is the first
 * estimate, HOSTS_WALL_NS give or take. Messages between them (EVENT_FLOW, told
 * by both sides under one key) then bound the offset from both sides as
 * launches and waits bound a device's, and the graph of clocks takes each host
 * to host 0 over the messages that bound it best.
 *
 * Always true: host 0's times are as they came; a host whose clock nobody knows
 * keeps its own times, and model_hosts() says so; what was drawn stays where it
 * is when the map gets better; a length changes by drift only.
 *
 * Complexity: an event of another host O(hosts on the path); a message O(1)
 * and, when it changed a line, the graph's tree. Bounds: HOSTS_MAX hosts,
 * HOSTS_FLOWS messages that wait for their other side, the oldest go.
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
#define HOSTS_WALL_NS 100000000		/* wall clocks of one cluster differ by less */

struct model;

struct host {
	bool has_wall, linked;		/* linked: its wall clock is in the graph */
	int64_t wall_ns;		/* its wall clock less its CLOCK_MONOTONIC */
	int64_t error_ns;		/* at the last event mapped */
	struct clock wall;		/* to host 0, from the wall clocks alone */
};

struct flow_side { uint64_t key; int64_t at_ns; uint16_t host; bool received, waits; };

struct hosts {
	struct clock_graph *graph;	/* owned; NULL: host 0 is alone so far */
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
/* One side of a message, its times as they came. */
void hosts_flow(struct model *model, const struct event *event);
/* What is added to an error bar of something on that host. */
int64_t hosts_error(const struct model *model, uint16_t host);
void hosts_new(struct model *model);
size_t hosts_bytes(const struct model *model);
void hosts_free(struct model *model);

#endif
