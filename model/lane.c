/* SPDX-License-Identifier: MIT */
#include "model/lane.h"

#include <stdlib.h>
#include <string.h>

#include "model/util.h"

void lane_init(struct lane *lane, uint32_t cold_size, bool rates)
{
	memset(lane, 0, sizeof(*lane));
	lane->cold_size = cold_size;
	lane->rates = rates;
	lane->max_end_ns = INT64_MIN;
}

static size_t chunk_data_bytes(const struct lane *lane, uint32_t cap)
{
	return (size_t)cap * (2 * sizeof(int64_t) + 2 * sizeof(uint32_t) + 2 + lane->cold_size);
}

static void chunk_drop_data(struct lane *lane, struct chunk *chunk)
{
	lane->bytes -= chunk->start ? chunk_data_bytes(lane, chunk->cap) : 0;
	lane->bytes -= chunk->blocks ? LANE_CHUNK / LANE_BLOCK * sizeof(*chunk->blocks) : 0;
	free(chunk->start);
	free(chunk->blocks);
	chunk->start = NULL;
	chunk->blocks = NULL;
}

void lane_release(struct lane *lane)
{
	for (size_t i = 0; i < lane->n; i++) {
		chunk_drop_data(lane, lane->chunks[i]);
		free(lane->chunks[i]);
	}
	free(lane->chunks);
	free(lane->cache.columns);
	free(lane->cache.longest_ns);
	memset(lane, 0, sizeof(*lane));
}

/* Gives the chunk arrays of `cap` entries in one allocation, widest first. */
static void chunk_resize(struct lane *lane, struct chunk *chunk, uint32_t cap)
{
	struct chunk old = *chunk;
	char *data = xmalloc(chunk_data_bytes(lane, cap));
	size_t n = chunk->n;

	lane->bytes += chunk_data_bytes(lane, cap);
	chunk->start = (int64_t *)data;
	chunk->dur = chunk->start + cap;
	chunk->cold = (char *)(chunk->dur + cap);
	chunk->name = (uint32_t *)(chunk->cold + (size_t)cap * lane->cold_size);
	chunk->id = chunk->name + cap;
	chunk->work = (uint8_t *)(chunk->id + cap);
	chunk->flag = chunk->work + cap;
	chunk->cap = cap;
	if (!old.start)
		return;
	memcpy(chunk->start, old.start, n * sizeof(*chunk->start));
	memcpy(chunk->dur, old.dur, n * sizeof(*chunk->dur));
	memcpy(chunk->cold, old.cold, n * lane->cold_size);
	memcpy(chunk->name, old.name, n * sizeof(*chunk->name));
	memcpy(chunk->id, old.id, n * sizeof(*chunk->id));
	memcpy(chunk->work, old.work, n);
	memcpy(chunk->flag, old.flag, n);
	lane->bytes -= chunk_data_bytes(lane, old.cap);
	free(old.start);
}

static struct chunk *chunk_new(struct lane *lane, size_t at, uint32_t cap)
{
	struct chunk *chunk = xcalloc(1, sizeof(*chunk));

	grow(&lane->chunks, &lane->cap, lane->n, sizeof(*lane->chunks));
	memmove(lane->chunks + at + 1, lane->chunks + at, (lane->n - at) * sizeof(*lane->chunks));
	lane->chunks[at] = chunk;
	lane->n++;
	lane->bytes += sizeof(*chunk);
	chunk->first_ns = chunk->last_ns = INT64_MAX;
	chunk->max_end_ns = INT64_MIN;
	chunk->min_id = UINT32_MAX;
	chunk_resize(lane, chunk, cap);
	return chunk;
}

/* After entries were put in or taken out: borders, ids; the rest is lazy. */
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

/* Makes room for `count` entries at i. */
static void chunk_open(struct lane *lane, struct chunk *chunk, uint32_t i)
{
	size_t rest = chunk->n - i;

	if (chunk->n == chunk->cap)
		chunk_resize(lane, chunk, chunk->cap < LANE_CHUNK / 2 ? chunk->cap * 2 : LANE_CHUNK);
	if (rest) {
		memmove(chunk->start + i + 1, chunk->start + i, rest * sizeof(*chunk->start));
		memmove(chunk->dur + i + 1, chunk->dur + i, rest * sizeof(*chunk->dur));
		memmove(chunk->name + i + 1, chunk->name + i, rest * sizeof(*chunk->name));
		memmove(chunk->id + i + 1, chunk->id + i, rest * sizeof(*chunk->id));
		memmove(chunk->work + i + 1, chunk->work + i, rest);
		memmove(chunk->flag + i + 1, chunk->flag + i, rest);
		memmove(chunk->cold + (size_t)(i + 1) * lane->cold_size,
			chunk->cold + (size_t)i * lane->cold_size, rest * lane->cold_size);
	}
	chunk->n++;
}

