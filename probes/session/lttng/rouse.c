/* SPDX-License-Identifier: MIT */
/*
 * Programs whose daemons died look for others when LTTng's word in /dev/shm says so, one word
 * for each uid: they sleep on it while it is 0, and 5 s at a time while it is set and nobody
 * answers. A session daemon sets that of its own uid. Root's programs have another uid than
 * its private daemons, so their words are set here, and set back.
 *
 * The word may be anybody's file, which its owner may cut short at any time: it is written
 * with pwrite() and never looked at through a mapping.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attach/awake.h"
#include "probes/attach/place.h"
#include "probes/session/internal.h"
#include "probes/process/process.h"

#define PIDS_MAX 256
#define WORD_BYTES 4096

/* The process's own /dev/shm: it may be in a container, with another number for its user. -1:
 * there is no such word. */
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

/* Value `from` becomes `to`; false: it has another one. */
static bool change(int fd, int32_t from, int32_t to)
{
	int32_t now;

	return pread(fd, &now, sizeof(now), 0) == (ssize_t)sizeof(now) && now == from &&
	       pwrite(fd, &to, sizeof(to), 0) == (ssize_t)sizeof(to);
}

static void wake_all(int fd)
{
	void *word = mmap(NULL, WORD_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (word == MAP_FAILED)
		return;
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(word, WORD_BYTES);
}

static bool is_roused(const struct session *s, uid_t uid)
{
	for (size_t i = 0; i < s->n_roused; i++)
		if (s->roused[i] == uid)
			return true;
	return false;
}

/* The daemons' own uid has a word that they keep: that of an ordinary user, in tftop's /dev/shm. */
static void rouse(struct session *s, pid_t pid)
{
	bool kept = geteuid() != 0 && place_is_shared(pid, "/dev/shm");
	uid_t uid;
	int fd = !kept && process_uid(pid, &uid) ? open_word(pid, uid) : -1;

	if (fd >= 0) {
		if ((is_roused(s, uid) || s->n_roused < SESSION_USERS_MAX) && change(fd, 0, 1)) {
			wake_all(fd);
			if (!is_roused(s, uid))
				s->roused[s->n_roused++] = uid;
		}
		close(fd);
	}
	attach_awake(pid);
}

static void let_sleep(struct session *s, pid_t pid)
{
	uid_t uid;
	int fd = process_uid(pid, &uid) && is_roused(s, uid) ? open_word(pid, uid) : -1;

	if (fd < 0)
		return;
	change(fd, 1, 0);
	close(fd);
}

/* ---- whom ---- */

typedef void each_function(struct session *s, pid_t pid);

/* children: what is known of them, perhaps with the first one of all. */
static void each(struct session *s, const struct children *children, pid_t first,
		 each_function *fn)
{
	pid_t pids[PIDS_MAX];
	size_t count = children ? children_pids(children, pids, PIDS_MAX) : 0;
	bool known = false;

	for (size_t i = 0; i < count; i++) {
		known |= pids[i] == first;
		fn(s, pids[i]);
	}
	if (!known && first > 0)
		fn(s, first);
}

static void all(struct session *s, each_function *fn)
{
	if (!s->attach)
		each(s, s->children, s->exited ? 0 : s->program, fn);
	for (size_t i = 0; i < s->n_targets; i++)
		if (s->targets[i].attached && !s->targets[i].ended)
			each(s, s->targets[i].children, s->targets[i].pid, fn);
}

void session_rouse(struct session *s)
{
	if (wire_now_ns() < s->rouse_until_ns)
		all(s, rouse);
	else
		session_rouse_end(s);
}

void session_rouse_end(struct session *s)
{
	if (s->rouse_until_ns)
		all(s, let_sleep);
	s->rouse_until_ns = 0;
	s->n_roused = 0;
}
