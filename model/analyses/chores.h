/* SPDX-License-Identifier: MIT */
/* Work beside training that the loop does, see chores.c. */
#ifndef MODEL_CHORES_H
#define MODEL_CHORES_H

#include "model/analyses/analyses.h"

/* Whether a finding of the chores explains half or more of what that line of the program costs per
 * step, so that it need not be told again. */
bool chores_tell(struct model *model, const char *file, uint32_t line, int64_t cost_ns);

#endif
