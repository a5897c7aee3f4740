/* SPDX-License-Identifier: MIT */
/*
 * For the program, descriptors of LTTng are not open: close returns EBADF, the functions that close
 * many descriptors skip them, and dup2 onto one makes LTTng close it first. A program that closed
 * them would end its own trace and, worse, get LTTng's bytes in a file of its own that was given
 * the same number.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/start/internal.h"

#define START_API __attribute__((visibility("default")))
#define OWNED_MAX 256		/* how many descriptors of LTTng are skipped in one range */
#define SCAN_MAX 65536		/* how many numbers are tried if /proc is not available */

struct owned {
	int count;
	int fd[OWNED_MAX];	/* ascending */
};

static void *next_close, *next_close_range, *next_closefrom, *next_dup2, *next_dup3;

START_API int close(int fd)
{
	int (*next)(int) = (int (*)(int))start_next(&next_close, "close");
	const struct tft_start_hooks *h = start_hooks();

	switch (h ? h->close_fd(fd) : TFT_CLOSE) {
	case TFT_CLOSE_REFUSE:
		errno = EBADF;
		return -1;
	case TFT_CLOSE_PRETEND:
		return 0;
	case TFT_CLOSE:
		break;
	}
	return next ? next(fd) : (int)syscall(SYS_close, fd);
}

/* Keeps the list sorted; false when it is full. */
static bool owned_add(struct owned *o, int fd)
{
	int i = o->count;

	if (i == OWNED_MAX)
		return false;
	for (; i > 0 && o->fd[i - 1] > fd; i--)
		o->fd[i] = o->fd[i - 1];
	o->fd[i] = fd;
	o->count++;
	return true;
}

static int number(const char *text)
{
	long n = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		n = n * 10 + (*text - '0');
		if (n > INT_MAX)
			return -1;
	}
	return *text ? -1 : (int)n;
}

struct dirent_kernel {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/* LTTng's descriptors in [first, last], from the open ones in /proc. */
static bool owned_from_proc(const struct tft_start_hooks *h, struct owned *o,
			    unsigned int first, unsigned int last)
{
	_Alignas(8) char buf[4096];
	int dir = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd",
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long got = -1;
	bool ok = dir >= 0;

	while (ok && (got = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; ok && at < got;) {
			struct dirent_kernel *d = (struct dirent_kernel *)(void *)(buf + at);
			int fd = number(d->d_name);

			if (fd >= 0 && fd != dir && (unsigned int)fd >= first &&
			    (unsigned int)fd <= last && h->owns_fd(fd))
				ok = owned_add(o, fd);
			at += d->d_reclen;
		}
	}
	if (dir >= 0)
		syscall(SYS_close, dir);
	return ok && got == 0;
}

static void owned_find(const struct tft_start_hooks *h, struct owned *o,
		       unsigned int first, unsigned int last)
{
	int saved = errno;

	o->count = 0;
	if (!owned_from_proc(h, o, first, last)) {
		o->count = 0;
		for (unsigned int fd = first; fd <= last && fd < SCAN_MAX; fd++)
			if (h->owns_fd((int)fd) && !owned_add(o, (int)fd))
				break;
	}
	errno = saved;
}

static int range(unsigned int first, unsigned int last, int flags)
{
	int (*next)(unsigned int, unsigned int, int) =
		(int (*)(unsigned int, unsigned int, int))
		start_next(&next_close_range, "close_range");

	return next ? next(first, last, flags) :
		      (int)syscall(SYS_close_range, first, last, flags);
}

START_API int close_range(unsigned int first, unsigned int last, int flags)
{
	const struct tft_start_hooks *h = start_hooks();
	struct owned o;

	/* invalid arguments, which the kernel refuses, and harmless flags are passed on */
	if (!h || first > last || (flags & ~CLOSE_RANGE_UNSHARE))
		return range(first, last, flags);
	owned_find(h, &o, first, last);
	if (!o.count)
		return range(first, last, flags);
	if ((flags & CLOSE_RANGE_UNSHARE) && unshare(CLONE_FILES) != 0)
		return -1;
	for (int i = 0; i < o.count; i++) {
		unsigned int fd = (unsigned int)o.fd[i];

		if (fd > first && range(first, fd - 1, 0) != 0)
			return -1;
		first = fd + 1;
	}
	return first <= last ? range(first, last, 0) : 0;
}

START_API void closefrom(int low)
{
	void (*next)(int) = (void (*)(int))start_next(&next_closefrom, "closefrom");
	const struct tft_start_hooks *h = start_hooks();
	unsigned int first = low > 0 ? (unsigned int)low : 0;
	struct owned o = { 0 };

	if (h)
		owned_find(h, &o, first, INT_MAX);
	for (int i = 0; i < o.count; i++) {
		unsigned int fd = (unsigned int)o.fd[i];

		if (fd > first && range(first, fd - 1, 0) != 0)
			for (; first < fd; first++)
				close((int)first);
		first = fd + 1;
	}
	if (next)
		next((int)first);
	else
		range(first, UINT_MAX, 0);
}

START_API int dup2(int from, int to)
{
	int (*next)(int, int) = (int (*)(int, int))start_next(&next_dup2, "dup2");
	const struct tft_start_hooks *h = start_hooks();

	if (h && to >= 0 && from != to && h->owns_fd(to))
		h->yield_fd(to);
	return next ? next(from, to) : (int)syscall(SYS_dup3, from, to, 0);
}

START_API int dup3(int from, int to, int flags)
{
	int (*next)(int, int, int) =
		(int (*)(int, int, int))start_next(&next_dup3, "dup3");
	const struct tft_start_hooks *h = start_hooks();

	if (h && to >= 0 && from != to && h->owns_fd(to))
		h->yield_fd(to);
	return next ? next(from, to, flags) : (int)syscall(SYS_dup3, from, to, flags);
}

START_OWN(close);
START_OWN(close_range);
START_OWN(closefrom);
START_OWN(dup2);
START_OWN(dup3);

void start_fd_look_up(void)
{
	start_next(&next_close, "close");
	start_next(&next_close_range, "close_range");
	start_next(&next_closefrom, "closefrom");
	start_next(&next_dup2, "dup2");
	start_next(&next_dup3, "dup3");
}
