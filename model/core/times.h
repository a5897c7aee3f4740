/* SPDX-License-Identifier: MIT */
/* Which times and durations are possible, and how far the model's time reaches. */
#ifndef MODEL_CORE_TIMES_H
#define MODEL_CORE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct model;

/* also holds times of clocks that count from 1970 */
#define TIME_MAX (INT64_MAX / 4)
#define DUR_MAX INT64_C(2592000000000000)	/* 30 days: nothing lasts longer */
#define LATE_SLACK_NS 60000000000		/* how far a clock may be off */

static inline bool time_ok(int64_t ns)
{
	return ns > 0 && ns < TIME_MAX;
}

/* Adds a duration to a sum, which saturates at INT64_MAX. */
static inline void add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

/* Whether the start and the duration are possible, and the end is not later than the time at which
 * the event was written (written_ns, 0: unknown). */
bool span_ok(int64_t start_ns, int64_t dur_ns, int64_t written_ns);
/* Extends the time that the model covers to [start_ns, end_ns). */
void saw_time(struct model *model, int64_t start_ns, int64_t end_ns);
/* Where open spans end for now: the latest time that the model knows of. */
int64_t live_edge(const struct model *model);
/* Up to when all sources promise that no earlier event can still arrive. */
int64_t sources_settled(const struct model *model);
/* Moves the settled line to where it is now, and returns it. */
int64_t model_settle(struct model *model);

#endif
