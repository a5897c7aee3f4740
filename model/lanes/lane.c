/* SPDX-License-Identifier: MIT */
#include "model/lanes/lane_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void lane_init(struct lane *lane, const struct lane_layout *layout)
{
	memset(lane, 0, sizeof(*lane));
	lane->layout = *layout;
	lane->max_end_ns = INT64_MIN;
}

void lane_release(struct lane *lane)
{
	chunk_free_all(lane);
	free(lane->cache.columns);
	free(lane->cache.longest_ns);
	memset(lane, 0, sizeof(*lane));
}

static struct chunk *chunk_new(struct lane *lane, size_t at, uint32_t cap)
{
	struct chunk *chunk = chunk_alloc(lane);
	size_t cap_before = lane->cap;

	grow(&lane->chunks, &lane->cap, lane->n, sizeof(*lane->chunks));
	memmove(lane->chunks + at + 1, lane->chunks + at, (lane->n - at) * sizeof(*lane->chunks));
	grow(&lane->heads, &lane->cap_heads, lane->n, sizeof(*lane->heads));
	memmove(lane->heads + at + 1, lane->heads + at, (lane->n - at) * sizeof(*lane->heads));
	lane->bytes += (lane->cap - cap_before) * (sizeof(*lane->chunks) + sizeof(*lane->heads));
	lane->heads[at].n = 0;
	lane->chunks[at] = chunk;
	lane->n++;
	chunk->first_ns = chunk->last_ns = INT64_MAX;
	chunk->max_end_ns = INT64_MIN;
	chunk->min_id = UINT32_MAX;
	chunk_resize(lane, chunk, cap);
	return chunk;
}

/* Updates borders and ids after spans were added or removed; the rest is updated lazily. */
static void chunk_borders(struct chunk *chunk)
{
	chunk->dirty = true;
	chunk->first_ns = chunk->start[0];
	chunk->last_ns = chunk->start[chunk->n - 1];
	chunk->max_end_ns = INT64_MIN;
	chunk->min_id = UINT32_MAX;
	chunk->max_id = 0;
	for (uint32_t i = 0; i < chunk->n; i++) {
		int64_t end = chunk->start[i] + chunk->dur[i];

		if (end > chunk->max_end_ns)
			chunk->max_end_ns = end;
		if (chunk->id[i] < chunk->min_id)
			chunk->min_id = chunk->id[i];
		if (chunk->id[i] > chunk->max_id)
			chunk->max_id = chunk->id[i];
	}
}

/* Makes room for an entry at i. */
static void chunk_gap(struct lane *lane, struct chunk *chunk, uint32_t i)
{
	size_t rest = chunk->n - i;

	if (chunk->n == chunk->cap)
		chunk_resize(lane, chunk, chunk->cap < LANE_CHUNK / 2 ? chunk->cap * 2 :
			     LANE_CHUNK);
	if (rest) {
		memmove(chunk->start + i + 1, chunk->start + i, rest * sizeof(*chunk->start));
		memmove(chunk->dur + i + 1, chunk->dur + i, rest * sizeof(*chunk->dur));
		memmove(chunk->name + i + 1, chunk->name + i, rest * sizeof(*chunk->name));
		memmove(chunk->id + i + 1, chunk->id + i, rest * sizeof(*chunk->id));
		memmove(chunk->work + i + 1, chunk->work + i, rest);
		memmove(chunk->flag + i + 1, chunk->flag + i, rest);
		memmove(chunk->cold + (size_t)(i + 1) * lane->layout.size,
			chunk->cold + (size_t)i * lane->layout.size, rest * lane->layout.size);
	}
	chunk->n++;
}

