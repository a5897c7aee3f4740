/* SPDX-License-Identifier: MIT */
/*
 * A thread of the program that stands still for tftop goes before others, as far as tftop may
 * give it that (root, RLIMIT_RTPRIO): what it does for tftop takes what it takes, however many
 * want the processors.
 *
 * Nothing of the thread is changed. A thread of tftop's with a priority waits for a futex which
 * it says is the other's, and the kernel lends priorities to who is waited for (futex(2),
 * priority inheritance). So nothing is left of it if tftop dies, and no thread that is made
 * meanwhile inherits it.
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
	uint32_t futex;		/* "of the program's thread" */
	bool runs;
	_Atomic bool over;
};

/* The calling thread too, until its end. Failure is silent. */
void hurry_begin(struct hurry *hurry, pid_t tid);
/* As before at once; then waits some milliseconds. */
void hurry_end(struct hurry *hurry);

#endif
