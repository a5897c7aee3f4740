/* SPDX-License-Identifier: MIT */
#include "model/counters/level.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void level_release(struct level *level)
{
	free(level->recent);
	free(level->buckets);
	memset(level, 0, sizeof(*level));
}

size_t level_bytes(const struct level *level)
{
	return level->cap_recent * sizeof(*level->recent) +
	       level->cap_buckets * sizeof(*level->buckets);
}

/* ---- buckets ---- */

static void merge_pairs(struct level *level)
{
	size_t to = 0;

	for (size_t i = 0; i < level->n_buckets; i += 2, to++) {
		struct level_bucket *a = &level->buckets[i];

		if (i + 1 < level->n_buckets) {
			const struct level_bucket *b = a + 1;

			a->area += b->area;
			a->min = b->min < a->min ? b->min : a->min;
			a->max = b->max > a->max ? b->max : a->max;
		}
		level->buckets[to] = *a;
	}
	level->n_buckets = to;
	level->width_ns *= 2;
}

/* The value was in force up to this time. */
static void level_spread(struct level *level, int64_t until_ns)
{
	while ((until_ns - level->start_ns) / level->width_ns >= LEVEL_BUCKETS)
		merge_pairs(level);
	while (level->now_ns < until_ns) {
		size_t at = (size_t)((level->now_ns - level->start_ns) / level->width_ns);
		int64_t end = level->start_ns + (int64_t)(at + 1) * level->width_ns;
		int64_t to = end < until_ns ? end : until_ns;
		struct level_bucket *bucket;

		if (at == level->n_buckets) {
			grow(&level->buckets, &level->cap_buckets, at, sizeof(*level->buckets));
			level->buckets[level->n_buckets++] = (struct level_bucket) {
				.min = level->value, .max = level->value,
			};
		}
		bucket = &level->buckets[at];
		bucket->area += (unsigned __int128)level->value * (uint64_t)(to - level->now_ns);
		if (level->value < bucket->min)
			bucket->min = level->value;
		if (level->value > bucket->max)
			bucket->max = level->value;
		level->now_ns = to;
	}
}

/* A value of no duration still counts for minimum and maximum. */
static void touch(struct level *level)
{
	size_t at = (size_t)((level->now_ns - level->start_ns) / level->width_ns);

	if (at >= level->n_buckets)
		return;
	if (level->value < level->buckets[at].min)
		level->buckets[at].min = level->value;
	if (level->value > level->buckets[at].max)
		level->buckets[at].max = level->value;
}

/* ---- changes ---- */

static void level_remember(struct level *level, int64_t time_ns, uint64_t value)
{
	uint32_t at;

	if (level->n_recent == level->cap_recent && level->cap_recent < LEVEL_RECENT) {
		/* It is not a ring yet: head is 0. */
		level->cap_recent = level->cap_recent ? level->cap_recent * 2 : 64;
		level->recent = xreallocarray(level->recent, level->cap_recent,
					      sizeof(*level->recent));
	}
	if (level->n_recent == level->cap_recent) {
		level->head = (level->head + 1) % level->cap_recent;
		level->n_recent--;
		level->forgot = true;
	}
	at = (level->head + level->n_recent++) % level->cap_recent;
	level->recent[at] = (struct level_point) { time_ns, value };
}

void level_set(struct level *level, int64_t time_ns, uint64_t value)
{
	if (!level->width_ns) {
		level->width_ns = LEVEL_WIDTH_NS;
		level->start_ns = level->now_ns = time_ns;
	}
	if (time_ns < level->now_ns)
		time_ns = level->now_ns;
	level_spread(level, time_ns);
	level->value = value;
	touch(level);
	level_remember(level, time_ns, value);
}

/* ---- queries ---- */

/* Element i of ring and tail, as if they were one list. */
static const struct level_point *point_at(const struct level *level,
					  const struct level_tail *tail, size_t i)
{
	if (i < level->n_recent)
		return &level->recent[(level->head + i) % level->cap_recent];
	return &tail->points[i - level->n_recent];
}

/* How many changes there were before that time. */
static size_t points_before(const struct level *level, const struct level_tail *tail,
			    int64_t time_ns)
{
	return FIRST_NOT(i, 0, level->n_recent + tail->n,
			 point_at(level, tail, i)->time_ns < time_ns);
}

struct level_sum {
	unsigned __int128 area;
	uint64_t min, max;
	bool any, approx;
};

static void sum_value(struct level_sum *sum, uint64_t min, uint64_t max, unsigned __int128 area)
{
	if (!sum->any || min < sum->min)
		sum->min = min;
	if (!sum->any || max > sum->max)
		sum->max = max;
	sum->any = true;
	sum->area += area;
}

/* Adds the buckets that [from, to) touches, each as if its level had been its mean throughout. */
static void sum_buckets(const struct level *level, struct level_sum *sum, int64_t from_ns,
			int64_t to_ns)
{
	size_t at = (size_t)((from_ns - level->start_ns) / level->width_ns);

	for (; from_ns < to_ns && at < level->n_buckets; at++) {
		const struct level_bucket *bucket = &level->buckets[at];
		int64_t begin = level->start_ns + (int64_t)at * level->width_ns;
		int64_t end = begin + level->width_ns;
		int64_t stop;

		if (end > level->now_ns)
			end = level->now_ns;
		stop = end < to_ns ? end : to_ns;
		if (stop <= from_ns)
			break;
		sum_value(sum, bucket->min, bucket->max, bucket->area /
			  (uint64_t)(end - begin) * (uint64_t)(stop - from_ns));
		from_ns = stop;
	}
	sum->approx = true;
}

/* Sums up the changes themselves. */
static void sum_points(const struct level *level, const struct level_tail *tail,
		       struct level_sum *sum, int64_t from_ns, int64_t to_ns)
{
	size_t n = level->n_recent + tail->n;
	size_t i = points_before(level, tail, from_ns);
	uint64_t value = i ? point_at(level, tail, i - 1)->value : 0;

	if (i == n || point_at(level, tail, i)->time_ns > from_ns)
		sum_value(sum, value, value, 0);
	for (; i < n && point_at(level, tail, i)->time_ns < to_ns; i++) {
		const struct level_point *point = point_at(level, tail, i);

		sum_value(sum, point->value, point->value,
			  (unsigned __int128)value * (uint64_t)(point->time_ns - from_ns));
		from_ns = point->time_ns;
		value = point->value;
	}
	sum_value(sum, value, value, (unsigned __int128)value * (uint64_t)(to_ns - from_ns));
}

void level_range(const struct level *level, struct level_tail tail, int64_t from_ns, int64_t to_ns,
		 struct level_range *out)
{
	struct level_sum sum = { .any = false };
	int64_t exact = level->forgot ? point_at(level, &tail, 0)->time_ns : INT64_MIN;
	int64_t at = from_ns;

	if (at < exact && at < level->start_ns) {
		at = to_ns < level->start_ns ? to_ns : level->start_ns;
		sum_value(&sum, 0, 0, 0);
	}
	if (at < exact && at < to_ns) {
		int64_t stop = to_ns < exact ? to_ns : exact;

		sum_buckets(level, &sum, at, stop);
		at = stop;
	}
	if (at < to_ns)
		sum_points(level, &tail, &sum, at, to_ns);
	*out = (struct level_range) {
		.min = sum.min, .max = sum.max, .approx = sum.approx,
		.mean = (uint64_t)(sum.area / (uint64_t)(to_ns - from_ns)),
	};
}
