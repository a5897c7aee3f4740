/* SPDX-License-Identifier: MIT */
/* Columns of a lane, see lane.h for the idea. */
#include "model/lanes/lane_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/lanes/cover.h"
#include "model/lanes/sweep.h"

static void add_span(struct lane_sweep *s, const struct lane_view *v, uint32_t i)
{
	int64_t start = v->start[i], dur = v->dur[i], end = start + dur;
	int64_t from = start > s->t0 ? start : s->t0;
	int64_t to = end < s->t1 ? end : s->t1;
	uint64_t bytes = view_bytes(s->lane, v, i);
	size_t c;

	if (start >= s->t0 && start < s->t1)
		sweep_edge(&s->out[sweep_column(s, start)], start);
	if (end >= s->t0 && end < s->t1)
		sweep_edge(&s->out[dur ? (size_t)((end - s->t0) / s->w) : sweep_column(s, end)],
			   end);
	if (dur == 0 ? start < s->t0 || start >= s->t1 : from >= to)
		return;
	c = sweep_column(s, from);
	do {
		struct column *column = &s->out[c];
		int64_t border = s->t0 + s->w * (int64_t)(c + 1);
		int64_t stop = to < border ? to : border;

		column->count++;
		column->flags |= v->flag[i];
		column->work_ns[v->work[i]] += stop - from;
		if (stop > s->covered)
			column->busy_ns += stop - (from > s->covered ? from : s->covered);
		if (stop > s->covered)
			s->covered = stop;
		sweep_longest(s, c, view_id(v, i), dur);
		if (bytes) {
			/* Differences of running totals, so that columns add up. */
			uint64_t rate = bytes_per_s(bytes, dur);

			column->value += stop - from == dur ? bytes :
					 sweep_share(bytes, stop - start, dur) -
					 sweep_share(bytes, from - start, dur);
			if (rate > column->value_max)
				column->value_max = rate;
		}
		from = stop;
		c++;
	} while (from < to);
}

/* Adds a summary whose spans all lie in column c, ends included. */
static void add_summary(struct lane_sweep *s, size_t c, const struct summary *sum, bool folded)
{
	struct column *column = &s->out[c];

	column->busy_ns += sum->busy_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		column->work_ns[k] += sum->work_ns[k];
	column->count += sum->n_spans;
	column->flags |= sum->flags;
	sweep_edge(column, sum->first_ns);
	sweep_edge(column, sum->max_end_ns);
	column->edges += 2 * (sum->n_spans - 1);
	if (!folded)
		sweep_longest(s, c, sum->longest, sum->longest_ns);
	column->value += sum->amount;
	if (sum->max_rate > column->value_max)
		column->value_max = sum->max_rate;
	s->covered = sum->max_end_ns;
}

static int64_t share_of(int64_t amount, int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128_t)amount * part / whole) : amount;
}

/* A folded chunk that crosses a border is spread evenly and marked as approximate. */
static void sweep_add_folded(struct lane_sweep *s, const struct summary *chunk)
{
	int64_t whole = chunk->max_end_ns - chunk->first_ns;
	int64_t from = chunk->first_ns > s->t0 ? chunk->first_ns : s->t0;
	int64_t to = chunk->max_end_ns < s->t1 ? chunk->max_end_ns : s->t1;

	while (from < to) {
		size_t c = (size_t)((from - s->t0) / s->w);
		struct column *column = &s->out[c];
		int64_t border = s->t0 + s->w * (int64_t)(c + 1);
		int64_t stop = to < border ? to : border;
		int64_t begin = from > s->covered ? from : s->covered;
		uint32_t count = (uint32_t)share_of(chunk->n_spans, stop - from, whole);

		if (stop > begin)
			column->busy_ns += share_of(chunk->busy_ns, stop - begin, whole);
		for (int k = 0; k < WORK_COUNT; k++)
			column->work_ns[k] += share_of(chunk->work_ns[k], stop - from, whole);
		column->count += count ? count : 1;
		column->flags |= chunk->flags | COLUMN_APPROX;
		column->value += (uint64_t)share_of((int64_t)chunk->amount, stop - from, whole);
		if (chunk->max_rate > column->value_max)
			column->value_max = chunk->max_rate;
		sweep_edge(column, from);
		sweep_edge(column, stop);
		column->edges += 2 * count;
		from = stop;
	}
	if (chunk->max_end_ns > s->covered)
		s->covered = chunk->max_end_ns;
}

/*
 * The common case in a tight loop: adds the spans from i on that lie in the current column and do
 * not overlap; returns the first that does not qualify. Lanes with rates, and instants, are left
 * to add_span().
 */
