/* SPDX-License-Identifier: MIT */
#include "probes/session/keeper_end.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/session/process.h"
#include "probes/session/wire.h"

#define POLITE_NS 1000000000
#define LIMIT_NS 1800000000

void keeper_end_daemons(struct daemons *daemons)
{
	int64_t begin = wire_now_ns(), now = begin;
	bool polite = daemons->sessiond > 0;

	/*
	 * SIGTERM, so that sessiond resets its wait word in /dev/shm: with the
	 * word left set, later programs look for a daemon only each 5 s.
	 */
	if (daemons->sessiond > 0) {
		kill(daemons->sessiond, SIGTERM);
		kill(daemons->sessiond, SIGCONT);	/* somebody may have stopped it */
	}
	while (now - begin < LIMIT_NS) {
		int status;
		pid_t pid;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == daemons->sessiond) {
				daemons->sessiond = 0;
				polite = false;
			}
		}
		if (pid < 0 && errno == ECHILD)
			break;
		/* Orphans of the daemons become our children: until none is left. */
		if (!polite || now - begin > POLITE_NS)
			process_kill_children(SIGKILL);
		poll(NULL, 0, now - begin < 20000000 ? 1 : 5);
		now = wire_now_ns();
	}
	daemons->sessiond = daemons->relayd = 0;
}

static uid_t new_uid;
static gid_t new_gid;

static int give(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	/* What cannot be given stays readable for root. */
	return lchown(path, new_uid, new_gid) == 0 ? 0 : 0;
}

void keeper_end_recording(const char *trace, uid_t uid, gid_t gid)
{
	new_uid = uid;
	new_gid = gid;
	nftw(trace, give, 16, FTW_PHYS | FTW_MOUNT);
}

void keeper_end_wait_file(uid_t uid)
{
	char path[64];

	if (!uid)
		return;
	snprintf(path, sizeof(path), "/dev/shm/lttng-ust-wait-8-%u", (unsigned)uid);
	unlink(path);
}
