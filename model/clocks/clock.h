/* SPDX-License-Identifier: MIT */
/*
 * A clock as another clock sees it: maps ticks (nanoseconds of a device as one process sees them,
 * or of another host) to host nanoseconds.
 *
 * Idea: the ticks are cut into segments with one affine map each,
 *	host = ticks + offset + floor(rate * (ticks - at) / 2^40).
 * What determines the maps depends on the clock's quality:
 *  - CLOCK_KNOWN (a clock of the host): pairs (ticks, host time), rate 0, so that an identity
 *    stays one. The segment of a pair begins at its ticks; the first one reaches back to the
 *    beginning. A pair that agrees with the segment in force, within the error bars, makes no new
 *    segment, so that settled history does not jitter (for pairs that arrive out of order the
 *    segments may therefore be cut elsewhere); a pair with a much smaller error re-anchors the
 *    segment. Causality is only checked: contradictions are counted.
 *  - CLOCK_DRIVER: pairs are used in the same way until they cover a second. Then they bound the
 *    hull (model/clocks/hull.h) from both sides, causality narrows it, and the hull's mean line,
 *    with its rate, becomes the map. A pair that no line fits is a step and starts a new segment.
 *    An event that no line fits is counted.
 *  - CLOCK_ESTIMATE: pairs, or a launch, are used only until causality bounds the offset from
 *    both sides and more closely; then the hull determines the map. A bound that no line fits is
 *    a step (or a drift that is not linear): it is counted and starts a new segment.
 * A pair of better quality replaces all pairs of worse quality.
 *
 * Following the hull without jitter: as long as the line in use lies between the hull's ends it
 * stays, and the distance to the ends is shown as its error bar, which is at most twice the
 * smallest possible one. A line that the hull has left is replaced, back to CLOCK_REACH_TICKS at
 * most (so a change moves recent spans and no older ones, at bounded cost); a line that is merely
 * off the middle is replaced from now on, once a second at most. A closed segment keeps its error
 * bar.
 *
 * A step is detected at the first bound that no old line fits. Work that ran since the last bound
 * that contradicts this one may be on either side of the step, so its error bar covers both
 * lines. Before that, a step shows as launches (or waits) that are all much slower than usual:
 * from CLOCK_UNUSUAL of them in a row on, and back to the last usual bound, the error bar reaches
 * to the quickest of them. Work that began before the first wait has an error bar that reaches to
 * the launches themselves. A step after the very last bounds cannot be detected.
 *
 * Always true: segments are sorted by from_ticks; an id stands for one line among the living
 * segments. A span that remembers the *id of clock_map() can be converted back to raw ticks
 * exactly and be mapped again (clock_move), whatever was learnt since. (At a rate below 0 two
 * ticks can share a nanosecond: CLOCK_SECOND in the id says which of them it was.)
 *
 * Complexity: mapping is O(log segments), in practice the last segment; a pair or a bound that
 * changes the line is O(segments), a bound that does not is O(1).
 *
 * Worked example: pair (1000, 5000) gives offset 4000; ticks 2000 are 6000. Then (1800, 5810)
 * with error 2 comes: offset 4010 from 1800 on, so 2000 becomes 6010, while 1700 stays 5700.
 *
 * Source: the piecewise map between snapshots of Perfetto's clock_synchronizer and Tracy's GPU
 * calibration; for the hull see model/clocks/hull.h.
 *
 * Threads: under the model's lock.
 */
#ifndef MODEL_CLOCK_H
#define MODEL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/clocks/hull.h"
#include "model/event.h"

#define CLOCK_SEGMENTS 64u
/* Segment ids: 0 means "host time, never moves", also for segments that were discarded. */
#define CLOCK_FIXED 0u
#define CLOCK_SECOND 0x80u		/* the second of two ticks with the same host time */
#define CLOCK_UNUSUAL 3u	/* a step is likely after this many unusual bounds in a row */
#define CLOCK_REACH_TICKS INT64_C(2000000000)
/* A host's own clock is reported once a second and may be slewed in between. */
#define CLOCK_SLACK_NS 20000

struct clock_segment {
	uint64_t from_ticks, at_ticks;
	int64_t offset_ns;		/* at at_ticks: host - ticks, modulo 2^64 */
	int64_t rate;			/* of the offset, in ns per 2^40 ticks */
	/* of the last segment, when it follows the hull, see clock_error_at() */
	int64_t error_ns;
	uint8_t id;
	bool doubt;			/* a step of the clock may have come before or after it */
};

/* How far bounds of one kind usually lie off the line in use. */
struct clock_trend {
	/* least_ns: the smallest unusual distance since the last usual one */
	int64_t usual_ns, least_ns;
	uint32_t seen, unusual;	/* how many bounds were seen; how many in a row were unusual */
};

struct clock {
	uint32_t n;
	uint8_t last_id;
	enum clock_quality quality;
	bool guessed;			/* anchored by a launch, because no pair has arrived */
	bool hulled;			/* the last segment is a line of the hull */
	bool stepped;			/* bounds before since_ticks are from before a step */
	uint64_t since_ticks, drawn_ticks;
	struct clock_trend trend[2];	/* of lower bounds, of upper bounds */
	uint64_t usual_ticks;		/* ticks of the latest bound that was usual */
	bool has_past;	/* there is a line before since_ticks that was never used: */
	uint64_t past_ticks;
	int64_t past_offset;
	uint64_t violations;		/* number of bounds that no map fits */
	struct hull *hull;		/* owned; NULL: no bound yet */
	struct clock_segment segments[CLOCK_SEGMENTS];
};

/* What a new pair or bound changed: spans from this host time on may move. */
struct clock_change {
	bool changed;
	int64_t from_ns;
	/* the previous map, without its hull, to convert spans back to ticks */
	struct clock *before;		/* owned by the caller: free() */
};

static inline bool clock_has(const struct clock *clock)
{
	return clock->n > 0;
}

void clock_release(struct clock *clock);
/* Adds a pair. change->before is set only if something changed and there was a map. */
void clock_add(struct clock *clock, const struct event_clock *pair, struct clock_change *change);
/* Adds a bound by causality: host(ticks) >= host_ns, or <= if upper. change: as in clock_add(). */
void clock_bound(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper,
		 struct clock_change *change);
/* Anchors the clock by a launch if no pair has arrived. */
void clock_guess(struct clock *clock, uint64_t ticks, int64_t host_ns, int64_t error_ns);
/* Converts ticks to host time; *id: the segment that was used. */
int64_t clock_map(const struct clock *clock, uint64_t ticks, uint8_t *id);
/* The duration, on the host's clock, of work from start to end. */
int64_t clock_length(const struct clock *clock, uint64_t start_ticks, uint64_t end_ticks);
/* The ticks of a host time, by the segment in force at that time. */
uint64_t clock_back(const struct clock *clock, int64_t host_ns);
/* The new host start of a span that `before` had converted with segment *id. */
int64_t clock_move(const struct clock *clock, const struct clock *before, int64_t start_ns,
		   uint8_t *id);
/* The current error bar of the clock: that of the hull's line at the latest bound, or else the
 * largest in force. INT64_MAX: unbounded. */
int64_t clock_error(const struct clock *clock);
/* The error bar at these ticks. */
int64_t clock_error_at(const struct clock *clock, uint64_t ticks);
/* The error bar of a span that segment id converted to start_ns. */
int64_t clock_error_of(const struct clock *clock, int64_t start_ns, uint8_t id);

#endif
