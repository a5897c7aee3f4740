/* SPDX-License-Identifier: MIT */
/* What a probe says that it cannot see. Of two at once one may wait a moment; a child of fork
 * in whose parent it was just being said adds nothing more, but for its messages. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "probes/runtime/runtime.h"

#define TURNS 2000	/* about a millisecond */

static _Atomic uint32_t busy;

static bool lock(void)
{
	uint32_t free = 0;

	for (int i = 0; i < TURNS; i++, free = 0) {
		if (atomic_compare_exchange_weak(&busy, &free, 1))
			return true;
		if (i > 100)
			sched_yield();
	}
	return false;
}

void rt_blind(struct rt_probe *probe, const char *text)
{
	char message[sizeof(probe->said[0])], *now;
	int saved = errno;

	if (lock()) {
		/* a reader may still have the other one */
		now = probe->said[probe->blind == probe->said[0]];
		snprintf(now, sizeof(probe->said[0]), "%s%s%s", probe->blind,
			 *probe->blind ? "; " : "", text);
		__atomic_store_n(&probe->blind, now, __ATOMIC_RELEASE);
		atomic_store_explicit(&busy, 0, memory_order_release);
	}
	snprintf(message, sizeof(message), "%s: %s", probe->name, text);
	rt_emit_message(1, message);
	errno = saved;
}
