/* SPDX-License-Identifier: MIT */
/* Splits a block that crosses the border of two columns, see lane.h. */
#include "model/lanes/sweep.h"

#include <string.h>

#include "model/base/util.h"

/* Spans [first, first + n) of a chunk, which do not overlap. */
struct block_side {
	int64_t sum_ns, longest_ns, work_ns[WORK_COUNT];
	uint32_t longest;		/* index */
	uint64_t bytes, max_rate;	/* of lanes with `rates` */
};

/* The time per class on one side, when the block has more than one class. */
static void side_works(const struct chunk *chunk, uint32_t first, uint32_t n, const uint64_t *durs,
		       struct block_side *side)
{
	uint8_t works[LANE_BLOCK];

	chunk_read_small(chunk, LANE_WORK, first, n, works);
	for (uint32_t i = 0; i < n; i++)
		side->work_ns[works[i]] += (int64_t)durs[i];
}

/* Bytes moved on one side, and how fast. */
static void side_rates(const struct chunk *chunk, uint32_t first, uint32_t n, const uint64_t *durs,
		       struct block_side *side)
{
	uint64_t bytes[LANE_BLOCK];

	packed_read(&chunk->sealed[LANE_COLD], chunk->sealed, first, n, bytes);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t rate = bytes_per_s(bytes[i], (int64_t)durs[i]);

		side->bytes += bytes[i];
		if (rate > side->max_rate)
			side->max_rate = rate;
	}
}

static void side_of(const struct chunk *chunk, uint32_t first, uint32_t n, bool works, bool rates,
		    struct block_side *side)
{
	uint64_t durs[LANE_BLOCK];

	memset(side, 0, sizeof(*side));
	packed_read(&chunk->sealed[LANE_DUR], chunk->sealed, first, n, durs);
	for (uint32_t i = 0; i < n; i++) {
		side->sum_ns += (int64_t)durs[i];
		if ((int64_t)durs[i] > side->longest_ns) {
			side->longest_ns = (int64_t)durs[i];
			side->longest = first + i;
		}
	}
	if (works)
		side_works(chunk, first, n, durs, side);
	if (rates)
		side_rates(chunk, first, n, durs, side);
}

/* The other side: the block without the side that is known. */
static void side_rest(const struct lane *lane, const struct chunk *chunk, uint32_t b,
		      uint32_t first, uint32_t n, const struct block_side *known,
		      struct block_side *side)
{
	const struct span_block *block = &chunk->blocks[b];

	side->sum_ns = block->busy_ns - known->sum_ns;
	side->longest_ns = block->longest_ns;
	side->longest = b * LANE_BLOCK + block->longest;
	for (int k = 0; k < WORK_COUNT; k++)
		side->work_ns[k] = block->work_ns[k] - known->work_ns[k];
	side->bytes = side->max_rate = 0;
	if (!lane->layout.rates)
		return;
	side->bytes = rates_of(chunk)[b].amount - known->bytes;
	side->max_rate = rates_of(chunk)[b].max_rate;
	if (known->max_rate == side->max_rate) {
		/* The fastest copy may be on the other side. */
		struct block_side own;

		side_of(chunk, first, n, false, true, &own);
		side->max_rate = own.max_rate;
	}
}

/* The last span on the left reaches over the border by this much. */
static void reach_over(const struct lane *lane, const struct chunk *chunk, uint32_t i, int64_t dur,
		       int64_t over, struct block_side *left, struct block_side *right)
{
	uint8_t work;

	chunk_read_small(chunk, LANE_WORK, i, 1, &work);
	left->sum_ns -= over;
	left->work_ns[work] -= over;
	right->sum_ns += over;
	right->work_ns[work] += over;
	/* That part comes first on the right. */
	if (dur >= right->longest_ns) {
		right->longest_ns = dur;
		right->longest = i;
	}
	if (lane->layout.rates) {
		uint64_t bytes = packed_get(&chunk->sealed[LANE_COLD], chunk->sealed, i);
		uint64_t part = bytes - sweep_share(bytes, dur - over, dur);

		left->bytes -= part;
		right->bytes += part;
		if (bytes_per_s(bytes, dur) > right->max_rate)
			right->max_rate = bytes_per_s(bytes, dur);
	}
}

