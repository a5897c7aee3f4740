/* SPDX-License-Identifier: MIT */
/* The critical path through a step that consists of ops on the processor; see critical_ops.c. */
#ifndef MODEL_CRITICAL_OPS_H
#define MODEL_CRITICAL_OPS_H

#include "model/acts/act.h"

/* One run of a function: its ops have its id (act.amount) and its process. */
struct function_run {
	uint64_t id;
	uint32_t process;
	int64_t start_ns, end_ns;
	bool whole;			/* all of its ops began and ended in the slice */
};

/* Receives one part of the path, which is followed backwards: from the end of the previous part
 * back to to_ns it led through `act`, an op or a collective; NULL: it was between them. thread: on
 * which it lay; NONE: the ops before and after it are of two threads, or one of them is missing. */
typedef void critical_edge(void *arg, int64_t to_ns, const struct act *act, uint32_t thread);

/* Finds the run in which most of the slice passed (of that process unless it is NONE). of_run: the
 * slice is a run itself, so one that reaches beyond it, as an input pipeline's, is another's, if
 * there is any that does not. false: no run covers enough of the slice. */
bool critical_ops_run(const struct slice *slice, uint32_t process, bool of_run,
		      struct function_run *out);
/* Whether the act is an op of that run on a thread. */
bool critical_ops_has(const struct function_run *run, const struct act *act);
/* Calls edge for each part of the path, from the slice's end back to its start. */
void critical_ops(const struct slice *slice, const struct function_run *run, void *arg,
		  critical_edge *edge);

#endif
