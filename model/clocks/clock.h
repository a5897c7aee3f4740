/* SPDX-License-Identifier: MIT */
/*
 * One clock as another sees it: ticks (ns of a device in the eyes of one
 * process, or of another host) to host nanoseconds.
 *
 * Idea: the ticks are cut into segments with one affine map each,
 *	host = ticks + offset + floor(rate * (ticks - at) / 2^40).
 * What draws them depends on the clock's quality:
 *  - CLOCK_KNOWN (a clock of the host): pairs (ticks, host time), rate 0, so
 *    that an identity stays one. The segment of a pair begins at its ticks; the
 *    first one reaches back to the beginning. A pair that says what the segment
 *    in force says anyway, within the error bars, makes no new segment, so that
 *    settled history does not jitter (pairs that come out of order among
 *    themselves may therefore cut elsewhere); one that is much tighter
 *    re-anchors it. Causality is only checked: what contradicts is counted.
 *  - CLOCK_DRIVER: pairs likewise until a second is covered; then they bound
 *    the hull (model/clocks/hull.h) from both sides, causality narrows it, and the
 *    hull's mean line is drawn, with its rate. A pair that no line fits is a
 *    step: a new segment. An event that none fits is counted.
 *  - CLOCK_ESTIMATE: pairs, or a launch, only until causality bounds the offset
 *    from both sides and closer; then the hull draws, and a bound that no line
 *    fits is a step (or drift that is no line): counted, a new segment.
 * A pair of better quality throws away all worse ones.
 *
 * Following the hull without jitter: as long as the line drawn lies between the
 * hull's ends it stays, and what lies between is shown as its error bar: at
 * most twice the best there can be. A line left behind is drawn anew, back to
 * CLOCK_REACH_TICKS at most (so a change moves what is recent and nothing
 * older, at bounded cost); a line merely off the middle from now on, once a
 * second at most. A closed segment keeps the bar it had.
 *
 * A step is seen at the first bound that no old line fits. What ran since the
 * last bound that this one speaks against may be on either side: its bar covers
 * both lines. Before that, a step shows as launches (or waits) that are all much
 * slower than usual: from CLOCK_UNUSUAL of them in a row on, and back to the
 * last usual bound, the bar reaches to the quickest of them. What began before
 * the first wait is drawn with a bar that reaches to the launches themselves.
 * Behind the very last bounds a step cannot be known.
 *
 * Always true: segments are sorted by from_ticks; an id stands for one line
 * among the segments alive; a span that remembers what clock_map() gave it in *id can be
 * taken back to raw ticks exactly and mapped again (clock_move), whatever came
 * since. (At a rate below 0 two ticks can share a nanosecond: CLOCK_SECOND in
 * the id says which.)
 *
 * Complexity: mapping O(log segments), in practice the last; a pair or a bound
 * that redraws O(segments), a bound that does not O(1).
 *
 * Worked example: pair (1000, 5000) gives offset 4000; ticks 2000 are 6000.
 * Then (1800, 5810) with error 2 comes: offset 4010 from 1800 on, so 2000
 * becomes 6010, while 1700 stays 5700.
 *
 * Source: the piecewise map between snapshots of Perfetto's clock_synchronizer
 * and Tracy's GPU calibration; for the hull see model/clocks/hull.h.
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
/* Segment ids: 0 is "host time, never moves" (also of segments let go). */
#define CLOCK_FIXED 0u
#define CLOCK_SECOND 0x80u		/* of two ticks with that host time, the second */
#define CLOCK_UNUSUAL 3u		/* bounds in a row that are off make a step likely */
#define CLOCK_REACH_TICKS INT64_C(2000000000)
/* A host's own clock is told once a second and may be slewed in between. */
#define CLOCK_SLACK_NS 20000

enum clock_state {
	CLOCK_ABSENT,			/* nothing seen */
	CLOCK_INCOMPLETE,		/* bounded from one side only */
	CLOCK_APPROXIMATE,		/* from both, for less than a second */
	CLOCK_ACCURATE,
};

struct clock_segment {
	uint64_t from_ticks, at_ticks;
	int64_t offset_ns;		/* at at_ticks: host - ticks, modulo 2^64 */
	int64_t rate;			/* of the offset, ns per 2^40 ticks */
	/* of the last one, when the hull draws: see clock_error_at */
	int64_t error_ns;
	uint8_t id;
	bool doubt;			/* a step may have come before or after it */
};

/* How far bounds of one kind lie off the line drawn. */
struct clock_trend {
	int64_t usual_ns, least_ns;	/* least of the unusual ones since */
	uint32_t seen, unusual;		/* in a row */
};

struct clock {
	uint32_t n;
	uint8_t last_id;
	enum clock_quality quality;
	bool guessed;			/* anchored by a launch, no pair yet */
	bool hulled;			/* the last segment is the hull's */
	bool stepped;			/* bounds before since_ticks belong to the past */
	uint64_t since_ticks, drawn_ticks;
	struct clock_trend trend[2];	/* of lower, of upper bounds */
	uint64_t usual_ticks;		/* of the latest bound that was as usual */
	bool has_past;			/* before since_ticks, and never drawn: */
	uint64_t past_ticks;
	int64_t past_offset;
	uint64_t violations;		/* bounds that no map fitted */
	struct hull *hull;		/* owned; NULL: no bound yet */
	struct clock_segment segments[CLOCK_SEGMENTS];
};

/* What a new pair or bound changed: spans from that host time on may move. */
struct clock_change {
	bool changed;
	int64_t from_ns;
	/* the map before, to take spans back to ticks; without its hull */
	struct clock *before;		/* owned by the caller: free() */
};

static inline bool clock_has(const struct clock *clock)
{
	return clock->n > 0;
}

void clock_release(struct clock *clock);
/* Takes a pair in. before is filled in only when changed and there was a map. */
void clock_add(struct clock *clock, const struct event_clock *pair, struct clock_change *change);
/* Causality: host(ticks) >= host_ns, or <= if upper. change as clock_add. */
void clock_bound(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper,
		 struct clock_change *change);
/* No pair came: anchor by a launch. */
void clock_guess(struct clock *clock, uint64_t ticks, int64_t host_ns, int64_t error_ns);
/* Host time of ticks; *id: the segment. */
int64_t clock_map(const struct clock *clock, uint64_t ticks, uint8_t *id);
/* Length on the host's clock of what ran from start to end. */
int64_t clock_length(const struct clock *clock, uint64_t start_ticks, uint64_t end_ticks);
/* Ticks of a host time, by the segment in force then. */
uint64_t clock_back(const struct clock *clock, int64_t host_ns);
/* New host start of a span that was mapped by `before` in segment *id. */
int64_t clock_move(const struct clock *clock, const struct clock *before, int64_t start_ns,
		   uint8_t *id);
/* The error bar of the clock now: of the hull's line at the latest bound, else
 * the largest in force. INT64_MAX: unbounded. */
int64_t clock_error(const struct clock *clock);
/* The error bar at these ticks. */
int64_t clock_error_at(const struct clock *clock, uint64_t ticks);
/* The error bar of a span mapped to start_ns in segment id. */
int64_t clock_error_of(const struct clock *clock, int64_t start_ns, uint8_t id);
enum clock_state clock_state(const struct clock *clock);

#endif
