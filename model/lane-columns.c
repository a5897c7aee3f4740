/* SPDX-License-Identifier: MIT */
/* Questions to a lane: summaries and columns. See lane.h for the idea. */
#include "model/lane.h"

#include <stdlib.h>
#include <string.h>

#include "model/util.h"

/* Smaller lanes answer faster than a cache. */
#define CACHE_CHUNKS 8u
#define CACHE_COLUMNS 2048u

/* Spans of a chunk as arrays, whichever form it has. */
struct view {
	const struct chunk *chunk;
	uint32_t first;			/* the arrays' first in the chunk */
	const int64_t *start, *dur;
	const uint8_t *work, *flag;
	/* What was packed. */
	int64_t starts[LANE_BLOCK], durs[LANE_BLOCK];
	uint8_t works[LANE_BLOCK], flags[LANE_BLOCK];
};

static void view_open(struct view *view, const struct chunk *chunk, uint32_t first)
{
	view->chunk = chunk;
	view->first = first;
	view->start = chunk->start + first;
	view->dur = chunk->dur + first;
	view->work = chunk->work + first;
	view->flag = chunk->flag + first;
}

static void read_small(const struct chunk *chunk, uint32_t column, uint32_t first, uint32_t n,
		       uint8_t *out)
{
	const struct packed *packed = &chunk->sealed[column];
	uint64_t values[LANE_BLOCK];

	if (!packed->width && !packed->slope) {
		memset(out, (int)packed->base, n);
		return;
	}
	packed_read(packed, chunk->sealed, first, n, values);
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)values[i];
}

/* n: up to LANE_BLOCK. */
static void view_block(struct view *view, const struct chunk *chunk, uint32_t first, uint32_t n)
{
	const struct packed *sealed = chunk->sealed;

	if (!sealed) {
		view_open(view, chunk, first);
		return;
	}
	packed_read(&sealed[LANE_START], sealed, first, n, (uint64_t *)view->starts);
	packed_read(&sealed[LANE_DUR], sealed, first, n, (uint64_t *)view->durs);
	read_small(chunk, LANE_WORK, first, n, view->works);
	read_small(chunk, LANE_FLAG, first, n, view->flags);
	view->chunk = chunk;
	view->first = first;
	view->start = view->starts;
	view->dur = view->durs;
	view->work = view->works;
	view->flag = view->flags;
}

static uint32_t id_of(const struct view *view, uint32_t i)
{
	return chunk_id(view->chunk, view->first + i);
}

static uint64_t bytes_of(const struct lane *lane, const struct view *view, uint32_t i)
{
	const struct chunk *chunk = view->chunk;
	uint64_t bytes;

	if (!lane->layout->rates)
		return 0;
	i += view->first;
	if (chunk->sealed)
		return packed_get(&chunk->sealed[LANE_COLD], chunk->sealed, i);
	memcpy(&bytes, chunk->cold + (size_t)i * lane->layout->size +
	       lane->layout->fields[0].offset, sizeof(bytes));
	return bytes;
}

