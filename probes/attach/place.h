/* SPDX-License-Identifier: MIT */
/*
 * Files for a program that sees other ones than tftop: in a container, in another mount
 * namespace, after chroot. They are copied into a new folder 0700 of the program's user,
 * where nobody else can put anything in their place, and removed as soon as they are loaded.
 *
 * Threads: one at a time per place.
 */
#ifndef PROBES_ATTACH_PLACE_H
#define PROBES_ATTACH_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PLACE_FILES_MAX 40

struct place {
	int parent, folder;	/* -1: closed */
	char path[64];		/* as the target sees it */
	const char *name;	/* the last part of path */
	char file[PLACE_FILES_MAX][64];
	size_t files;
	uid_t uid;
	gid_t gid;
};

/* Whether the target finds this very file of ours under this name. Then no copy is needed. */
bool place_is_shared(pid_t pid, const char *path);

/*
 * A folder in the first of /tmp, /var/tmp, /dev/shm, /run of the target from which
 * libraries can be loaded. False with a sentence. place_remove() in any case.
 */
bool place_open(struct place *place, pid_t pid, uid_t uid, gid_t gid, char *why, size_t size);

/* Copies a file of ours there, under its own name (symbolic links are followed here).
 * False with a sentence. */
bool place_copy(struct place *place, const char *path, char *why, size_t size);

/* Also when the target is gone: its file system may not be. */
void place_remove(struct place *place);

#endif
