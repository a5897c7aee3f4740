/* SPDX-License-Identifier: MIT */
#include "probes/host/host.h"
#include "tests/unit/test.h"

#define LOOKS 10000
#define TURN_NS INT64_C(100000000)

/* A loop whose turns last as long as the sampler waits is seen in all of its parts alike. */
TEST(host_pace_sees_all_of_a_turn)
{
	int64_t at_ns = 0, least_ns = INT64_MAX, most_ns = 0;
	int part[10] = { 0 };
	uint32_t seed = 1;

	for (int i = 0; i < LOOKS; i++) {
		int64_t ns = host_pace_vary(TURN_NS, &seed);

		at_ns += ns;
		least_ns = ns < least_ns ? ns : least_ns;
		most_ns = ns > most_ns ? ns : most_ns;
		part[at_ns % TURN_NS / (TURN_NS / 10)]++;
	}
	CHECK(least_ns >= TURN_NS / 2 && most_ns < TURN_NS * 3 / 2);
	CHECK(at_ns > TURN_NS / 100 * 99 * LOOKS && at_ns < TURN_NS / 100 * 101 * LOOKS);
	for (int i = 0; i < 10; i++)
		CHECK(part[i] > LOOKS / 12 && part[i] < LOOKS / 8);
}
