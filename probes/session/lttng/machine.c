/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/machine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/process/dir.h"
#include "probes/session/lttng/daemons.h"
#include "probes/session/lttng/lttng.h"
#include "probes/session/lttng/namespaces.h"

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
	struct daemon_places places;

	places_try(&places);
	if (places.network) {
		attach_add(check, "privacy", ATTACH_CAN, "the session gets a private network "
			   "namespace: nobody else can reach it");
		return;
	}
	line = attach_add(check, "privacy", ATTACH_PARTLY, "no private network namespace (%s): "
			  "other users of this machine can connect to the session while tftop runs",
			  strerror(places.error ? places.error : EPERM));
	attach_hint(line, "allow user namespaces, or run tftop in a container of its own");
}

static void check_folder(struct attach_check *check)
{
	const char *base = dir_base();
	struct attach_line *line;

	if (base) {
		attach_add(check, "folder", ATTACH_CAN, "a private folder in '%s', which has %llu "
			   "MiB free",
			   base, dir_free_bytes(base) >> 20);
		return;
	}
	line = attach_add(check, "folder", ATTACH_CANNOT, "no writable place for a private folder");
	attach_hint(line, "make XDG_RUNTIME_DIR or /tmp writable");
}

static void check_memory(struct attach_check *check)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	uint64_t room, fixed = lttng_fixed_bytes(cpus), need = 0;
	struct lttng_plan plan = { .timer_us = 0 };
	struct attach_line *line;
	struct statvfs fs;

	if (statvfs("/dev/shm", &fs) || (fs.f_flag & ST_RDONLY) || eaccess("/dev/shm", W_OK)) {
		line = attach_add(check, "memory", ATTACH_CANNOT,
				  "'/dev/shm' is missing or not writable: LTTng has no shared "
				  "memory");
		attach_hint(line, "mount it: 'mount -t tmpfs tmpfs /dev/shm'");
		return;
	}
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < fixed) {
		line = attach_add(check, "memory", ATTACH_CANNOT, "'/dev/shm' has %llu KiB free, "
				  "and LTTng needs %llu KiB", (unsigned long long)room >> 10,
				  (unsigned long long)fixed >> 10);
	} else if (!lttng_plan_sizes(&plan, cpus, room - fixed, UINT64_MAX, &need) ||
		   plan.event_bytes < BUFFERS_GOOD) {
		line = attach_add(check, "memory", ATTACH_PARTLY, "'/dev/shm' has only %llu KiB "
				  "free: buffers are small or on disk, and bursts of events can be "
				  "lost",
				  (unsigned long long)room >> 10);
	} else {
		attach_add(check, "memory", ATTACH_CAN, "'/dev/shm' has %llu MiB free",
			   (unsigned long long)room >> 20);
		return;
	}
	attach_hint(line, "make it larger (in a container: --shm-size=1g)");
}

/* Whether a program may ask the kernel where its own threads are (probes/host/native.c). */
static void check_functions(struct attach_check *check)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .disabled = 1,
		.config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1, .exclude_hv = 1,
	};
	bool sandbox = prctl(PR_GET_SECCOMP) != 0;
	int fd = sandbox ? -1 : (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
					     PERF_FLAG_FD_CLOEXEC);
	struct attach_line *line;

	if (fd >= 0) {
		close(fd);
		attach_add(check, "functions", ATTACH_CAN, "native code that devices wait for is "
			   "told by function, with its callers (perf_event_open)");
		return;
	}
	line = attach_add(check, "functions", ATTACH_PARTLY, "native code that devices wait for "
			  "has no names of functions: %s", sandbox ?
			  "there is a sandbox (seccomp), as in most containers" : strerror(errno));
	if (!sandbox)
		attach_hint(line, "set kernel.perf_event_paranoid to 2 or less");
}

void machine_check(struct attach_check *check, const char *lib_dir)
{
	struct attach_line *line;

	memset(check, 0, sizeof(*check));
	if (!lib_dir[0]) {
		line = attach_add(check, "probes", ATTACH_CANNOT,
				  "no probe libraries beside tftop");
		attach_hint(line, "run 'make' or 'make install' again");
	}
	check_daemons(check);
	check_privacy(check);
	check_folder(check);
	check_memory(check);
	attach_check_attaching(check);
	check_functions(check);
	attach_check_probes(check, lib_dir);
	attach_conclude(check);
}
