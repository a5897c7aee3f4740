/* SPDX-License-Identifier: MIT */
/*
 * What tftop adds to a number of a step (the time of a class, of pauses between kernels), measured
 * as the probe measures the whole step (probes/pytorch/cost.c): a step that ran without callbacks
 * around ops (slice.bare) is compared with the mean of its two neighbours, or the other way round
 * where most steps are bare. So nothing is shared out by assumption, and what changes slowly in the
 * program cancels out.
 *
 * Always true: only a difference that is more than nothing with 95 % confidence is told.
 */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_LEAST 6u			/* with fewer no interval holds 95 % */
#define PAIRS_KEPT 128u			/* the last ones count */

struct step_pairs {
	int64_t *added_ns;		/* owned, PAIRS_KEPT of them; NULL: there was none */
	uint64_t n;
	struct paired_step { int64_t ns; bool known, bare; } before[2];	/* the latest last */
};

/* The next step and its number. */
void pairs_step(struct step_pairs *pairs, bool bare, int64_t ns);
/* The next step says nothing: events of it were lost, it compiled. */
void pairs_break(struct step_pairs *pairs);
void pairs_release(struct step_pairs *pairs);
static inline size_t pairs_bytes(const struct step_pairs *pairs)
{
	return pairs->added_ns ? PAIRS_KEPT * sizeof(*pairs->added_ns) : 0;
}
/* The median of the differences; 0: too few, or perhaps nothing. */
int64_t pairs_added_ns(const struct step_pairs *pairs);

#endif
