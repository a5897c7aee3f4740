/* SPDX-License-Identifier: MIT */
/*
 * Puts files where a program finds them that sees other files than tftop: in a container, in
 * another mount namespace, after chroot(). A small tmpfs is mounted in a new folder of the
 * program's root. Only root can write to it (with an ordinary user's tftop: that user), so that
 * nobody in the container can replace what is loaded. LTTng's sockets and tftop's control page
 * are mounted in it as well.
 *
 * A process of its own, the porter (place_porter.c), enters the container. It removes everything
 * when place_remove() is called, and also when tftop is killed. If both are killed, the mount
 * remains until the next place_open() in that root, or until the namespace ends.
 *
 * Threads: one at a time per place.
 */
#ifndef PROBES_ATTACH_PLACE_H
#define PROBES_ATTACH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACE_HOME ".lttng"	/* in `home`; the sockets are in it */
#define PLACE_CONTROL "control"	/* in `home` */

struct container_place {
	pid_t porter, target;	/* 0: none */
	int link;		/* to the porter, which ends when it closes; -1: closed */
	int folder;		/* the mount; -1: closed */
	char path[64];		/* as the target sees it */
};

/* Whether the target finds the same file as tftop at this path, so that no copy is needed. */
bool place_is_shared(pid_t pid, const char *path);

/* Whether the process is in tftop's namespace of this kind (a name in /proc/PID/ns): 1, 0, or -1
 * when unknown. */
int place_same_space(pid_t pid, const char *name);

/* Opens a path in the target's root; no link leads out of that root. flags of open(2), without
 * O_CREAT. -1 and errno. */
int place_open_inside(pid_t pid, const char *path, int flags);

/* The number that a uid of tftop's user namespace has in the process's own. */
uid_t place_inner_uid(pid_t pid, uid_t uid);

/* Whether a place could be made for the process; false with the reason, and in `hint` what to
 * do. Nothing is touched. */
bool place_possible(pid_t pid, char *why, size_t size, char *hint, size_t hint_size);

/*
 * Makes the place in the first of /run, /tmp, /var/tmp, /dev/shm that is writable. home: tftop's
 * private folder, of which PLACE_HOME and PLACE_CONTROL are mounted there; NULL: nothing is. uid:
 * the target's. False with a sentence. Call place_remove() in any case.
 */
bool place_open(struct container_place *place, pid_t pid, uid_t uid, const char *home, char *why,
		size_t size);

/* Copies a file of tftop's into the place, under its own name (symbolic links are followed
 * here). False with a sentence. */
bool place_copy(struct container_place *place, const char *path, char *why, size_t size);

/* The libraries of LTTng that a place needs besides the probes, ended by NULL; and the path of
 * such a library for tftop itself. lib_dir: the probes' folder. */
extern const char *const place_lttng[];
bool place_find_library(const char *name, const char *lib_dir, char *path, size_t size);

/* Works also when the target has ended. Files that it has mapped stay mapped. */
void place_remove(struct container_place *place);

#endif
