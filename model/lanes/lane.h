/* SPDX-License-Identifier: MIT */
/*
 * A lane: the finished spans of one line of the timeline, sorted by start.
 *
 * Idea: a deque of chunks of at most LANE_CHUNK spans in structure-of-arrays form. Each chunk,
 * and each block of LANE_BLOCK spans in it, has a summary (busy time, time per class, longest,
 * edges). A question about columns uses the summaries of whole chunks and blocks, and reads
 * single spans only in blocks that cross a column's border: exact, and O(columns * LANE_BLOCK +
 * chunks). Appending is O(1); a late span moves at most a chunk. (Perfetto, Spall and Tracy store
 * spans similarly; this store also takes late events and can discard the oldest.)
 *
 * A chunk is open or sealed. An open chunk has plain arrays. A full chunk is sealed: each array,
 * and each field of the cold records, becomes a packed column (packed.h) of a third of the size,
 * which is read without unpacking. A span that is late or edited opens its chunk again. The
 * LANE_OPEN chunks opened last stay open, so that a lane with much disorder does not pack over
 * and over.
 *
 * Always true:
 *  - starts are sorted over the whole lane; equal starts by arrival.
 *  - Spans may overlap (in a lane shown as density, or in bad data). Busy time is still their
 *    union, because a scan in the order of starts knows up to where time is covered.
 *  - An id is given once and stays with its span, wherever that moves.
 *  - A folded chunk leaves a ghost, its summary: its time is spread evenly over its length and
 *    marked COLUMN_APPROX. There are at most LANE_GHOSTS; beyond that, neighbours are merged.
 *  - Summaries of dirty chunks are made at the next question; sealed chunks are never dirty.
 *
 * Worked example: w = 100, spans [0,50) [60,90) [95,230). Column 0 has busy 50 + 30 + 5, count 3,
 * edges 5 (0 50 60 90 95); column 1 busy 100, count 1, edges 0; column 2 busy 30, edges 1 (230).
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
#define LANE_FILL 480u			/* a full chunk still has room for some late spans */
#define LANE_BLOCK 64u
#define LANE_OPEN 16u			/* how many chunks may be open besides the last one */
#define LANE_GHOSTS 512u
#define LANE_FIELDS_MAX 16u

/* A field of the record of integers that the owner keeps with each span. */
struct lane_field {
	uint16_t offset;
	uint8_t size;			/* 1, 2, 4 or 8 bytes */
	bool is_signed;			/* or a few of its values are close to its maximum */
};

#define LANE_FIELD(record, member, sign) \
	{ offsetof(struct record, member), sizeof(((struct record *)0)->member), sign }

struct lane_layout {
	uint32_t size;			/* bytes of the record */
	uint32_t n_fields;		/* up to LANE_FIELDS_MAX */
	struct lane_field fields[LANE_FIELDS_MAX];
	bool rates;			/* the first field is bytes moved, uint64_t */
	/* 1 + the field with the op's name, 0: the span's own name */
	uint8_t op_field;
};

/* Columns of a sealed chunk; the fields of the record follow. */
enum lane_column {
	LANE_START, LANE_DUR, LANE_NAME, LANE_ID, LANE_WORK, LANE_FLAG, LANE_COLD
};

/* Summary of consecutive spans. */
struct summary {
	int64_t first_ns, max_end_ns;	/* first start, latest end */
	int64_t busy_ns;		/* union */
	bool apart;			/* no two overlap, none is empty */
	int64_t longest_ns;
	int64_t work_ns[WORK_COUNT];
	uint64_t amount;		/* bytes moved, in lanes with `rates` */
	uint64_t max_rate;
	uint32_t n_spans, longest;	/* id */
	uint8_t flags;			/* enum column_flag */
};

/* The same for LANE_BLOCK spans, in a cache line; a block longer than 2^32 ns has none. In lanes
 * with `rates`, a struct block_rate for each block follows the chunk's blocks. */
struct span_block {
	int64_t first_ns;
	uint32_t length_ns;		/* first start to latest end */
	uint32_t busy_ns, longest_ns, work_ns[WORK_COUNT];
	/* index in the block of the longest span, and the number of spans */
	uint8_t longest, n_spans;
	uint8_t flags;
	uint8_t form;			/* enum block_form */
};

enum block_form {
	BLOCK_NONE,
	BLOCK_WHOLE,			/* the block's summary is valid */
	BLOCK_APART,			/* and no two spans overlap, none is empty */
};

struct block_rate {
	uint64_t amount, max_rate;
};

/* The same for a chunk, for questions that take it whole: one cache line each, in one array for
 * all chunks. There is no head (n 0) while the chunk is dirty, or if a value does not fit. */
struct chunk_head {
	int64_t first_ns;
	uint32_t length_ns, busy_ns, longest_ns;
	uint32_t longest;		/* id */
	uint32_t work_ns[WORK_COUNT - 1];	/* classes from 1 on */
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
	struct summary sum;		/* up to date unless dirty, and so are the marks */
	/* Bloom filters of 128 bits: of the names, of the ops' names */
	uint64_t marks[2][2];
	/* LANE_BLOCKS of them, NULL in small chunks; owned while open, else in the store. */
	struct span_block *blocks;
	/* Sealed: columns, blocks, then the columns' store, in one allocation, owned, so that
	 * what is read together is adjacent. */
	struct packed *sealed;
	size_t sealed_bytes;
	/* Open: one allocation, arrays of cap; NULL when sealed. */
	int64_t *start, *dur;
	uint32_t *name, *id;
	uint8_t *work, *flag;
	char *cold;
	struct chunk *next_free;
};

