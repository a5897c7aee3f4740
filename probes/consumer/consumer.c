/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into our own lttng-consumerd and nothing else: its main thread
 * waits for another thread by sleeping 100 ms at a time, which is a third of
 * tftop's start. Here it looks again after 1 ms.
 */
#include <time.h>
#include <unistd.h>

#define WAIT_US 100000
#define LOOK_US 1000

__attribute__((visibility("default"))) int usleep(useconds_t us);

int usleep(useconds_t us)
{
	useconds_t span = us == WAIT_US ? LOOK_US : us;
	struct timespec t = {
		.tv_sec = (time_t)(span / 1000000), .tv_nsec = (long)(span % 1000000) * 1000,
	};

	return nanosleep(&t, NULL);
}
