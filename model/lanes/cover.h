/* SPDX-License-Identifier: MIT */
/*
 * A cover: the union of intervals that are added in any order, with its exact length in total and
 * in any window. It gives device busy time, overlap and rows with several lanes.
 *
 * Idea: intervals are kept in blocks of up to 256, whose borders and lengths lie next to each
 * other in `heads`. A full block is packed (packed.h) as starts and cumulated lengths, so that
 * the length before any moment is found by bisection. Columns are differences of such lengths.
 *
 * Always true: stored intervals are disjoint and sorted. A block's intervals start within 2^32 ns
 * of its base, so that an interval takes 8 bytes, and about 4 in a packed block. The COVER_OPEN
 * blocks that changed last stay open. Touching intervals may be stored as two (long ones are cut
 * to fit), overlapping ones never. The first n_folded heads have no block any more: their length
 * is spread evenly, at most COVER_GHOSTS of them stay, and an interval that is added there later
 * fills the free part.
 * Complexity: adding O(log n + intervals that are merged), appending O(1); total O(1); columns
 * O(log n + blocks inside + columns).
 */
#ifndef MODEL_COVER_H
#define MODEL_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cover_block;

#define COVER_OPEN 16u
#define COVER_GHOSTS 1024u

struct cover_head {
	int64_t first_ns, end_ns;
	int64_t total_ns;		/* at most end - first */
	struct cover_block *block;	/* owned; NULL when folded */
};

struct cover {
	struct cover_head *heads;	/* owned */
	size_t n, cap;
	size_t n_folded;		/* how many heads at the front are folded */
	int64_t total_ns;
	struct cover_block *open[COVER_OPEN];	/* the blocks changed last; NULL: none */
	uint32_t next_open;		/* which of them is packed next */
	size_t bytes;
};

void cover_release(struct cover *cover);
/* [start, end), ignored when empty. */
void cover_add(struct cover *cover, int64_t start, int64_t end);
/* Removes everything from `from` on, except folded blocks. */
void cover_cut(struct cover *cover, int64_t from);
/* Saves memory: blocks that end by `until` only keep their total length. Totals stay exact,
 * places do not. */
void cover_fold(struct cover *cover, int64_t until);
/* Adds to the i-th of n entries of busy, stride_bytes apart, the covered length inside column i
 * of width w. */
void cover_columns(const struct cover *cover, int64_t t0, int64_t w, size_t n,
		   void *busy, size_t stride_bytes);
static inline int64_t cover_window(const struct cover *cover, int64_t t0, int64_t t1)
{
	int64_t busy = 0;

	if (t1 > t0)
		cover_columns(cover, t0, t1 - t0, 1, &busy, sizeof(busy));
	return busy;
}

/*
 * The union of a set of rows. As long as spans arrive in order and do not overlap, it is a plain
 * sum; at the first overlap or late span the cover is built from the rows, and is kept from then
 * on.
 */
struct merged {
	struct cover cover;
	bool full;
	int64_t sum_ns, end_ns;		/* while not full */
};

static inline void merged_release(struct merged *merged)
{
	cover_release(&merged->cover);
	*merged = (struct merged) { .full = false };
}

static inline int64_t merged_total(const struct merged *merged)
{
	return merged->full ? merged->cover.total_ns : merged->sum_ns;
}

#endif
