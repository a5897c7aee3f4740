/* SPDX-License-Identifier: MIT */
/*
 * Synchronisation: where the program waits for its devices, and how long these are idle then. As
 * in query.h, functions marked [locked] need the model's lock; arrays given out are snapshots,
 * owned by the caller, freed with free().
 *
 * Everything here is about settled time and follows it one step behind (one second if there are
 * no steps).
 */
#ifndef MODEL_QUERY_WAITS_H
#define MODEL_QUERY_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct model;

/* Waits of one call in one op at one line, summed over all processes. */
struct wait_row {
	const char *call;
	const char *op;			/* the op or range in which it was called; NULL: none */
	const char *file, *function;	/* source of that op; NULL: unknown */
	uint32_t line;			/* 0: unknown */
	uint64_t count;
	int64_t total_ns, max_ns;	/* time spent in these waits */
	/* how many of them were stalls: a device ran out of work and then idled */
	uint64_t stalls;
	/* the idle time of these stalls, until the device's next work started */
	int64_t idle_ns;
	int64_t saved_ns;	/* how much of idle_ns can be saved at most by removing the wait */
};

/* The waits with most idle time first, then those with most time. [locked] */
size_t model_waits(struct model *model, struct wait_row **out);

#endif
