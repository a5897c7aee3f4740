/* SPDX-License-Identifier: MIT */
/*
 * What ITT begins and ends by an id of the program: overlapped tasks, regions, frames, events. A
 * table of 1024 entries under a lock of its own, which is held only while the table is accessed. If
 * the table is full, an entry is dropped and counted.
 */
#ifndef PROBES_ITT_OPEN_H
#define PROBES_ITT_OPEN_H

#include <stdbool.h>
#include <stdint.h>

enum open_kind { OPEN_TASK = 1, OPEN_REGION, OPEN_FRAME, OPEN_EVENT };

struct open_key {
	enum open_kind kind;
	uint32_t domain;	/* id of the name; for an event its own id */
	uint64_t d1, d2, d3;
};

/* Stores value (not 0) under key; returns the value that was there before, 0: none. */
uint64_t open_put(const struct open_key *key, uint64_t value);
/* Removes the entry and returns its value; 0: there is none. */
uint64_t open_take(const struct open_key *key);
/* Removes all entries. */
void open_forget(void);
/* The same, in the child after a fork. */
void open_fork_child(void);

#endif