static uint64_t rate_of(uint64_t bytes, int64_t ns)
{
	__uint128_t rate = ns > 0 ? (__uint128_t)bytes * 1000000000u / (uint64_t)ns : 0;

	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

static void summarise(const struct lane *lane, const struct view *v, uint32_t first,
		      uint32_t end_i, struct summary *sum)
{
	int64_t covered = INT64_MIN;

	*sum = (struct summary) {
		.first_ns = v->start[first], .max_end_ns = INT64_MIN, .longest_ns = -1,
		.n_spans = end_i - first,
	};
	for (uint32_t i = first; i < end_i; i++) {
		int64_t start = v->start[i], dur = v->dur[i], end = start + dur;

		if (end > covered) {
			sum->busy_ns += end - (start > covered ? start : covered);
			covered = end;
		}
		sum->work_ns[v->work[i]] += dur;
		sum->flags |= v->flag[i];
		if (dur > sum->longest_ns) {
			sum->longest_ns = dur;
			sum->longest = id_of(v, i);
		}
		if (lane->layout->rates) {
			uint64_t bytes = bytes_of(lane, v, i), rate = rate_of(bytes, dur);

			sum->amount += bytes;
			if (rate > sum->max_rate)
				sum->max_rate = rate;
		}
	}
	sum->max_end_ns = covered;
}

void chunk_summarise(struct lane *lane, struct chunk *chunk)
{
	struct view view;

	if (!chunk->dirty)
		return;
	chunk->dirty = false;
	view_open(&view, chunk, 0);
	summarise(lane, &view, 0, chunk->n, &chunk->sum);
	if (chunk->n < 2 * LANE_BLOCK)
		return;
	if (!chunk->blocks) {
		chunk->blocks = xcalloc(LANE_CHUNK / LANE_BLOCK, sizeof(*chunk->blocks));
		lane->bytes += LANE_CHUNK / LANE_BLOCK * sizeof(*chunk->blocks);
	}
	for (uint32_t i = 0; i < chunk->n; i += LANE_BLOCK)
		summarise(lane, &view, i, i + LANE_BLOCK < chunk->n ? i + LANE_BLOCK : chunk->n,
			  &chunk->blocks[i / LANE_BLOCK]);
}

/* One question on its way through a lane. */
struct sweep {
	struct lane *lane;
	uint32_t row, index;
	int64_t t0, t1, w;
	struct column *out;
	int64_t *longest_ns;
	int64_t covered;		/* busy time is counted up to here */
	/* Columns of the last looked-up time: times come almost in order. */
	int64_t begin, end;
	size_t column;
	struct view view;
};

/* Column of t, which lies in [t0, t1). */
static size_t column_of(struct sweep *s, int64_t t)
{
	if (t < s->begin || t >= s->end) {
		if (t >= s->end && t < s->end + s->w)
			s->column++;
		else
			s->column = (size_t)((t - s->t0) / s->w);
		s->begin = s->t0 + s->w * (int64_t)s->column;
		s->end = s->begin + s->w;
	}
	return s->column;
}

static void add_edge(struct column *column, int64_t t)
{
	if (!column->edges || t < column->first_edge_ns)
		column->first_edge_ns = t;
	if (!column->edges || t > column->last_edge_ns)
		column->last_edge_ns = t;
	column->edges++;
}

static void add_longest(struct sweep *s, size_t c, uint32_t id, int64_t dur)
{
	if (s->out[c].longest.id && dur <= s->longest_ns[c])
		return;
	s->longest_ns[c] = dur;
	s->out[c].longest = (struct span_ref) { s->row, s->index, id };
}

static void add_span(struct sweep *s, const struct view *v, uint32_t i)
{
	int64_t start = v->start[i], dur = v->dur[i], end = start + dur;
	int64_t from = start > s->t0 ? start : s->t0;
	int64_t to = end < s->t1 ? end : s->t1;
	uint64_t bytes = bytes_of(s->lane, v, i);
	size_t c;

	if (start >= s->t0 && start < s->t1)
		add_edge(&s->out[column_of(s, start)], start);
	if (end >= s->t0 && end < s->t1)
		add_edge(&s->out[dur ? (size_t)((end - s->t0) / s->w) : column_of(s, end)], end);
	if (dur == 0 ? start < s->t0 || start >= s->t1 : from >= to)
		return;
	c = column_of(s, from);
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
		add_longest(s, c, id_of(v, i), dur);
		if (bytes) {
			/* Differences of running totals, so that columns add up. */
			uint64_t rate = rate_of(bytes, dur);

			column->value += dur ? (uint64_t)((__uint128_t)bytes * (uint64_t)(stop - start) /
							  (uint64_t)dur) -
					       (uint64_t)((__uint128_t)bytes * (uint64_t)(from - start) /
							  (uint64_t)dur) : bytes;
			if (rate > column->value_max)
				column->value_max = rate;
		}
		from = stop;
		c++;
	} while (from < to);
}

