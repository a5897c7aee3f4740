/* SPDX-License-Identifier: MIT */
/* The path through a step of ops on the processor; see critical-ops.c. */
#ifndef MODEL_CRITICAL_OPS_H
#define MODEL_CRITICAL_OPS_H

#include "model/analyses/act.h"

/* From where the path stands back to to_ns it was this op, NULL: between ops. */
typedef void critical_edge(void *arg, int64_t to_ns, const struct act *act);

/* Calls edge from the slice's end to its begin; false: not such a slice. */
bool critical_ops(const struct slice *slice, void *arg, critical_edge *edge);

#endif
