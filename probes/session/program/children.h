/* SPDX-License-Identifier: MIT */
/*
 * The descendants of PROGRAM, seen through /proc: who appears, what it runs,
 * who is gone. Also those that never load a probe.
 *
 * Always true: a look costs at most a bounded number of files; a descendant is
 * told once when it appears, again when it execs something else, and once when
 * it is gone. One that lives shorter than the time between two looks can be
 * missed. Threads: main only.
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
	enum preflight_kind kind;	/* of what it runs */
};

typedef void child_function(void *arg, const struct child_event *event);

/* NULL when memory is short. */
struct children *children_new(pid_t program);
void children_free(struct children *children);

/* The processes known of, PROGRAM first; at most max. */
size_t children_pids(const struct children *children, pid_t *pids, size_t max);

/* Looks once and tells what changed. */
void children_look(struct children *children, child_function *tell, void *arg);

#endif
