/* SPDX-License-Identifier: MIT */
/* What a session of tftop finds on this machine, whatever the program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"
#include "probes/attach/target.h"
#include "probes/session/lttng/daemons.h"
#include "probes/process/dir.h"
#include "probes/session/lttng/lttng.h"
#include "probes/session/lttng/namespaces.h"

#define CAP_PTRACE 19
#define BUFFERS_GOOD (64u << 10)

static void check_daemons(struct attach_check *check)
{
	static struct daemons daemons;	/* too large for a stack frame */
	char error[ATTACH_WHY_MAX];

	if (daemons_find(&daemons, error, sizeof(error)))
		attach_add(check, "LTTng", ATTACH_CANNOT, "%s", error);
	else
		attach_add(check, "LTTng", ATTACH_CAN, "'%.200s'", daemons.sessiond_path);
}

static void check_privacy(struct attach_check *check)
{
	struct attach_line *line;
	struct places places;

	places_try(&places);
	if (places.network) {
		attach_add(check, "privacy", ATTACH_CAN, "the session gets a private network namespace: "
			   "nobody else reaches it");
		return;
	}
	line = attach_add(check, "privacy", ATTACH_PARTLY, "no private network namespace (%s): other "
			  "users of this machine can connect to the session while it lasts",
			  strerror(places.error ? places.error : EPERM));
	attach_todo(line, "allow user namespaces, or run tftop in a container of its own");
}

static void check_folder(struct attach_check *check)
{
	const char *base = dir_base();
	struct attach_line *line;

	if (base) {
		attach_add(check, "folder", ATTACH_CAN, "a private one in '%s', where %llu MiB are free",
			   base, dir_free_bytes(base) >> 20);
		return;
	}
	line = attach_add(check, "folder", ATTACH_CANNOT, "no place for a private folder");
	attach_todo(line, "make XDG_RUNTIME_DIR or /tmp writable");
}

static void check_memory(struct attach_check *check)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t room, fixed = lttng_fixed_bytes(cpus), need = 0;
	struct lttng_plan plan = { .timer_us = 0 };
	struct attach_line *line;
	struct statvfs fs;

	if (statvfs("/dev/shm", &fs) || (fs.f_flag & ST_RDONLY) || eaccess("/dev/shm", W_OK)) {
		line = attach_add(check, "memory", ATTACH_CANNOT, "'/dev/shm' is missing or not writable: "
				  "LTTng has no shared memory");
		attach_todo(line, "mount it: 'mount -t tmpfs tmpfs /dev/shm'");
		return;
	}
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < fixed) {
		line = attach_add(check, "memory", ATTACH_CANNOT, "'/dev/shm' has %llu KiB free, LTTng needs "
				  "%llu KiB", (unsigned long long)room >> 10,
				  (unsigned long long)fixed >> 10);
	} else if (!lttng_plan_sizes(&plan, cpus, room - fixed, UINT64_MAX, &need) ||
		   plan.event_bytes < BUFFERS_GOOD) {
		line = attach_add(check, "memory", ATTACH_PARTLY, "'/dev/shm' has %llu KiB free: buffers are "
				  "short or on the disk, events can be lost in bursts",
				  (unsigned long long)room >> 10);
	} else {
		attach_add(check, "memory", ATTACH_CAN, "'/dev/shm' has %llu MiB free",
			   (unsigned long long)room >> 20);
		return;
	}
	attach_todo(line, "make it larger (in a container: --shm-size=1g)");
}

static void check_attaching(struct attach_check *check)
{
	struct facts own;
	bool may = facts_read(&own, getpid()) && (own.permitted >> CAP_PTRACE & 1);
	int scope = target_yama_scope();
	struct attach_line *line;

	facts_free(&own);
	if (scope == 3 || (scope && !may)) {
		line = attach_add(check, "attaching", ATTACH_PARTLY, "not allowed: kernel.yama.ptrace_scope "
				  "is %d; programs that tftop starts are not concerned", scope);
		attach_todo(line, scope == 3 ? "it lasts until the next boot" :
			    "as root, or with kernel.yama.ptrace_scope=0");
	} else {
		attach_add(check, "attaching", ATTACH_CAN, may ? "to programs of any user" :
			   "to programs of this user");
	}
}

void check_machine(struct attach_check *check, const char *lib_dir)
{
	struct attach_line *line;

	if (!lib_dir[0]) {
		line = attach_add(check, "probes", ATTACH_CANNOT, "no probe libraries beside tftop");
		attach_todo(line, "'make' or 'make install' again");
	}
	check_daemons(check);
	check_privacy(check);
	check_folder(check);
	check_memory(check);
	check_attaching(check);
}
