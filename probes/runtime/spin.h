/* SPDX-License-Identifier: MIT */
/*
 * A lock around a few stores, with a limited wait: its owner may be stopped, or may be a thread of
 * the parent process after a fork (rt_spin_unlock() in the child). Any thread.
 */
#ifndef PROBES_RUNTIME_SPIN_H
#define PROBES_RUNTIME_SPIN_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RT_SPIN_TURNS 2000	/* about a millisecond */

/* False: the lock could not be taken in time. */
static inline bool rt_spin_lock(_Atomic uint32_t *busy)
{
	uint32_t free = 0;

	for (int i = 0; i < RT_SPIN_TURNS; i++, free = 0) {
		if (atomic_compare_exchange_weak(busy, &free, 1))
			return true;
		if (i > 100)
			sched_yield();
	}
	return false;
}

static inline void rt_spin_unlock(_Atomic uint32_t *busy)
{
	atomic_store_explicit(busy, 0, memory_order_release);
}

#endif
