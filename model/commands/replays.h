/* SPDX-License-Identifier: MIT */
/*
 * Launches of graphs in the model, see query/replays.h. join.c joins a launch and its nodes and
 * reports each node here. When it drops the launch, all its nodes have arrived, and the launch is
 * counted.
 *
 * Bounds: REPLAY_NODES nodes that wait, GRAPHS_MAX graphs, KINDS_MAX kinds of nodes.
 * Complexity: O(1) for a node, O(n log n) for a launch of n nodes. Threads: under the model's
 * lock.
 */
#ifndef MODEL_REPLAYS_H
#define MODEL_REPLAYS_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_NODES (1u << 20)		/* of all open launches: 24 MiB */
#define REPLAY_GRAPHS_MAX 4096u
#define REPLAY_KINDS_MAX (1u << 16)

struct model;
struct event_launch;
struct event_run;
struct process;
struct replays;

/* A node of this launch ran; *open: kept by the launch, 0 at first. */
void replays_node(struct model *model, struct process *process, uint32_t *open,
		  const struct event_launch *launch, const struct event_run *run);
/* No more nodes of the launch will arrive. open 0: there were none. */
void replays_end(struct model *model, uint32_t open);
/* A launch that was reported as a whole, without nodes, ran for dur_ns; name, op: names of the
 * model, op 0: none. */
void replays_whole(struct model *model, uint32_t name, uint32_t op, int64_t dur_ns);
void replays_free(struct replays *replays);
size_t replays_bytes(const struct replays *replays);

#endif
