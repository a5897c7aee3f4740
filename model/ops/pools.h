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
	struct map rows;		/* by process and name: index of the pool's row */
};

void pools_new(struct model *model);
void pools_free(struct model *model);
size_t pools_bytes(const struct model *model);
void apply_pool(struct model *model, const struct arrival *in);
/* An op that had been handed to a pool started on this thread. */
void pools_op(struct model *model, uint32_t thread, int64_t wait_ns);
/* How many threads with this name ran a closure. */
uint32_t pools_threads(struct model *model, uint32_t process, uint32_t name);
/* The row of the threads with this name; NONE: there is no room. */
uint32_t pools_row(struct model *model, uint32_t process, uint32_t name);
/* The sums of the n-th thread as an event; false: there are no more. tid 0: the n-th thread
 * belongs to another process. */
bool pools_event(struct model *model, uint32_t n, uint32_t process, struct event_pool *did);

#endif
