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

/* Waits of one call in one op at one line, of all processes. */
struct wait_row {
	const char *call;
	const char *op;			/* op or range it was called in, NULL none */
	const char *file, *function;	/* of that op; NULL not known */
	uint32_t line;			/* 0 not known */
	uint64_t count;
	int64_t total_ns, max_ns;	/* in the waits */
	uint64_t stalls;		/* of them: a device ran out of work and idled then */
	int64_t idle_ns;		/* that idle time, until its next work began */
	int64_t saved_ns;		/* of it, what doing without the wait saves at most */
};

/* Those with most idle time first, then those with most time. [locked] */
size_t model_waits(struct model *model, struct wait_row **out);

#endif