static void chunk_put(struct lane *lane, struct chunk *chunk, uint32_t i,
		      const struct lane_span *span, const void *cold)
{
	int64_t end = span->start_ns + span->dur_ns;

	chunk_open(lane, chunk, i);
	chunk->start[i] = span->start_ns;
	chunk->dur[i] = span->dur_ns;
	chunk->name[i] = span->name;
	chunk->id[i] = span->id;
	chunk->work[i] = span->work;
	chunk->flag[i] = span->flags;
	if (lane->cold_size)
		memcpy(chunk->cold + (size_t)i * lane->cold_size, cold, lane->cold_size);
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
	uint32_t low = 0, high = chunk->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (chunk->start[middle] > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* First chunk with last start > t (n when none). */
static size_t chunk_after(const struct lane *lane, int64_t t)
{
	size_t low = lane->n_folded, high = lane->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->chunks[middle]->last_ns > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
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
	memcpy(to->cold, from->cold + (size_t)first * lane->cold_size,
	       (size_t)count * lane->cold_size);
	to->n = count;
}

static void chunk_split(struct lane *lane, size_t at)
{
	struct chunk *left = lane->chunks[at], *right;
	uint32_t half = left->n / 2;
	uint32_t rest = left->n - half;

	right = chunk_new(lane, at + 1, rest + LANE_CHUNK / 8);
	copy_range(lane, right, left, half, rest);
	left->n = half;
	chunk_resize(lane, left, half + LANE_CHUNK / 8);
	chunk_borders(left);
	chunk_borders(right);
}

/* Chunk and index where a span with that start belongs; makes room for it. */
static size_t chunk_for(struct lane *lane, int64_t start, uint32_t *i)
{
	size_t at = lane->n;

	if (at > lane->n_folded && start < lane->chunks[at - 1]->last_ns)
		at = chunk_after(lane, start);
	/* Not behind this chunk's first: rather at the end of the one before. */
	if (at > lane->n_folded && (at == lane->n || start < lane->chunks[at]->first_ns) &&
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
		return at + 1;
	}
	if (lane->chunks[at]->n >= LANE_CHUNK) {
		chunk_split(lane, at);
		if (start >= lane->chunks[at + 1]->first_ns)
			at++;
	}
	*i = chunk_upper(lane->chunks[at], start);
	return at;
}

/* Latest end up to each chunk, from `at` on until nothing changes any more. */
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

void lane_insert(struct lane *lane, const struct lane_span *span, const void *cold)
{
	uint32_t i;
	size_t at = chunk_for(lane, span->start_ns, &i);

	chunk_put(lane, lane->chunks[at], i, span, cold);
	update_reach(lane, at > 0 ? at - 1 : 0);
	lane->changes++;
	lane->count++;
	lane->sum_ns += span->dur_ns;
	if (span->start_ns + span->dur_ns > lane->max_end_ns)
		lane->max_end_ns = span->start_ns + span->dur_ns;
}

bool lane_is_free(const struct lane *lane, int64_t start, int64_t end)
{
	struct lane_pos pos;
	int steps = 0;

	if (start >= lane->max_end_ns || end <= start)
		return true;
	/* The one before that has a length, and all that start inside. */
	if (lane_before(lane, start, &pos))
		do {
			const struct chunk *chunk = lane->chunks[pos.chunk];

			if (++steps > 64)
				return false;		/* too many instants to look behind */
			if (chunk->dur[pos.i] > 0) {
				if (chunk->start[pos.i] + chunk->dur[pos.i] > start)
					return false;
				break;
			}
		} while (lane_prev(lane, &pos));
	if (lane_lower(lane, start, &pos))
		do {
			const struct chunk *chunk = lane->chunks[pos.chunk];

			if (chunk->start[pos.i] >= end)
				break;
			if (chunk->dur[pos.i] > 0)
				return false;
		} while (lane_next(lane, &pos));
	return true;
}

/* ---- places ---- */

bool lane_find(const struct lane *lane, uint32_t id, struct lane_pos *pos)
{
	for (size_t c = lane->n; c-- > lane->n_folded; ) {
		const struct chunk *chunk = lane->chunks[c];

		if (id < chunk->min_id || id > chunk->max_id)
			continue;
		for (uint32_t i = 0; i < chunk->n; i++)
			if (chunk->id[i] == id) {
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
		if (pos->chunk <= lane->n_folded)
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

bool lane_touching(const struct lane *lane, int64_t t, struct lane_pos *pos)
{
	size_t low = lane->n_folded, high = lane->n;

	/* Ends are not sorted where spans overlap, the reach is. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->chunks[middle]->reach_ns >= t)
			high = middle;
		else
			low = middle + 1;
	}
	*pos = (struct lane_pos) { low, 0 };
	return low < lane->n;
}

/* ---- changing ---- */

struct moved {
	struct lane_span span;
	uint32_t order;
};

static int by_start(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;

	if (x->span.start_ns != y->span.start_ns)
		return x->span.start_ns < y->span.start_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Takes out all spans from chunk `first` on, sorts and puts them back. */
static void lane_resort(struct lane *lane, size_t first)
{
	size_t count = 0, k = 0;
	struct moved *all;
	char *cold;

	for (size_t c = first; c < lane->n; c++)
		count += lane->chunks[c]->n;
	all = xreallocarray(NULL, count, sizeof(*all));
	cold = xmalloc(count * lane->cold_size);
	for (size_t c = first; c < lane->n; c++) {
		struct chunk *chunk = lane->chunks[c];

		for (uint32_t i = 0; i < chunk->n; i++, k++) {
			all[k].span = lane_get(lane, (struct lane_pos) { c, i });
			all[k].order = (uint32_t)k;
			memcpy(cold + k * lane->cold_size, lane_cold(lane, (struct lane_pos) { c, i }),
			       lane->cold_size);
			lane->count--;
			lane->sum_ns -= chunk->dur[i];
		}
		lane->bytes -= sizeof(*chunk);
		chunk_drop_data(lane, chunk);
		free(chunk);
	}
	lane->n = first;
	qsort(all, count, sizeof(*all), by_start);
	for (k = 0; k < count; k++)
		lane_insert(lane, &all[k].span, cold + (size_t)all[k].order * lane->cold_size);
	free(all);
	free(cold);
}

bool lane_move(struct lane *lane, int64_t from_ns, lane_move_fn *fn, void *arg)
{
	struct lane_pos pos;
	bool moved = false, sorted = true;
	int64_t before = INT64_MIN;
	size_t first, c;

	if (!lane_lower(lane, from_ns, &pos))
		return false;
	first = pos.chunk;
	if (pos.i > 0)
		before = lane->chunks[first]->start[pos.i - 1];
	else if (first > 0)
		before = lane->chunks[first - 1]->last_ns;
	for (bool more = true; more; more = lane_next(lane, &pos)) {
		struct chunk *chunk = lane->chunks[pos.chunk];
		int64_t start = fn(arg, chunk->start[pos.i], lane_cold(lane, pos));

		moved |= start != chunk->start[pos.i];
		sorted &= start >= before;
		before = chunk->start[pos.i] = start;
	}
	if (!moved)
		return false;
	lane->changes++;
	for (c = first; c < lane->n; c++) {
		chunk_borders(lane->chunks[c]);
		lane->chunks[c]->reach_ns = INT64_MIN;
	}
	update_reach(lane, first);
	lane->max_end_ns = lane->chunks[lane->n - 1]->reach_ns;
	if (!sorted) {
		/* Back to the first chunk that must take something. */
		int64_t least = INT64_MAX;

		for (c = first; c < lane->n; c++)
			for (uint32_t i = 0; i < lane->chunks[c]->n; i++)
				if (lane->chunks[c]->start[i] < least)
					least = lane->chunks[c]->start[i];
		while (first > lane->n_folded &&
		       lane->chunks[first - 1]->last_ns > least)
			first--;
		lane_resort(lane, first);
	}
	return true;
}

int64_t lane_oldest_end(const struct lane *lane)
{
	if (lane->n_folded + 1 >= lane->n)
		return INT64_MAX;
	return lane->chunks[lane->n_folded]->max_end_ns;
}

size_t lane_fold_oldest(struct lane *lane)
{
	size_t before = lane->bytes;
	struct chunk *chunk;

	if (lane->n_folded + 1 >= lane->n)
		return 0;
	lane->changes++;
	chunk = lane->chunks[lane->n_folded++];
	chunk_summarise(lane, chunk);
	chunk_drop_data(lane, chunk);
	chunk->n = chunk->cap = 0;
	chunk->dur = NULL;
	chunk->name = chunk->id = NULL;
	chunk->work = chunk->flag = NULL;
	chunk->cold = NULL;
	return before - lane->bytes;
}
