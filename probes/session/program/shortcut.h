/* SPDX-License-Identifier: MIT */
/*
 * A link to the probes' folder, for a path that LD_PRELOAD and the like cannot hold (a space, a
 * colon). It lies in a private folder of its own (dir.h), so that only its user can redirect it.
 *
 * Always true: the folder exists as long as a process holds its lock. At a launch this is the
 * launcher, since programs complain on their standard error about what they cannot preload; with
 * `-p` it is tftop, and then nothing is preloaded (environ_choice.passing). If that process is
 * killed, the next sweep removes the folder.
 *
 * Threads: main only.
 */
#ifndef PROBES_SESSION_SHORTCUT_H
#define PROBES_SESSION_SHORTCUT_H

#include "probes/process/dir.h"
#include "probes/session/program/environ.h"

struct shortcut {
	char dir[DIR_PATH_MAX];	/* "": there is none */
	int lock;		/* close-on-exec; -1: there is none */
};

/* Makes a link where choice->lib_dir needs one, and puts it there. If that fails, lib_dir stays,
 * and environ_complaint() says what is wrong with it. */
void shortcut_open(struct shortcut *shortcut, struct environ_choice *choice);

/* Leaves it to a process that has inherited the lock. */
void shortcut_leave(struct shortcut *shortcut);

/* Removes it, if there is one. */
void shortcut_close(struct shortcut *shortcut);

#endif
