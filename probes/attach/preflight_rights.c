/* SPDX-License-Identifier: MIT */
/*
 * Whether tftop may read the process's memory and stop its threads. The kernel answers when
 * /proc/PID/mem is opened: it makes the same check as for ptrace(2), of uids, capabilities, the
 * dumpable flag and security modules, and nothing else happens. If it refuses, the possible reasons
 * are examined one by one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"
#include "probes/attach/target.h"

#define CAP_PTRACE 19

static bool same_user(const struct facts *t)
{
	for (int i = 0; i < 3; i++)
		if (t->uids[i] != getuid() || t->gids[i] != getgid())
			return false;
	return true;
}

/* The files of a process that is not dumpable belong to root, whatever its uid. */
static bool is_dumpable(const struct facts *t)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	return stat(path, &st) != 0 || st.st_uid == t->uids[1];
}

static void add_refusal(struct attach_check *check, const struct facts *t, int error)
{
	struct facts own;
	uint64_t mine = facts_read(&own, getpid()) ? own.permitted : 0;
	int scope = target_yama_scope();
	struct attach_line *line;

	facts_free(&own);
	if (!same_user(t)) {
		line = attach_add(check, "permission", ATTACH_CANNOT, "the process belongs to uid "
				  "%u, tftop to uid %u",
				  t->uids[1], (unsigned int)getuid());
		attach_hint(line, "run tftop as that user or as root");
	} else if (scope == 3) {
		line = attach_add(check, "permission", ATTACH_CANNOT, "attaching is disabled until "
				  "the next boot (kernel.yama.ptrace_scope is 3)");
		attach_hint(line, "start the program with 'tftop -- PROGRAM', which does not need "
			    "to attach");
	} else if (!is_dumpable(t)) {
		line = attach_add(check, "permission", ATTACH_CANNOT, "the process is not "
				  "dumpable: it called prctl(PR_SET_DUMPABLE, 0), or it changed "
				  "its user or capabilities");
		attach_hint(line, "run tftop as root, or start the program without that");
	} else if (scope > 0) {
		line = attach_add(check, "permission", ATTACH_CANNOT,
				  "kernel.yama.ptrace_scope is %d: %s", scope,
				  scope == 1 ? "only a parent may attach" : "only root may attach");
		attach_hint(line, "run tftop as root, set kernel.yama.ptrace_scope to 0, or start "
			    "the program with 'tftop -- PROGRAM'");
	} else if (t->permitted & ~mine) {
		line = attach_add(check, "permission", ATTACH_CANNOT,
				  "the process has capabilities that tftop does not have (%#llx)",
				  (unsigned long long)(t->permitted & ~mine));
		attach_hint(line,
			    "run tftop with CAP_SYS_PTRACE (in a container: --cap-add SYS_PTRACE)");
	} else {
		line = attach_add(check, "permission", ATTACH_CANNOT, "the system refuses access "
				  "(%s), although user and capabilities match", strerror(error));
		attach_hint(line, "check the log of the security module (SELinux, AppArmor, "
			    "Landlock), or run tftop where the program was started");
	}
}

void check_permission(struct attach_check *check, const struct facts *t)
{
	struct attach_line *line;
	int fd;

	fd = process_open_file(t->pid, "mem", O_RDONLY);
	if (fd < 0) {
		add_refusal(check, t, errno);
		return;
	}
	close(fd);
	if (same_user(t)) {
		attach_add(check, "permission", ATTACH_CAN, "the process belongs to tftop's user");
	} else if (geteuid() == 0) {
		attach_add(check, "permission", ATTACH_CAN, "tftop is root");
	} else {
		/* The process cannot enter the private folder. */
		line = attach_add(check, "permission", ATTACH_CANNOT, "the process belongs to uid "
				  "%u and could not reach the files of tftop, which runs as uid "
				  "%u", t->uids[1], (unsigned int)getuid());
		attach_hint(line, "run tftop as that user or as root");
	}
}

void attach_check_attaching(struct attach_check *check)
{
	struct facts own;
	bool may = facts_read(&own, getpid()) && (own.permitted >> CAP_PTRACE & 1);
	int scope = target_yama_scope();
	struct attach_line *line;

	facts_free(&own);
	if (scope == 3 || (scope && !may)) {
		line = attach_add(check, "attaching", ATTACH_PARTLY, "not allowed: "
				  "kernel.yama.ptrace_scope is %d; programs that tftop starts are "
				  "not affected", scope);
		attach_hint(line, scope == 3 ? "this cannot be changed before the next boot" :
			    "run tftop as root, or set kernel.yama.ptrace_scope to 0");
	} else {
		attach_add(check, "attaching", ATTACH_CAN, may ? "tftop can attach to programs of "
			   "any user" :
			   "tftop can attach to programs of this user");
	}
}
