/* SPDX-License-Identifier: MIT */
/*
 * Gaps of a row, see query/gaps.h.
 *
 * Idea: a gap of the row is a gap of all its lanes at once. Each lane in turn is asked for its
 * next gap that reaches beyond a moment, and the moment moves on to the latest start of these
 * gaps until all lanes agree. A chunk whose time without spans is shorter than the wanted gap
 * cannot hold one and is skipped.
 *
 * Worked example: lanes with spans [0,10) [50,60) and [8,20) [70,80), at least 20 long, after 0.
 * The first lane's gap is [10,50), the second's from 20 on [20,70): the moment is 20; both agree
 * from there to 50: [20,50).
 */
#include "model/base/binary_heap.h"
#include "model/query/gaps.h"

#include <stdlib.h>

#include "model/answers/parts.h"
#include "model/base/util.h"
#include "model/lanes/lane_internal.h"

/* A question about the gaps of a row. */
struct gap_walk {
	struct lane_part *parts;		/* owned */
	size_t n;
	/* gaps lie within: before it detail is folded, after it a span is open or there are
	 * no spans */
	int64_t from_ns, until_ns;
	bool open;			/* until_ns is where an open span starts */
};

static bool gap_walk_begin(struct model *model, uint32_t row, uint32_t lane, struct gap_walk *walk)
{
	size_t kept = 0, n;

	*walk = (struct gap_walk) { .from_ns = model->folded_ns, .until_ns = INT64_MIN };
	n = parts_of(model, row, lane, &walk->parts);
	for (size_t i = 0; i < n; i++) {
		const struct lane_part *part = &walk->parts[i];

		if (part->lane->n && part->lane->max_end_ns > walk->until_ns)
			walk->until_ns = part->lane->max_end_ns;
	}
	for (size_t i = 0; i < n; i++) {
		const struct lane_part *part = &walk->parts[i];

		for (uint32_t o = row_at(model, part->row)->opens; o != NONE;
		     o = open_at(model, o)->next)
			if (open_at(model, o)->lane == part->index &&
			    (open_at(model, o)->start_ns < walk->until_ns || !walk->open)) {
				walk->until_ns = open_at(model, o)->start_ns;
				walk->open = true;
			}
	}
	for (size_t i = 0; i < n; i++)
		if (walk->parts[i].lane->n)
			walk->parts[kept++] = walk->parts[i];
	walk->n = kept;
	return kept && row_at(model, row - 1)->kind != ROW_BANDWIDTH;
}

/* Searches the spans of this chunk from *pos on; covered: the latest end of all spans before. */
static bool gap_in_chunk(const struct chunk *chunk, int64_t from, int64_t least, int64_t *covered,
			 struct row_gap *out)
{
	for (uint32_t first = 0; first < chunk->n; first += LANE_BLOCK) {
		uint32_t n = chunk->n - first < LANE_BLOCK ? chunk->n - first : LANE_BLOCK;
		struct lane_view view;

		view_block(&view, chunk, first, n);
		for (uint32_t i = 0; i < n; i++) {
			int64_t start = view.start[i], end = start + view.dur[i];
			int64_t idle = *covered > from ? *covered : from;

			if (start > idle && start - idle >= least) {
				*out = (struct row_gap) { *covered, start };
				return true;
			}
			if (end > *covered)
				*covered = end;
		}
	}
	return false;
}

/* The lane's first gap that extends at least `least` beyond `from`. The gap before its first span
 * starts at INT64_MIN; the one after its last span ends at INT64_MAX. */
static struct row_gap lane_gap(struct lane *lane, int64_t from, int64_t least)
{
	int64_t covered = INT64_MIN;
	struct row_gap gap;
	struct lane_pos pos;

	if (!lane_touching(lane, from, &pos))
		return (struct row_gap) { lane->max_end_ns, INT64_MAX };
	if (pos.chunk)
		covered = lane->chunks[pos.chunk - 1]->reach_ns;
	for (size_t c = pos.chunk; c < lane->n; c++) {
		struct chunk *chunk = lane->chunks[c];
		int64_t idle = covered > from ? covered : from;

		chunk_summarise(lane, chunk);
		if ((chunk->first_ns > idle && chunk->first_ns - idle >= least) ||
		    chunk->sum.max_end_ns - chunk->sum.first_ns - chunk->sum.busy_ns >= least) {
			if (gap_in_chunk(chunk, from, least, &covered, &gap))
				return gap;
		} else if (chunk->max_end_ns > covered) {
			covered = chunk->max_end_ns;
		}
	}
	return (struct row_gap) { covered, INT64_MAX };
}

