/* SPDX-License-Identifier: MIT */
/*
 * One device clock as one process sees it: ticks (ns of the device) to host
 * nanoseconds.
 *
 * Idea: pairs (ticks, host time) cut the ticks into segments with one offset
 * each; the slope is 1, so that durations are the device's own. The segment of
 * a pair begins at its ticks; the first one reaches back to the beginning. A
 * pair that says what the segment in force says anyway, within the error bars,
 * makes no new segment, so that settled history does not jitter (pairs that
 * come out of order among themselves may therefore cut elsewhere); one that is
 * much tighter re-anchors it. A pair of better quality throws away all worse
 * ones.
 *
 * Always true: segments are sorted by from_ticks; ids are unique among the
 * segments alive; a span that remembers its segment's id can be taken back to
 * raw ticks and mapped again (clock_move), whatever pairs came since.
 *
 * Complexity: mapping O(log segments), in practice the last; a pair O(segments).
 *
 * Worked example: pair (1000, 5000) gives offset 4000; ticks 2000 are 6000.
 * Then (1800, 5810) with error 2 comes: offset 4010 from 1800 on, so 2000
 * becomes 6010, while 1700 stays 5700.
 *
 * Source: the piecewise map between snapshots of Perfetto's clock_synchronizer
 * and Tracy's GPU calibration; the convex hull of causality that will bound it
 * (Duda et al. 1987) belongs to a later part.
 *
 * Threads: under the model's lock.
 */
#ifndef MODEL_CLOCK_H
#define MODEL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

#define CLOCK_SEGMENTS 200u
/* Segment ids: 0 is "host time, never moves" (also of segments let go). */
#define CLOCK_FIXED 0u

struct clock_segment {
	uint64_t from_ticks;
	int64_t offset_ns;		/* host = ticks + offset, modulo 2^64 */
	int64_t error_ns;
	uint8_t id;
};

struct clock {
	uint32_t n;
	uint8_t last_id;
	enum clock_quality quality;
	bool guessed;			/* anchored by a launch, no pair yet */
	struct clock_segment segments[CLOCK_SEGMENTS];
};

/* What a new pair changed: spans from that host time on may move. */
struct clock_change {
	bool changed;
	int64_t from_ns;
	/* the map before, to take spans back to ticks */
	struct clock *before;		/* owned by the caller: free() */
};

static inline bool clock_has(const struct clock *clock)
{
	return clock->n > 0;
}

/* Takes a pair in. before is filled in only when changed and there was a map. */
void clock_add(struct clock *clock, const struct event_clock *pair, struct clock_change *change);
/* No pair came: anchor by a launch. */
void clock_guess(struct clock *clock, uint64_t ticks, int64_t host_ns, int64_t error_ns);
/* Host time of ticks; *id: the segment. */
int64_t clock_map(const struct clock *clock, uint64_t ticks, uint8_t *id);
/* New host start of a span that was mapped by `before` in segment *id. */
int64_t clock_move(const struct clock *clock, const struct clock *before, int64_t start_ns,
		   uint8_t *id);
/* The largest error bar in force. */
int64_t clock_error(const struct clock *clock);

#endif
