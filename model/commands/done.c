/* SPDX-License-Identifier: MIT */
/* Which commands of a process are finished: a bit for each of the last DONE_BITS correlations. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/model-internal.h"

void done_set(struct process *process, uint32_t correlation)
{
	if (!process->done)
		process->done = xcalloc(DONE_BITS / 64, sizeof(*process->done));
	if (correlation - process->done_base >= DONE_BITS) {
		uint32_t base = correlation - DONE_BITS + DONE_BITS / 4;

		if (correlation < process->done_base)
			return;		/* long past */
		if (correlation < DONE_BITS)
			base = 0;
		if (base - process->done_base >= DONE_BITS)
			memset(process->done, 0, DONE_BITS / 8);
		else
			for (uint32_t c = process->done_base; c != base; c++)
				process->done[c % DONE_BITS / 64] &= ~(1ull << c % 64);
		process->done_base = base;
	}
	process->done[correlation % DONE_BITS / 64] |= 1ull << correlation % 64;
}

bool done_get(const struct process *process, uint32_t correlation)
{
	return process->done && correlation - process->done_base < DONE_BITS &&
	       (process->done[correlation % DONE_BITS / 64] >> correlation % 64 & 1);
}

bool command_is_done(const struct model *model, uint32_t correlation)
{
	return done_get(model->process, correlation);
}
