/* SPDX-License-Identifier: MIT */
/*
 * Decides when to ask the relay daemon for data again.
 *
 * Each channel's data arrives once in a period of the live timer, at a moment of its own. Asking at
 * fixed intervals would mostly find nothing, and each request wakes the relay daemon. So requests
 * follow what was observed: one period after each time that data arrived, and more often while data
 * is late.
 *
 * Always true: the next request is at least RHYTHM_STEP_NS away, and at most as far as the caller
 * says. Constant time and memory. A zeroed rhythm knows nothing yet. One thread uses it. Times are
 * CLOCK_MONOTONIC.
 */
#ifndef PROBES_SESSION_RHYTHM_H
#define PROBES_SESSION_RHYTHM_H

#include <stdint.h>

#define RHYTHM_BEATS 8
#define RHYTHM_STEP_NS 3000000

struct rhythm {
	int64_t beat_ns[RHYTHM_BEATS];	/* when data arrived; 0: unused */
	unsigned int next;		/* index of the oldest of them */
	int64_t found_ns;		/* time of the last request that found data */
};

/* A request has found data. */
void rhythm_found(struct rhythm *rhythm, int64_t now_ns, int64_t period_ns);

/* How long to wait before the next request, longest_ns at most. */
int64_t rhythm_wait_ns(const struct rhythm *rhythm, int64_t now_ns, int64_t period_ns,
		       int64_t longest_ns);

#endif
