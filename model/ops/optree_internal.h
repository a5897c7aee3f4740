/* SPDX-License-Identifier: MIT */
/*
 * The tree of calls, kept while events come in.
 *
 * Idea: an op's place in the tree is given by its parent's place and its own identity. The parent
 * ends later, so its record usually arrives later; long ops have been announced. So an op whose
 * parent has no place yet waits in a queue until everything that could determine its place has
 * arrived (it has settled, and parents too short to be announced are over). Then its place
 * follows from the ops around it on its thread's lanes; without any it goes to the top. Launches
 * wait in its op_state meanwhile.
 *
 * Always true: each finished op is counted in one node; a node's parent has a smaller index;
 * device time is added to the node whose op launched it, once; sums over what is below are made
 * when asked for.
 *
 * A wait for a device belongs to the innermost op around it, which may end later, so it is queued
 * in the same way.
 *
 * Bounds: NODES_MAX nodes (more ops go to their parent's node and are counted in `dropped`);
 * DEFERRED_MAX waiting ops (then the oldest is placed as it is).
 * Complexity: O(1) for an op, O(depth * log n) for an op that must be searched by time.
 *
 * Source: calling context trees, Ammons, Ball and Larus 1997.
 */
#ifndef MODEL_OPTREE_INTERNAL_H
#define MODEL_OPTREE_INTERNAL_H

#include "model/core/model.h"
#include "model/query/optree.h"

#define NODES_MAX (1u << 18)
#define DEFERRED_MAX (1u << 16)
#define WAITS_KEPT (1u << 14)
#define ANNOUNCED_NS 20000000		/* longer ops have been announced */
#define WINDOW_AFTER_NS 1000000000
#define NESTING_MAX 512

struct tree_node {
	uint32_t parent, ident;		/* ident NONE: a root */
	uint32_t thread;		/* NONE: asynchronous ops of a process */
	uint32_t unseen;		/* runs in bare steps: see ident_unseen() */
	uint64_t count, ranges, kernels, copies, copy_bytes;
	int64_t total_ns, max_ns, device_ns, wait_ns;
};

struct deferred_op { uint64_t instance; int64_t due_ns; uint32_t process, state; };
struct tree_wait { int64_t start_ns, dur_ns, due_ns; uint32_t thread; };

struct optree {
	struct store nodes;
	struct map by_key;		/* parent << 32 | ident */
	/* [head, n), in the order they came */
	struct deferred_op *ops;	/* owned */
	size_t ops_head, n_ops, cap_ops;
	struct tree_wait *waits;	/* owned */
	size_t waits_head, n_waits, cap_waits;
	/* the last waits, for questions about a window */
	struct tree_wait *kept;		/* owned; ring */
	size_t kept_head, n_kept;
	int64_t forgotten_ns;		/* earlier waits have been dropped */
	uint64_t dropped;
};

static inline struct tree_node *node_at(const struct optree *tree, uint32_t i)
{
	return store_at(&tree->nodes, i);
}

/* Places the ops and waits that can be placed now. */
void optree_try(struct model *model);

#endif
