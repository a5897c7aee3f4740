/* SPDX-License-Identifier: MIT */
/*
 * The descendants of PROGRAM, as /proc shows them: which processes appear, what they run, which
 * have ended. That includes processes that never load a probe.
 *
 * Always true: a look reads a bounded number of files. A descendant is reported once when it
 * appears, again when it calls exec, and once when it has ended. One that lives for less than the
 * time between two looks can be missed. Threads: main only.
 */
#ifndef PROBES_SESSION_CHILDREN_H
#define PROBES_SESSION_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "probes/session/program/preflight.h"

struct children;

struct child_event {
	bool gone;
	pid_t pid, parent;
	char command[256];
	enum preflight_kind kind;	/* of the file that it runs */
};

typedef void child_function(void *arg, const struct child_event *event);

/* NULL when memory is short. */
struct children *children_new(pid_t program);
void children_free(struct children *children);

/* The known processes, PROGRAM first; max at most. */
size_t children_pids(const struct children *children, pid_t *pids, size_t max);

/* The command line of a process, with blanks between arguments; "" if it has ended. */
void children_command(pid_t pid, char *text, size_t size);

/* Looks once and reports what has changed. */
void children_look(struct children *children, child_function *tell, void *arg);

#endif