static void chunk_put(struct lane *lane, struct chunk *chunk, uint32_t i,
		      const struct lane_span *span, const void *cold)
{
	int64_t end = span->start_ns + span->dur_ns;

	chunk_gap(lane, chunk, i);
	chunk->start[i] = span->start_ns;
	chunk->dur[i] = span->dur_ns;
	chunk->name[i] = span->name;
	chunk->id[i] = span->id;
	chunk->work[i] = span->work;
	chunk->flag[i] = span->flags;
	if (lane->layout.size)
		memcpy(chunk->cold + (size_t)i * lane->layout.size, cold, lane->layout.size);
	chunk->dirty = true;
	chunk->first_ns = chunk->start[0];
	chunk->last_ns = chunk->start[chunk->n - 1];
	if (end > chunk->max_end_ns)
		chunk->max_end_ns = end;
	if (span->id < chunk->min_id)
		chunk->min_id = span->id;
	if (span->id > chunk->max_id)
		chunk->max_id = span->id;
}

/* First index in the chunk with start > t. */
static uint32_t chunk_upper(const struct chunk *chunk, int64_t t)
{
	return FIRST_NOT(i, 0, chunk->n, chunk_start(chunk, i) <= t);
}

/* First chunk with last start > t (n when none). */
static size_t chunk_after(const struct lane *lane, int64_t t)
{
	size_t low = 0, high = lane->n;

	/* It is usually one of the last. */
	for (size_t back = 1; back <= lane->n; back *= 2) {
		if (lane->chunks[lane->n - back]->last_ns <= t) {
			low = lane->n - back + 1;
			break;
		}
		high = lane->n - back;
	}
	return FIRST_NOT(i, low, high, lane->chunks[i]->last_ns <= t);
}

static void copy_range(struct lane *lane, struct chunk *to, const struct chunk *from,
		       uint32_t first, uint32_t count)
{
	memcpy(to->start, from->start + first, count * sizeof(*to->start));
	memcpy(to->dur, from->dur + first, count * sizeof(*to->dur));
	memcpy(to->name, from->name + first, count * sizeof(*to->name));
	memcpy(to->id, from->id + first, count * sizeof(*to->id));
	memcpy(to->work, from->work + first, count);
	memcpy(to->flag, from->flag + first, count);
	memcpy(to->cold, from->cold + (size_t)first * lane->layout.size,
	       (size_t)count * lane->layout.size);
	to->n = count;
}

static void chunk_split(struct lane *lane, size_t at)
{
	struct chunk *left = lane->chunks[at], *right;
	uint32_t half = left->n / 2;
	uint32_t rest = left->n - half;

	chunk_open(lane, left);
	right = chunk_new(lane, at + 1, rest + LANE_CHUNK / 8);
	copy_range(lane, right, left, half, rest);
	left->n = half;
	chunk_resize(lane, left, half + LANE_CHUNK / 8);
	chunk_borders(left);
	lane->heads[at].n = 0;
	chunk_borders(right);
	lane_keep_open(lane, left);
	lane_keep_open(lane, right);
}

/* The chunk and index where a span with this start belongs; makes room for it. */
static size_t chunk_for(struct lane *lane, int64_t start, uint32_t *i)
{
	size_t at = lane->n;

	if (at > 0 && start < lane->chunks[at - 1]->last_ns)
		at = chunk_after(lane, start);
	/* Before this chunk's first span: rather append to the previous chunk. */
	if (at > 0 && (at == lane->n || start < lane->chunks[at]->first_ns) &&
	    (lane->chunks[at - 1]->n < LANE_CHUNK || at == lane->n))
		at--;
	if (at == lane->n) {
		*i = 0;
		chunk_new(lane, at, 16);
		return at;
	}
	if (at + 1 == lane->n && lane->chunks[at]->n >= LANE_FILL &&
	    start >= lane->chunks[at]->last_ns) {
		*i = 0;
		chunk_new(lane, at + 1, LANE_CHUNK / 4);
		/* Where one span was late, more will follow. */
		if (lane->next_open)
			lane_keep_open(lane, lane->chunks[at]);
		else
			chunk_seal(lane, lane->chunks[at]);
		return at + 1;
	}
	if (lane->chunks[at]->n >= LANE_CHUNK) {
		chunk_split(lane, at);
		if (start >= lane->chunks[at + 1]->first_ns)
			at++;
	}
	*i = start >= lane->chunks[at]->last_ns ? lane->chunks[at]->n :
						  chunk_upper(lane->chunks[at], start);
	return at;
}

