/* SPDX-License-Identifier: MIT */
/*
 * The processes that PROGRAM leaves running when it ends. They are found by whose they are, not by
 * name or parent: they carry the path of this tftop's control page, or have mapped the page.
 *
 * Always true: processes of a tftop itself, also of another one below PROGRAM, are not among them,
 * nor are those that another tftop started. What is reported has run at the last left_look().
 *
 * One left_find() reads the environment of each process that this user may look at, and where
 * tftop attached its list of mappings too; it is called when PROGRAM ends, and not while it runs.
 *
 * Threads: main only.
 */
#ifndef PROBES_SESSION_LEFT_H
#define PROBES_SESSION_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/session/session.h"

#define LEFT_MAX 64			/* more are counted and not named */

/* Whose processes are looked for. */
struct left_marks {
	const char *dirs[2];	/* borrowed; folders of control pages; NULL: none */
	bool mapped;		/* also those that only have it mapped, because tftop attached */
	pid_t program;		/* is not one of them */
};

struct left {
	struct left_marks marks;	/* set by the caller */
	struct session_left rows[LEFT_MAX];
	uint64_t start_ticks[LEFT_MAX], worked_ticks[LEFT_MAX];
	size_t count, more;
	bool works;	/* one of them has worked between the last two looks, or wants to */
};

void left_find(struct left *left);
/* Removes those that have ended, and reads again what the others run and whether they work. */
void left_look(struct left *left);

#endif
