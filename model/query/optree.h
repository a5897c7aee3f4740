/* SPDX-License-Identifier: MIT */
/*
 * Ops as a tree of calls: which op was called in which, how often, what it cost on the host and
 * on the device, and how long it waited. The rules of query.h apply.
 *
 * A node is an op (name, type, framework) in one context of surrounding ops; all numbered steps
 * are one op. Nesting follows a thread's stack. Asynchronous ops are on no stack: they are at the
 * top and in no op's self time.
 *
 * The whole run is exact, even where detail was folded. A window covers what is in the timeline:
 * ops that start in it, with the device work launched in them, copies included that ran until
 * WINDOW_AFTER_NS after it.
 */
#ifndef MODEL_QUERY_OPTREE_H
#define MODEL_QUERY_OPTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/query.h"

#define OPTREE_TOP UINT32_MAX

struct optree_row {
	uint64_t id;	/* made from its path, so that it is the same in every answer */
	uint32_t parent;		/* index, OPTREE_TOP: none */
	uint32_t depth, children;
	const char *name, *type;	/* name NULL: everything outside of ops; type NULL: none */
	enum framework framework;
	bool is_range, is_async;
	bool is_scope;			/* a scope of model_scopes(), not an op */
	uint64_t count;			/* finished ops */
	/* those that were seen; fewer: count and all sums are estimates (core/bares.h) */
	uint64_t seen;
	int64_t total_ns, self_ns, max_ns;
	/* the host waited for a device, here and in all nodes below */
	int64_t wait_ns;
	/* Device time of the work launched directly in it; and of that launched in it and in all
	 * nodes below. */
	int64_t device_self_ns, device_ns;
	uint64_t kernels, copies, copy_bytes;	/* in it and in all nodes below */
};

struct optree_question {
	/* row of a thread, as in model_rows(); 0: all threads, merged */
	uint32_t row;
	int64_t t0, t1;			/* the window; t0 == t1: the whole run */
};

/*
 * Parents come before children, siblings are sorted by device time (by total time if there is
 * none). *waits_known: false if the window is older than the remembered waits. The caller owns
 * *out. [locked]
 */
size_t model_optree(struct model *model, const struct optree_question *question,
		    bool *waits_known, struct optree_row **out);

/*
 * Ops by their scope: the parts of a name (TensorFlow's nodes, ranges), the modules that ran them
 * (PyTorch's, by class), or the user's functions that called them (where lines are reported),
 * below their callers as far as these are known. A scope's type is "scope", "nn.Module", or the
 * file of its function; its self_ns and device_self_ns are those of the ops directly in it.
 * total_ns is the sum of self_ns of it and all nodes below, so that siblings add up to their
 * parent. Order and rules are as in model_optree(); the names of scopes are in *out, too.
 * [locked]
 */
size_t model_scopes(struct model *model, struct optree_row **out);

/* How many ops found no place in the tree, whose size is bounded. [locked] */
uint64_t model_optree_dropped(struct model *model);

#endif