/* Updates the latest end up to each chunk, from `at` on until nothing changes any more. */
static void update_reach(struct lane *lane, size_t at)
{
	int64_t reach = at > 0 ? lane->chunks[at - 1]->reach_ns : INT64_MIN;

	for (size_t c = at; c < lane->n; c++) {
		struct chunk *chunk = lane->chunks[c];

		if (chunk->max_end_ns > reach)
			reach = chunk->max_end_ns;
		/* A split changes two neighbours at most. */
		if (c > at + 1 && chunk->reach_ns == reach)
			return;
		chunk->reach_ns = reach;
	}
}

struct lane_pos lane_insert(struct lane *lane, const struct lane_span *span, const void *cold)
{
	uint32_t i;
	size_t at = chunk_for(lane, span->start_ns, &i);
	struct chunk *chunk = lane->chunks[at];

	if (chunk->sealed) {
		chunk_open(lane, chunk);
		lane_keep_open(lane, chunk);
	}
	chunk_put(lane, chunk, i, span, cold);
	lane->heads[at].n = 0;
	update_reach(lane, at > 0 ? at - 1 : 0);
	lane->changes++;
	lane->count++;
	lane->sum_ns += span->dur_ns;
	if (span->start_ns + span->dur_ns > lane->max_end_ns)
		lane->max_end_ns = span->start_ns + span->dur_ns;
	return (struct lane_pos) { at, i };
}

bool lane_is_free(const struct lane *lane, int64_t start, int64_t end)
{
	struct lane_pos pos;
	int steps = 0;

	if (start >= lane->max_end_ns || end <= start)
		return true;
	/* Checks the previous span that has a duration, and all spans that start inside. */
	if (lane_before(lane, start, &pos))
		do {
			const struct chunk *chunk = lane->chunks[pos.chunk];

			int64_t dur = chunk_dur(chunk, pos.i);

			if (++steps > 64)
				return false;		/* too many instants to look past */
			if (dur > 0) {
				if (chunk_start(chunk, pos.i) + dur > start)
					return false;
				break;
			}
		} while (lane_prev(lane, &pos));
	if (lane_lower(lane, start, &pos))
		do {
			const struct chunk *chunk = lane->chunks[pos.chunk];

			if (chunk_start(chunk, pos.i) >= end)
				break;
			if (chunk_dur(chunk, pos.i) > 0)
				return false;
		} while (lane_next(lane, &pos));
	return true;
}

/* ---- places ---- */

bool lane_find(const struct lane *lane, uint32_t id, struct lane_pos *pos)
{
	for (size_t c = lane->n; c-- > 0; ) {
		const struct chunk *chunk = lane->chunks[c];

		if (id < chunk->min_id || id > chunk->max_id)
			continue;
		for (uint32_t i = 0; i < chunk->n; i++)
			if (chunk_id(chunk, i) == id) {
				*pos = (struct lane_pos) { c, i };
				return true;
			}
	}
	return false;
}

static bool settle_forward(const struct lane *lane, struct lane_pos *pos)
{
	while (pos->chunk < lane->n && pos->i >= lane->chunks[pos->chunk]->n) {
		pos->chunk++;
		pos->i = 0;
	}
	return pos->chunk < lane->n;
}

bool lane_lower(const struct lane *lane, int64_t t, struct lane_pos *pos)
{
	if (t == INT64_MIN)
		t++;
	pos->chunk = chunk_after(lane, t - 1);
	pos->i = 0;
	if (pos->chunk < lane->n)
		pos->i = chunk_upper(lane->chunks[pos->chunk], t - 1);
	return settle_forward(lane, pos);
}

bool lane_next(const struct lane *lane, struct lane_pos *pos)
{
	pos->i++;
	return settle_forward(lane, pos);
}

bool lane_prev(const struct lane *lane, struct lane_pos *pos)
{
	while (pos->i == 0) {
		if (pos->chunk == 0)
			return false;
		pos->chunk--;
		pos->i = lane->chunks[pos->chunk]->n;
	}
	pos->i--;
	return true;
}

