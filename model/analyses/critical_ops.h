/* SPDX-License-Identifier: MIT */
/* The path through a step of ops on the processor; see critical_ops.c. */
#ifndef MODEL_CRITICAL_OPS_H
#define MODEL_CRITICAL_OPS_H

#include "model/acts/act.h"

/* A run of a function: its ops have its id (act.amount) and process. */
struct function_run {
	uint64_t id;
	uint32_t process;
	int64_t start_ns, end_ns;
};

/* From where the path stands back to to_ns it was this op, NULL: between ops. */
typedef void critical_edge(void *arg, int64_t to_ns, const struct act *act);

/* The run, of that process if not NONE, that most of the slice went by in; false: not
 * such a slice. */
bool critical_ops_run(const struct slice *slice, uint32_t process, struct function_run *out);
/* An op of that run that is on a thread. */
bool critical_ops_has(const struct function_run *run, const struct act *act);
/* Calls edge from the slice's end to its begin. */
void critical_ops(const struct slice *slice, const struct function_run *run, void *arg,
		  critical_edge *edge);

#endif
