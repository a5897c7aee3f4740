/* SPDX-License-Identifier: MIT */
#include "probes/session/lttng/wake.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/attach/awake.h"
#include "probes/attach/place.h"
#include "probes/process/process.h"

/* A thread that found no daemon sleeps for 5 s; the rest is for the daemon to answer. */
#define WAKE_NS INT64_C(7000000000)
#define WORD_BYTES 4096

/* Opens the word in the /dev/shm that the process sees; in a container its user may have another
 * number. -1: there is none. */
static int open_word(pid_t pid, uid_t uid)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/lttng-ust-wait-8-%u",
		 (unsigned int)place_inner_uid(pid, uid));
	fd = place_open_inside(pid, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == uid &&
	    st.st_size >= (off_t)sizeof(int32_t))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Writes `to` where the value is `from`; false: it is another one. */
static bool change_word(int fd, int32_t from, int32_t to)
{
	int32_t now;

	return pread(fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now) && now == from &&
	       pwrite(fd, &to, sizeof(to), 0) == (ssize_t)sizeof(to);
}

static void wake_sleepers(int fd)
{
	void *word = mmap(NULL, WORD_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (word == MAP_FAILED)
		return;
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(word, WORD_BYTES);
}

static bool was_set(const struct wake *w, uid_t uid)
{
	for (size_t i = 0; i < w->n_uids; i++)
		if (w->uids[i] == uid)
			return true;
	return false;
}

void wake_begin(struct wake *w)
{
	w->until_ns = monotonic_ns() + WAKE_NS;
}

void wake_program(struct wake *w, pid_t pid)
{
	/* An ordinary user's daemons set that word themselves, in tftop's /dev/shm. */
	bool kept = geteuid() != 0 && place_is_shared(pid, "/dev/shm");
	uid_t uid;
	int fd = !kept && process_uid(pid, &uid) ? open_word(pid, uid) : -1;

	if (fd >= 0) {
		if ((was_set(w, uid) || w->n_uids < WAKE_USERS_MAX) && change_word(fd, 0, 1)) {
			wake_sleepers(fd);
			if (!was_set(w, uid))
				w->uids[w->n_uids++] = uid;
		}
		close(fd);
	}
	attach_awake(pid);
}

void wake_reset(struct wake *w, pid_t pid)
{
	uid_t uid;
	int fd = process_uid(pid, &uid) && was_set(w, uid) ? open_word(pid, uid) : -1;

	if (fd < 0)
		return;
	change_word(fd, 1, 0);
	close(fd);
}
