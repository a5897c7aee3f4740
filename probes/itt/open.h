/* SPDX-License-Identifier: MIT */
/*
 * What ITT opens and closes by an id of the program: overlapped tasks, regions,
 * frames, events. A table of 1024 under one lock, which is held over the table
 * only; full: dropped and counted.
 */
#ifndef PROBES_ITT_OPEN_H
#define PROBES_ITT_OPEN_H

#include <stdbool.h>
#include <stdint.h>

enum open_kind { OPEN_TASK = 1, OPEN_REGION, OPEN_FRAME, OPEN_EVENT };

struct open_key {
	enum open_kind kind;
	uint32_t domain;	/* name id; an event's own id */
	uint64_t d1, d2, d3;
};

/* Keeps value (not 0) under key; returns what was there before, 0 nothing. */
uint64_t open_put(const struct open_key *key, uint64_t value);
/* Takes it out; 0 when there is none. */
uint64_t open_take(const struct open_key *key);
/* Nothing is open any more. */
void open_forget(void);
/* The same after a fork, in the child. */
void open_fork_child(void);

#endif
