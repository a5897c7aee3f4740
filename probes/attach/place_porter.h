/* SPDX-License-Identifier: MIT */
/*
 * The process that makes a place (place.h) and takes it away. It is a child of tftop's with one
 * thread, as only such a one may enter another user namespace; it executes nothing, and of
 * the target's root follows no link that leads out of it.
 */
#ifndef PROBES_ATTACH_PLACE_PORTER_H
#define PROBES_ATTACH_PLACE_PORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct porter_job {
	pid_t pid;		/* the target */
	bool inner_root;	/* it is root in its own user namespace */
	const char *home;	/* as of place_open() */
	int link;		/* to tftop: an answer, then its end is waited for */
	int swept;		/* a mount whose porter was killed: only that is taken away; -1: none */
	const char *swept_path;	/* as the target sees it */
};

/* What it says: it has made the place (the descriptor is the folder's) or could not. */
struct porter_answer {
	bool made;
	char text[256];		/* path, or why not */
};

/* In the child. */
_Noreturn void porter_main(const struct porter_job *job);

/* As openat2(2) with RESOLVE_IN_ROOT and without magic links. */
int porter_open(int root, const char *path, int flags);

/* Whether the kernel has what a porter needs (Linux 5.6). */
bool porter_is_possible(void);

/* The folders in which a place may be, NULL behind the last; the first can be preferred. */
extern const char *const porter_parents[];

#endif
