/* SPDX-License-Identifier: MIT */
/*
 * Sorting by start: least digit first over the bits in which the keys differ,
 * so that the few milliseconds of a step cost three passes. The more keys, the
 * wider the digits: their counts are made anew in each pass. Stable.
 */
#include "model/analyses/sort.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define FEW 48
#define MANY 4096
#define DIGIT_MAX 11			/* bits; of not so many 8 */

static void insert_few(struct start_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct start_key key = keys[i];
		size_t at = i;

		for (; at > 0 && keys[at - 1].start > key.start; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

static bool in_order(const struct start_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1].start > keys[i].start)
			return false;
	return true;
}

void start_keys_sort(struct start_key *keys, struct start_key *spare, size_t n)
{
	struct start_key *from = keys, *to = spare;
	uint64_t low = UINT64_MAX, high = 0;
	int most = n < MANY ? 8 : DIGIT_MAX, bits, passes, width;

	if (n <= FEW) {
		insert_few(keys, n);
		return;
	}
	if (in_order(keys, n))
		return;
	/* With the sign turned over, unsigned order is theirs. */
	for (size_t i = 0; i < n; i++) {
		uint64_t key = (uint64_t)keys[i].start ^ (uint64_t)INT64_MIN;

		if (key < low)
			low = key;
		if (key > high)
			high = key;
	}
	bits = 64 - __builtin_clzll(high - low);
	passes = (bits + most - 1) / most;
	width = (bits + passes - 1) / passes;
	for (int shift = 0; shift < bits; shift += width) {
		uint32_t place[1 << DIGIT_MAX], sum = 0;

		memset(place, 0, sizeof(*place) << width);
		for (size_t i = 0; i < n; i++)
			place[((((uint64_t)from[i].start ^ (uint64_t)INT64_MIN) - low) >> shift) &
			      ((1u << width) - 1)]++;
		for (int digit = 0; digit < 1 << width; digit++) {
			uint32_t count = place[digit];

			place[digit] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++) {
			uint64_t key = ((uint64_t)from[i].start ^ (uint64_t)INT64_MIN) - low;

			to[place[key >> shift & ((1u << width) - 1)]++] = from[i];
		}
		struct start_key *other = from;

		from = to;
		to = other;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
}
