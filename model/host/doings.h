/* SPDX-License-Identifier: MIT */
/*
 * What threads did while they ran no op and launched nothing, as probes/host saw it: times with the
 * parts that each state and line had of them.
 *
 * Always true: the times of a thread do not overlap, except for parts of the same time, which stand
 * side by side and are together at most as long as it; they are sorted. At most DOINGS_MAX are kept
 * of a thread, then the older half is forgotten: the analyses have seen those times. What they add
 * up to by thread, state, line and stack is kept over the whole run.
 *
 * Bounds: DOINGS_MAX; DOING_SUMS_MAX, then what finds no room counts in the sum of its thread and
 * state that has no line and no stack.
 */
#ifndef MODEL_HOST_DOINGS_H
#define MODEL_HOST_DOINGS_H

#include "model/base/map.h"
#include "model/core/doings.h"
#include "model/core/store.h"

struct arrival;
struct model;

#define DOINGS_MAX 32768u
#define DOING_SUMS_MAX 65536u

/* Over the whole run. */
struct doing_sum {
	uint32_t thread;		/* its index */
	uint32_t frame, stack;		/* as frame_get() returns them; 0: unknown */
	uint32_t what;			/* name; 0: unknown */
	uint32_t next;			/* with the same hash; NONE */
	uint8_t kind;			/* enum doing_kind */
	uint64_t looks;
	int64_t ns;
	/* how much of it devices waited for this thread, each device for itself: see
	 * doing_sum_waited() */
	int64_t waited_ns;
};

/* Of the gap of a device that has not ended: what the threads did that it waited for. */
struct doing_waits {
	struct doing_wait {
		uint32_t thread;
		uint32_t sum;		/* NONE: how long the device waited for the thread */
		int64_t ns;
	} *list;			/* owned */
	size_t n, cap;
};
#define DOING_WAITS_MAX 8192u		/* then they count at once, and some more may be added */

struct doing_sums {
	struct store list;		/* of struct doing_sum */
	struct map first;		/* hash of all but looks and times -> head of a list */
};

void apply_doing(struct model *model, const struct arrival *in);
/* Of a thread (its index): the first part that ends after t_ns, *borrowed*; the others follow up to
 * *end. */
const struct doing *doings_from(const struct model *model, uint32_t thread, int64_t t_ns,
				const struct doing **end);
/* The same of its last ten seconds; end is the same where nothing is known of it. */
const struct doing *doings_lately(const struct model *model, uint32_t thread,
				  const struct doing **end);
/* How much of a part lies within [from_ns, to_ns). */
int64_t doing_within(const struct doing *at, int64_t from_ns, int64_t to_ns);
/* A device waited for a thread; it counts when its gap has ended, as in the device's own sums. */
void doings_wait(struct model *model, struct doing_waits *waits, uint32_t thread, int64_t from_ns,
		 int64_t to_ns);
void doings_waited(struct model *model, struct doing_waits *waits);
/* How much of a sum devices waited for its thread: all sums of a thread together at most as long as
 * they did, to which they are cut in proportion. */
int64_t doing_sum_waited(const struct model *model, const struct doing_sum *sum);
struct doing_sum *doing_sum_at(const struct model *model, uint32_t i);
void doings_free(struct model *model);
size_t doings_bytes(const struct model *model);

#endif
