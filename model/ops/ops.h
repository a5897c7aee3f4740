/* SPDX-License-Identifier: MIT */
/* Ops in the model: what ran, the tree of calls, data edges. */
#ifndef MODEL_OPS_OPS_H
#define MODEL_OPS_OPS_H

#include "model/idents/idents.h"
#include "model/rows/rows.h"

#define OPS_KEEP (1u << 17)		/* finished ops found at once, unless memory is tight */

/* ---- ops.c ---- */
void apply_op(struct model *model, const struct arrival *arrival);
void op_launched(struct model *model, const struct launch *launch);
/* Something was enqueued in it: it is no mere range. */
void op_touched(struct model *model, uint32_t process, uint64_t op, uint32_t op_name);
void ops_finish(struct model *model);
/* Writes what a state collected into its finished span. */
void op_state_write(struct model *model, struct op_state *state);
/* The op's span, looked up in time: row, lane and place. */
bool op_find(struct model *model, uint32_t process, uint32_t tid, uint64_t instance,
	     int64_t around_ns, uint32_t *row, uint32_t *lane, struct lane_pos *pos);

/* ---- optree.c: the tree of calls, see optree_internal.h ---- */
void optree_new(struct model *model);
void optree_free(struct model *model);
size_t optree_bytes(const struct model *model);
/* By the index of its state, whose identity is known. */
void optree_announced(struct model *model, uint32_t state, const struct event_op *op);
void optree_finished(struct model *model, uint32_t state, const struct event_op *op);
/* One that has no state. */
void optree_nameless(struct model *model, uint32_t process, uint32_t ident,
		     const struct event_op *op);
/* The state is about to go. */
void optree_forget(struct model *model, uint32_t state);
/* At the end: it never came, or not all of those around it. */
void optree_orphan(struct model *model, uint32_t state);
/* Added to its state already. */
void optree_launched(struct model *model, uint32_t state, const struct launch *launch);
/* In an op of that lane of its thread, whose state is gone. */
void optree_launched_late(struct model *model, uint32_t lane, const struct launch *launch);
void optree_wait(struct model *model, const struct arrival *in);
/* All before is final. Breathes. */
void optree_settled(struct model *model, int64_t settled_ns);

/* ---- edges.c: what ops take from other ops ---- */
/* The names of those that take from the ops of that name, or that they take from, as told. */
void edges_each(struct model *model, uint32_t name, bool takers,
		void (*each)(void *arg, uint32_t name), void *arg);
void edges_new(struct model *model);
void edges_free(struct model *model);
size_t edges_bytes(const struct model *model);
void apply_edge(struct model *model, const struct arrival *in);
/* All before is final. Breathes. */
void edges_settled(struct model *model, int64_t settled_ns);

#endif