bool lane_before(const struct lane *lane, int64_t t, struct lane_pos *pos)
{
	if (t == INT64_MIN)
		return false;
	pos->chunk = chunk_after(lane, t - 1);
	pos->i = 0;
	if (pos->chunk < lane->n)
		pos->i = chunk_upper(lane->chunks[pos->chunk], t - 1);
	return lane_prev(lane, pos);
}

bool lane_after_span(const struct lane *lane, int64_t start_ns, uint32_t id, struct lane_pos *pos)
{
	if (!lane_lower(lane, start_ns, pos))
		return false;
	do {
		if (lane_get(lane, *pos).start_ns != start_ns)
			return true;
		if (chunk_id(lane->chunks[pos->chunk], pos->i) == id)
			return lane_next(lane, pos);
	} while (lane_next(lane, pos));
	return false;
}

bool lane_touching(const struct lane *lane, int64_t t, struct lane_pos *pos)
{
	/* Where spans overlap, their ends are not sorted, but the reach is. */
	size_t low = FIRST_NOT(i, 0, lane->n, lane->chunks[i]->reach_ns < t);

	*pos = (struct lane_pos) { low, 0 };
	return low < lane->n;
}

/* ---- changing ---- */

struct moved_span {
	struct lane_span span;
	uint32_t order;
};

