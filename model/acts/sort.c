/* SPDX-License-Identifier: MIT */
/*
 * Sorting by start. Keys are distributed to buckets of a few keys each, by the first bits in
 * which they differ; then each bucket is sorted by insertion. A bucket with many keys (one key
 * far from all others is enough) is sorted in the same way, since its keys differ in fewer bits.
 * Both sorts are stable. This is done for blocks that fit a core's cache; keys that arrived
 * mostly in order are then in order except at the borders of blocks, and merging two blocks moves
 * few of them.
 */
#include "model/acts/sort.h"

#include <stdbool.h>
#include <string.h>

#include "model/base/util.h"

#define FEW 48
#define EACH_BITS 2			/* log2 of the keys per bucket */
#define BUCKET_BITS 11	/* log2 of the buckets: as many as a core's first cache holds */
#define BLOCK 8192u			/* keys per block, including the spare ones */

static void insert_few(struct start_key *to, const struct start_key *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct start_key key = from[i];
		size_t at = i;

		for (; at > 0 && to[at - 1].start > key.start; at--)
			to[at] = to[at - 1];
		to[at] = key;
	}
}

static bool in_order(const struct start_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1].start > keys[i].start)
			return false;
	return true;
}

/* With the sign bit flipped, unsigned order is the order of signed times. */
static uint64_t order_of(int64_t start)
{
	return (uint64_t)start ^ (uint64_t)INT64_MIN;
}

static int bits_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

static void sort_block(struct start_key *keys, struct start_key *spare, size_t n)
{
	uint32_t place[(1 << BUCKET_BITS) + 1];
	int64_t low = INT64_MAX, high = INT64_MIN;
	int width, shift;
	size_t begin = 0;

	if (n <= FEW) {
		insert_few(keys, keys, n);
		return;
	}
	if (in_order(keys, n))
		return;
	for (size_t i = 0; i < n; i++) {
		low = keys[i].start < low ? keys[i].start : low;
		high = keys[i].start > high ? keys[i].start : high;
	}
	width = bits_of(n >> EACH_BITS);
	width = width < BUCKET_BITS ? width : BUCKET_BITS;
	shift = bits_of(order_of(high) - order_of(low)) - width;
	shift = shift > 0 ? shift : 0;
	memset(place, 0, sizeof(*place) * ((1u << width) + 1));
	for (size_t i = 0; i < n; i++)
		place[((order_of(keys[i].start) - order_of(low)) >> shift) + 1]++;
	for (uint32_t bucket = 1; bucket < 1u << width; bucket++)
		place[bucket] += place[bucket - 1];
	for (size_t i = 0; i < n; i++)
		spare[place[(order_of(keys[i].start) - order_of(low)) >> shift]++] = keys[i];
	/* place[i] is now where bucket i ends */
	for (uint32_t bucket = 0; bucket < 1u << width; bucket++) {
		size_t in_it = place[bucket] - begin;

		if (in_it <= FEW) {
			insert_few(keys + begin, spare + begin, in_it);
		} else {
			memcpy(keys + begin, spare + begin, in_it * sizeof(*keys));
			sort_block(keys + begin, spare + begin, in_it);
		}
		begin = place[bucket];
	}
}

/* The number of keys that belong before a key with this start; `also`: including those that start
 * at the same time. */
static size_t count_before(const struct start_key *keys, size_t n, int64_t start, bool also)
{
	return FIRST_NOT(i, 0, n, keys[i].start < start || (also && keys[i].start == start));
}

/* Merges two sorted, adjacent arrays; only the keys that overlap move. */
static void merge(struct start_key *keys, struct start_key *spare, size_t half, size_t n)
{
	size_t first = count_before(keys, half, keys[half].start, true), left = half - first, i = 0;
	size_t to = first, right = half;

	memcpy(spare, keys + first, left * sizeof(*keys));
	while (i < left && right < n)
		keys[to++] = keys[right].start < spare[i].start ? keys[right++] : spare[i++];
	memcpy(keys + to, spare + i, (left - i) * sizeof(*keys));
}

void start_keys_sort(struct start_key *keys, struct start_key *spare, size_t n)
{
	size_t half = n / 2;

	if (n <= BLOCK) {
		sort_block(keys, spare, n);
		return;
	}
	start_keys_sort(keys, spare, half);
	start_keys_sort(keys + half, spare, n - half);
	if (keys[half - 1].start > keys[half].start)
		merge(keys, spare, half, n);
}
