/* SPDX-License-Identifier: MIT */
#include "tui/timeline/column_cache.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define KEPT_FRAMES 64			/* frames after which lines that were not drawn are freed */
#define ANEW_FRAMES 16			/* a line is queried again after at least so many frames */

/* Drops one line after the other; after the end of the run nothing changes any more. */
static void forget_one(struct column_cache *cache)
{
	uint64_t turn = cache->frame % (cache->count > ANEW_FRAMES ? cache->count : ANEW_FRAMES);

	if (!cache->finished && turn < cache->count)
		cache->list[turn]->known = 0;
}

static void entry_free(struct cached_columns *entry)
{
	free(entry->columns);
	free(entry->names);
	free(entry);
}

void column_cache_release(struct column_cache *cache)
{
	size_t i;

	for (i = 0; i < cache->count; i++)
		entry_free(cache->list[i]);
	free(cache->list);
	memset(cache, 0, sizeof(*cache));
}

void column_cache_frame(struct column_cache *cache, const struct model_status *status)
{
	size_t i, kept = 0;

	cache->frame++;
	for (i = 0; i < cache->count; i++) {
		struct cached_columns *entry = cache->list[i];

		if (entry->used + KEPT_FRAMES < cache->frame) {
			entry_free(entry);
			continue;
		}
		if (cache->finished != status->finished)
			entry->known = 0;
		cache->list[kept++] = entry;
	}
	cache->count = kept;
	cache->finished = status->finished;
	forget_one(cache);
	/* Windows lie within ±2^62, so differences do not overflow. */
	cache->settled_ns = status->finished ? INT64_MAX / 2 : status->settled_ns;
}

static struct cached_columns *column_cache_find(struct column_cache *cache, uint32_t row,
						uint32_t lane)
{
	struct cached_columns *entry;
	size_t i;

	for (i = 0; i < cache->count; i++)
		if (cache->list[i]->row == row && cache->list[i]->lane == lane)
			return cache->list[i];
	entry = xcalloc(1, sizeof(*entry));
	entry->row = row;
	entry->lane = lane;
	grow(&cache->list, &cache->cap, cache->count, sizeof(*cache->list));
	cache->list[cache->count++] = entry;
	return entry;
}

/* The window has changed: columns that are final and still inside are moved to their new
 * positions. */
static void column_cache_move_to(struct cached_columns *entry, int64_t t0_ns, int64_t w_ns,
				 size_t n)
{
	int64_t shift = 0;

	if (entry->t0_ns == t0_ns && entry->w_ns == w_ns && entry->n == n)
		return;
	if (entry->w_ns == w_ns && entry->n == n && t0_ns >= entry->t0_ns &&
	    (t0_ns - entry->t0_ns) % w_ns == 0)
		shift = (t0_ns - entry->t0_ns) / w_ns;
	else
		entry->known = 0;
	if (entry->n != n)
		entry->columns = xreallocarray(entry->columns, n, sizeof(*entry->columns));
	if (shift < (int64_t)entry->known) {
		entry->known -= (size_t)shift;
		memmove(entry->columns, entry->columns + shift,
			entry->known * sizeof(*entry->columns));
	} else {
		entry->known = 0;
	}
	entry->t0_ns = t0_ns;
	entry->w_ns = w_ns;
	entry->n = n;
}

const struct column *column_cache_get(struct column_cache *cache, struct model *model,
				      uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
				      size_t n)
{
	struct cached_columns *entry = column_cache_find(cache, row, lane);
	int64_t settled_ns = cache->settled_ns > 0 && !cache->finished ?
			     cache->settled_ns - cache->late_ns : cache->settled_ns;
	size_t settled = 0;

	column_cache_move_to(entry, t0_ns, w_ns, n);
	entry->used = cache->frame;
	if (entry->known < n)
		model_columns(model, row, lane, t0_ns + (int64_t)entry->known * w_ns,
			      t0_ns + (int64_t)n * w_ns, n - entry->known,
			      entry->columns + entry->known);
	if (settled_ns > t0_ns)
		settled = (uint64_t)(settled_ns - t0_ns) / (uint64_t)w_ns < n ?
			  (size_t)((settled_ns - t0_ns) / w_ns) : n;
	while (entry->known < settled && !(entry->columns[entry->known].flags & COLUMN_OPEN))
		entry->known++;
	return entry->columns;
}

const struct column_name *column_cache_names(struct column_cache *cache, struct model *model,
					     uint32_t row, uint32_t lane)
{
	struct cached_columns *entry = column_cache_find(cache, row, lane);

	if (entry->n_names != entry->n) {
		free(entry->names);
		entry->names = xcalloc(entry->n ? entry->n : 1, sizeof(*entry->names));
		entry->n_names = entry->n;
	}
	model_column_names(model, entry->columns, entry->n, entry->t0_ns, entry->w_ns,
			   entry->names);
	return entry->names;
}
