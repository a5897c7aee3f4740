/* SPDX-License-Identifier: MIT */
/*
 * Blocks of memory that a probe sees allocated and freed. Each recorded block is sent once when it
 * is allocated and once when it is freed. A call of free does not show whether its block was
 * recorded, so recorded blocks are remembered by address, and only their frees are sent. A block
 * that was recorded before the level went to off may be freed unseen. So when the level rises
 * again, all remembered blocks are sent as freed, so that nothing stays allocated for ever; blocks
 * that are still in use are missing from then on. A forked child starts with none.
 *
 * The caller leaves out small blocks, because each op makes some, and two events would cost more
 * than the op itself. Freeing a block that was not recorded costs a few nanoseconds.
 *
 * Threads: any; no locks, because an address belongs to one caller at a time.
 */
#ifndef PROBES_RUNTIME_BLOCKS_H
#define PROBES_RUNTIME_BLOCKS_H

#include "probes/runtime/runtime.h"

#define RT_BLOCK_BYTES 4096	/* smaller blocks are not recorded */
#define RT_OWNERS 64u

/* A number for an allocator, found by its name (TFT_NAME_ALLOCATOR), from 1; 0: there are too many.
 * Takes a lock, so it should be called once for each name. */
RT_API unsigned rt_block_owner(uint32_t name);

/* A block was allocated for the op on top of the calling thread's stack; from level default on.
 * false: the block was not recorded. */
RT_API bool rt_block_given(unsigned owner, uint32_t device, const void *memory, size_t bytes);

/* The same for an op of any thread. */
RT_API bool rt_block_given_in(unsigned owner, uint32_t device, const void *memory, size_t bytes,
			      struct rt_top top);

/* A block is about to be freed. */
RT_API void rt_block_freed(const void *memory);

/* The runtime's own part when the level changes, and after a fork. */
void rt_blocks_level(enum tft_level old_level, enum tft_level new_level);
void rt_blocks_fork_child(void);
/* Sends the event through batch.c: memory that the calling thread has allocated, or is about to
 * free. Fills in at_ns. */
void rt_batch_alloc(struct tft_alloc *alloc);
void rt_batch_free(struct tft_free *gone);

#endif
