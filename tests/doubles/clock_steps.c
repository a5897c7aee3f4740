/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into tftop and its program: simulates a machine whose wall clock is changed. Every 100
 * ms the clock jumps: an hour ahead, back, an hour behind, back, at the same moments in all
 * processes. Deadlines computed from it are given to the kernel, which does not know of the jumps:
 * for such a wait it is as if the clock had been changed just after the wait started. Other clocks
 * are unchanged.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 100000000

static long offset_s(void)
{
	static const long steps[4] = { 0, 3600, 0, -3600 };
	struct timespec mono;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &mono);
	return steps[(mono.tv_sec * 10 + mono.tv_nsec / STEP_NS) % 4];
}

int clock_gettime(clockid_t id, struct timespec *at)
{
	int result = (int)syscall(SYS_clock_gettime, id, at);

	if (!result && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		at->tv_sec += offset_s();
	return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	int result = (int)syscall(SYS_gettimeofday, at, zone);

	if (!result)
		at->tv_sec += offset_s();
	return result;
}

time_t time(time_t *at)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (at)
		*at = now.tv_sec;
	return now.tv_sec;
}
