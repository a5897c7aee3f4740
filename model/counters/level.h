/* SPDX-License-Identifier: MIT */
/*
 * A level over time (live bytes, for example) in bounded memory: recent changes are kept exactly,
 * the whole run in buckets.
 *
 * Idea: changes arrive in order of time. The last LEVEL_RECENT changes are kept in a ring. In
 * addition, at most LEVEL_BUCKETS buckets of equal width cover everything since the first change;
 * each has the minimum, the maximum and the area under the level. When the end does not fit,
 * neighbours are merged and the width doubles, so that a run of an hour has buckets of about four
 * seconds.
 *
 * Always true: before the first change the level is 0; after the last it stays. Minimum, maximum
 * and mean of a range that begins at or after the oldest change in the ring are exact; otherwise
 * they are those of the buckets that the range touches.
 *
 * Complexity: O(1) amortised for a change, O(log n + changes and buckets touched) for a range.
 * Memory: at most 96 KiB, less while little has happened. Times in ns, levels below 2^62,
 * products in 128 bits.
 */
#ifndef MODEL_LEVEL_H
#define MODEL_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEVEL_RECENT 4096u
#define LEVEL_BUCKETS 1024u
#define LEVEL_WIDTH_NS 1000000		/* width of the first buckets */

struct level_point {
	int64_t time_ns;
	uint64_t value;			/* from then on */
};

struct level_bucket {
	unsigned __int128 area;		/* value * ns */
	uint64_t min, max;
};

struct level {
	struct level_point *recent;	/* owned; ring */
	uint32_t head, n_recent, cap_recent;
	struct level_bucket *buckets;	/* owned; the last is filled up to now_ns */
	size_t n_buckets, cap_buckets;
	int64_t start_ns, width_ns, now_ns;
	uint64_t value;
	bool forgot;			/* older changes have left the ring */
};

/* Changes after a level's last one that are not in the level yet. */
struct level_tail {
	const struct level_point *points;	/* borrowed, by time */
	size_t n;
};

struct level_range {
	uint64_t min, max, mean;
	bool approx;
};

void level_release(struct level *level);
/* Sets the value from time_ns on; a time before the last change counts as the time of that
 * change. */
void level_set(struct level *level, int64_t time_ns, uint64_t value);
/* Minimum, maximum and mean of [from_ns, to_ns), from_ns < to_ns. */
void level_range(const struct level *level, struct level_tail tail, int64_t from_ns,
		 int64_t to_ns, struct level_range *out);
size_t level_bytes(const struct level *level);

#endif
