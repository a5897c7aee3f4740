/* SPDX-License-Identifier: MIT */
/*
 * Tells programs that fresh LTTng daemons have taken the place of those that died.
 *
 * A program whose daemon died looks for another one when LTTng's word in /dev/shm says so. There
 * is one word for each uid: a program sleeps on it while it is 0, and looks every 5 s while it is
 * set and nobody answers. A session daemon sets the word of its own uid. When tftop is root, its
 * programs have another uid than its private daemons: their words are set here, and set back.
 *
 * Always true: the word may be anybody's file, which its owner may cut short at any time. So it
 * is written with pwrite() and never read through a mapping.
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
	int64_t until_ns;		/* programs are woken until then; 0: there is no reason */
	uid_t uids[WAKE_USERS_MAX];	/* whose words were set */
	size_t n_uids;
};

/* The daemons stand: from now on wake_program() is of use, for 7 s. */
void wake_begin(struct wake *wake);
/* Ends the sleep of one program. */
void wake_program(struct wake *wake, pid_t pid);
/* Sets the word of its user back. */
void wake_reset(struct wake *wake, pid_t pid);

#endif
