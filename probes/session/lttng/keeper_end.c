/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/keeper_end.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/dir.h"
#include "probes/process/process.h"

#define POLITE_NS 1000000000
#define LIMIT_NS 1800000000

void keeper_end_daemons(struct daemons *daemons, bool at_once)
{
	int64_t begin = monotonic_ns(), now = begin;
	bool polite = daemons->sessiond > 0 && !at_once;

	/* SIGTERM, so that data in transit is written, and sessiond resets its wait word. */
	if (polite) {
		kill(daemons->sessiond, SIGTERM);
		kill(daemons->sessiond, SIGCONT);	/* it may have been stopped */
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
		/* Orphans of the daemons become the keeper's children: until none is left. */
		if (!polite || now - begin > POLITE_NS)
			process_kill_children(SIGKILL);
		poll(NULL, 0, now - begin < 20000000 ? 1 : 5);
		now = monotonic_ns();
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
	/* Files that cannot be given away stay readable for root. */
	return lchown(path, new_uid, new_gid) == 0 ? 0 : 0;
}

void keeper_end_recording(const char *trace, uid_t uid, gid_t gid)
{
	new_uid = uid;
	new_gid = gid;
	nftw(trace, give, 16, FTW_PHYS | FTW_MOUNT);
}

void keeper_end_folder(const char *dir, const char *known)
{
	if (!dir[0])
		return;
	if (known)
		dir_unlink(known, dir);
	dir_remove(dir);
	dir_sweep();		/* the links to the folder */
}

static void reset_word(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	void *word = MAP_FAILED;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_size >= (off_t)sizeof(int32_t))
		word = mmap(NULL, sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (word == MAP_FAILED)
		return;
	__atomic_store_n((int32_t *)word, 0, __ATOMIC_RELEASE);
	munmap(word, sizeof(int32_t));
}

void keeper_end_wait_word(uid_t uid)
{
	char path[64];

	if (geteuid() == 0 && !uid)
		return;
	snprintf(path, sizeof(path), "/dev/shm/lttng-ust-wait-8-%u", (unsigned)uid);
	if (geteuid() == 0)
		unlink(path);
	else
		reset_word(path);
}
