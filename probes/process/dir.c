/* SPDX-License-Identifier: MIT */
#include "probes/process/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probes/schema/control.h"

#define PREFIX "tftop-"
/* The longest socket below the folder must fit into sun_path. */
#define BASE_MAX 48
#define DEPTH_MAX 32
/* A base with less room than this can hold neither ring nor logs. */
#define ROOM_MIN (16ull << 20)

static bool is_usable_base(const char *base, bool only_root)
{
	struct stat st;

	if (!base || base[0] != '/' || strlen(base) > BASE_MAX)
		return false;
	if (stat(base, &st) != 0 || !S_ISDIR(st.st_mode))
		return false;
	if (only_root && (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
			  !(st.st_mode & S_IXOTH)))
		return false;
	/* Not access(): the keeper's real uid is the daemons'. */
	return eaccess(base, W_OK | X_OK) == 0;
}

/*
 * A user's folder in which nobody else can create anything. A program that outlives tftop looks for
 * LTTng's daemon at a path that is free then: whoever could create it again would become its
 * daemon.
 */
static bool is_own_base(const char *base)
{
	struct stat st;

	return is_usable_base(base, false) && stat(base, &st) == 0 && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Where a user has no such folder: one in /tmp, which remains, because it protects its name only
 * while it exists. Nobody else can move it away (the sticky bit). A link is not accepted, since its
 * owner could redirect it, nor is a folder of another user with its name.
 */
static const char *own_in_tmp(bool make)
{
	static char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/tmp/tftop.%u", (unsigned int)geteuid());
	/* Not by its owner, who may be an unknown uid in the keeper's user namespace. */
	if (stat("/tmp", &st) != 0 || !(st.st_mode & S_ISVTX))
		return NULL;
	if (make)
		mkdir(path, 0700);
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && is_own_base(path) ? path : NULL;
}

unsigned long long dir_free_bytes(const char *path)
{
	struct statvfs fs;

	if (statvfs(path, &fs) != 0)
		return 0;
	return (unsigned long long)fs.f_bavail * fs.f_frsize;
}

static bool has_a_fit(const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (dir_free_bytes(list[i]) >= ROOM_MIN)
			return true;
	return false;
}

/* The bases in order of preference, existing or created now; returns the count, 3 at most. */
static size_t list_bases(const char *list[3], bool make)
{
	static char usual[32];	/* where logins have it, also without the variable */
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	size_t count = 0;

	if (geteuid() == 0) {
		if (is_usable_base("/run", true))
			list[count++] = "/run";
		if (is_usable_base("/var/run", true))
			list[count++] = "/var/run";
	} else {
		snprintf(usual, sizeof(usual), "/run/user/%u", (unsigned int)geteuid());
		if (is_own_base(runtime))
			list[count++] = runtime;
		else if (is_own_base(usual))
			list[count++] = usual;
		list[count] = own_in_tmp(make && !has_a_fit(list, count));
		count += list[count] != NULL;
	}
	if (is_usable_base("/tmp", false))
		list[count++] = "/tmp";
	return count;
}

size_t dir_count(const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[2048];
	size_t count = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		count += depth ? dir_count(below, depth - 1) : 1;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* ---- removing ---- */

/* File systems that are mounted below are left alone. */
static bool remove_below(int parent, const char *name, dev_t device, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	struct stat st;
	DIR *dir = NULL;

	if (fd < 0)
		return errno == ENOENT;
	if (fstat(fd, &st) == 0 && (!depth || st.st_dev == device))
		dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		if ((errno == EISDIR || errno == EPERM) && depth < DEPTH_MAX)
			remove_below(fd, entry->d_name, st.st_dev, depth + 1);
	}
	closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

bool dir_remove(const char *path)
{
	/* The daemons may still be creating files: a few rounds. */
	for (int i = 0; i < 3; i++)
		if (remove_below(AT_FDCWD, path, 0, 0))
			return true;
	return false;
}

/* Whether it is tftop's, by its content: others may use such names as well. */
static bool is_private_folder(int fd)
{
	struct stat st;

	return fstatat(fd, ".lttng", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* A program that a second tftop attached to has a link to that tftop's folder
 * (probes/runtime/home.c), which remains if the program ends first. */
static void sweep_link(int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(dir, name, target, sizeof(target) - 1);
	const char *slash;
	struct stat st;

	if (length <= 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid())
		return;
	target[length] = '\0';
	slash = strrchr(target, '/');
	if (slash && !strncmp(slash + 1, PREFIX, strlen(PREFIX)) && lstat(target, &st) &&
	    errno == ENOENT)
		unlinkat(dir, name, 0);
}

bool dir_is_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return path[0] == '/' && slash && !strncmp(slash + 1, PREFIX, strlen(PREFIX)) &&
	       strlen(slash + 1) == strlen(PREFIX) + 6 && strlen(path) < DIR_PATH_MAX;
}

bool dir_link(const char *path, const char *dir, char *error, size_t size)
{
	if (symlink(dir, path) == 0)
		return true;
	snprintf(error, size, "cannot create the link '%s', by which the program finds tftop: %s",
		 path, strerror(errno));
	return false;
}

void dir_unlink(const char *path, const char *dir)
{
	char target[DIR_PATH_MAX];
	ssize_t length = readlink(path, target, sizeof(target));

	if (length > 0 && (size_t)length == strlen(dir) && !memcmp(target, dir, (size_t)length))
		unlink(path);
}

void dir_let_go(int folder)
{
	int fd = openat(folder, "control", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint32_t magic = 0, closed = 1;
	ssize_t done = 0;
	struct stat st;

	/* The folder's owner may have put a link to another file there. */
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    pread(fd, &magic, sizeof(magic), offsetof(struct tft_control, magic)) ==
		    (ssize_t)sizeof(magic) && magic == TFT_CONTROL_MAGIC)
		done = pwrite(fd, &closed, sizeof(closed), offsetof(struct tft_control, closed));
	(void)done;		/* its probes see by themselves that it is dead, in 5 s */
	if (fd >= 0)
		close(fd);
}

static bool sweep_base(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;
	bool clean = true;

	if (!dir)
		return true;
	while ((entry = readdir(dir))) {
		struct stat st;
		int fd;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    strlen(entry->d_name) != strlen(PREFIX) + 6)
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			sweep_link(dirfd(dir), entry->d_name);
			continue;
		}
		/* Root has folders of throw-away uids in its own base only. */
		if (fstat(fd, &st) == 0 &&
		    (st.st_uid == geteuid() || (geteuid() == 0 && is_usable_base(base, true))) &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0 && is_private_folder(fd)) {
			dir_let_go(fd);
			clean &= remove_below(dirfd(dir), entry->d_name, 0, 0);
		}
		close(fd);
	}
	closedir(dir);
	return clean;
}

bool dir_sweep(void)
{
	const char *list[3];
	size_t count = list_bases(list, false);
	bool clean = true;

	for (size_t i = 0; i < count; i++)
		clean &= sweep_base(list[i]);
	return clean;
}

/* ---- creating ---- */

/* 0: created, the lock is held and the folder still exists; -1 and errno. */
static int make_locked(const char *base, char path[DIR_PATH_MAX])
{
	struct stat here, there;
	int fd;

	for (int i = 0; i < 10; i++) {
		snprintf(path, DIR_PATH_MAX, "%s/" PREFIX "XXXXXX", base);
		if (!mkdtemp(path))
			return -1;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -1;
		/* A sweep may have happened between mkdtemp() and the lock, or be looking at it. */
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &here) == 0 &&
		    stat(path, &there) == 0 && here.st_ino == there.st_ino)
			return fd;
		close(fd);
		rmdir(path);
		errno = EBUSY;
	}
	return -1;
}

