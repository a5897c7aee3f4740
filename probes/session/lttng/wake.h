/* SPDX-License-Identifier: MIT */
/*
 * Tells programs that new LTTng daemons have replaced those that died.
 *
 * A program whose daemon died looks for another one when LTTng's word in /dev/shm says so. There is
 * one such word for each uid: a program sleeps on it while it is 0; if it is set and no daemon
 * answers, the program looks every 5 s. A session daemon sets the word of its own uid. If tftop is
 * root, its programs have another uid than its private daemons, so their words are set here, and
 * reset afterwards.
 *
 * Always true: the word may be in a file of another user, who may truncate it at any time. So it is
 * written with pwrite() and never accessed through a mapping.
 *
 * Threads: main only.
 */
#ifndef PROBES_SESSION_WAKE_H
#define PROBES_SESSION_WAKE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAKE_USERS_MAX 64

struct wake {
	int64_t until_ns;	/* programs are woken until this time; 0: there is no reason to */
	uid_t uids[WAKE_USERS_MAX];	/* uids whose words were set */
	size_t n_uids;
};

/* The daemons are ready: from now on, for 7 s, wake_program() is useful. */
void wake_begin(struct wake *wake);
/* Ends the waiting of one program. */
void wake_program(struct wake *wake, pid_t pid);
/* Resets the word of its user. */
void wake_reset(struct wake *wake, pid_t pid);

#endif