/* The only class in the block; WORK_COUNT: there are several. */
static int class_of(const struct span_block *block)
{
	int work = WORK_COUNT;

	for (int k = 0; k < WORK_COUNT; k++)
		if (block->work_ns[k] == block->busy_ns)
			work = k;
	return work;
}

static void block_add_side(struct lane_sweep *s, size_t c, const struct chunk *chunk,
			   const struct block_side *side, int work)
{
	struct column *column = &s->out[c];

	column->busy_ns += side->sum_ns;
	if (work < WORK_COUNT)
		column->work_ns[work] += side->sum_ns;
	else
		for (int k = 0; k < WORK_COUNT; k++)
			column->work_ns[k] += side->work_ns[k];
	column->value += side->bytes;
	if (side->max_rate > column->value_max)
		column->value_max = side->max_rate;
	if (side->longest_ns && (!column->longest.id || side->longest_ns > s->longest_ns[c]))
		sweep_longest(s, c, chunk_id(chunk, side->longest), side->longest_ns);
}

static void add_edges(struct column *column, uint32_t n, int64_t first, int64_t last)
{
	if (!n)
		return;
	sweep_edge(column, first);
	if (n == 1)
		return;
	sweep_edge(column, last);
	column->edges += n - 2;
}

/*
 * Splits a block of spans that do not overlap between this column and the next one: the border is
 * found by bisection, only the side without the longest span is summed up, and the other side is
 * the remainder.
 */
bool sweep_split(struct lane_sweep *s, const struct chunk *chunk, uint32_t b)
{
	const struct span_block *block = &chunk->blocks[b];
	const struct packed *starts = chunk->sealed;
	int64_t end = block->first_ns + block->length_ns, border, last_start, last_end, over;
	uint32_t first = b * LANE_BLOCK, n = block->n_spans, low;
	struct block_side left, right, *far, *near;
	int work = class_of(block);
	size_t c;

	if (block->form != BLOCK_APART || block->flags || !starts || block->first_ns < s->t0 ||
	    end >= s->t1 || block->first_ns < s->covered)
		return false;
	c = sweep_column(s, block->first_ns);
	border = s->end;
	if (end >= border + s->w)
		return false;
	low = FIRST_NOT(i, 1, n, (int64_t)packed_get(starts, starts, first + i) < border);
	near = block->longest < low ? &right : &left;
	far = near == &left ? &right : &left;
	side_of(chunk, near == &left ? first : first + low, near == &left ? low : n - low,
		work == WORK_COUNT, s->lane->layout.rates, near);
	side_rest(s->lane, chunk, b, near == &left ? first + low : first,
		  near == &left ? n - low : low, near, far);
	last_start = chunk_start(chunk, first + low - 1);
	last_end = last_start + chunk_dur(chunk, first + low - 1);
	over = last_end > border ? last_end - border : 0;
	if (over)
		reach_over(s->lane, chunk, first + low - 1, last_end - last_start, over, &left,
			   &right);
	block_add_side(s, c, chunk, &left, work);
	block_add_side(s, c + 1, chunk, &right, work);
	s->out[c].count += low;
	s->out[c + 1].count += n - low + (over > 0);
	add_edges(&s->out[c], 2 * low - (last_end >= border), block->first_ns,
		  last_end < border ? last_end : last_start);
	add_edges(&s->out[c + 1], 2 * (n - low) + (last_end >= border),
		  last_end >= border ? last_end : chunk_start(chunk, first + low), end);
	s->covered = end;
	return true;
}