/* All that is summed up lies in column c, ends included. */
static void add_summary(struct sweep *s, size_t c, const struct summary *sum, bool folded)
{
	struct column *column = &s->out[c];

	column->busy_ns += sum->busy_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		column->work_ns[k] += sum->work_ns[k];
	column->count += sum->n_spans;
	column->flags |= sum->flags;
	add_edge(column, sum->first_ns);
	add_edge(column, sum->max_end_ns);
	column->edges += 2 * (sum->n_spans - 1);
	if (!folded)
		add_longest(s, c, sum->longest, sum->longest_ns);
	column->value += sum->amount;
	if (sum->max_rate > column->value_max)
		column->value_max = sum->max_rate;
	s->covered = sum->max_end_ns;
}

static int64_t part_of(int64_t amount, int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128_t)amount * part / whole) : amount;
}

/* A folded chunk that crosses a border: evenly spread, and said so. */
static void add_folded(struct sweep *s, const struct summary *chunk)
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
		uint32_t count = (uint32_t)part_of(chunk->n_spans, stop - from, whole);

		if (stop > begin)
			column->busy_ns += part_of(chunk->busy_ns, stop - begin, whole);
		for (int k = 0; k < WORK_COUNT; k++)
			column->work_ns[k] += part_of(chunk->work_ns[k], stop - from, whole);
		column->count += count ? count : 1;
		column->flags |= chunk->flags | COLUMN_APPROX;
		column->value += (uint64_t)part_of((int64_t)chunk->amount, stop - from, whole);
		if (chunk->max_rate > column->value_max)
			column->value_max = chunk->max_rate;
		add_edge(column, from);
		add_edge(column, stop);
		column->edges += 2 * count;
		from = stop;
	}
	if (chunk->max_end_ns > s->covered)
		s->covered = chunk->max_end_ns;
}

/*
 * The common case in a tight loop: from i on, spans that lie in the current
 * column, apart from each other. Returns the first that does not. Where copies
 * are counted, and instants, are left to add_span.
 */
static uint32_t add_plain(struct sweep *s, const struct view *v, uint32_t i, uint32_t end)
{
	int64_t covered = s->covered > s->begin ? s->covered : s->begin;
	struct column *column = &s->out[s->column];
	uint32_t first = i;
	int64_t longest = s->longest_ns[s->column], busy = 0;

	if (s->lane->layout->rates)
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
			column->longest = (struct span_ref) { s->row, s->index, id_of(v, i) };
		}
	}
	if (i == first)
		return i;
	s->longest_ns[s->column] = longest;
	s->covered = covered;
	column->busy_ns += busy;
	column->count += i - first;
	add_edge(column, v->start[first]);
	add_edge(column, covered);
	column->edges += 2 * (i - first - 1);
	return i;
}

/* Takes it whole when it lies in one column and after all that came before. */
static bool take_whole(struct sweep *s, const struct summary *sum, bool folded)
{
	size_t c;

	if (sum->first_ns < s->t0 || sum->max_end_ns >= s->t1 || sum->first_ns < s->covered)
		return false;
	c = column_of(s, sum->first_ns);
	if (sum->max_end_ns >= s->end)
		return false;
	add_summary(s, c, sum, folded);
	return true;
}

