/* SPDX-License-Identifier: MIT */
/* The last answer of a lane, kept for callers that ask the same again. See lane.h. */
#include "model/lanes/lane_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

/* Smaller lanes answer faster than a cache. */
#define CACHE_CHUNKS 8u
#define CACHE_COLUMNS 2048u

static void cache_add_column(struct column *to, int64_t *to_longest_ns, const struct column *from,
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

/* Makes the cache answer this question. */
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
	lane_ask(lane, row, index, t0, w, n, cache->columns, cache->longest_ns);
}

void lane_columns(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		  size_t n, struct column *out, int64_t *longest_ns)
{
	if (lane->n < CACHE_CHUNKS || n < 2 || n > CACHE_COLUMNS) {
		lane_ask(lane, row, index, t0, w, n, out, longest_ns);
		return;
	}
	cache_ask(lane, row, index, t0, w, n);
	for (size_t c = 0; c < n; c++)
		if (lane->cache.columns[c].count || lane->cache.columns[c].edges)
			cache_add_column(&out[c], &longest_ns[c], &lane->cache.columns[c],
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
