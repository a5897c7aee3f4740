/* SPDX-License-Identifier: MIT */
/*
 * Runs of ops that were not seen because steps were bare (core/bares.h).
 *
 * Functions of optimizers and loaders are seen in bare steps, too, and PyTorch does not tell which
 * of its ops these are. So it is counted in how many bare steps an identity's ops were seen. A bare
 * step is told at its end, thus this is counted for an op when the next one arrives; until then the
 * op seemed to be one of the first step after the bare steps before it.
 */
#include "model/base/util.h"
#include "model/core/bares.h"
#include "model/idents/idents.h"
#include "model/ops/ops.h"

uint32_t unseen_ran(struct model *model, const struct process *process, struct ident *ident,
		    const struct event_op *op)
{
	struct unseen *unseen = ident->unseen;
	const struct bare *bare;

	if (!process->bares.n || op->framework != FW_PYTORCH ||
	    op->flags & (OP_RANGE | OP_MARK | OP_ASYNC))
		return 0;
	if (!unseen) {
		ident->unseen = unseen = xcalloc(1, sizeof(*unseen));
		model->ident_bytes += sizeof(*unseen);
	}
	if (unseen->last_ns &&
	    bares_within(process_at(model, unseen->process), unseen->last_ns)) {
		unseen->within++;
		unseen->steps -= unseen->added;
		unseen->added = 0;
	}
	unseen->last_ns = op->start_ns;
	unseen->process = process->index;
	bare = bares_owed(process, op->start_ns);
	if (!bare) {
		unseen->added = 0;
		return 0;
	}
	unseen->runs += bare->owed;
	if (unseen->bare != (uint32_t)bare->from_ns) {
		unseen->steps += bare->owed;
		unseen->added = bare->owed;
	}
	unseen->bare = (uint32_t)bare->from_ns;
	return bare->owed;
}
