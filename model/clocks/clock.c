/* SPDX-License-Identifier: MIT */
#include "model/clocks/clock_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define ID_MAX 127u

/* ---- segments ---- */

/* An id that no living segment has. */
uint8_t clock_new_id(struct clock *clock)
{
	do {
		clock->last_id = clock->last_id >= ID_MAX ? 1 : clock->last_id + 1;
	} while (segment_of(clock, clock->last_id));
	return clock->last_id;
}

void clock_make_room(struct clock *clock, uint32_t more)
{
	uint32_t go = clock->n + more > CLOCK_SEGMENTS ? clock->n + more - CLOCK_SEGMENTS : 0;

	clock->n -= go;
	memmove(clock->segments, clock->segments + go, clock->n * sizeof(clock->segments[0]));
}

void clock_insert(struct clock *clock, uint32_t at, const struct clock_segment *segment)
{
	uint8_t id = clock_new_id(clock);

	memmove(clock->segments + at + 1, clock->segments + at,
		(clock->n - at) * sizeof(clock->segments[0]));
	clock->n++;
	clock->segments[at] = *segment;
	clock->segments[at].id = id;
}

/* Whether a neighbouring segment has the same id, and so the same line. */
bool clock_shared(const struct clock *clock, uint32_t at)
{
	uint8_t id = clock->segments[at].id;

	return (at > 0 && clock->segments[at - 1].id == id) ||
	       (at + 1 < clock->n && clock->segments[at + 1].id == id);
}

static struct clock_segment of_pair(const struct event_clock *pair)
{
	return (struct clock_segment) {
		.from_ticks = pair->ticks, .at_ticks = pair->ticks,
		.offset_ns = offset_of(pair->ticks, pair->host_ns), .error_ns = pair->error_ns,
	};
}

void clock_remember(const struct clock *clock, struct clock_change *change)
{
	change->before = xmalloc(sizeof(*clock));
	*change->before = *clock;
	change->before->hull = NULL;
	change->changed = true;
}

void clock_replace(struct clock *clock, const struct clock_segment *segment,
			struct clock_change *change)
{
	if (clock->n) {
		clock_remember(clock, change);
		change->from_ns = INT64_MIN;
	}
	clock->n = 0;
	clock->guessed = false;
	clock_insert(clock, 0, segment);
}

void clock_release(struct clock *clock)
{
	free(clock->hull);
	memset(clock, 0, sizeof(*clock));
}

/* ---- pairs ---- */

/* The driver's pair is a bound from both sides; false: it contradicts what is known. */
static bool bound_by_pair(struct clock *clock, const struct event_clock *pair)
{
	int64_t low = earlier(pair->host_ns, pair->error_ns);
	int64_t high = later(pair->host_ns, pair->error_ns);

	if (!clock->hull)
		clock->hull = xcalloc(1, sizeof(*clock->hull));
	if (hull_bound(clock->hull, pair->ticks, low, false) != HULL_AGAINST &&
	    hull_bound(clock->hull, pair->ticks, high, true) != HULL_AGAINST)
		return true;
	hull_reset(clock->hull);
	hull_bound(clock->hull, pair->ticks, low, false);
	hull_bound(clock->hull, pair->ticks, high, true);
	return false;
}

static void replace_by_pair(struct clock *clock, const struct event_clock *pair,
			    struct clock_change *change)
{
	struct clock_segment segment = of_pair(pair);

	clock_replace(clock, &segment, change);
	clock->quality = pair->quality > CLOCK_DRIVER ? CLOCK_DRIVER :
			 (enum clock_quality)pair->quality;
	clock->hulled = clock->stepped = false;
	if (clock->hull && clock->quality == CLOCK_KNOWN)
		hull_reset(clock->hull);
	if (clock->quality == CLOCK_DRIVER)
		bound_by_pair(clock, pair);
}

/* Whether the hull takes the pair, so that nothing is left to do. */
static bool pair_to_hull(struct clock *clock, const struct event_clock *pair,
			 struct clock_change *change)
{
	if (pair->quality == CLOCK_ESTIMATE)
		return clock->hulled;
	if (pair->quality != CLOCK_DRIVER)
		return false;
	if (clock->hulled && after(clock->segments[clock->n - 1].from_ticks, pair->ticks))
		return true;		/* a late pair: that time is bounded already */
	if (!bound_by_pair(clock, pair)) {
		clock->violations += clock->hulled;
		clock->stepped = true;
		clock->since_ticks = pair->ticks;
		if (clock->hulled)
			clock->segments[clock->n - 1].error_ns = 0;
		clock->hulled = false;
		return false;
	}
	clock_redraw(clock, change);
	return clock->hulled;
}

