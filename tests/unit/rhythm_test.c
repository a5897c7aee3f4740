/* SPDX-License-Identifier: MIT */
#include "probes/session/live/rhythm.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define PERIOD (50 * MS)
#define LONGEST (25 * MS)
#define SPAN (10000 * MS)

struct run {
	int64_t found, looks, worst_ns, sum_ns;
};

/* Two channels that flush once a period, each at its own moment and late by up
 * to `late_ns`; looks as the rhythm wants them. */
static struct run simulate(int64_t phase_ns, int64_t late_ns)
{
	struct rhythm rhythm = { .next = 0 };
	struct run run = { .found = 0 };
	int64_t flush_ns[2] = { 1000 * MS, 1000 * MS + phase_ns }, come_ns[2];
	int64_t now_ns = 1000 * MS;

	for (int i = 0; i < 2; i++)
		come_ns[i] = flush_ns[i] + (int64_t)test_below((uint32_t)late_ns + 1);
	while (now_ns < 1000 * MS + SPAN) {
		bool any = false;

		for (int i = 0; i < 2; i++) {
			int64_t delay_ns = now_ns - come_ns[i];

			if (delay_ns < 0)
				continue;
			any = true;
			run.found++;
			run.sum_ns += delay_ns;
			run.worst_ns = delay_ns > run.worst_ns ? delay_ns : run.worst_ns;
			flush_ns[i] += PERIOD;
			come_ns[i] = flush_ns[i] + (int64_t)test_below((uint32_t)late_ns + 1);
		}
		run.looks++;
		if (any)
			rhythm_found(&rhythm, now_ns, PERIOD);
		now_ns += rhythm_wait_ns(&rhythm, now_ns, PERIOD, LONGEST);
	}
	return run;
}

TEST(rhythm_follows_the_timer)
{
	for (int64_t phase_ns = 0; phase_ns < PERIOD; phase_ns += 900000) {
		struct run run = simulate(phase_ns, 0);

		CHECK(run.found >= 2 * (SPAN / PERIOD) - 2);
		/* a look for each, one for the longest wait, an early one now
		 * and then; a look each 8 ms, as late, would be three for each */
		CHECK(run.looks < run.found * 7 / 4);
		CHECK(run.sum_ns / run.found < 9 * MS);
		CHECK(run.worst_ns <= LONGEST);
	}
}

TEST(rhythm_finds_what_is_late)
{
	for (int64_t phase_ns = 0; phase_ns < PERIOD; phase_ns += 900000) {
		struct run run = simulate(phase_ns, 10 * MS);

		CHECK(run.found >= 2 * (SPAN / PERIOD) - 2);
		CHECK(run.looks < run.found * 5 / 2);
		CHECK(run.sum_ns / run.found < 10 * MS);
		CHECK(run.worst_ns <= LONGEST);
	}
}

TEST(rhythm_keeps_its_bounds)
{
	struct rhythm rhythm = { .next = 0 };
	int64_t now_ns = 1000 * MS;

	CHECK_INT(rhythm_wait_ns(&rhythm, now_ns, PERIOD, LONGEST), LONGEST);
	for (int i = 0; i < 100000; i++) {
		int64_t wait_ns;

		now_ns += (int64_t)test_below(test_below(10) ? 5000000 : 200000000);
		if (test_below(2))
			rhythm_found(&rhythm, now_ns, PERIOD);
		wait_ns = rhythm_wait_ns(&rhythm, now_ns, PERIOD, LONGEST);
		CHECK(wait_ns >= RHYTHM_STEP_NS && wait_ns <= LONGEST);
	}
	/* nothing comes any more: it falls back to the longest wait */
	CHECK_INT(rhythm_wait_ns(&rhythm, now_ns + 10 * PERIOD, PERIOD, LONGEST), LONGEST);
}
