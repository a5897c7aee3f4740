/* SPDX-License-Identifier: MIT */
/* Thread pools in the model, see model/query/pools.h. */
#ifndef MODEL_POOLS_H
#define MODEL_POOLS_H

#include "model/base/map.h"
#include "model/core/store.h"
#include "model/query/pools.h"

struct arrival;
struct event_pool;

struct pools {
	struct store threads;		/* struct pool_thread, pools.c */
	struct map by_thread;		/* index of the thread */
	size_t hist_bytes;
	struct map rows;		/* of process and name, the index of its row */
};

void pools_new(struct model *model);
void pools_free(struct model *model);
size_t pools_bytes(const struct model *model);
void apply_pool(struct model *model, const struct arrival *in);
/* An op that had been handed to a pool began on that thread. */
void pools_op(struct model *model, uint32_t thread, int64_t wait_ns);
/* Threads of that name that ran a closure. */
uint32_t pools_threads(struct model *model, uint32_t process, uint32_t name);
/* The row of the threads of that name; NONE: there is no room. */
uint32_t pools_row(struct model *model, uint32_t process, uint32_t name);
/* The n-th thread's sums as an event; false: there are no more. tid 0: none of that
 * process. */
bool pools_event(struct model *model, uint32_t n, uint32_t process, struct event_pool *did);

#endif
