/* SPDX-License-Identifier: MIT */
/*
 * Namespaces. What matters is whether the process finds the same files as tftop: the probe
 * libraries, and the private folder with LTTng's sockets. So these are compared as the process sees
 * them, which covers chroot too; if they differ, it needs a place (place.h). Other namespaces are
 * reported.
 */
#include <unistd.h>

#include "probes/attach/place.h"
#include "probes/attach/preflight_internal.h"
#include "probes/process/dir.h"

static void check_files(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	const char *base = dir_base();
	bool seen = (!base || place_is_shared(t->pid, base)) &&
		    (!lib_dir[0] || place_is_shared(t->pid, lib_dir));
	char why[ATTACH_WHY_MAX - 80], hint[ATTACH_HINT_MAX];
	struct attach_line *line;

	if (seen) {
		attach_add(check, "files", ATTACH_CAN, place_is_shared(t->pid, "/") &&
			   place_same_space(t->pid, "mnt") != 0 ? "the process sees the same files "
			   "as tftop" :
			   "the process has another root or mount namespace, but sees tftop's "
			   "folders");
	} else if (place_possible(t->pid, why, sizeof(why), hint, sizeof(hint))) {
		check->apart = true;
		attach_add(check, "files", ATTACH_CAN, "the process has another root or mount "
			   "namespace (a container): the files that the probes need are mounted "
			   "there while tftop is attached");
	} else {
		line = attach_add(check, "files", ATTACH_CANNOT, "the process has another root or "
				  "mount namespace (a container), and %s", why);
		attach_hint(line, "%s", hint);
	}
}

static void check_spaces(struct attach_check *check, const struct facts *t)
{
	int pid = place_same_space(t->pid, "pid"), user = place_same_space(t->pid, "user");
	int net = place_same_space(t->pid, "net");

	if (pid < 0 || user < 0 || net < 0) {
		attach_add(check, "namespaces", ATTACH_PARTLY, "tftop has no permission to read "
			   "them");
		return;
	}
	check->pid_space = pid == 0;
	if (pid == 0)
		attach_add(check, "namespaces", ATTACH_CAN,
			   "the process is in a PID namespace below tftop's, where its PID is %d; "
			   "tftop shows %d",
			   (int)t->inner_pid, (int)t->pid);
	else if (!user || !net)
		attach_add(check, "namespaces", ATTACH_CAN,
			   "the process has its own %s%s%s namespace, which makes no difference to "
			   "the probes",
			   user ? "" : "user", user || net ? "" : " and ", net ? "" : "network");
	else
		attach_add(check, "namespaces", ATTACH_CAN, "its PID, user and network namespaces "
			   "are tftop's");
}

void check_namespaces(struct attach_check *check, const struct facts *t, const char *lib_dir)
{
	if (access("/proc/self/ns/pid", F_OK))
		return;
	if (t->files_known)
		check_files(check, t, lib_dir);
	check_spaces(check, t);
}
