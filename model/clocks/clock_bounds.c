/* SPDX-License-Identifier: MIT */
/*
 * Causality of a clock: which line of the hull becomes the map, and when. The rules are in
 * model/clocks/clock.h, the geometry in model/clocks/hull.h.
 */
#include "model/clocks/clock_internal.h"

#include <string.h>

#include "model/base/util.h"

int64_t clock_hull_bar(const struct clock *clock, const struct clock_segment *segment,
			uint64_t ticks)
{
	struct hull_range range = hull_at(clock->hull, ticks);
	int64_t offset = offset_at(segment, ticks), bar;

	if (!range.has_low || !range.has_high)
		return later(segment->error_ns, after(ticks, clock->drawn_ticks) ?
			     (int64_t)(ticks - clock->drawn_ticks) / (HULL_DRIFT / 2) : 0);
	bar = larger(apart(range.high_ns, offset), apart(offset, range.low_ns));
	for (int kind = 0; kind < 2 && after(ticks, clock->usual_ticks); kind++)
		if (clock->trend[kind].unusual >= CLOCK_UNUSUAL)
			bar = larger(bar, clock->trend[kind].least_ns);
	return bar;
}

/* Compares a bound that fits with the line in use: whether its distance is as usual. */
static void clock_watch_bound(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper)
{
	struct clock_trend *trend = &clock->trend[upper];
	const struct clock_segment *live = &clock->segments[clock->n - 1];
	int64_t off = (int64_t)((uint64_t)offset_of(ticks, host_ns) -
				(uint64_t)offset_at(live, ticks));
	int64_t limit = 4 * trend->usual_ns + 1000;

	if (after(live->from_ticks, ticks))
		return;
	off = upper ? off : -off;
	if (off < 0)
		off = 0;
	if (off <= limit || trend->seen < 8) {
		if (after(ticks, clock->usual_ticks))
			clock->usual_ticks = ticks;
		clock->trend[0].unusual = clock->trend[1].unusual = 0;
	} else {
		if (!trend->unusual || off < trend->least_ns)
			trend->least_ns = off;
		trend->unusual++;
	}
	if (trend->seen < 8)
		trend->usual_ns = (trend->usual_ns * trend->seen + off) / (trend->seen + 1);
	else if (trend->unusual < CLOCK_UNUSUAL)
		trend->usual_ns += ((off < limit ? off : limit) - trend->usual_ns) / 16;
	trend->seen += trend->seen < UINT32_MAX;
}

static bool hull_holds(const struct clock *clock, const struct clock_segment *segment,
		       uint64_t ticks)
{
	struct hull_range range = hull_at(clock->hull, ticks);
	int64_t offset = offset_at(segment, ticks);

	return (int64_t)((uint64_t)offset - (uint64_t)range.low_ns) >= 0 &&
	       (int64_t)((uint64_t)range.high_ns - (uint64_t)offset) >= 0;
}

static int64_t half_width(const struct clock *clock, uint64_t ticks)
{
	struct hull_range range = hull_at(clock->hull, ticks);

	return apart(range.high_ns, range.low_ns) / 2;
}

/* Gives the segment the error bar that it had up to there; error bars before the window were stored
 * at the time. */
static void settle_bar(const struct clock *clock, struct clock_segment *segment, uint64_t until)
{
	int64_t bar = clock_hull_bar(clock, segment, until);

	if ((int64_t)(until - segment->from_ticks) > AHEAD_TICKS - AHEAD_TICKS / 8)
		segment->error_ns = larger(segment->error_ns, bar);
	else
		segment->error_ns = larger(clock_hull_bar(clock, segment, segment->from_ticks),
					   bar);
}

/* Uses the hull's mean line from the latest bound on. */
static struct clock_segment hull_line(const struct clock *clock)
{
	uint64_t edge = hull_last(clock->hull);
	struct hull_range range = hull_at(clock->hull, edge);

	return (struct clock_segment) {
		.from_ticks = edge, .at_ticks = edge, .rate = hull_rate(clock->hull),
		.offset_ns = (int64_t)((uint64_t)range.low_ns +
				       (uint64_t)apart(range.high_ns, range.low_ns) / 2),
		.error_ns = (apart(range.high_ns, range.low_ns) + 1) / 2,
	};
}

/* Whether the line is off the middle by more than half of what is possible, now or a minute from
 * now. */
static bool off_middle(const struct clock *clock, const struct clock_segment *live,
		       const struct clock_segment *line)
{
	uint64_t edge = line->at_ticks, ahead = edge + AHEAD_TICKS;

	return apart(offset_at(live, edge), offset_at(line, edge)) >
		       half_width(clock, edge) / 2 + 1 ||
	       apart(offset_at(live, ahead), offset_at(line, ahead)) >
		       half_width(clock, ahead) / 2 + 1;
}

