/* SPDX-License-Identifier: MIT */
/*
 * While a thread of the program is stopped for tftop, it runs before other threads of the
 * machine, as far as tftop may grant that (root, RLIMIT_RTPRIO; two processors that tftop may use).
 * So the stop is short even when many tasks want the processors.
 *
 * Nothing of the thread is changed. A thread of tftop with a real-time priority waits for a futex
 * whose owner it declares to be the program's thread, and the kernel lends its priority to the
 * owner (futex(2), priority inheritance). So nothing remains if tftop dies, and no thread that
 * the program creates meanwhile inherits the priority.
 *
 * Threads: one at a time per struct hurry.
 */
#ifndef PROBES_ATTACH_HURRY_H
#define PROBES_ATTACH_HURRY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hurry {
	pthread_t thread;
	uint32_t futex;		/* owner: the program's thread */
	bool runs;
	_Atomic bool over;
};

/* Also raises the calling thread, until its end. Failure is silent. */
void hurry_begin(struct hurry *hurry, pid_t tid);
/* Ends it at once; then waits some milliseconds for tftop's thread. */
void hurry_end(struct hurry *hurry);

#endif
