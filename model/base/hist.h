/* SPDX-License-Identifier: MIT */
/*
 * Percentiles of durations, from logarithmic buckets: 32 buckets for an octave, so that a value
 * is wrong by at most half a bucket, 1.6 %. Below 64 ns, every value has a bucket of its own.
 * Only the range of buckets that is in use is stored.
 */
#ifndef MODEL_HIST_H
#define MODEL_HIST_H

#include <stdint.h>

struct hist {
	uint64_t *counts;		/* owned */
	uint32_t base, n;		/* buckets base ... base + n - 1 */
	uint64_t total;
};

void hist_release(struct hist *hist);
void hist_add(struct hist *hist, int64_t value);
/* Removes a value that was added. */
void hist_remove(struct hist *hist, int64_t value);
void hist_merge(struct hist *to, const struct hist *from);
/* The value at or below which `permille` of all values lie; -1 if there are none. */
int64_t hist_percentile(const struct hist *hist, unsigned permille);
/* How many values lie in each of n equal parts of [low, high], as far as the buckets tell. Each
 * value is in exactly one part. */
void hist_spread(const struct hist *hist, int64_t low, int64_t high, unsigned n, uint64_t *out);

#endif