/* From where on a new line is used; false: the line in use stays. */
static bool redraw_from(struct clock *clock, const struct clock_segment *line, uint64_t *from)
{
	const struct clock_segment *live = &clock->segments[clock->n - 1];
	uint64_t edge = line->at_ticks, reach = edge - CLOCK_REACH_TICKS;
	bool holds = hull_holds(clock, live, edge);

	if (after(live->from_ticks, reach))
		reach = live->from_ticks;
	*from = reach;
	if (!clock->hulled) {
		if (clock->quality == CLOCK_DRIVER)
			return clock->hull->last - clock->hull->first >= READY_TICKS;
		return !holds || line->error_ns <= live->error_ns;
	}
	if (!holds || !hull_holds(clock, live, reach))
		return true;
	*from = edge;
	if (!hull_holds(clock, live, edge + READY_TICKS))
		return true;
	return (int64_t)(edge - clock->drawn_ticks) >= READY_TICKS && off_middle(clock, live, line);
}

/* After a step, once the other side of the new line is known. */
static void clear_doubt(struct clock *clock)
{
	struct clock_segment *line = &clock->segments[clock->n - 1];

	line->doubt = false;
	for (uint32_t i = clock->n - 1; i-- > 0 && clock->segments[i].doubt; ) {
		struct clock_segment *segment = &clock->segments[i];

		segment->doubt = false;
		segment->error_ns = larger(segment->error_ns,
			later(apart(offset_at(segment, line->from_ticks),
				    offset_at(line, line->from_ticks)),
			      clock_hull_bar(clock, line, line->from_ticks)));
	}
}

/*
 * Uses the first line, back to the start of time. Until there were bounds of both kinds a step
 * would have gone unnoticed, so there the error bar reaches to the bounds themselves, and to those
 * that a contradiction discarded.
 */
static void draw_first(struct clock *clock, struct clock_segment line, struct clock_change *change)
{
	uint64_t low_ticks, high_ticks, from, both;
	int64_t low = hull_first_of(clock->hull, false, &low_ticks);
	int64_t high = hull_first_of(clock->hull, true, &high_ticks);
	bool low_first = after(high_ticks, low_ticks);
	struct clock_segment begin = line;
	uint8_t id;

	from = low_first ? low_ticks : high_ticks;
	both = low_first ? high_ticks : low_ticks;
	begin.from_ticks = from;
	begin.error_ns = larger(clock_hull_bar(clock, &line, from),
				clock_hull_bar(clock, &line, both));
	begin.error_ns = larger(begin.error_ns, low_first ? apart(offset_at(&line, from), low) :
							    apart(high, offset_at(&line, from)));
	clock_replace(clock, &begin, change);
	id = clock->segments[0].id;
	if (clock->has_past && after(from, clock->past_ticks)) {
		begin.from_ticks = clock->past_ticks;
		begin.error_ns = later(apart(clock->past_offset, offset_at(&line, from)),
				       later(begin.error_ns, begin.error_ns));
		begin.id = id;
		memmove(clock->segments + 1, clock->segments, sizeof(clock->segments[0]));
		clock->segments[0] = begin;
		clock->n++;
	}
	clock->has_past = false;
	if (both != from) {
		line.from_ticks = both;
		line.id = id;
		clock->segments[clock->n++] = line;
	}
}

void clock_redraw(struct clock *clock, struct clock_change *change)
{
	struct clock_segment line, *live;
	uint64_t from;

	if (!hull_two_sided(clock->hull))
		return;
	line = hull_line(clock);
	if (!clock->n || clock->guessed) {
		draw_first(clock, line, change);
	} else {
		if (!redraw_from(clock, &line, &from))
			return;
		clock_make_room(clock, 1);
		clock_remember(clock, change);
		live = &clock->segments[clock->n - 1];
		line.from_ticks = from;
		change->from_ns = segment_map(live, from);
		if (!after(from, live->from_ticks)) {
			if (clock->n == 1)
				change->from_ns = INT64_MIN;	/* it reaches back */
			line.id = clock_shared(clock, clock->n - 1) ? clock_new_id(clock) :
								      live->id;
			line.from_ticks = live->from_ticks;
			*live = line;
		} else {
			if (clock->hulled)
				settle_bar(clock, live, from);
			clock_insert(clock, clock->n, &line);
		}
	}
	if (!clock->hulled)
		clear_doubt(clock);
	clock->hulled = true;
	clock->drawn_ticks = line.at_ticks;
}

/* Work that ran since then and before the new line may be on either side of the step. It stays
 * where it is, in segments of the same lines and ids, whose error bars cover both lines. */
