/* SPDX-License-Identifier: MIT */
/*
 * DIR/cache: the model of a recording as it was after reading, so that the next open need not read
 * the trace. It may be deleted at any time, and a cache that does not fit is rebuilt
 * (model/recording/image.h says which caches are trusted).
 *
 * Always true: only recordings of the same user get a cache; it appears as a whole or not at all; a
 * folder that cannot be written to gets none, which is not an error.
 *
 * Threads: the main thread's.
 */
#ifndef TUI_CACHE_H
#define TUI_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/recording/image.h"
#include "tui/base/options.h"

struct cache {
	const char *dir;		/* borrowed: the recording */
	char *path;			/* owned; NULL: there will be no cache */
	uint64_t key;
	pid_t writer;			/* 0: none */
	bool whole;	/* checks the whole cache first, because a report is made only once */
	bool prepared;
	bool opened;			/* the model came from the cache */
};

/* `shape`: a model with the thresholds that will be used. */
void cache_init(struct cache *cache, const struct options *options, struct model *shape);
/* The model; NULL: read the recording. *damaged: because the cache was damaged. */
struct model *cache_open(struct cache *cache, bool *damaged);
/* Whether the model came from a file that turned out to be damaged: free everything and open
 * again. */
bool cache_failed(const struct cache *cache);
/* Whether the next model may be written to the cache. */
bool cache_prepare(struct cache *cache);
/* Starts writing; to be called after model_finish(). */
void cache_write(struct cache *cache, struct model *model);
/* Waits for the writer, at most this long; then ends it without leaving anything. */
void cache_release(struct cache *cache, int timeout_ms);

#endif
