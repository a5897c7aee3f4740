/* SPDX-License-Identifier: MIT */
/*
 * A lane: the finished spans of one line of the timeline, sorted by start.
 *
 * Idea: a deque of chunks of at most LANE_CHUNK spans in structure-of-arrays
 * form, each with a summary (busy time, time per class, longest, edges), and
 * one for each block of LANE_BLOCK spans. A question about columns takes whole
 * chunks and blocks by their summary and looks at single spans only in blocks
 * that cross a column's border: exact, and O(columns * LANE_BLOCK + chunks).
 * Appending is O(1), a late span moves at most a chunk. (The pieces of
 * Perfetto's, Spall's and Tracy's stores, that also take late events and can let
 * go of the oldest.)
 *
 * A chunk is open or sealed. Open ones have plain arrays; a full one is
 * sealed: each array and each field of the cold records becomes a packed
 * column (packed.h), a third of the size, and read as it is. What is late or
 * edited opens its chunk again; the LANE_OPEN chunks opened last stay open, so
 * that a lane with much disorder does not pack over and over.
 *
 * Always true:
 *  - starts are sorted over the whole lane; equal starts by arrival.
 *  - Spans may overlap (a density lane, bad data): busy time is still their
 *    union, because a scan in start order knows up to where time is covered.
 *  - An id is given once and stays the span's, wherever it moves.
 *  - A folded chunk leaves a ghost, its summary: its time is spread evenly over
 *    its length and marked COLUMN_APPROX. There are LANE_GHOSTS at most, then
 *    neighbours become one.
 *  - Summaries of dirty chunks are made at the next question; sealed ones
 *    are never dirty.
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

#include "model/base/util.h"
#include "model/lanes/packed.h"
#include "model/query/query.h"

#define LANE_CHUNK 512u
#define LANE_FILL 480u			/* a full chunk keeps room for some late spans */
#define LANE_BLOCK 64u
#define LANE_OPEN 16u			/* opened again, besides the last */
#define LANE_GHOSTS 512u
#define LANE_FIELDS_MAX 16u

/* What the owner keeps with a span, as a record of integers. */
struct lane_field {
	uint16_t offset;
	uint8_t size;			/* 1, 2, 4 or 8 bytes */
	bool is_signed;			/* or has a few values close to its maximum */
};

#define LANE_FIELD(record, member, sign) \
	{ offsetof(struct record, member), sizeof(((struct record *)0)->member), sign }

struct lane_layout {
	uint32_t size;			/* bytes of the record */
	uint32_t n_fields;		/* up to LANE_FIELDS_MAX */
	struct lane_field fields[LANE_FIELDS_MAX];
	bool rates;			/* the first field is bytes moved, uint64_t */
	uint8_t op_field;		/* 1 + the field with the op's name, 0: the span's own */
};

/* Columns of a sealed chunk; those of the record's fields follow. */
enum lane_column {
	LANE_START, LANE_DUR, LANE_NAME, LANE_ID, LANE_WORK, LANE_FLAG, LANE_COLD
};

/* What some spans in a row come to. */
struct summary {
	int64_t first_ns, max_end_ns;	/* first start, latest end */
	int64_t busy_ns;		/* union */
	bool apart;			/* no two overlap, none is empty */
	int64_t longest_ns;
	int64_t work_ns[WORK_COUNT];
	uint64_t amount;		/* bytes moved, of lanes with `rates` */
	uint64_t max_rate;
	uint32_t n_spans, longest;	/* id */
	uint8_t flags;			/* enum column_flag */
};

/* The same in a cache line, of LANE_BLOCK spans; what lasts longer than 2^32 ns
 * has none. Behind a chunk's blocks, of lanes with `rates`: a
 * struct block_rate for each. */
struct span_block {
	int64_t first_ns;
	uint32_t length_ns;		/* first start to latest end */
	uint32_t busy_ns, longest_ns, work_ns[WORK_COUNT];
	uint8_t longest, n_spans;	/* index in the block */
	uint8_t flags;
	uint8_t form;			/* enum block_form */
};

enum block_form {
	BLOCK_NONE,
	BLOCK_WHOLE,			/* the above holds */
	BLOCK_APART,			/* and no two spans overlap, none is empty */
};

struct block_rate {
	uint64_t amount, max_rate;
};

/* And of a chunk, for a question that takes it whole: a cache line, side by side
 * for all chunks. No head (n 0) while dirty, and when it does not fit. */
struct chunk_head {
	int64_t first_ns;
	uint32_t length_ns, busy_ns, longest_ns;
	uint32_t longest;		/* id */
	uint32_t work_ns[WORK_COUNT - 1];	/* of the classes from 1 on */
	uint16_t n;
	uint8_t flags;
};

#define LANE_BLOCKS (LANE_CHUNK / LANE_BLOCK)

