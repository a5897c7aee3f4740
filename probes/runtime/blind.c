/* SPDX-License-Identifier: MIT */
/* What a probe cannot record, in its own words. If two threads report something at once, one may
 * wait for a moment. A forked child whose parent was just reporting something adds no more to this
 * text; its messages are still sent. */
#include <errno.h>
#include <stdio.h>

#include "probes/runtime/runtime.h"
#include "probes/runtime/spin.h"

static _Atomic uint32_t busy;

void rt_blind(struct rt_probe *probe, const char *text)
{
	char message[sizeof(probe->said[0])], *now;
	int saved = errno;

	if (rt_spin_lock(&busy)) {
		/* a reader may still use the other one */
		now = probe->said[probe->blind == probe->said[0]];
		snprintf(now, sizeof(probe->said[0]), "%s%s%s", probe->blind,
			 *probe->blind ? "; " : "", text);
		__atomic_store_n(&probe->blind, now, __ATOMIC_RELEASE);
		rt_spin_unlock(&busy);
	}
	snprintf(message, sizeof(message), "%s: %s", probe->name, text);
	rt_emit_message(1, message);
	errno = saved;
}
