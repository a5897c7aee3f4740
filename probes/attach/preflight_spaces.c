/* SPDX-License-Identifier: MIT */
/*
 * Namespaces. What counts is whether the process finds the same files as tftop does:
 * the probe libraries, and the private folder with LTTng's sockets. So these are
 * compared as it sees them, which covers chroot too; the rest is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"
#include "probes/session/dir.h"

/* 1 the same, 0 another one, -1 unknown. */
static int same_space(pid_t pid, const char *name)
{
	char path[64], own[64], theirs[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	a = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	b = readlink(path, theirs, sizeof(theirs));
	if (a < 0 || b < 0)
		return -1;
	return a == b && !memcmp(own, theirs, (size_t)a);
}

static bool same_file(pid_t pid, const char *file)
{
	struct stat ours, theirs;
	char path[4200];

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, file);
	return stat(file, &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static void check_files(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	const char *base = dir_base();
	const char *missing = base && !same_file(t->pid, base) ? base :
			      lib_dir[0] && !same_file(t->pid, lib_dir) ? lib_dir : NULL;
	struct attach_line *line;

	if (same_file(t->pid, "/") && same_space(t->pid, "mnt") != 0 && !missing) {
		attach_add(check, "files", ATTACH_CAN, "it sees the same files as tftop");
	} else if (!missing) {
		attach_add(check, "files", ATTACH_CAN, "it has another root or mount namespace, but sees "
			   "tftop's folders");
	} else {
		line = attach_add(check, "files", ATTACH_CANNOT, "it has another root or mount namespace (a "
				  "container), in which '%s' is not tftop's", missing);
		attach_todo(line, "run tftop inside: 'docker exec', 'podman exec' or 'nsenter -t %d -a'",
			    (int)t->pid);
	}
}

static void check_spaces(struct attach_check *check, const struct facts *t)
{
	int pid = same_space(t->pid, "pid"), user = same_space(t->pid, "user");
	int net = same_space(t->pid, "net");

	if (pid < 0 || user < 0 || net < 0) {
		attach_add(check, "namespaces", ATTACH_PARTLY, "may not be looked at");
		return;
	}
	if (pid == 0)
		attach_add(check, "namespaces", ATTACH_PARTLY, "it is in a PID namespace below tftop's: "
			   "events carry its number there, %d", (int)t->inner_pid);
	else if (!user || !net)
		attach_add(check, "namespaces", ATTACH_CAN, "an own %s%s%s namespace, which the probes do "
			   "not mind", user ? "" : "user", user || net ? "" : " and ",
			   net ? "" : "network");
	else
		attach_add(check, "namespaces", ATTACH_CAN, "PID, user and network are tftop's");
}

void check_namespaces(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	if (access("/proc/self/ns/pid", F_OK))
		return;
	if (t->files_known)
		check_files(check, t, lib_dir);
	check_spaces(check, t);
}