/* The answer to the last question about many columns: the rows of one frame ask the same lanes
 * repeatedly, and a window that does not move asks the same again. */
struct lane_cache {
	int64_t t0, w;
	size_t n;			/* 0: nothing is cached */
	uint64_t changes;		/* lane.changes at that time */
	struct column *columns;		/* owned */
	int64_t *longest_ns;		/* owned */
};

/* Chunks are allocated next to each other, because a wide question reads all of them. */
struct chunk_slab;

struct lane {
	struct chunk **chunks;		/* owned */
	struct chunk_head *heads;	/* owned; of each chunk */
	struct chunk_slab *slabs;	/* owned; the memory of the chunks */
	struct chunk *free_chunks;
	size_t n, cap, cap_heads;
	struct summary *ghosts;		/* owned; summaries of what was folded, oldest first */
	size_t n_ghosts, cap_ghosts;
	struct lane_layout layout;
	/* chunks opened again, perhaps the last one too; NULL: none */
	struct chunk *open[LANE_OPEN];
	uint32_t next_open;		/* which of them is sealed next */
	uint64_t count;			/* all spans, folded ones included */
	int64_t sum_ns;			/* of durations */
	int64_t max_end_ns;		/* INT64_MIN: empty */
	uint64_t changes;		/* number of changes so far */
	struct lane_cache cache;
	size_t bytes, open_bytes;	/* in total, and of the arrays of open chunks */
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

/* cold: a record of the lane's layout, copied. Returns the present place of the span. */
struct lane_pos lane_insert(struct lane *lane, const struct lane_span *span, const void *cold);

/* Whether no span with a duration overlaps [start, end). */
bool lane_is_free(const struct lane *lane, int64_t start, int64_t end);

/* ---- places; false: no such ---- */
bool lane_find(const struct lane *lane, uint32_t id, struct lane_pos *pos);
/* First span with start >= t. */
bool lane_lower(const struct lane *lane, int64_t t, struct lane_pos *pos);
/* Last span with start < t. */
bool lane_before(const struct lane *lane, int64_t t, struct lane_pos *pos);
bool lane_next(const struct lane *lane, struct lane_pos *pos);
bool lane_prev(const struct lane *lane, struct lane_pos *pos);
/* The span after the one with that start and id. If it is gone, the first that starts later: all
 * others of its start were before it. */
bool lane_after_span(const struct lane *lane, int64_t start_ns, uint32_t id, struct lane_pos *pos);
/* The first place where a span may touch t or a later time. */
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
/* The record of a span, or one of its fields. */
void lane_cold(const struct lane *lane, struct lane_pos pos, void *record);
uint64_t lane_cold_field(const struct lane *lane, struct lane_pos pos, uint32_t field);

/* ---- changing what is there ---- */

/* The record to write to; borrowed until the next call for this lane. */
void *lane_edit(struct lane *lane, struct lane_pos pos);
/* Gives spans of this name this class. */
void lane_reclassify(struct lane *lane, uint32_t name, uint8_t work);

/*
 * Asks fn for the new start of each span that starts at or after from_ns, and keeps the order.
 * Returns whether anything moved.
 */
typedef int64_t lane_move_fn(void *arg, int64_t start_ns, void *cold);
bool lane_move(struct lane *lane, int64_t from_ns, lane_move_fn *fn, void *arg);

/* Discards the spans of the oldest chunk, unless it is the only one and not `last`; returns the
 * bytes freed, 0: none. */
size_t lane_fold_oldest(struct lane *lane, bool last);
/* The end of the chunk that lane_fold_oldest() would discard; INT64_MAX: there is none. */
int64_t lane_oldest_end(const struct lane *lane, bool last);
/* Seals all chunks to save memory; returns the bytes freed. */
size_t lane_squeeze(struct lane *lane);
/* The first start, folded spans included; INT64_MAX: the lane is empty. */
int64_t lane_first_ns(const struct lane *lane);

/* ---- questions ---- */

/*
 * Adds this lane to the columns, which may hold other lanes already; busy_ns adds up then. row
 * and index go into `longest`, whose duration is kept in longest_ns[n].
 */
void lane_columns(struct lane *lane, uint32_t row, uint32_t index, int64_t t0, int64_t w,
		  size_t n, struct column *out, int64_t *longest_ns);

/* ---- only the spans with certain names ---- */

struct cover;

struct lane_want {
	bool name, op;			/* by the span's name; by its op's name */
	const uint8_t *wanted;	/* indexed by name id, up to n; names from n on are not wanted */
	uint32_t n;
	uint64_t marks[2];		/* marks of all wanted names */
};

static inline void lane_mark(uint64_t marks[2], uint32_t name)
{
	uint32_t bit = name * 0x9e3779b1u >> 25;

	marks[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Finds the next (previous) wanted span from *pos on, *pos included, within so many chunks;
 * false: none. Chunks without a wanted name are skipped. */
bool lane_next_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks);
bool lane_prev_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks);
/* Like lane_columns() for the wanted spans only. Their union goes into `busy` (the columns'
 * busy_ns is not meaningful), and columns with folded detail are COLUMN_APPROX. */
void lane_columns_of(struct lane *lane, const struct lane_want *want, uint32_t row, uint32_t index,
		     int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
		     struct cover *busy);

/* The length of the union of the spans in [t0, t1). */
int64_t lane_busy(struct lane *lane, int64_t t0, int64_t t1);

#endif
