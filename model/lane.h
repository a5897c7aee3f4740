/* SPDX-License-Identifier: MIT */
/*
 * A lane: the finished spans of one line of the timeline, sorted by start.
 *
 * Idea: a deque of chunks of at most LANE_CHUNK spans in structure-of-arrays
 * form, each with a summary (busy time, time per class, longest, edges), and
 * one for each block of LANE_BLOCK spans. A question about columns takes whole
 * chunks and blocks by their summary and looks at single spans only in blocks
 * that cross a column's border: exact, and O(columns * LANE_BLOCK + chunks).
 * Appending is O(1), a late span moves at most a chunk. (The pieces of Perfetto's, Spall's and Tracy's stores that
 * also take late events and can let go of the oldest: see
 * docs/architecture.md.)
 *
 * Always true:
 *  - starts are sorted over the whole lane; equal starts by arrival.
 *  - Spans may overlap (a density lane, bad data): busy time is still their
 *    union, because a scan in start order knows up to where time is covered.
 *  - An id is given once and stays the span's, wherever it moves.
 *  - A folded chunk keeps its summary and no spans: its time is spread evenly
 *    over its length and marked COLUMN_APPROX.
 *  - Summaries of dirty chunks are made at the next question.
 *
 * Worked example: w = 100, spans [0,50) [60,90) [95,230). Column 0 has busy
 * 50 + 30 + 5, count 3, edges 5 (0 50 60 90 95); column 1 busy 100, count 1,
 * edges 0; column 2 busy 30, edges 1 (230).
 *
 * Ownership: a lane owns its chunks. Threads: under the model's lock.
 */
#ifndef MODEL_LANE_H
#define MODEL_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query.h"

#define LANE_CHUNK 1024u
#define LANE_FILL 960u			/* a full chunk keeps room for some late spans */
#define LANE_BLOCK 64u

/* What some spans in a row come to. */
struct summary {
	int64_t first_ns, max_end_ns;	/* first start, latest end */
	int64_t busy_ns;		/* union */
	int64_t longest_ns;
	int64_t work_ns[WORK_COUNT];
	uint64_t amount;		/* bytes moved, of lanes with `rates` */
	uint64_t max_rate;
	uint32_t n_spans, longest;	/* id */
	uint8_t flags;			/* enum column_flag */
};

struct chunk {
	uint32_t n, cap;		/* n 0: folded */
	bool dirty;
	int64_t first_ns, last_ns;	/* starts of first and last */
	int64_t max_end_ns;
	int64_t reach_ns;		/* latest end of this and all chunks before */
	uint32_t min_id, max_id;
	struct summary sum;		/* up to date unless dirty */
	struct summary *blocks;		/* owned; of each LANE_BLOCK spans, NULL in small chunks */
	/* one allocation, arrays of cap; NULL when folded */
	int64_t *start, *dur;
	uint32_t *name, *id;
	uint8_t *work, *flag;
	char *cold;
};

/* The answer to the last question about many columns: rows of one frame ask
 * the same lanes again, and a window that stands still asks the same. */
struct lane_cache {
	int64_t t0, w;
	size_t n;			/* 0: nothing cached */
	uint64_t changes;		/* lane.changes then */
	struct column *columns;		/* owned */
	int64_t *longest_ns;		/* owned */
};

struct lane {
	struct chunk **chunks;		/* owned */
	size_t n, cap;
	size_t n_folded;		/* the first ones have no spans any more */
	uint32_t cold_size;		/* bytes per span, what the owner keeps with it */
	bool rates;			/* cold begins with uint64_t bytes */
	uint64_t count;			/* with folded ones */
	int64_t sum_ns;			/* of durations */
	int64_t max_end_ns;		/* INT64_MIN: empty */
	uint64_t changes;		/* counts them */
	struct lane_cache cache;
	size_t bytes;
};

struct lane_span {
	int64_t start_ns, dur_ns;
	uint32_t name, id;
	uint8_t work, flags;
};

struct lane_pos {
	size_t chunk;
	uint32_t i;
};

void lane_init(struct lane *lane, uint32_t cold_size, bool rates);
void lane_release(struct lane *lane);

/* cold: cold_size bytes, copied. */
void lane_insert(struct lane *lane, const struct lane_span *span, const void *cold);

/* No span with a length overlaps [start, end)? */
bool lane_is_free(const struct lane *lane, int64_t start, int64_t end);

/* ---- places; false: no such ---- */
bool lane_find(const struct lane *lane, uint32_t id, struct lane_pos *pos);
/* First span with start >= t. */
bool lane_lower(const struct lane *lane, int64_t t, struct lane_pos *pos);
/* Last span with start < t. */
bool lane_before(const struct lane *lane, int64_t t, struct lane_pos *pos);
bool lane_next(const struct lane *lane, struct lane_pos *pos);
bool lane_prev(const struct lane *lane, struct lane_pos *pos);
/* First place to look for spans that touch t or later. */
bool lane_touching(const struct lane *lane, int64_t t, struct lane_pos *pos);

static inline struct lane_span lane_get(const struct lane *lane, struct lane_pos pos)
{
	const struct chunk *chunk = lane->chunks[pos.chunk];

	return (struct lane_span) {
		.start_ns = chunk->start[pos.i], .dur_ns = chunk->dur[pos.i],
		.name = chunk->name[pos.i], .id = chunk->id[pos.i],
		.work = chunk->work[pos.i], .flags = chunk->flag[pos.i],
	};
}

/* Borrowed until the lane changes. */
static inline void *lane_cold(const struct lane *lane, struct lane_pos pos)
{
	return lane->chunks[pos.chunk]->cold + (size_t)pos.i * lane->cold_size;
}

/* ---- changing what is there ---- */

/*
 * Asks fn for the new start of each span from the first one that starts at or
 * after from_ns on, and keeps order. Returns whether anything moved.
 */
typedef int64_t lane_move_fn(void *arg, int64_t start_ns, void *cold);
bool lane_move(struct lane *lane, int64_t from_ns, lane_move_fn *fn, void *arg);

/* Lets go of the spans of the oldest chunk that has any and is not the last;
 * returns the bytes freed, 0: none. *until_ns: its latest end. */
size_t lane_fold_oldest(struct lane *lane);
/* End of what lane_fold_oldest would take, INT64_MAX: nothing. */
int64_t lane_oldest_end(const struct lane *lane);

/* ---- questions ---- */

/* Brings the summary up to date. */
void chunk_summarise(struct lane *lane, struct chunk *chunk);

/*
 * Adds this lane to the columns (they may hold other lanes already, busy_ns
 * then adds up). row and index go into `longest`, whose length is kept in
 * longest_ns[n].
 */
void lane_columns(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		  size_t n, struct column *out, int64_t *longest_ns);
/* Union of the spans in [t0, t1). */
int64_t lane_busy(struct lane *lane, int64_t t0, int64_t t1);

#endif
