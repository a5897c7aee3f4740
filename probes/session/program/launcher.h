/* SPDX-License-Identifier: MIT */
/*
 * The launcher: the parent of PROGRAM, and the owner and reader of its pty.
 *
 * Always true:
 * - It ends with PROGRAM (and with the last user of the pty), not before, and however tftop
 *   ended.
 * - PROGRAM waits at a gate. When it is released it starts with the environment of the plan; when
 *   tftop or the launcher dies first, it starts without probes.
 * - PROGRAM has the signal dispositions, mask, umask, limits, descriptors and working directory
 *   with which tftop was started.
 * - The launcher holds no terminal, no working directory and none of tftop's descriptors. It
 *   never makes PROGRAM wait for tftop for long: output that the screen does not take is
 *   discarded, the oldest first, and that is reported.
 *
 * Without a pty PROGRAM stays in tftop's process group, and the launcher moves to one of its own
 * in the same session, so that PROGRAM's group is not orphaned (job control works) when tftop
 * dies. With a pty the launcher leads a new session whose terminal is the pty, with PROGRAM as
 * its foreground group: its children outlive it as they would under a shell.
 */
#ifndef PROBES_SESSION_LAUNCHER_H
#define PROBES_SESSION_LAUNCHER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "probes/session/program/shortcut.h"

#define LAUNCHER_SIGNALS 65
#define LAUNCHER_ENV_MAX 65536

/* How tftop itself was started, to be restored for PROGRAM. */
struct launcher_origin {
	bool saved;
	sigset_t mask;
	struct sigaction actions[LAUNCHER_SIGNALS];
};

void launcher_origin_save(struct launcher_origin *origin);

/* Shared between tftop and launcher (MAP_SHARED), written before the release. */
struct launcher_plan {
	uint32_t bytes;			/* how many bytes of lines are used */
	char lines[LAUNCHER_ENV_MAX];	/* NAME=value, each with a NUL */
};

struct launcher_options {
	char *const *argv;
	const struct launcher_origin *origin;
	struct launcher_plan *plan;
	bool screen;
	struct winsize winsize;
	pid_t tftop;
	int fd;				/* messages, SEQPACKET */
	int input;			/* keys for PROGRAM, stream */
	struct shortcut *shortcut;	/* removed at the launcher's end */
};

/* The life of the launcher process, called in the forked child. */
_Noreturn void launcher_main(const struct launcher_options *options);

/* PROGRAM's side of the gate (program.c): waits, then execs. */
struct program_gate {
	int gate;			/* 'R': start with probes; end of file: without */
	int report;			/* gets the errno of a failed exec */
	int slave;			/* slave side of the pty; -1: none */
};
_Noreturn void program_main(const struct launcher_options *options,
			    const struct program_gate *gate);

#endif
