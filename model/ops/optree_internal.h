/* SPDX-License-Identifier: MIT */
/*
 * The tree of calls, kept while events come in.
 *
 * Idea: an op's place is its parent's place and its identity. The parent ends
 * after it, so its record mostly comes later; what lasts long has been announced.
 * So an op whose parent has no place yet waits in a queue until everything that
 * could tell it has come (it has settled, and what could not be announced in
 * time is over), then goes to the place that the ops around it on its thread's
 * lanes give, else to the top. What is launched meanwhile waits in its op_state.
 *
 * Always true: each finished op is counted in one node; a node's parent has a
 * smaller index; device time is added to the node whose op launched it, once;
 * sums over what is below are made when asked for.
 *
 * A wait belongs to the innermost op around it, which may end after it: it waits
 * in the same way.
 *
 * Bounds: NODES_MAX, beyond which ops go to their parent's node `dropped`
 * counts; DEFERRED_MAX, beyond which the oldest is placed as it is.
 * Complexity: O(1) an op, O(depth * log n) one that has to be looked up in time.
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
#define ANNOUNCED_NS 20000000		/* what lasts longer has been announced */
#define WINDOW_AFTER_NS 1000000000
#define NESTING_MAX 512

struct tree_node {
	uint32_t parent, ident;		/* ident NONE: a root */
	uint32_t thread;		/* NONE: asynchronous ops of a process */
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
	/* the last ones, for questions about a window */
	struct tree_wait *kept;		/* owned; ring */
	size_t kept_head, n_kept;
	int64_t forgotten_ns;		/* waits before are not known any more */
	uint64_t dropped;
};

static inline struct tree_node *node_at(const struct optree *tree, uint32_t i)
{
	return store_at(&tree->nodes, i);
}

/* Places what can be placed now. */
void optree_try(struct model *model);

#endif
