/* SPDX-License-Identifier: MIT */
/*
 * Runs of ops that were not seen because steps were bare (core/bares.h).
 *
 * An op that arrives before the end of its step is known is kept in a list, and counted when that
 * end arrives. Those after the last step stay there: a validation is not part of the training.
 *
 * Functions of optimizers and loaders are seen in bare steps, too, and PyTorch does not tell which
 * of its ops these are. So it is counted in how many bare steps an identity's ops were seen. A bare
 * step is told at its end, thus this is counted for an op when the next one arrives.
 */
#include "model/base/util.h"
#include "model/core/bares.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"
#include "model/ops/ops.h"
#include "model/ops/optree_internal.h"

#define KEPT_MAX 65536u	/* ops of a step that is going on */

/* An op of the identity stands for the steps of this bare time, too: returns for how many. */
static uint32_t unseen_owed(struct ident *ident, const struct bare *bare)
{
	struct unseen *unseen = ident->unseen;

	unseen->runs += bare->owed;
	if (unseen->bare != (uint32_t)bare->end_ns)
		unseen->steps += bare->owed;
	unseen->bare = (uint32_t)bare->end_ns;
	return bare->owed;
}

static void keep(struct bares *bares, const struct bare_op *op)
{
	if (bares->n_ops >= KEPT_MAX)
		return;
	grow(&bares->ops, &bares->cap_ops, bares->n_ops, sizeof(*bares->ops));
	bares->ops[bares->n_ops++] = *op;
}

uint32_t unseen_ran(struct model *model, struct process *process, uint32_t ident_index,
		    uint32_t state, const struct event_op *op)
{
	struct ident *ident = ident_at(model, ident_index);
	struct unseen *unseen = ident->unseen;
	const struct bare *bare;

	if (!process->bares.n || op->framework != FW_PYTORCH ||
	    op->flags & (OP_RANGE | OP_MARK | OP_ASYNC))
		return 0;
	if (!unseen) {
		ident->unseen = unseen = xcalloc(1, sizeof(*unseen));
		model->ident_bytes += sizeof(*unseen);
	}
	if (unseen->last_ns && bares_within(process_at(model, unseen->process), unseen->last_ns))
		unseen->within++;
	unseen->last_ns = op->start_ns;
	unseen->process = process->index;
	bare = bares_owed(process, op->start_ns);
	if (bare)
		return unseen_owed(ident, bare);
	if (state != NONE && bares_may_owe(process, op->start_ns))
		keep(&process->bares, &(struct bare_op) {
			.instance = op->instance, .start_ns = op->start_ns, .state = state,
			.ident = ident_index,
		});
	return 0;
}

/* The op was counted as one that stands for itself. */
static void count(struct model *model, uint32_t process, const struct bare_op *op,
		  const struct bare *bare)
{
	struct op_state *state = op_state_at(model, op->state);
	uint32_t owed = unseen_owed(ident_at(model, op->ident), bare);

	if (state->instance != op->instance || state->process != process)
		return;		/* it was freed */
	state->unseen = owed;
	if (state->node != NONE && !(state->flags & STATE_DEFERRED))
		node_at(model->optree, state->node)->unseen += owed;
	if (state->use)
		use_at(model->lines, state->use - 1)->unseen += owed;
}

void unseen_step(struct model *model, struct process *process)
{
	struct bares *bares = &process->bares;
	size_t left = 0;

	for (size_t i = 0; i < bares->n_ops; i++) {
		const struct bare *bare = bares_owed(process, bares->ops[i].start_ns);

		if (bare)
			count(model, process->index, &bares->ops[i], bare);
		else if (bares_may_owe(process, bares->ops[i].start_ns))
			bares->ops[left++] = bares->ops[i];
	}
	bares->n_ops = left;
}
