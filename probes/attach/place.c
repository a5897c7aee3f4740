/* SPDX-License-Identifier: MIT */
/*
 * See place.h. The target's root is entered by descriptors only: an absolute symbolic
 * link in there would lead into our own file system.
 */
#include "probes/attach/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool place_is_shared(pid_t pid, const char *path)
{
	char there[4096 + 64];
	struct stat a, b;

	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
	return stat(path, &a) == 0 && stat(there, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Nobody but its owner and root may rename what we put there, and code may be mapped. */
static bool is_fit(int folder)
{
	struct statvfs fs;
	struct stat st;

	return fstat(folder, &st) == 0 && fstatvfs(folder, &fs) == 0 &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX)) &&
	       !(fs.f_flag & (ST_NOEXEC | ST_RDONLY));
}

static bool make_folder(struct place *place, const char *where)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	snprintf(place->path, sizeof(place->path), "%s/tftop-%016" PRIx64, where, number);
	place->name = place->path + strlen(where) + 1;
	if (mkdirat(place->parent, place->name, 0700) != 0)
		return false;
	place->folder = openat(place->parent, place->name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place->folder >= 0 &&
	    (geteuid() != 0 || fchown(place->folder, place->uid, place->gid) == 0))
		return true;
	unlinkat(place->parent, place->name, AT_REMOVEDIR);
	return false;
}

bool place_open(struct place *place, pid_t pid, uid_t uid, gid_t gid, char *why, size_t size)
{
	static const char *const parents[] = { "/tmp", "/var/tmp", "/dev/shm", "/run" };
	char path[64];

	*place = (struct place){ .parent = -1, .folder = -1, .uid = uid, .gid = gid };
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, parents[i]);
		place->parent = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (place->parent >= 0 && is_fit(place->parent) && make_folder(place, parents[i]))
			return true;
		if (place->folder >= 0)
			close(place->folder);
		if (place->parent >= 0)
			close(place->parent);
		place->parent = place->folder = -1;
	}
	snprintf(why, size, "'%d' has other files than tftop and no place to put the probes: a folder "
		 "that can be written and code run from is wanted in /tmp, /var/tmp, /dev/shm or /run",
		 (int)pid);
	return false;
}

static bool copy_all(int from, int to)
{
	ssize_t got;

	while ((got = sendfile(to, from, NULL, 1 << 20)) > 0)
		;
	return got == 0;
}

bool place_copy(struct place *place, const char *path, char *why, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int from = -1, to = -1;
	bool done = false;

	if (place->files == PLACE_FILES_MAX || strlen(name) >= sizeof(place->file[0])) {
		snprintf(why, size, "'%.200s' cannot be copied for the program: more than %d files, or its "
			 "name is too long", path, PLACE_FILES_MAX);
		return false;
	}
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from >= 0)
		to = openat(place->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0500);
	if (to >= 0) {
		snprintf(place->file[place->files++], sizeof(place->file[0]), "%s", name);
		done = copy_all(from, to) &&
		       (geteuid() != 0 || fchown(to, place->uid, place->gid) == 0);
	}
	if (!done)
		snprintf(why, size, "'%.200s' cannot be copied to '%s' for the program: %s", path,
			 place->path, strerror(errno));
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return done;
}

void place_remove(struct place *place)
{
	for (size_t i = 0; i < place->files; i++)
		unlinkat(place->folder, place->file[i], 0);
	place->files = 0;
	if (place->folder >= 0) {
		unlinkat(place->parent, place->name, AT_REMOVEDIR);
		close(place->folder);
	}
	if (place->parent >= 0)
		close(place->parent);
	place->parent = place->folder = -1;
}
