/* SPDX-License-Identifier: MIT */
/*
 * What has no place on the timeline: calls, waits, builds, allocations, frees, edges, messages
 * and counters, kept as they arrived, for `save`. Totals and analyses do not use it.
 *
 * Always true: entries are in the order of arrival. Beyond the journal's share of the memory
 * limit, the oldest are dropped, and from_ns says from when on the journal is complete.
 * Complexity: O(1) and 64 bytes for an entry. Threads: under the model's lock.
 */
#ifndef MODEL_JOURNAL_H
#define MODEL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct arrival;
struct model;

/* Names are the model's ids; what a, b, ... mean depends on the type. */
struct journal_entry {
	int64_t time_ns, start_ns, dur_ns;
	uint64_t a, b;
	uint32_t process, tid, name, other, id;
	int32_t result : 24;
	uint32_t type : 8;
};

struct journal_block;

struct journal {
	struct journal_block *first, *last;	/* owned */
	uint64_t first_number, n;	/* entries [first_number, n) are kept */
	size_t bytes;
	int64_t from_ns;		/* complete from here on; INT64_MIN: from the start */
};

/* Keeps the event that is being applied, if it is of such a type. */
void journal_keep(struct model *model, const struct arrival *in);
/* The entry with that number; NULL: it was dropped, or has not arrived yet. O(blocks); O(1) if *at
 * (NULL at first) is that of an earlier entry and nothing was dropped since. */
const struct journal_entry *journal_get(const struct journal *journal, uint64_t number,
					const struct journal_block **at);
void journal_new(struct model *model);
void journal_free(struct model *model);
size_t journal_bytes(const struct model *model);

#endif
