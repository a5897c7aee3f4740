/* SPDX-License-Identifier: MIT */
#include "probes/session/live/rhythm.h"

#define CREEP 100	/* by which part of a period data is assumed to have come earlier */

/* When the data arrived is unknown, only when it was found. So the next look is a little earlier
 * each time, until one is too early. */
void rhythm_found(struct rhythm *rhythm, int64_t now_ns, int64_t period_ns)
{
	rhythm->beat_ns[rhythm->next] = now_ns - period_ns / CREEP;
	rhythm->next = (rhythm->next + 1) % RHYTHM_BEATS;
	rhythm->found_ns = now_ns;
}

int64_t rhythm_wait_ns(const struct rhythm *rhythm, int64_t now_ns, int64_t period_ns,
		       int64_t longest_ns)
{
	int64_t wait_ns = longest_ns;

	for (int i = 0; i < RHYTHM_BEATS; i++) {
		int64_t due_ns = rhythm->beat_ns[i] + period_ns, left_ns = due_ns - now_ns;

		if (!rhythm->beat_ns[i] || due_ns <= rhythm->found_ns)
			continue;
		/* late: the later it is, the rarer are the looks */
		if (left_ns <= 0)
			left_ns = -left_ns;
		if (left_ns < wait_ns)
			wait_ns = left_ns;
	}
	return wait_ns > RHYTHM_STEP_NS ? wait_ns : RHYTHM_STEP_NS;
}
