/* SPDX-License-Identifier: MIT */
/*
 * Launches of graphs in the model, see query-replays.h. A launch and its nodes meet in
 * join.c, which tells this of each; when it lets go of the launch, all of its nodes have
 * come, and it is counted.
 *
 * Bounds: REPLAY_NODES nodes that wait, GRAPHS_MAX graphs, KINDS_MAX kinds of nodes.
 * Complexity: a node O(1), a launch O(n log n). Threads: under the model's lock.
 */
#ifndef MODEL_REPLAYS_H
#define MODEL_REPLAYS_H

#include <stddef.h>
#include <stdint.h>

#define REPLAY_NODES (1u << 20)		/* of all launches that are open: 24 MiB */
#define REPLAY_GRAPHS_MAX 4096u
#define REPLAY_KINDS_MAX (1u << 16)

struct model;
struct event_launch;
struct event_run;
struct process;
struct replays;

/* A node of that launch of a process ran; *open: of the launch, 0 at first. */
void replays_node(struct model *model, struct process *process, uint32_t *open,
		  const struct event_launch *launch, const struct event_run *run);
/* No more will come. open 0: there was none. */
void replays_end(struct model *model, uint32_t open);
/* A launch that is told as one ran for so long; name, op: of the model, op 0 none. */
void replays_whole(struct model *model, uint32_t name, uint32_t op, int64_t dur_ns);
void replays_free(struct replays *replays);
size_t replays_bytes(const struct replays *replays);

#endif
