/* SPDX-License-Identifier: MIT */
/*
 * When to look at the relay daemon again.
 *
 * Each channel's data comes once in a period of the live timer, at a moment of
 * its own, so most looks at fixed intervals find nothing, and each of them
 * wakes the relay daemon. Looks follow what was seen instead: one a period
 * after each time that data came, further ones while it is late.
 *
 * Always true: the next look is at least RHYTHM_STEP_NS away, and at most what
 * the caller says. Constant time and memory. Zeroed it knows nothing yet. One
 * thread's. Times are CLOCK_MONOTONIC.
 */
#ifndef PROBES_SESSION_RHYTHM_H
#define PROBES_SESSION_RHYTHM_H

#include <stdint.h>

#define RHYTHM_BEATS 8
#define RHYTHM_STEP_NS 3000000

struct rhythm {
	int64_t beat_ns[RHYTHM_BEATS];	/* when data came; 0: free */
	unsigned int next;		/* oldest of them */
	int64_t found_ns;		/* the last look that found any */
};

/* A look has found data. */
void rhythm_found(struct rhythm *rhythm, int64_t now_ns, int64_t period_ns);

/* How long to sleep, longest_ns at most. */
int64_t rhythm_wait_ns(const struct rhythm *rhythm, int64_t now_ns, int64_t period_ns,
		       int64_t longest_ns);

#endif
