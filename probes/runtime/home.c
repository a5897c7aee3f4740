/* SPDX-License-Identifier: MIT */
/*
 * LTTng's home. liblttng-ust reads LTTNG_HOME (or HOME) when it is loaded, never again, and looks
 * there for its daemon as long as the process lives. The daemon of a second tftop is elsewhere. So
 * its folder gets a second name: a symbolic link at the place that LTTng knows, which is free
 * because the first tftop has removed its folder. Anything that exists there is never touched. The
 * link is removed when tftop goes; not when one of several processes with this home ends, and not
 * while tftop is merely stopped.
 *
 * LTTng's thread sleeps on a word in shared memory until a daemon of this user is there. tftop may
 * run as another user (docs/security.md), so the word is set here, and reset.
 *
 * A program that tftop launched and left running is joined without entering it: the second tftop
 * makes the link itself (probes/session/targets/join.c), and the runtime's thread, which looks for
 * the link once a second, finds the control page behind it.
 *
 * Threads: the attaching thread, one at a time. rt_home_leave() and rt_home_page() are called on
 * the runtime's thread; rt_home_wake() and rt_home_reached() on any.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

#define WAIT_BYTES 4096

static char known[PATH_MAX];		/* the home that LTTng uses; "": none, or too long */
static char target[PATH_MAX];		/* target of the link at `known` */
static _Atomic bool linked;
static _Atomic bool word_set;

static const char *home(char value[PATH_MAX])
{
	const char *path = rt_env("LTTNG_HOME", value, PATH_MAX);

	if (!path)
		path = rt_env("HOME", value, PATH_MAX);
	return path ? path : "";
}

/* liblttng-ust is needed by this library, so its constructor has just run. */
__attribute__((constructor)) static void remember(void)
{
	char value[PATH_MAX];
	const char *path = home(value);

	if (strlen(path) < sizeof(known))
		memcpy(known, path, strlen(path) + 1);
}

/* The word on which LTTng's thread of this user sleeps; NULL: there is none. */
static _Atomic int32_t *wait_word(void)
{
	char path[64];
	void *p = MAP_FAILED;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/lttng-ust-wait-8-%u", (unsigned)getuid());
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == getuid() &&
	    st.st_size >= (off_t)sizeof(int32_t))
		p = mmap(NULL, WAIT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void rt_home_wake(void)
{
	_Atomic int32_t *word = wait_word();
	int32_t none = 0;

	if (!word)
		return;
	if (atomic_compare_exchange_strong(word, &none, 1))
		SET(word_set, true);
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap((void *)word, WAIT_BYTES);
}

/* Whether another process of this user has made a link for the same tftop. */
static bool is_there(const char *path)
{
	char now[PATH_MAX];
	ssize_t n = readlink(known, now, sizeof(now));

	return n > 0 && (size_t)n == strlen(path) && !memcmp(now, path, (size_t)n);
}

/* A process that uses the link removes it when it sees tftop end, because another one may need it
 * longer. */
static void use(const char *path)
{
	SET(linked, false);
	memcpy(target, path, strlen(path) + 1);
	SET_REL(linked, true);
	rt_home_wake();
}

bool rt_home_follow(void)
{
	char value[PATH_MAX];
	const char *path = home(value);
	struct stat st;

	if (!strcmp(path, known)) {
		rt_home_wake();
		return true;
	}
	if (!known[0] || strlen(path) >= sizeof(target)) {
		rt_attach_why("LTTng in this process has no LTTNG_HOME or HOME: its daemon cannot "
			      "be reached");
		return false;
	}
	if (GET_ACQ(linked) && !strcmp(path, target)) {
		rt_home_wake();
		return true;
	}
	rt_home_leave();	/* that of the previous tftop */
	if (is_there(path)) {
		use(path);
		return true;
	}
	if (!lstat(known, &st)) {
		rt_attach_why("LTTng in this process looks for its daemon in '%s', as it was told "
			      "when it was loaded; it cannot be told '%s' while that is there",
			      known, path);
		return false;
	}
	if (symlink(path, known)) {
		rt_attach_why("LTTng in this process looks for its daemon in '%s', as it was told "
			      "when it was loaded, and no link to '%s' can be made there: %m",
			      known, path);
		return false;
	}
	use(path);
	return true;
}

void rt_home_reached(void)
{
	_Atomic int32_t *word;
	int32_t ours = 1;

	if (!atomic_exchange(&word_set, false))
		return;
	word = wait_word();
	if (!word)
		return;
	atomic_compare_exchange_strong(word, &ours, 0);
	munmap((void *)word, WAIT_BYTES);
}

/* Whether it is a name that dir_create() of probes/session gives. */
static bool is_tftops(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !strncmp(slash, "/tftop-", 7) && strlen(slash) == 13;
}

bool rt_home_joinable(void)
{
	return is_tftops(known);
}

/* In a folder where everybody can make links, only a link of this user or of root is trusted. */
bool rt_home_page(char *path, size_t size)
{
	struct stat st;

	return is_tftops(known) && !lstat(known, &st) && S_ISLNK(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       (size_t)snprintf(path, size, "%s/control", known) < size;
}

void rt_home_leave(void)
{
	struct stat st;

	if (!GET_ACQ(linked) ||
	    (!rt_control_let_go() && (!lstat(target, &st) || errno != ENOENT)))
		return;
	SET(linked, false);
	if (is_there(target))
		unlink(known);
}
