/* SPDX-License-Identifier: MIT */
/*
 * Puts the items that were read in the order of time: an external merge sort.
 *
 * Idea: items are added in any order and taken out by start, and an item that contains another one
 * comes before it. Up to IMPORT_ITEMS items are sorted in memory; each further block of that size
 * is sorted, written to an unnamed temporary file, and merged from there.
 *
 * Always true: items that compare equal are taken out in the order in which they were added.
 * Complexity: O(n log n), and memory for IMPORT_ITEMS items whatever n is. Errors: if there is no
 * room for the file, spool_add() returns false; what was added before stays. Source: Knuth, volume
 * 3, 5.4.
 */
#ifndef MODEL_IMPORT_SPOOL_H
#define MODEL_IMPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* of items that start at the same time, the type that is listed first comes first */
enum item_type {
	ITEM_FLOW_FROM,		/* correlation: the flow; track: the thread */
	ITEM_FREE,		/* name: allocator, place: address */
	ITEM_STEP,		/* place: number */
	ITEM_SPAN,	/* an op on the track of a thread, or work on the track of a device */
	/* a wait for a device: correlation of the call that waits, place: the stream's track */
	ITEM_WAIT,
	ITEM_INSTANT,
	ITEM_ALLOC,		/* name: allocator, place: address, bytes; op_type: the op's name */
	ITEM_FLOW_TO,
	ITEM_COUNTER,		/* name: series, place: value */
	ITEM_MESSAGE,		/* name: of the message, place: its key, kind: enum flow_phase */
};

enum item_flag {
	ITEM_ASYNC = 1,		/* it is on no stack, or was done by no op on it */
	ITEM_CALL = 2,		/* a call of an API, not an op */
	ITEM_RANGE = 4,		/* a range of the user */
	ITEM_GIVES = 8,		/* correlation: of the flow that leaves the op */
	ITEM_OF = 16,		/* a run; correlation is the flow of the op that it belongs to */
	ITEM_TAKES = 64,	/* place: the flow that arrives at the op */
	ITEM_NODE = 32,	/* name and op_type are those of an op, even if it ran on a stream */
	ITEM_PYTHON = 128,	/* a Python function: what ops on its thread were called from */
};

struct import_item {
	int64_t start_ns, dur_ns;
	uint64_t order;			/* set by the spool, for items that compare equal */
	uint64_t bytes;
	uint64_t place;
	uint32_t track, name, op_type;	/* numbers of build.h; 0: none */
	uint32_t correlation;		/* number of build.h; 0: none */
	uint32_t shape;			/* number of build.h; 0: none */
	uint8_t type : 6;
	/* nothing in the file says what it is, except the row that it stands in */
	uint8_t unsure : 1;
	uint8_t ends : 1;	/* for a reader: of the two ends of an item, the later one */
	uint8_t flags;
	uint8_t kind, direction;	/* for device work; kind of an op: its framework */
};

struct spool;

struct spool *spool_new(void);
void spool_free(struct spool *spool);
bool spool_add(struct spool *spool, const struct import_item *item);
uint64_t spool_count(const struct spool *spool);
/* To be called before spool_sort(): hands each item to `take`, once and in any order; take may
 * change it. */
void spool_each(struct spool *spool, void (*take)(void *arg, struct import_item *item), void *arg);
/* Begins at the first item, also if items have been taken out. */
void spool_sort(struct spool *spool);
/* To be called after spool_sort(): the next item, borrowed until the next call; NULL: there are no
 * more. */
const struct import_item *spool_next(struct spool *spool);

#endif
