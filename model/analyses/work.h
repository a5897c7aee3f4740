/* SPDX-License-Identifier: MIT */
/*
 * The queries of model/query/work.h on the state of one analysis, for the analysis itself and for
 * tests that have no model.
 */
#ifndef MODEL_ANALYSES_WORK_H
#define MODEL_ANALYSES_WORK_H

#include "model/query/work.h"

size_t launch_queues(const void *state, struct queue_work **out);

struct names;

size_t slowdown_trends(const void *state, struct names *names, struct kernel_trend **out);
size_t op_trends(const void *state, struct names *names, struct op_trend **out);
size_t critical_parts(const void *state, struct names *names, struct critical_path *path,
		      size_t max, struct path_part **out);
size_t critical_types(const void *state, struct names *names, struct path_part **out);
struct cores_use;
bool cores_window(const void *state, struct names *names, int64_t t0, int64_t t1,
		  struct cores_use *out);
bool critical_step(const void *state, int64_t start_ns, struct critical_path *path);

#endif
