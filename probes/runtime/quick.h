/* SPDX-License-Identifier: MIT */
/*
 * The time of rt_now_ns() from the processor's counter, for events that occur by the million and
 * take less than a microsecond. Reading the clock waits for all earlier instructions, which takes
 * 30 ns each time between small kernels; reading the counter takes 10.
 *
 * Always true:
 *  - The counter is used only where the system's own clock uses it too, and while the computed time
 *    agrees with the clock; otherwise rt_quick_ns() reads the clock.
 *  - A thread reads the clock every RT_QUICK_NS. A time in between is wrong by as much as the rates
 *    of two such intervals differ, plus the error at the last reading: some nanoseconds.
 *  - On one thread it never goes back.
 */
#ifndef PROBES_RUNTIME_QUICK_H
#define PROBES_RUNTIME_QUICK_H

#include "probes/runtime/runtime.h"

#define RT_QUICK_NS 100000
#define RT_QUICK_OFF_NS 1000	/* a time that differs more than this from the clock is not used */

/* The state of one thread; zeroed at first. */
struct rt_quick {
	uint64_t ticks, span;		/* at the last reading; ticks until the next one */
	uint64_t rate;			/* ns << 32 per tick */
	int64_t ns;			/* the computed time at the last reading */
	int64_t clock_ns;	/* the clock's time at that reading; both meet at the next one */
};

/* Reads the clock. */
RT_API int64_t rt_quick_look(struct rt_quick *q);

/* The state for the calling thread's ops and kernels, valid as long as the thread lives. NULL:
 * memory is short. */
RT_API struct rt_quick *rt_quick_own(void);
RT_API int64_t rt_quick_now(void);

static inline int64_t rt_quick_ns(struct rt_quick *q)
{
#if defined(__x86_64__)
	uint64_t ticks = __builtin_ia32_rdtsc() - q->ticks;

	if (__builtin_expect(ticks < q->span, 1))
		return q->ns + (int64_t)(ticks * q->rate >> 32);
#endif
	return rt_quick_look(q);
}

#endif
