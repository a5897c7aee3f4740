/* SPDX-License-Identifier: MIT */
/*
 * The process that makes a place (place.h) and removes it. It is a child of tftop with one
 * thread, because only such a process may enter another user namespace. It executes nothing in
 * the container and follows no link that leads out of the target's root.
 */
#ifndef PROBES_ATTACH_PLACE_PORTER_H
#define PROBES_ATTACH_PLACE_PORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct porter_job {
	pid_t pid;		/* the target */
	bool inner_root;	/* the target is root in its user namespace */
	const char *home;	/* as in place_open() */
	int link;		/* to tftop: gets the answer; the porter ends with it */
	int swept;		/* a mount of a killed porter, to be removed; -1: none */
	const char *swept_path;	/* as the target sees it */
};

/* The answer; the folder's descriptor comes with it when the place was made. */
struct porter_answer {
	bool made;
	char text[256];		/* the path, or the reason */
};

/* The life of the porter, called in the forked child. */
_Noreturn void porter_main(const struct porter_job *job);

/* As openat2(2) with RESOLVE_IN_ROOT and without magic links. */
int porter_open(int root, const char *path, int flags);

/* Whether the kernel has what a porter needs (Linux 5.6). */
bool porter_is_possible(void);

/* The folders in which a place may be, ended by NULL. The first is for root in the container. */
extern const char *const porter_parents[];

#endif