static void sweep_chunk(struct sweep *s, struct chunk *chunk, bool folded)
{
	chunk_summarise(s->lane, chunk);
	if (take_whole(s, &chunk->sum, folded))
		return;
	if (folded) {
		add_folded(s, &chunk->sum);
		return;
	}
	for (uint32_t b = 0; b < chunk->n; b += LANE_BLOCK) {
		uint32_t end = b + LANE_BLOCK < chunk->n ? b + LANE_BLOCK : chunk->n;
		const struct summary *block = chunk->n >= 2 * LANE_BLOCK ?
					      &chunk->blocks[b / LANE_BLOCK] : NULL;

		if (block && (block->max_end_ns < s->t0 || take_whole(s, block, false)))
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

/* Chunks lie anywhere in memory: waiting for it is most of a wide question. */
#define PREFETCH 3u

static void prefetch(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch((const char *)at + i);
}

static void ask(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w, size_t n,
		struct column *out, int64_t *longest_ns)
{
	struct sweep s;
	struct lane_pos pos;

	/* All but the view, which is large. */
	s.lane = lane;
	s.row = row;
	s.index = index;
	s.t0 = s.begin = t0;
	s.t1 = t0 + w * (int64_t)n;
	s.w = w;
	s.end = t0 + w;
	s.out = out;
	s.longest_ns = longest_ns;
	s.covered = INT64_MIN;
	s.column = 0;

	for (size_t c = 0; c < lane->n_folded; c++)
		if (lane->chunks[c]->first_ns < s.t1 && lane->chunks[c]->max_end_ns >= t0)
			sweep_chunk(&s, lane->chunks[c], true);
	if (!lane_touching(lane, t0, &pos))
		return;
	for (size_t c = pos.chunk; c < lane->n && lane->chunks[c]->first_ns < s.t1; c++) {
		if (c + PREFETCH < lane->n)
			prefetch(lane->chunks[c + PREFETCH], sizeof(struct chunk));
		if (c + 1 < lane->n && lane->chunks[c + 1]->blocks)
			prefetch(lane->chunks[c + 1]->blocks, 2 * sizeof(struct summary));
		if (lane->chunks[c]->max_end_ns >= t0)
			sweep_chunk(&s, lane->chunks[c], false);
	}
}

static void add_column(struct column *to, int64_t *to_longest_ns, const struct column *from,
		       int64_t from_longest_ns)
{
	to->busy_ns += from->busy_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		to->work_ns[k] += from->work_ns[k];
	to->count += from->count;
	to->flags |= from->flags;
	to->value += from->value;
	if (from->value_max > to->value_max)
		to->value_max = from->value_max;
	if (from->longest.id && (!to->longest.id || from_longest_ns > *to_longest_ns)) {
		to->longest = from->longest;
		*to_longest_ns = from_longest_ns;
	}
	if (from->edges) {
		if (!to->edges || from->first_edge_ns < to->first_edge_ns)
			to->first_edge_ns = from->first_edge_ns;
		if (!to->edges || from->last_edge_ns > to->last_edge_ns)
			to->last_edge_ns = from->last_edge_ns;
		to->edges += from->edges;
	}
}

/* Brings the cache to this question. */
static void cache_ask(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		      size_t n)
{
	struct lane_cache *cache = &lane->cache;
	const size_t each = sizeof(*cache->columns) + sizeof(*cache->longest_ns);

	if (cache->n == n && cache->t0 == t0 && cache->w == w && cache->changes == lane->changes)
		return;
	if (cache->n != n) {
		lane->bytes += n * each - cache->n * each;
		free(cache->columns);
		free(cache->longest_ns);
		cache->columns = xcalloc(n, sizeof(*cache->columns));
		cache->longest_ns = xcalloc(n, sizeof(*cache->longest_ns));
	} else {
		memset(cache->columns, 0, n * sizeof(*cache->columns));
		memset(cache->longest_ns, 0, n * sizeof(*cache->longest_ns));
	}
	cache->n = n;
	cache->t0 = t0;
	cache->w = w;
	cache->changes = lane->changes;
	ask(lane, row, index, t0, w, n, cache->columns, cache->longest_ns);
}

void lane_columns(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		  size_t n, struct column *out, int64_t *longest_ns)
{
	if (lane->n < CACHE_CHUNKS || n < 2 || n > CACHE_COLUMNS) {
		ask(lane, row, index, t0, w, n, out, longest_ns);
		return;
	}
	cache_ask(lane, row, index, t0, w, n);
	for (size_t c = 0; c < n; c++)
		if (lane->cache.columns[c].count || lane->cache.columns[c].edges)
			add_column(&out[c], &longest_ns[c], &lane->cache.columns[c],
				   lane->cache.longest_ns[c]);
}

int64_t lane_busy(struct lane *lane, int64_t t0, int64_t t1)
{
	struct column column = { .busy_ns = 0 };
	int64_t longest = 0;

	if (t1 <= t0)
		return 0;
	lane_columns(lane, 0, 0, t0, t1 - t0, 1, &column, &longest);
	return column.busy_ns;
}
