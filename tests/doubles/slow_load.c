/* SPDX-License-Identifier: MIT */
/* A library whose loading takes 700 ms of computing, with the dynamic linker's lock held. */
#include <stdint.h>
#include <time.h>

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

__attribute__((constructor))
static void begin(void)
{
	int64_t until = now_ms() + 700;

	while (now_ms() < until)
		;
}