/* The row's first gap that begins at or after `from`. */
static bool next_gap(struct gap_walk *walk, int64_t from, int64_t least, struct row_gap *out)
{
	int64_t at = from > walk->from_ns ? from : walk->from_ns;

	while (at < walk->until_ns) {
		int64_t begun = INT64_MIN, end = INT64_MAX;
		int64_t before = at;

		for (size_t i = 0; i < walk->n && at == before; i++) {
			struct row_gap gap = lane_gap(walk->parts[i].lane, at, least);

			if (gap.start_ns > at)
				at = gap.start_ns;
			if (gap.start_ns > begun)
				begun = gap.start_ns;
			if (gap.end_ns < end)
				end = gap.end_ns;
		}
		if (at != before)
			continue;
		if (end > walk->until_ns && !walk->open)
			return false;
		if (end > walk->until_ns)
			end = walk->until_ns;
		if (end - at >= least && begun == at) {
			*out = (struct row_gap) { at, end };
			return true;
		}
		/* it is too short, or it started before */
		at = end;
	}
	return false;
}

bool model_gap_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_ns,
		    int64_t least_ns, struct row_gap *out)
{
	struct gap_walk walk;
	bool found = gap_walk_begin(model, row, lane, &walk) && after_ns < INT64_MAX &&
		     next_gap(&walk, after_ns + 1, least_ns > 0 ? least_ns : 1, out);

	free(walk.parts);
	return found;
}

/* Finds the last gap before a time by searching from further and further back. */
bool model_gap_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_ns,
		    int64_t least_ns, struct row_gap *out)
{
	int64_t least = least_ns > 0 ? least_ns : 1, back = least < 1000000 ? 1000000 : least, from;
	struct gap_walk walk;
	struct row_gap gap;
	bool found = false;

	if (gap_walk_begin(model, row, lane, &walk)) {
		int64_t first = model->first_ns;

		if (before_ns > walk.until_ns)
			before_ns = walk.until_ns;
		do {
			from = before_ns - back > first && back < INT64_MAX / 4 ? before_ns -
			       back : first;
			back *= 2;
			for (int64_t at = from; next_gap(&walk, at, least, &gap) &&
			     gap.start_ns < before_ns; at = gap.end_ns) {
				*out = gap;
				found = true;
			}
		} while (!found && from > first);
	}
	free(walk.parts);
	return found;
}

/* A heap with the shortest gap on top; of equally long ones, the last. */
static bool gap_is_before(const void *one, const void *other, const void *arg)
{
	const struct row_gap *a = one, *b = other;
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	(void)arg;
	return x != y ? x < y : a->start_ns > b->start_ns;
}

static int longest_first(const void *a, const void *b)
{
	return gap_is_before(a, b, NULL) ? 1 : gap_is_before(b, a, NULL) ? -1 : 0;
}

size_t model_gaps_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			  size_t max, struct row_gap *out, bool *more)
{
	struct gap_walk walk;
	struct row_gap gap;
	int64_t least = 1;
	size_t n = 0;

	*more = false;
	if (gap_walk_begin(model, row, lane, &walk) && max) {
		for (int64_t at = t0; next_gap(&walk, at, least, &gap) && gap.start_ns < t1;
		     at = gap.end_ns) {
			if (n < max) {
				out[n++] = gap;
				if (n == max)
					binary_heap_make(out, n, sizeof(gap), gap_is_before, NULL);
			} else {
				*more = true;
				out[0] = gap;
				binary_heap_down(out, n, sizeof(gap), 0, gap_is_before, NULL);
			}
			/* From now on only gaps longer than the shortest kept one are wanted. */
			if (n == max)
				least = out[0].end_ns - out[0].start_ns + 1;
		}
	}
	free(walk.parts);
	if (n)
		qsort(out, n, sizeof(*out), longest_first);
	return n;
}
