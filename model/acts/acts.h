/* SPDX-License-Identifier: MIT */
/* Where acts wait until the analyses take them: whoever finishes something puts an act
 * aside here and need not know who looks at it. */
#ifndef MODEL_ACTS_ACTS_H
#define MODEL_ACTS_ACTS_H

#include "model/acts/act.h"
#include "model/acts/waiting.h"

struct acts {
	struct waiting_acts waiting;		/* arrived, not handed out */
	size_t max;			/* of them; beyond, the older half is dropped */
	size_t looked;			/* of what waits: who takes them has looked at so many */
	uint64_t dropped;
	uint64_t dropped_now;		/* of these, not yet told in a slice */
};

void acts_new(struct model *model);
void acts_free(struct model *model);
size_t acts_bytes(const struct model *model);
/* Puts one act aside, copied. Never fails. */
void acts_push(struct model *model, const struct act *act);

#endif
