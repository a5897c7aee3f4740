/* SPDX-License-Identifier: MIT */
/*
 * What threads did while they ran no op and launched nothing, as probes/host saw it: times with the
 * parts that each state and line had of them.
 *
 * Always true: the times of a thread do not overlap, except for parts of the same time, which stand
 * side by side and are together at most as long as it; they are sorted. At most DOINGS_MAX are kept
 * of a thread, then the older half is forgotten: the analyses have seen those times.
 */
#ifndef MODEL_DOINGS_H
#define MODEL_DOINGS_H

#include <stddef.h>
#include <stdint.h>

struct arrival;
struct model;

#define DOINGS_MAX 32768u

struct doing {
	int64_t start_ns, end_ns;
	int64_t ns;			/* how much of that time */
	int64_t at_ns;			/* when it was seen; 0: all along */
	uint32_t frame;			/* the process's own id of the line; 0: unknown */
	uint32_t what;			/* name; 0: unknown */
	uint32_t looks;
	uint8_t kind;			/* enum doing_kind */
};

struct doings {
	struct doing *list;		/* owned */
	size_t n, cap;
	int64_t told_ns;		/* of the last time: how much its parts have */
};

void apply_doing(struct model *model, const struct arrival *in);
/* Of a thread (its index): the first part that ends after t_ns, *borrowed*; the others follow up to
 * *end. */
const struct doing *doings_from(const struct model *model, uint32_t thread, int64_t t_ns,
				const struct doing **end);

#endif
