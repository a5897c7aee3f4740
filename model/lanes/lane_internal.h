/* SPDX-License-Identifier: MIT */
/* What the files of the lanes share: open and sealed chunks, see lane.h. */
#ifndef MODEL_LANE_INTERNAL_H
#define MODEL_LANE_INTERNAL_H

#include "model/lanes/lane.h"

/* ---- between open and sealed ---- */

struct chunk *chunk_alloc(struct lane *lane);	/* zeroed */
/* Frees the chunk with all that it holds. */
void chunk_free(struct lane *lane, struct chunk *chunk);
void chunk_free_all(struct lane *lane);
/* Opens the chunk if it is sealed; it may be written to until the next call. */
void chunk_open(struct lane *lane, struct chunk *chunk);
void chunk_seal(struct lane *lane, struct chunk *chunk);
/* Keeps the chunk open for a while; another one may be sealed for it. */
void lane_keep_open(struct lane *lane, struct chunk *chunk);
/* Reads values of a column, plain or packed. */
void chunk_read(const struct lane *lane, const struct chunk *chunk, uint32_t column, uint32_t first,
		uint32_t n, uint64_t *values);
/* Gives the chunk arrays of `cap` entries. */
void chunk_resize(struct lane *lane, struct chunk *chunk, uint32_t cap);
static inline size_t lane_blocks_bytes(const struct lane *lane)
{
	return LANE_BLOCKS * (sizeof(struct span_block) +
			      (lane->layout.rates ? sizeof(struct block_rate) : 0));
}

/* ---- spans as arrays, whichever form the chunk has ---- */

struct lane_view {
	const struct chunk *chunk;
	uint32_t first;			/* the arrays' first in the chunk */
	const int64_t *start, *dur;
	const uint8_t *work, *flag;
	/* Values of a packed chunk. */
	int64_t starts[LANE_BLOCK], durs[LANE_BLOCK];
	uint8_t works[LANE_BLOCK], flags[LANE_BLOCK];
};

/* n: up to LANE_BLOCK. */
void view_block(struct lane_view *view, const struct chunk *chunk, uint32_t first, uint32_t n);
/* Reads a sealed column of bytes. */
void chunk_read_small(const struct chunk *chunk, uint32_t column, uint32_t first, uint32_t n,
		      uint8_t *out);
uint64_t view_bytes(const struct lane *lane, const struct lane_view *view, uint32_t i);
static inline uint32_t view_id(const struct lane_view *view, uint32_t i)
{
	return chunk_id(view->chunk, view->first + i);
}

/* Which of 64 spans of a chunk are wanted, as bits. */
uint64_t chunk_wanted(const struct lane *lane, const struct chunk *chunk,
		      const struct lane_want *want, uint32_t first, uint32_t n);
/* Brings the marks up to date; false: the chunk certainly has no wanted span. */
bool chunk_may_have(struct lane *lane, struct chunk *chunk, const struct lane_want *want);
/* Like lane_columns(), without the cache. */
void lane_ask(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w, size_t n,
	      struct column *out, int64_t *longest_ns);

/* ---- summaries ---- */

/* Brings the summary of chunk c up to date. */
void chunk_summarise(struct lane *lane, struct chunk *chunk);
/* The head of chunk c; n 0: it has none. */
const struct chunk_head *chunk_head(struct lane *lane, size_t c);

static inline struct block_rate *rates_of(const struct chunk *chunk)
{
	return (struct block_rate *)(void *)(chunk->blocks + LANE_BLOCKS);
}

#endif
