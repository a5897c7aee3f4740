/* SPDX-License-Identifier: MIT */
/*
 * The items that were read, put in the order of time: an external merge sort.
 *
 * Idea: items come in any order and are taken out by start, and what contains another item
 * before what it contains. Up to IMPORT_ITEMS are sorted in memory; each further block of that
 * size is sorted, written to an unnamed temporary file, and merged from there.
 *
 * Always true: items that compare equal come out in the order in which they were put in.
 * Complexity: O(n log n), and memory for IMPORT_ITEMS items whatever n is. Errors: if there is
 * no room for the file, spool_add() returns false; what was added before stays. Source: Knuth,
 * volume 3, 5.4.
 */
#ifndef MODEL_IMPORT_SPOOL_H
#define MODEL_IMPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum item_type {		/* of what begins at the same time, the first comes first */
	ITEM_FLOW_FROM,		/* correlation: of the flow; thread */
	ITEM_FREE,		/* name: allocator, place: address */
	ITEM_STEP,		/* place: number */
	ITEM_SPAN,		/* of a track: an op of a thread or work of a device */
	ITEM_INSTANT,
	ITEM_ALLOC,		/* name: allocator, place: address, bytes; type: op's name */
	ITEM_FLOW_TO,
	ITEM_COUNTER,		/* name: series, place: value */
	ITEM_MESSAGE,		/* name: of a message, place: its key, kind: enum flow_phase */
};

enum item_flag {
	ITEM_ASYNC = 1,		/* on no stack */
	ITEM_CALL = 2,		/* a call of an API, no op */
	ITEM_RANGE = 4,		/* the user's */
	ITEM_GIVES = 8,		/* correlation: of the flow that leaves the op */
	ITEM_OF = 16,		/* a run, and correlation the flow of the op it belongs to */
	ITEM_TAKES = 64,	/* place: the flow that comes in */
	ITEM_NODE = 32,		/* name and op_type are of an op, also when it ran on a stream */
};

struct import_item {
	int64_t start_ns, dur_ns;
	uint64_t order;			/* set by the spool */
	uint64_t bytes;
	uint64_t place;
	uint32_t track, name, op_type;	/* of build.h, 0 none */
	uint32_t correlation;		/* of build.h, 0 none */
	uint32_t shape;			/* of build.h, 0 none */
	uint8_t type, flags;
	uint8_t kind, direction;	/* of device work */
};

struct spool;

struct spool *spool_new(void);
void spool_free(struct spool *spool);
bool spool_add(struct spool *spool, const struct import_item *item);
uint64_t spool_count(const struct spool *spool);
/* Before spool_sort(), in any order: each item once; take may change it. */
void spool_each(struct spool *spool, void (*take)(void *arg, struct import_item *item), void *arg);
void spool_sort(struct spool *spool);
/* After spool_sort(): the next one, borrowed until the next call; NULL: the end. */
const struct import_item *spool_next(struct spool *spool);

#endif
