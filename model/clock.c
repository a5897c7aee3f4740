/* SPDX-License-Identifier: MIT */
#include "model/clock.h"

#include <stdlib.h>
#include <string.h>

#include "model/util.h"

static int64_t offset_of(uint64_t ticks, int64_t host_ns)
{
	return (int64_t)((uint64_t)host_ns - ticks);
}

static int64_t at_offset(uint64_t ticks, int64_t offset_ns)
{
	return (int64_t)(ticks + (uint64_t)offset_ns);
}

/* Index of the segment in force at ticks. */
static uint32_t segment_at(const struct clock *clock, uint64_t ticks)
{
	uint32_t low = 0, high = clock->n;

	if (clock->n && ticks >= clock->segments[clock->n - 1].from_ticks)
		return clock->n - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (clock->segments[middle].from_ticks <= ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

/* An id that no living segment has. */
static uint8_t new_id(struct clock *clock)
{
	for (;;) {
		bool taken = false;

		if (++clock->last_id == CLOCK_FIXED)
			clock->last_id++;
		for (uint32_t i = 0; i < clock->n; i++)
			taken |= clock->segments[i].id == clock->last_id;
		if (!taken)
			return clock->last_id;
	}
}

static void insert_segment(struct clock *clock, uint32_t at, const struct event_clock *pair)
{
	uint8_t id = new_id(clock);

	memmove(clock->segments + at + 1, clock->segments + at,
		(clock->n - at) * sizeof(clock->segments[0]));
	clock->n++;
	clock->segments[at] = (struct clock_segment) {
		.from_ticks = pair->ticks, .offset_ns = offset_of(pair->ticks, pair->host_ns),
		.error_ns = pair->error_ns, .id = id,
	};
}

static int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d) || d == INT64_MIN)
		return INT64_MAX;
	return d < 0 ? -d : d;
}

static int64_t earlier(int64_t ns, int64_t by)
{
	int64_t t;

	return __builtin_sub_overflow(ns, by, &t) ? INT64_MIN : t;
}

static void remember(const struct clock *clock, struct clock_change *change)
{
	change->before = xmalloc(sizeof(*clock));
	*change->before = *clock;
	change->changed = true;
}

/* Everything may move: from the beginning of the first segment's reach. */
static void replace_all(struct clock *clock, const struct event_clock *pair,
			struct clock_change *change)
{
	if (clock->n) {
		remember(clock, change);
		change->from_ns = INT64_MIN;
	}
	clock->n = 0;
	clock->guessed = false;
	clock->quality = pair->quality > CLOCK_DRIVER ? CLOCK_DRIVER :
			 (enum clock_quality)pair->quality;
	insert_segment(clock, 0, pair);
}

void clock_add(struct clock *clock, const struct event_clock *given, struct clock_change *change)
{
	struct event_clock pair = *given;
	struct clock_segment *segment;
	int64_t offset, off, bar;
	uint32_t at;

	memset(change, 0, sizeof(*change));
	if (pair.error_ns < 0)
		pair.error_ns = 0;
	if (!clock->n || clock->guessed || pair.quality > clock->quality) {
		replace_all(clock, &pair, change);
		return;
	}
	if (pair.quality < clock->quality)
		return;
	if (clock->n == CLOCK_SEGMENTS) {
		/* The oldest is let go: its spans stay where they are. */
		memmove(clock->segments, clock->segments + 1,
			(CLOCK_SEGMENTS - 1) * sizeof(clock->segments[0]));
		clock->n--;
	}
	at = segment_at(clock, pair.ticks);
	segment = &clock->segments[at];
	offset = offset_of(pair.ticks, pair.host_ns);
	off = distance(offset, segment->offset_ns);
	bar = pair.error_ns > segment->error_ns ? pair.error_ns : segment->error_ns;
	if (off == 0) {
		if (pair.error_ns < segment->error_ns)
			segment->error_ns = pair.error_ns;
		return;
	}
	if (off <= bar && pair.error_ns >= segment->error_ns / 2)
		return;
	remember(clock, change);
	/* The least that may move: where the segment, or the pair, begins. */
	change->from_ns = earlier(earlier(at_offset(pair.ticks, segment->offset_ns), off), bar);
	if (off <= bar) {
		change->from_ns = at ? earlier(at_offset(segment->from_ticks, segment->offset_ns),
					       off) : INT64_MIN;
		segment->offset_ns = offset;
		segment->error_ns = pair.error_ns;
		return;
	}
	if (pair.ticks < segment->from_ticks) {
		/* Before the first segment, which reached back to here. */
		change->from_ns = INT64_MIN;
		insert_segment(clock, 0, &pair);
	} else if (pair.ticks == segment->from_ticks) {
		segment->offset_ns = offset;
		segment->error_ns = pair.error_ns;
		change->from_ns = at ? change->from_ns : INT64_MIN;
	} else {
		insert_segment(clock, at + 1, &pair);
	}
}

void clock_guess(struct clock *clock, uint64_t ticks, int64_t host_ns, int64_t error_ns)
{
	struct event_clock pair = { .ticks = ticks, .host_ns = host_ns, .error_ns = error_ns };

	if (clock->n)
		return;
	insert_segment(clock, 0, &pair);
	clock->quality = CLOCK_ESTIMATE;
	clock->guessed = true;
}

int64_t clock_map(const struct clock *clock, uint64_t ticks, uint8_t *id)
{
	const struct clock_segment *segment = &clock->segments[segment_at(clock, ticks)];

	*id = segment->id;
	return at_offset(ticks, segment->offset_ns);
}

int64_t clock_move(const struct clock *clock, const struct clock *before, int64_t start_ns,
		   uint8_t *id)
{
	uint64_t ticks;

	if (*id == CLOCK_FIXED)
		return start_ns;
	for (uint32_t i = before->n; i-- > 0; )
		if (before->segments[i].id == *id) {
			ticks = (uint64_t)start_ns - (uint64_t)before->segments[i].offset_ns;
			return clock_map(clock, ticks, id);
		}
	*id = CLOCK_FIXED;
	return start_ns;
}

int64_t clock_error(const struct clock *clock)
{
	int64_t error = 0;

	for (uint32_t i = 0; i < clock->n; i++)
		if (clock->segments[i].error_ns > error)
			error = clock->segments[i].error_ns;
	return error;
}