static uint32_t add_plain(struct lane_sweep *s, const struct lane_view *v, uint32_t i, uint32_t end)
{
	int64_t covered = s->covered > s->begin ? s->covered : s->begin;
	struct column *column = &s->out[s->column];
	uint32_t first = i;
	int64_t longest = s->longest_ns[s->column], busy = 0;

	if (s->lane->layout.rates)
		return i;
	for (; i < end; i++) {
		int64_t start = v->start[i], dur = v->dur[i];

		if (start < covered || start + dur >= s->end || dur == 0)
			break;
		covered = start + dur;
		busy += dur;
		column->work_ns[v->work[i]] += dur;
		column->flags |= v->flag[i];
		if (dur > longest || !column->longest.id) {
			longest = dur;
			column->longest = (struct span_ref) { s->row, s->index, view_id(v, i) };
		}
	}
	if (i == first)
		return i;
	s->longest_ns[s->column] = longest;
	s->covered = covered;
	column->busy_ns += busy;
	column->count += i - first;
	sweep_edge(column, v->start[first]);
	sweep_edge(column, covered);
	column->edges += 2 * (i - first - 1);
	return i;
}

/* Adds a summary as a whole if it lies in one column and after everything added before. */
static bool take_whole(struct lane_sweep *s, const struct summary *sum, bool folded)
{
	size_t c;

	if (sum->first_ns < s->t0 || sum->max_end_ns >= s->t1 || sum->first_ns < s->covered)
		return false;
	c = sweep_column(s, sum->first_ns);
	if (sum->max_end_ns >= s->end)
		return false;
	add_summary(s, c, sum, folded);
	return true;
}

/* The same for a block. */
static bool sweep_take_block(struct lane_sweep *s, const struct chunk *chunk, uint32_t b)
{
	const struct span_block *block = &chunk->blocks[b];
	int64_t end = block->first_ns + block->length_ns;
	struct column *column;

	if (block->first_ns < s->t0 || end >= s->t1 || block->first_ns < s->covered)
		return false;
	column = &s->out[sweep_column(s, block->first_ns)];
	if (end >= s->end)
		return false;
	column->busy_ns += block->busy_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		column->work_ns[k] += block->work_ns[k];
	column->count += block->n_spans;
	column->flags |= block->flags;
	sweep_edge(column, block->first_ns);
	sweep_edge(column, end);
	column->edges += 2u * (block->n_spans - 1u);
	if (!column->longest.id || block->longest_ns > s->longest_ns[s->column])
		sweep_longest(s, s->column, chunk_id(chunk, b * LANE_BLOCK + block->longest),
			    block->longest_ns);
	if (s->lane->layout.rates) {
		const struct block_rate *rate = &rates_of(chunk)[b];

		column->value += rate->amount;
		if (rate->max_rate > column->value_max)
			column->value_max = rate->max_rate;
	}
	s->covered = end;
	return true;
}

/* The same for a chunk. */
static bool take_head(struct lane_sweep *s, const struct chunk_head *head)
{
	int64_t end = head->first_ns + head->length_ns;
	struct column *column;

	if (head->first_ns < s->t0 || end >= s->t1 || head->first_ns < s->covered)
		return false;
	column = &s->out[sweep_column(s, head->first_ns)];
	if (end >= s->end)
		return false;
	column->busy_ns += head->busy_ns;
	for (int k = 1; k < WORK_COUNT; k++)
		column->work_ns[k] += head->work_ns[k - 1];
	column->count += head->n;
	column->flags |= head->flags;
	sweep_edge(column, head->first_ns);
	sweep_edge(column, end);
	column->edges += 2u * (head->n - 1u);
	sweep_longest(s, s->column, head->longest, head->longest_ns);
	s->covered = end;
	return true;
}

static void sweep_chunk(struct lane_sweep *s, const struct chunk *chunk)
{
	if (take_whole(s, &chunk->sum, false))
		return;
	for (uint32_t b = 0; b < chunk->n; b += LANE_BLOCK) {
		uint32_t end = b + LANE_BLOCK < chunk->n ? b + LANE_BLOCK : chunk->n;
		const struct span_block *block = chunk->n >= 2 * LANE_BLOCK ?
					    &chunk->blocks[b / LANE_BLOCK] : NULL;

		if (block && block->form &&
		    (block->first_ns + block->length_ns < s->t0 ||
		     sweep_take_block(s, chunk, b / LANE_BLOCK) ||
		     sweep_split(s, chunk, b / LANE_BLOCK)))
			continue;
		if (block && block->first_ns >= s->t1)
			return;
		view_block(&s->view, chunk, b, end - b);
		for (uint32_t i = 0; i < end - b; i++) {
			i = add_plain(s, &s->view, i, end - b);
			if (i == end - b)
				break;
			if (s->view.start[i] >= s->t1)
				return;
			if (s->view.start[i] + s->view.dur[i] >= s->t0)
				add_span(s, &s->view, i);
		}
	}
}

/*
 * Prefetch: sealed chunks are scattered in memory, and waiting for them is most of the cost of a
 * wide question. So chunks that cross a border wait in a queue while what they need is fetched
 * step by step: the chunk, its blocks, its columns.
 */
#define LINE_MAX 8u

struct chunk_line {
	struct {
		const struct chunk *chunk;
		int64_t covered;	/* time covered by all spans before it */
	} waiting[LINE_MAX];
	size_t in, out;
};