static int by_start(const void *a, const void *b)
{
	const struct moved_span *x = a, *y = b;

	if (x->span.start_ns != y->span.start_ns)
		return x->span.start_ns < y->span.start_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Takes all spans from chunk `first` on out, sorts them and puts them back. */
static void lane_resort(struct lane *lane, size_t first)
{
	size_t count = 0, k = 0, size = lane->layout.size;
	struct moved_span *all;
	char *cold;

	for (size_t c = first; c < lane->n; c++)
		count += lane->chunks[c]->n;
	all = xreallocarray(NULL, count, sizeof(*all));
	cold = xmalloc(count * size);
	for (size_t c = first; c < lane->n; c++) {
		struct chunk *chunk = lane->chunks[c];

		for (uint32_t i = 0; i < chunk->n; i++, k++) {
			all[k].span = lane_get(lane, (struct lane_pos) { c, i });
			all[k].order = (uint32_t)k;
			lane_cold(lane, (struct lane_pos) { c, i }, cold + k * size);
			lane->count--;
			lane->sum_ns -= all[k].span.dur_ns;
		}
		chunk_free(lane, chunk);
	}
	lane->n = first;
	qsort(all, count, sizeof(*all), by_start);
	for (k = 0; k < count; k++)
		lane_insert(lane, &all[k].span, cold + (size_t)all[k].order * size);
	free(all);
	free(cold);
}

/* What lane_move() has seen so far. */
struct movement {
	lane_move_fn *fn;
	void *arg;
	int64_t before, least;		/* the last new start; the smallest of all */
	bool moved, sorted;
};

/* Moves the spans of a chunk from i on. */
static void chunk_move(struct lane *lane, size_t c, uint32_t i, struct movement *m)
{
	struct chunk *chunk = lane->chunks[c];
	bool sealed = chunk->sealed != NULL;

	chunk_open(lane, chunk);
	for (; i < chunk->n; i++) {
		int64_t start = m->fn(m->arg, chunk->start[i],
				      chunk->cold + (size_t)i * lane->layout.size);

		m->moved |= start != chunk->start[i];
		m->sorted &= start >= m->before;
		m->least = start < m->least ? start : m->least;
		m->before = chunk->start[i] = start;
	}
	chunk_borders(chunk);
	lane->heads[c].n = 0;
	chunk->reach_ns = INT64_MIN;
	if (sealed)
		chunk_seal(lane, chunk);
}

bool lane_move(struct lane *lane, int64_t from_ns, lane_move_fn *fn, void *arg)
{
	struct movement m = {
		.fn = fn, .arg = arg, .before = INT64_MIN, .least = INT64_MAX, .sorted = true,
	};
	struct lane_pos pos;
	size_t first;

	if (!lane_lower(lane, from_ns, &pos))
		return false;
	first = pos.chunk;
	if (pos.i > 0)
		m.before = chunk_start(lane->chunks[first], pos.i - 1);
	else if (first > 0)
		m.before = lane->chunks[first - 1]->last_ns;
	for (size_t c = first; c < lane->n; c++)
		chunk_move(lane, c, c == first ? pos.i : 0, &m);
	update_reach(lane, first);
	if (!m.moved)
		return false;
	lane->changes++;
	lane->max_end_ns = lane->chunks[lane->n - 1]->reach_ns;
	if (!m.sorted) {
		/* Goes back to the first chunk that must take a span. */
		while (first > 0 && lane->chunks[first - 1]->last_ns > m.least)
			first--;
		lane_resort(lane, first);
	}
	return true;
}

/* ---- folding ---- */

int64_t lane_first_ns(const struct lane *lane)
{
	int64_t first = lane->n ? lane->chunks[0]->first_ns : INT64_MAX;

	return lane->n_ghosts && lane->ghosts[0].first_ns < first ? lane->ghosts[0].first_ns :
	       first;
}

int64_t lane_oldest_end(const struct lane *lane, bool last)
{
	return lane->n > (last ? 0 : 1) ? lane->chunks[0]->max_end_ns : INT64_MAX;
}

/* Merges two ghosts, the older one first. */
static void ghost_join(struct summary *to, const struct summary *a, const struct summary *b)
{
	const struct summary *longest = b->longest_ns > a->longest_ns ? b : a;
	struct summary sum = {
		.first_ns = a->first_ns < b->first_ns ? a->first_ns : b->first_ns,
		.max_end_ns = a->max_end_ns > b->max_end_ns ? a->max_end_ns : b->max_end_ns,
		.busy_ns = a->busy_ns + b->busy_ns,
		.longest_ns = longest->longest_ns, .longest = longest->longest,
		.amount = a->amount + b->amount,
		.max_rate = a->max_rate > b->max_rate ? a->max_rate : b->max_rate,
		.flags = a->flags | b->flags,
	};

	if (__builtin_add_overflow(a->n_spans, b->n_spans, &sum.n_spans))
		sum.n_spans = UINT32_MAX;
	for (int k = 0; k < WORK_COUNT; k++)
		sum.work_ns[k] = a->work_ns[k] + b->work_ns[k];
	*to = sum;
}

static void ghost_add(struct lane *lane, const struct summary *sum)
{
	size_t to = 0, i, cap = lane->cap_ghosts;

	if (lane->n_ghosts >= LANE_GHOSTS) {
		for (i = 0; i + 1 < lane->n_ghosts; i += 2, to++)
			ghost_join(&lane->ghosts[to], &lane->ghosts[i], &lane->ghosts[i + 1]);
		if (i < lane->n_ghosts)
			lane->ghosts[to++] = lane->ghosts[i];
		lane->n_ghosts = to;
	}
	grow(&lane->ghosts, &lane->cap_ghosts, lane->n_ghosts, sizeof(*lane->ghosts));
	lane->bytes += (lane->cap_ghosts - cap) * sizeof(*lane->ghosts);
	lane->ghosts[lane->n_ghosts++] = *sum;
}

size_t lane_fold_oldest(struct lane *lane, bool last)
{
	size_t before = lane->bytes;
	struct chunk *chunk;

	if (lane->n <= (last ? 0 : 1))
		return 0;
	lane->changes++;
	chunk = lane->chunks[0];
	chunk_summarise(lane, chunk);
	ghost_add(lane, &chunk->sum);
	chunk_free(lane, chunk);
	lane->n--;
	memmove(lane->chunks, lane->chunks + 1, lane->n * sizeof(*lane->chunks));
	memmove(lane->heads, lane->heads + 1, lane->n * sizeof(*lane->heads));
	return before > lane->bytes ? before - lane->bytes : 1;
}