void clock_add(struct clock *clock, const struct event_clock *given, struct clock_change *change)
{
	struct event_clock pair = *given;
	struct clock_segment *segment, fresh;
	int64_t off, bar;
	uint32_t at;

	memset(change, 0, sizeof(*change));
	if (pair.error_ns < 0)
		pair.error_ns = 0;
	if (!clock->n || clock->guessed || pair.quality > clock->quality) {
		replace_by_pair(clock, &pair, change);
		return;
	}
	if (pair.quality < clock->quality || pair_to_hull(clock, &pair, change))
		return;
	clock_make_room(clock, 1);
	fresh = of_pair(&pair);
	at = segment_at(clock, pair.ticks);
	segment = &clock->segments[at];
	off = distance(fresh.offset_ns, offset_at(segment, pair.ticks));
	bar = larger(pair.error_ns, segment->error_ns);
	if (off == 0) {
		if (pair.error_ns < segment->error_ns)
			segment->error_ns = pair.error_ns;
		return;
	}
	if (off <= bar && pair.error_ns >= segment->error_ns / 2)
		return;
	clock_remember(clock, change);
	/* The earliest time that may move: where the segment, or the pair, begins. */
	change->from_ns = earlier(earlier(segment_map(segment, pair.ticks), off), bar);
	if (off <= bar || pair.ticks == segment->from_ticks) {
		if (off <= bar)
			change->from_ns = earlier(segment_map(segment, segment->from_ticks), off);
		if (!at)
			change->from_ns = INT64_MIN;
		fresh.from_ticks = segment->from_ticks;
		fresh.id = clock_shared(clock, at) ? clock_new_id(clock) : segment->id;
		*segment = fresh;
	} else if (pair.ticks < segment->from_ticks) {
		/* The pair is earlier than the first segment, which reached back to here. */
		change->from_ns = INT64_MIN;
		clock_insert(clock, 0, &fresh);
	} else {
		clock_insert(clock, at + 1, &fresh);
	}
}

void clock_guess(struct clock *clock, uint64_t ticks, int64_t host_ns, int64_t error_ns)
{
	struct event_clock pair = { .ticks = ticks, .host_ns = host_ns, .error_ns = error_ns };
	struct clock_segment segment = of_pair(&pair);

	if (clock->n)
		return;
	clock_insert(clock, 0, &segment);
	clock->quality = CLOCK_ESTIMATE;
	clock->guessed = true;
}

/* ---- queries ---- */

int64_t clock_map(const struct clock *clock, uint64_t ticks, uint8_t *id)
{
	const struct clock_segment *segment = &clock->segments[segment_at(clock, ticks)];
	int64_t host_ns = segment_map(segment, ticks);

	*id = segment->id;
	if (segment->rate < 0 && segment_map(segment, ticks - 1) == host_ns)
		*id |= CLOCK_SECOND;
	return host_ns;
}

int64_t clock_length(const struct clock *clock, uint64_t start_ticks, uint64_t end_ticks)
{
	const struct clock_segment *segment = &clock->segments[segment_at(clock, start_ticks)];

	int64_t start_ns = segment_map(segment, start_ticks),
			   end_ns = segment_map(segment, end_ticks);
	int64_t length_ns;

	/* ticks can be any number */
	if (__builtin_sub_overflow(end_ns, start_ns, &length_ns))
		return end_ns > start_ns ? INT64_MAX : INT64_MIN;
	return length_ns;
}

uint64_t clock_back(const struct clock *clock, int64_t host_ns)
{
	for (uint32_t i = clock->n; i-- > 1; )
		if (host_ns >= segment_map(&clock->segments[i], clock->segments[i].from_ticks))
			return segment_back(&clock->segments[i], host_ns);
	return segment_back(&clock->segments[0], host_ns);
}

int64_t clock_move(const struct clock *clock, const struct clock *before, int64_t start_ns,
		   uint8_t *id)
{
	const struct clock_segment *segment = *id == CLOCK_FIXED ? NULL : segment_of(before, *id);

	if (!segment) {
		*id = CLOCK_FIXED;
		return start_ns;
	}
	return clock_map(clock, segment_back(segment, start_ns) + (*id & CLOCK_SECOND ? 1 : 0),
			 id);
}

int64_t clock_error_at(const struct clock *clock, uint64_t ticks)
{
	const struct clock_segment *segment;
	int64_t error;

	if (!clock->n)
		return INT64_MAX;
	segment = &clock->segments[segment_at(clock, ticks)];
	if (clock->hulled && segment == &clock->segments[clock->n - 1])
		return clock_hull_bar(clock, segment, ticks);
	error = segment->error_ns;
	/* It is earlier than everything known. */
	if (clock->quality != CLOCK_KNOWN && after(clock->segments[0].from_ticks, ticks))
		error = later(error, (int64_t)(segment->from_ticks - ticks) / (HULL_DRIFT / 2));
	return error;
}

int64_t clock_error_of(const struct clock *clock, int64_t start_ns, uint8_t id)
{
	const struct clock_segment *segment = id == CLOCK_FIXED ? NULL : segment_of(clock, id);

	return segment ? clock_error_at(clock, segment_back(segment, start_ns)) :
			 clock_error(clock);
}

int64_t clock_error(const struct clock *clock)
{
	int64_t error = 0;

	if (clock->hulled)
		return clock_error_at(clock, hull_last(clock->hull));
	for (uint32_t i = 0; i < clock->n; i++)
		error = larger(error, clock->segments[i].error_ns);
	return error;
}