/* A base with too little room is taken only when it is the last. */
static bool has_room(const char *const *list, size_t count, size_t i)
{
	return i + 1 == count || dir_free_bytes(list[i]) >= ROOM_MIN;
}

const char *dir_base(void)
{
	const char *list[3];
	size_t count = list_bases(list, false);

	for (size_t i = 0; i < count; i++)
		if (has_room(list, count, i))
			return list[i];
	return NULL;
}

int dir_create(uid_t uid, char path[DIR_PATH_MAX], char *error, size_t size)
{
	const char *list[3];
	size_t count = list_bases(list, true);
	char sub[DIR_PATH_MAX + 16];
	int fd = -1, saved = ENOENT;

	for (size_t i = 0; i < count && fd < 0; i++) {
		if (!has_room(list, count, i))
			continue;
		fd = make_locked(list[i], path);
		saved = errno;
	}
	if (fd < 0) {
		snprintf(error, size, "cannot create a private folder in '%s': %s",
			 count ? list[count - 1] : "/tmp", strerror(saved));
		return -1;
	}
	snprintf(sub, sizeof(sub), "%s/.lttng", path);
	/* Root's programs may change their uid: they must reach the sockets. */
	if (mkdir(sub, 0755) != 0 || chmod(path, geteuid() == 0 ? 0711 : 0700) != 0 ||
	    (uid != geteuid() && (chown(path, uid, (gid_t)uid) != 0 ||
				  chown(sub, uid, (gid_t)uid) != 0))) {
		snprintf(error, size, "cannot prepare '%s': %s", path, strerror(errno));
		dir_remove(path);
		close(fd);
		return -1;
	}
	return fd;
}