static void line_take(struct chunk_line *line, struct lane_sweep *s)
{
	size_t i = line->out++ % LINE_MAX;
	int64_t covered = s->covered;

	s->covered = line->waiting[i].covered;
	sweep_chunk(s, line->waiting[i].chunk);
	s->covered = covered;
}

static const struct chunk *line_back(const struct chunk_line *line, size_t steps)
{
	return line->in - line->out > steps ?
	       line->waiting[(line->in - 1 - steps) % LINE_MAX].chunk : NULL;
}

static void line_add(struct chunk_line *line, struct lane_sweep *s, const struct chunk *chunk)
{
	const struct chunk *before;

	if (line->in - line->out == LINE_MAX)
		line_take(line, s);
	line->waiting[line->in % LINE_MAX].chunk = chunk;
	line->waiting[line->in++ % LINE_MAX].covered = s->covered;
	if (chunk->max_end_ns > s->covered)
		s->covered = chunk->max_end_ns;
	__builtin_prefetch(&chunk->sum);
	before = line_back(line, 2);
	if (!before || !before->blocks)
		return;
	for (size_t i = 0; i < LANE_BLOCKS; i++)
		__builtin_prefetch(&before->blocks[i]);
	__builtin_prefetch(before->sealed);
}

/* Initialises everything but the view, which is large. */
static void lane_sweep_init(struct lane_sweep *s, struct lane *lane, uint32_t row, uint32_t index,
			    int64_t t0, int64_t w, size_t n, struct column *out,
			    int64_t *longest_ns)
{
	s->lane = lane;
	s->row = row;
	s->index = index;
	s->t0 = s->begin = t0;
	s->t1 = t0 + w * (int64_t)n;
	s->w = w;
	s->end = t0 + w;
	s->out = out;
	s->longest_ns = longest_ns;
	s->covered = INT64_MIN;
	s->column = 0;
}

void lane_ask(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w, size_t n,
	      struct column *out, int64_t *longest_ns)
{
	struct chunk_line line = { .in = 0 };
	struct lane_sweep s;
	struct lane_pos pos;

	lane_sweep_init(&s, lane, row, index, t0, w, n, out, longest_ns);

	for (size_t g = 0; g < lane->n_ghosts; g++)
		if (lane->ghosts[g].first_ns < s.t1 && lane->ghosts[g].max_end_ns >= t0 &&
		    !take_whole(&s, &lane->ghosts[g], true))
			sweep_add_folded(&s, &lane->ghosts[g]);
	if (!lane_touching(lane, t0, &pos))
		return;
	for (size_t c = pos.chunk; c < lane->n; c++) {
		const struct chunk_head *head = chunk_head(lane, c);
		const struct chunk *chunk = lane->chunks[c];

		if (head->n ? head->first_ns >= s.t1 : chunk->first_ns >= s.t1)
			break;
		if (head->n && (head->first_ns + head->length_ns < t0 ||
				(!lane->layout.rates && take_head(&s, head))))
			continue;
		if (chunk->max_end_ns >= t0)
			line_add(&line, &s, chunk);
	}
	while (line.out < line.in)
		line_take(&line, &s);
}

/* ---- only wanted spans ---- */

static void sweep_wanted(struct lane_sweep *s, const struct chunk *chunk,
			 const struct lane_want *want, struct cover *busy)
{
	for (uint32_t b = 0; b < chunk->n; b += LANE_BLOCK) {
		uint32_t n = chunk->n - b < LANE_BLOCK ? chunk->n - b : LANE_BLOCK;
		uint64_t bits = chunk_wanted(s->lane, chunk, want, b, n);

		if (bits)
			view_block(&s->view, chunk, b, n);
		for (; bits; bits &= bits - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(bits);
			int64_t start = s->view.start[i], end = start + s->view.dur[i];

			if (start >= s->t1)
				return;
			if (end < s->t0)
				continue;
			add_span(s, &s->view, i);
			cover_add(busy, start > s->t0 ? start : s->t0, end < s->t1 ? end : s->t1);
		}
	}
}

void lane_columns_of(struct lane *lane, const struct lane_want *want, uint32_t row, uint32_t index,
		     int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
		     struct cover *busy)
{
	struct lane_sweep s;
	struct lane_pos pos;

	lane_sweep_init(&s, lane, row, index, t0, w, n, out, longest_ns);
	for (size_t g = 0; g < lane->n_ghosts; g++) {
		const struct summary *ghost = &lane->ghosts[g];

		for (size_t c = 0; c < n && ghost->max_end_ns >= t0; c++)
			if (ghost->first_ns < t0 + w * (int64_t)(c + 1) &&
			    ghost->max_end_ns >= t0 + w * (int64_t)c)
				out[c].flags |= COLUMN_APPROX;
	}
	if (!lane_touching(lane, t0, &pos))
		return;
	for (size_t c = pos.chunk; c < lane->n && lane->chunks[c]->first_ns < s.t1; c++)
		if (lane->chunks[c]->max_end_ns >= t0 &&
		    chunk_may_have(lane, lane->chunks[c], want))
			sweep_wanted(&s, lane->chunks[c], want, busy);
}