static void doubt_since(struct clock *clock, uint64_t since, int64_t error_ns)
{
	for (uint32_t i = clock->n; i-- > 0; ) {
		struct clock_segment *segment = &clock->segments[i], later_part = *segment;

		later_part.doubt = true;
		later_part.error_ns = larger(segment->error_ns, error_ns);
		if (!after(since, segment->from_ticks)) {
			*segment = later_part;
			continue;
		}
		if (i + 1 < clock->n && !after(clock->segments[i + 1].from_ticks, since))
			return;
		later_part.from_ticks = since;
		memmove(segment + 2, segment + 1, (clock->n - i - 1) * sizeof(*segment));
		segment[1] = later_part;
		clock->n++;
		return;
	}
}

/* No line fits, so a new one starts here. So far only this bound is known about it. */
static void clock_split(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper,
			struct clock_change *change)
{
	struct clock_segment line, *live;
	uint64_t since;
	int64_t bar;

	clock_make_room(clock, 2);
	clock_remember(clock, change);
	live = &clock->segments[clock->n - 1];
	since = hull_last_against(clock->hull, ticks, host_ns, upper, live->rate);
	if (after(since, ticks))
		since = ticks;
	bar = clock_hull_bar(clock, live, ticks);
	line = *live;
	line.from_ticks = line.at_ticks = ticks;
	line.offset_ns = offset_of(ticks, upper ? earlier(host_ns, bar) : later(host_ns, bar));
	line.error_ns = later(distance(segment_map(live, ticks), host_ns), later(bar, bar));
	line.doubt = true;
	change->from_ns = segment_map(live, ticks);
	settle_bar(clock, live, after(since, live->from_ticks) ? since : live->from_ticks);
	if (since != ticks)
		doubt_since(clock, since, line.error_ns);
	live = &clock->segments[clock->n - 1];
	if (after(ticks, live->from_ticks)) {
		clock_insert(clock, clock->n, &line);
	} else {
		line.from_ticks = live->from_ticks;
		line.id = clock_new_id(clock);
		*live = line;
		if (clock->n == 1)
			change->from_ns = INT64_MIN;
	}
	clock->hulled = false;
}

/* For a step before there was a line: keeps the bounds of the other kind. */
static void remember_past(struct clock *clock, bool upper)
{
	uint64_t ticks;

	if (clock->n && !clock->guessed)
		return;
	hull_first_of(clock->hull, !upper, &ticks);
	if (!clock->has_past || after(clock->past_ticks, ticks))
		clock->past_ticks = ticks;
	clock->past_offset = hull_end_of(clock->hull, !upper);
	clock->has_past = true;
}

static void step(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper,
		 struct clock_change *change)
{
	if (clock->hulled)
		clock_split(clock, ticks, host_ns, upper, change);
	else
		remember_past(clock, upper);
	memset(clock->trend, 0, sizeof(clock->trend));
	clock->stepped = true;
	clock->since_ticks = ticks;
	hull_reset(clock->hull);
	hull_bound(clock->hull, ticks, host_ns, upper);
}

void clock_bound(struct clock *clock, uint64_t ticks, int64_t host_ns, bool upper,
		 struct clock_change *change)
{
	enum hull_result result;
	bool due;

	memset(change, 0, sizeof(*change));
	if (clock->quality == CLOCK_KNOWN && clock->n) {
		const struct clock_segment *segment = &clock->segments[segment_at(clock, ticks)];
		int64_t mapped = segment_map(segment, ticks);
		int64_t bar = later(segment->error_ns, CLOCK_SLACK_NS);

		clock->violations += upper ? mapped > later(host_ns, bar) :
					     mapped < earlier(host_ns, bar);
		return;
	}
	if (clock->stepped && after(clock->since_ticks, ticks))
		return;
	if (!clock->hull)
		clock->hull = xcalloc(1, sizeof(*clock->hull));
	result = hull_bound(clock->hull, ticks, host_ns, upper);
	if (result == HULL_AGAINST) {
		clock->violations++;
		if (clock->n && clock->quality == CLOCK_DRIVER)
			return;
		step(clock, ticks, host_ns, upper, change);
		return;
	}
	if (clock->hulled && result != HULL_IGNORED)
		clock_watch_bound(clock, ticks, host_ns, upper);
	due = clock->hulled &&
	      (int64_t)(hull_last(clock->hull) - clock->drawn_ticks) >= READY_TICKS;
	if (result == HULL_TIGHTER || due)
		clock_redraw(clock, change);
	if (due && hull_two_sided(clock->hull)) {
		struct clock_segment *live = &clock->segments[clock->n - 1];

		clock->drawn_ticks = hull_last(clock->hull);
		settle_bar(clock, live, clock->drawn_ticks);
	}
}
