/* SPDX-License-Identifier: MIT */
/*
 * Files for a program that sees other ones than tftop: in a container, in another mount
 * namespace, after chroot. A small file system in memory is mounted in its root, at a new
 * folder, which only root can write (an ordinary user's tftop: that user): nobody there can put
 * anything in their place. LTTng's sockets and tftop's control page appear in it as well.
 *
 * It is a process of its own (place_porter.c) that goes there. It takes all away again when
 * place_remove() is called, and when tftop is killed; who kills both leaves the mount to the next
 * place_open() in that root, or to the end of the namespace.
 *
 * Threads: one at a time per place.
 */
#ifndef PROBES_ATTACH_PLACE_H
#define PROBES_ATTACH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACE_HOME ".lttng"	/* of `home`, with the sockets in it */
#define PLACE_CONTROL "control"	/* of `home` */

struct container_place {
	pid_t porter, target;	/* 0: none */
	int link;		/* to the porter, which goes at its end; -1: closed */
	int folder;		/* of the mount; -1: closed */
	char path[64];		/* as the target sees it */
};

/* Whether the target finds this very file of ours under this name. Then no copy is needed. */
bool place_is_shared(pid_t pid, const char *path);

/* Whether it is in tftop's namespace of this name in /proc/PID/ns; -1: unknown. */
int place_same_space(pid_t pid, const char *name);

/* A path in the target's root, which no link in there leads out of; flags of open(2) that
 * need no mode. -1 and errno. */
int place_open_inside(pid_t pid, const char *path, int flags);

/* What it has in its own user namespace for this uid as tftop sees it. */
uid_t place_inner_uid(pid_t pid, uid_t uid);

/* Nothing is touched: could a place be made for it? False with a sentence, and in `todo` what
 * could be done. */
bool place_possible(pid_t pid, char *why, size_t size, char *todo, size_t todo_size);

/*
 * Makes the place in the first of /run, /tmp, /var/tmp, /dev/shm that can be written. home: tftop's
 * private folder, of which PLACE_HOME and PLACE_CONTROL are to be there; NULL: nothing. uid:
 * the target's. False with a sentence. place_remove() in any case.
 */
bool place_open(struct container_place *place, pid_t pid, uid_t uid, const char *home, char *why,
		size_t size);

/* Copies a file of ours there, under its own name (symbolic links are followed here).
 * False with a sentence. */
bool place_copy(struct container_place *place, const char *path, char *why, size_t size);

/* What of LTTng's a place needs beside the probes, NULL behind the last; and where such a
 * library is for tftop itself. lib_dir: the probes' folder. */
extern const char *const place_lttng[];
bool place_find_library(const char *name, const char *lib_dir, char *path, size_t size);

/* Also when the target is gone. What it has mapped of the files stays mapped. */
void place_remove(struct container_place *place);

#endif
