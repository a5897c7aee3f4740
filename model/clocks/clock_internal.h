/* SPDX-License-Identifier: MIT */
/*
 * What model/clocks/clock.c (segments, pairs, queries) and model/clocks/clock_bounds.c (causality)
 * share. Nothing else includes this header. Host times and ticks saturate or wrap around, and never
 * overflow.
 */
#ifndef MODEL_CLOCK_INTERNAL_H
#define MODEL_CLOCK_INTERNAL_H

#include "model/base/util.h"
#include "model/clocks/clock.h"

#define READY_TICKS INT64_C(1000000000)
#define AHEAD_TICKS INT64_C(60000000000)

__extension__ typedef __int128 wide;

/* ---- numbers ---- */

static inline int64_t offset_of(uint64_t ticks, int64_t host_ns)
{
	return (int64_t)((uint64_t)host_ns - ticks);
}

static inline int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d) || d == INT64_MIN)
		return INT64_MAX;
	return d < 0 ? -d : d;
}

static inline int64_t earlier(int64_t ns, int64_t by)
{
	int64_t t;

	return __builtin_sub_overflow(ns, by, &t) ? INT64_MIN : t;
}

static inline int64_t later(int64_t ns, int64_t by)
{
	int64_t t;

	return __builtin_add_overflow(ns, by, &t) ? INT64_MAX : t;
}

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The distance of two offsets, which are modulo 2^64. */
static inline int64_t apart(int64_t a, int64_t b)
{
	int64_t d = (int64_t)((uint64_t)a - (uint64_t)b);

	return d == INT64_MIN ? INT64_MAX : d < 0 ? -d : d;
}

/* Whether a is after b; ticks wrap around. */
static inline bool after(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

/* ---- one segment ---- */

/* How far the offset has drifted since at_ticks, rounded down. */
static inline int64_t drifted(const struct clock_segment *segment, uint64_t ticks)
{
	wide rise;

	if (!segment->rate)
		return 0;
	rise = (wide)segment->rate * (int64_t)(ticks - segment->at_ticks);
	return (int64_t)(rise >> 40);
}

static inline int64_t offset_at(const struct clock_segment *segment, uint64_t ticks)
{
	return (int64_t)((uint64_t)segment->offset_ns + (uint64_t)drifted(segment, ticks));
}

static inline int64_t segment_map(const struct clock_segment *segment, uint64_t ticks)
{
	return (int64_t)(ticks + (uint64_t)offset_at(segment, ticks));
}

/* The first ticks with that host time. Rates are far below 1, so that each round brings the
 * estimate a thousand times nearer. */
static inline uint64_t segment_back(const struct clock_segment *segment, int64_t host_ns)
{
	uint64_t ticks = (uint64_t)host_ns - (uint64_t)segment->offset_ns;

	if (!segment->rate)
		return ticks;
	for (int round = 0; round < 10; round++) {
		uint64_t next = (uint64_t)host_ns - (uint64_t)offset_at(segment, ticks);

		if (next == ticks)
			break;
		ticks = next;
	}
	while (segment_map(segment, ticks - 1) == host_ns)
		ticks--;
	return ticks;
}

/* Index of the segment in force at ticks. */
static inline uint32_t segment_at(const struct clock *clock, uint64_t ticks)
{
	uint32_t low;

	if (clock->n && ticks >= clock->segments[clock->n - 1].from_ticks)
		return clock->n - 1;
	low = FIRST_NOT(i, 0, clock->n, clock->segments[i].from_ticks <= ticks);
	return low ? low - 1 : 0;
}

static inline const struct clock_segment *segment_of(const struct clock *clock, uint8_t id)
{
	for (uint32_t i = clock->n; i-- > 0; )
		if (clock->segments[i].id == (id & ~CLOCK_SECOND))
			return &clock->segments[i];
	return NULL;
}

/* ---- clock.c ---- */
/* Makes room for n more segments. The oldest are dropped; their spans stay where they are. */
void clock_make_room(struct clock *clock, uint32_t more);
/* Returns an id that no living segment has. clock_shared(): whether a neighbour has the same id and
 * so the same line. */
uint8_t clock_new_id(struct clock *clock);
bool clock_shared(const struct clock *clock, uint32_t at);
void clock_insert(struct clock *clock, uint32_t at, const struct clock_segment *segment);
/* Copies the current map into the change. */
void clock_remember(const struct clock *clock, struct clock_change *change);
/* Marks everything as changed, from the start of the first segment's reach on. */
void clock_replace(struct clock *clock, const struct clock_segment *segment,
		   struct clock_change *change);

/* ---- clock_bounds.c ---- */
/* The error bar of the last segment's line between the ends of the hull. If a whole window had
 * bounds of one kind only, the drift that is possible since then is added. */
int64_t clock_hull_bar(const struct clock *clock, const struct clock_segment *segment,
		       uint64_t ticks);
/* Lets the hull determine a new line, if it is time for one. */
void clock_redraw(struct clock *clock, struct clock_change *change);

#endif
