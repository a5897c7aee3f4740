/* SPDX-License-Identifier: MIT */
/* Ops in the model: ops and what was launched in them, the tree of calls, data edges. */
#ifndef MODEL_OPS_OPS_H
#define MODEL_OPS_OPS_H

#include "model/idents/idents.h"
#include "model/rows/rows.h"

/* how many finished ops are found without a search, unless memory is tight */
#define OPS_KEEP (1u << 17)

/* ---- ops.c ---- */
void apply_op(struct model *model, const struct arrival *arrival);
void op_launched(struct model *model, const struct launch *launch);
/* Something was enqueued in the op, so it is not a mere range. */
void op_touched(struct model *model, uint32_t process, uint64_t op, uint32_t op_name);
void ops_finish(struct model *model);
/* Writes what a state has collected into the op's finished span. */
void op_state_write(struct model *model, struct op_state *state);
/* Searches the op's span by time; gives its row, lane and place. */
bool op_find(struct model *model, uint32_t process, uint32_t tid, uint64_t instance,
	     int64_t around_ns, uint32_t *row, uint32_t *lane, struct lane_pos *pos);

/* ---- unseen.c ---- */
/* An op of the identity has ended: returns for how many runs in bare steps it stands, too; also 0
 * if that is known only when its step ends: they are added then. state: index of its state, or
 * NONE. */
uint32_t unseen_ran(struct model *model, struct process *process, uint32_t ident, uint32_t state,
		    const struct event_op *op);
/* A step of the process has ended. */
void unseen_step(struct model *model, struct process *process);

/* ---- optree.c: the tree of calls, see optree_internal.h ---- */
void optree_new(struct model *model);
void optree_free(struct model *model);
size_t optree_bytes(const struct model *model);
/* state: the index of the op's state, whose identity is known. */
void optree_announced(struct model *model, uint32_t state, const struct event_op *op);
void optree_finished(struct model *model, uint32_t state, const struct event_op *op);
/* Places an op that has no state. */
void optree_nameless(struct model *model, uint32_t process, uint32_t ident, uint32_t unseen,
		     const struct event_op *op);
/* The state is about to be freed. */
void optree_forget(struct model *model, uint32_t state);
/* Called at the end: the op never arrived, or not all of the ops around it did. */
void optree_orphan(struct model *model, uint32_t state);
/* A launch that was already added to the op's state. */
void optree_launched(struct model *model, uint32_t state, const struct launch *launch);
/* A launch in an op, in this lane of its thread, whose state was freed. */
void optree_launched_late(struct model *model, uint32_t lane, const struct launch *launch);
void optree_wait(struct model *model, const struct arrival *in);
/* All events before settled_ns have arrived. Yields the lock (model_breathe()). */
void optree_settled(struct model *model, int64_t settled_ns);

/* ---- edges.c: what ops take from other ops ---- */
/* Calls `each` with the names of the ops that take data from ops of this name (takers) or that give
 * data to them (!takers). */
void edges_each(struct model *model, uint32_t name, bool takers,
		void (*each)(void *arg, uint32_t name), void *arg);
void edges_new(struct model *model);
void edges_free(struct model *model);
size_t edges_bytes(const struct model *model);
void apply_edge(struct model *model, const struct arrival *in);
/* All events before settled_ns have arrived. Yields the lock (model_breathe()). */
void edges_settled(struct model *model, int64_t settled_ns);

#endif
