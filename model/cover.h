/* SPDX-License-Identifier: MIT */
/*
 * A set of moments: the union of intervals added in any order, with its exact
 * length in all and in any window. Device busy time, overlap and rows with
 * several lanes are made of it.
 *
 * Always true: intervals stored are disjoint and sorted; a block's intervals
 * lie within 2^32 ns of its base, so that 8 bytes hold one, and about 4 in a
 * full block, which is packed (packed.h) until it must change; the COVER_OPEN
 * blocks that changed last stay as they are. Touching intervals may be stored
 * as two (long ones are cut to fit), overlapping ones never.
 * Complexity: add O(log n + what is swallowed), appended ones O(1); total
 * O(1); columns O(blocks and intervals at column borders).
 */
#ifndef MODEL_COVER_H
#define MODEL_COVER_H

#include <stddef.h>
#include <stdint.h>

struct cover_block;

#define COVER_OPEN 16u

struct cover {
	struct cover_block **blocks;	/* owned */
	size_t n, cap;
	size_t n_folded;		/* the first ones were squeezed by cover_fold */
	int64_t total_ns;
	struct cover_block *open[COVER_OPEN];	/* changed last; NULL none */
	uint32_t next_open;		/* which of them is packed next */
	size_t bytes;
};

void cover_release(struct cover *cover);
/* [start, end), ignored when empty. */
void cover_add(struct cover *cover, int64_t start, int64_t end);
/* Forgets everything from `from` on. */
void cover_cut(struct cover *cover, int64_t from);
/* Saves memory before `until`: each block there becomes one interval of the
 * same length in all. Totals stay exact, places do not. */
void cover_fold(struct cover *cover, int64_t until);
int64_t cover_window(const struct cover *cover, int64_t t0, int64_t t1);
/* Adds to busy[i * stride_bytes] the length inside column i of n, width w. */
void cover_columns(const struct cover *cover, int64_t t0, int64_t w, size_t n,
		   void *busy, size_t stride_bytes);

#endif
