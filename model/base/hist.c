/* SPDX-License-Identifier: MIT */
#include "model/base/hist.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define SUB_BITS 5
#define SUB (1u << SUB_BITS)

static uint32_t bucket_of(uint64_t value)
{
	int top;

	if (value < 2 * SUB)
		return (uint32_t)value;
	top = 63 - __builtin_clzll(value);
	return ((uint32_t)(top - SUB_BITS) << SUB_BITS) + (uint32_t)(value >> (top - SUB_BITS));
}

/* The middle of a bucket. */
static int64_t bucket_value(uint32_t bucket)
{
	int shift;
	uint64_t low;

	if (bucket < 2 * SUB)
		return bucket;
	shift = (int)(bucket >> SUB_BITS) - 1;
	low = (uint64_t)(SUB + (bucket & (SUB - 1))) << shift;
	return (int64_t)(low + ((1ull << shift) - 1) / 2);
}

void hist_release(struct hist *hist)
{
	free(hist->counts);
	memset(hist, 0, sizeof(*hist));
}

/* Makes the stored range reach from `low` to `high`. */
static void hist_reach(struct hist *hist, uint32_t low, uint32_t high)
{
	uint32_t base = hist->n && hist->base < low ? hist->base : low;
	uint32_t end = hist->n && hist->base + hist->n > high + 1 ? hist->base + hist->n : high + 1;
	uint64_t *counts;

	if (hist->n && base == hist->base && end == hist->base + hist->n)
		return;
	counts = xcalloc(end - base, sizeof(*counts));
	if (hist->n)
		memcpy(counts + (hist->base - base), hist->counts, hist->n * sizeof(*counts));
	free(hist->counts);
	hist->counts = counts;
	hist->base = base;
	hist->n = end - base;
}

void hist_add(struct hist *hist, int64_t value)
{
	uint32_t bucket = bucket_of(value < 0 ? 0 : (uint64_t)value);

	if (bucket - hist->base >= hist->n)
		hist_reach(hist, bucket, bucket);
	hist->counts[bucket - hist->base]++;
	hist->total++;
}

void hist_remove(struct hist *hist, int64_t value)
{
	hist->counts[bucket_of(value < 0 ? 0 : (uint64_t)value) - hist->base]--;
	hist->total--;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	if (!from->n)
		return;
	hist_reach(to, from->base, from->base + from->n - 1);
	for (uint32_t i = 0; i < from->n; i++)
		to->counts[from->base + i - to->base] += from->counts[i];
	to->total += from->total;
}

int64_t hist_percentile(const struct hist *hist, unsigned permille)
{
	uint64_t rank, seen = 0;

	if (!hist->total)
		return -1;
	rank = (uint64_t)(((__uint128_t)hist->total * permille + 999) / 1000);
	if (!rank)
		rank = 1;
	/* Search from the nearer end. */
	for (uint32_t i = hist->n; permille > 500 && i-- > 0; seen += hist->counts[i])
		if (hist->total - seen - hist->counts[i] < rank)
			return bucket_value(hist->base + i);
	for (uint32_t i = 0; i < hist->n; i++) {
		seen += hist->counts[i];
		if (seen >= rank)
			return bucket_value(hist->base + i);
	}
	return bucket_value(hist->base + hist->n - 1);
}

void hist_spread(const struct hist *hist, int64_t low, int64_t high, unsigned n, uint64_t *out)
{
	memset(out, 0, n * sizeof(*out));
	for (uint32_t i = 0; i < hist->n; i++) {
		int64_t value = bucket_value(hist->base + i);

		/* The middle of a bucket may lie outside the smallest and largest values seen. */
		value = value < low ? low : value > high ? high : value;
		out[high > low ? (unsigned)((__int128)(value - low) * n / (high - low + 1)) : 0] +=
			hist->counts[i];
	}
}
