/* SPDX-License-Identifier: MIT */
/*
 * Ops as a tree of calls: what was called in what, how often, what it cost on
 * the host and on the device, how long it waited. Beside query.h, by the same
 * rules.
 *
 * A node is an op (name, type, framework) in one context of ops around it; the
 * numbered steps are one op. Nesting is that of a thread's stack; asynchronous
 * ops are in no stack: they stand at the top, and in nobody's self time.
 *
 * The whole run is exact, also where detail was folded away. A window is what is
 * in the timeline: ops that begin in it, with the device work launched in them;
 * copies are those that ran until WINDOW_AFTER_NS after it.
 */
#ifndef MODEL_QUERY_OPTREE_H
#define MODEL_QUERY_OPTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/query.h"

#define OPTREE_TOP UINT32_MAX

struct optree_row {
	uint64_t id;			/* of its path: the same in every answer */
	uint32_t parent;		/* index, OPTREE_TOP: none */
	uint32_t depth, children;
	const char *name, *type;	/* name NULL: outside of ops; type NULL: none */
	enum framework framework;
	bool is_range, is_async;
	bool is_scope;			/* of model_scopes(), no op */
	uint64_t count;			/* finished ones */
	int64_t total_ns, self_ns, max_ns;
	int64_t wait_ns;		/* host waited for the device, in all below */
	/* Launched in it directly; in it and all below. */
	int64_t device_self_ns, device_ns;
	uint64_t kernels, copies, copy_bytes;	/* in all below */
};

struct optree_question {
	uint32_t row;			/* of a thread, as in model_rows(); 0: all, merged */
	int64_t t0, t1;			/* a window; t0 == t1: the whole run */
};

/*
 * Parents before children, siblings by device time (where there is any, else by
 * total). *waits_known: false when the window is older than the waits that are
 * remembered. *out owned by the caller. [locked]
 */
size_t model_optree(struct model *model, const struct optree_question *question,
		    bool *waits_known, struct optree_row **out);

/*
 * Ops by the scope that they are in: the parts of a name (TensorFlow's nodes, ranges), the
 * modules that ran them (PyTorch's, by class), or the user's functions that called them
 * (where lines are told), below their callers as far as these are known. A scope's type is
 * "scope", "nn.Module", or the file that its function is in;
 * its self_ns and device_self_ns are those of the ops right in it. total_ns is the sum of
 * self_ns of it and all below, so that siblings add up to their parent. Order and rules
 * as model_optree()'s; what scopes are called is in *out too. [locked]
 */
size_t model_scopes(struct model *model, struct optree_row **out);

/* Ops that found no place in the tree, which is bounded. [locked] */
uint64_t model_optree_dropped(struct model *model);

#endif