struct chunk {
	uint32_t n, cap;
	bool dirty;
	int64_t first_ns, last_ns;	/* starts of first and last */
	int64_t max_end_ns;
	int64_t reach_ns;		/* latest end of this and all chunks before */
	uint32_t min_id, max_id;
	struct summary sum;		/* up to date unless dirty, like the marks */
	/* of names, of ops: one of 128 bits for each (a Bloom filter) */
	uint64_t marks[2][2];
	/* LANE_BLOCKS, NULL in small chunks; owned while open, else in the store. */
	struct span_block *blocks;
	/* Sealed: columns, blocks, then the columns' store; one allocation, owned,
	 * what is read together side by side. */
	struct packed *sealed;
	size_t sealed_bytes;
	/* Open: one allocation, arrays of cap; NULL when sealed. */
	int64_t *start, *dur;
	uint32_t *name, *id;
	uint8_t *work, *flag;
	char *cold;
	struct chunk *next_free;
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

/* Chunks lie side by side as they were made: a wide question looks at all. */
struct chunk_slab;

struct lane {
	struct chunk **chunks;		/* owned */
	struct chunk_head *heads;	/* owned; of each chunk */
	struct chunk_slab *slabs;	/* owned; where they lie */
	struct chunk *free_chunks;
	size_t n, cap, cap_heads;
	struct summary *ghosts;		/* owned; what was folded, the oldest first */
	size_t n_ghosts, cap_ghosts;
	struct lane_layout layout;
	struct chunk *open[LANE_OPEN];	/* opened again, some may be the last; NULL none */
	uint32_t next_open;		/* which of them is sealed next */
	uint64_t count;			/* with folded ones */
	int64_t sum_ns;			/* of durations */
	int64_t max_end_ns;		/* INT64_MIN: empty */
	uint64_t changes;		/* counts them */
	struct lane_cache cache;
	size_t bytes, open_bytes;	/* in all, and of the arrays of open chunks */
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

void lane_init(struct lane *lane, const struct lane_layout *layout);
void lane_release(struct lane *lane);

/* cold: a record of the layout, copied. Returns where it is, for now. */
struct lane_pos lane_insert(struct lane *lane, const struct lane_span *span, const void *cold);

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

static inline int64_t chunk_start(const struct chunk *chunk, uint32_t i)
{
	return chunk->sealed ? (int64_t)packed_get(&chunk->sealed[LANE_START], chunk->sealed, i) :
			       chunk->start[i];
}

static inline int64_t chunk_dur(const struct chunk *chunk, uint32_t i)
{
	return chunk->sealed ? (int64_t)packed_get(&chunk->sealed[LANE_DUR], chunk->sealed, i) :
			       chunk->dur[i];
}

static inline uint32_t chunk_name(const struct chunk *chunk, uint32_t i)
{
	return chunk->sealed ? (uint32_t)packed_get(&chunk->sealed[LANE_NAME], chunk->sealed, i) :
			       chunk->name[i];
}

static inline uint32_t chunk_id(const struct chunk *chunk, uint32_t i)
{
	return chunk->sealed ? (uint32_t)packed_get(&chunk->sealed[LANE_ID], chunk->sealed, i) :
			       chunk->id[i];
}

struct lane_span lane_get(const struct lane *lane, struct lane_pos pos);
/* The record, and one of its fields. */
void lane_cold(const struct lane *lane, struct lane_pos pos, void *record);
uint64_t lane_cold_field(const struct lane *lane, struct lane_pos pos, uint32_t field);

/* ---- changing what is there ---- */

/* The record to write to; borrowed until the next call for this lane. */
void *lane_edit(struct lane *lane, struct lane_pos pos);
/* Spans of that name get that class. */
void lane_reclassify(struct lane *lane, uint32_t name, uint8_t work);

/*
 * Asks fn for the new start of each span from the first one that starts at or
 * after from_ns on, and keeps order. Returns whether anything moved.
 */
typedef int64_t lane_move_fn(void *arg, int64_t start_ns, void *cold);
bool lane_move(struct lane *lane, int64_t from_ns, lane_move_fn *fn, void *arg);

/* Lets go of the spans of the oldest chunk, if it is not the only one or `last`;
 * returns the bytes freed, 0: none. */
size_t lane_fold_oldest(struct lane *lane, bool last);
/* End of what lane_fold_oldest would take, INT64_MAX: nothing. */
int64_t lane_oldest_end(const struct lane *lane, bool last);
/* Seals all chunks, for the memory; returns the bytes freed. */
size_t lane_squeeze(struct lane *lane);
/* First start, also of what is folded; INT64_MAX: empty. */
int64_t lane_first_ns(const struct lane *lane);

/* ---- questions ---- */

/*
 * Adds this lane to the columns (they may hold other lanes already, busy_ns
 * then adds up). row and index go into `longest`, whose length is kept in
 * longest_ns[n].
 */
void lane_columns(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		  size_t n, struct column *out, int64_t *longest_ns);

/* ---- only the spans with certain names ---- */

struct cover;

struct lane_want {
	bool name, op;			/* by the span's name, by that of its op */
	const uint8_t *wanted;		/* by name id, up to n; names from there on are not */
	uint32_t n;
	uint64_t marks[2];		/* of all wanted ones */
};

static inline void lane_mark(uint64_t marks[2], uint32_t name)
{
	uint32_t bit = name * 0x9e3779b1u >> 25;

	marks[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* From *pos on, itself included, within so many chunks; false: none. Chunks without any
 * are skipped. */
bool lane_next_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks);
bool lane_prev_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks);
/* As lane_columns; their union goes into `busy` (the columns' busy_ns means
 * nothing), and where detail was folded columns are COLUMN_APPROX. */
void lane_columns_of(struct lane *lane, const struct lane_want *want, uint32_t row, uint32_t index,
		     int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
		     struct cover *busy);

/* Union of the spans in [t0, t1). */
int64_t lane_busy(struct lane *lane, int64_t t0, int64_t t1);

#endif
