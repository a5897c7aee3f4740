/* SPDX-License-Identifier: MIT */
/* What a thread did while it ran no op and launched nothing: see model/host/doings.h. */
#ifndef MODEL_CORE_DOINGS_H
#define MODEL_CORE_DOINGS_H

#include <stddef.h>
#include <stdint.h>

struct doing {
	int64_t start_ns, end_ns;
	int64_t ns;			/* how much of that time */
	int64_t at_ns;			/* when it was seen; 0: all along */
	uint32_t frame;			/* the process's own id of the line; 0: unknown */
	uint32_t what;			/* name; 0: unknown */
	uint32_t looks;
	uint32_t sum;			/* in which it counts: doing_sum_at() */
	uint8_t kind;			/* enum doing_kind */
};

struct doings {
	struct doing *list;		/* owned */
	size_t n, cap;
	int64_t told_ns;		/* of the last time: how much its parts have */
	/* how long devices waited for the thread, and how much of its sums counts as waited: where
	 * looks stand for their moments that may be more */
	int64_t waits_ns, counted_ns;
};

#endif
