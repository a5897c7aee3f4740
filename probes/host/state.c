/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of a thread, from /proc/self/task/TID/syscall: "running", or the call that
 * it is blocked in, with its arguments. Files are opened in a table of descriptors that the
 * sampler's thread has for itself: in the program's, an open() of the program's own could get
 * another number than it relies on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/runtime/internal.h"

/* of Linux 5.9; the same on all machines */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif

static _Atomic bool forbidden;
static pid_t process;			/* this one; of the sampler's thread */
static uintptr_t locks_at;		/* of the sampler's thread */
static size_t locks_bytes;

void host_state_locks(uintptr_t runtime, size_t size)
{
	locks_at = runtime;
	locks_bytes = size;
}

/* Of the threads that are watched, the sampler's own and some who hold a lock. */
#define FILES_KEPT (HOST_WATCHED + 8)

/* Files of threads stay open, because to open one costs more than to read it. */
enum thread_file { FILE_SYSCALL, FILE_SCHEDSTAT, THREAD_FILES };

static struct thread_files {
	uint32_t tid;			/* 0: unused */
	uint32_t used;			/* when, in calls of files_of() */
	int fd[THREAD_FILES];		/* -1: not open */
} files[FILES_KEPT];
static uint32_t files_used;

/* LTTng finds its descriptor for waking up the consumer daemon closed on this thread, and leaves
 * the waking up to the daemon's timer. */
bool host_own_descriptors(void)
{
	memset(files, 0, sizeof(files));	/* those of an earlier table */
	process = getpid();
	return !syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE);
}

bool host_read_all(const struct iovec *to, const struct iovec *from, size_t n)
{
	ssize_t got = process_vm_readv(process, to, n, from, n, 0), bytes = 0;

	if (got < 0 && (errno == EPERM || errno == ENOSYS))
		SET(forbidden, true);
	for (size_t i = 0; i < n; i++)
		bytes += (ssize_t)to[i].iov_len;
	return got == bytes;
}

static size_t host_read(void *to, const void *from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)from, bytes };

	return host_read_all(&local, &remote, 1) ? bytes : 0;
}

bool host_read_forbidden(void)
{
	return GET(forbidden);
}

int64_t host_cpu_ns(uint32_t tid)
{
	/* CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED of the kernel's posix-timers.h */
	clockid_t clock = (clockid_t)(~tid << 3 | 6);
	struct timespec t;

	return clock_gettime(clock, &t) ? -1 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Those of the thread, or in place of those used longest ago. */
static struct thread_files *files_of(uint32_t tid)
{
	struct thread_files *f = &files[0];

	for (size_t i = 0; i < FILES_KEPT; i++) {
		if (files[i].tid == tid) {
			f = &files[i];
			break;
		}
		if (files_used - files[i].used > files_used - f->used)
			f = &files[i];
	}
	for (int i = 0; i < THREAD_FILES && f->tid != tid; i++) {
		if (f->tid && f->fd[i] >= 0)
			syscall(SYS_close, f->fd[i]);
		f->fd[i] = -1;
	}
	f->tid = tid;
	f->used = ++files_used;
	return f;
}

static int thread_file(struct thread_files *f, enum thread_file which)
{
	static const char *const names[THREAD_FILES] = { "syscall", "schedstat" };
	char path[64];

	if (f->fd[which] < 0) {
		snprintf(path, sizeof(path), "/proc/self/task/%u/%s", f->tid, names[which]);
		f->fd[which] = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	}
	return f->fd[which];
}

/* Reads a file of the thread; false: it has ended, or this is forbidden. A file that cannot be read
 * is opened again, as another thread may have the number by now. */
static bool read_of_thread(uint32_t tid, enum thread_file which, char *text, size_t size)
{
	struct thread_files *f = files_of(tid);

	for (int i = 0; i < 2; i++) {
		int fd = thread_file(f, which);
		ssize_t n = fd < 0 ? -1 : syscall(SYS_pread64, fd, text, size - 1, (off_t)0);

		if (n > 0) {
			text[n] = '\0';
			return true;
		}
		if (fd < 0)
			return false;
		syscall(SYS_close, fd);
		f->fd[which] = -1;
	}
	return false;
}

/* The second number of schedstat: Documentation/scheduler/sched-stats.rst of the kernel. */
int64_t host_delay_ns(uint32_t tid)
{
	char text[96], *at, *end;
	long long ns;

	if (!read_of_thread(tid, FILE_SCHEDSTAT, text, sizeof(text)) || !(at = strchr(text, ' ')))
		return -1;
	ns = strtoll(at, &end, 10);
	return end == at ? -1 : ns;
}

void host_thread_name(uint32_t tid, char *name, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	n = fd < 0 ? 0 : read(fd, name, size - 1);
	if (fd >= 0)
		syscall(SYS_close, fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* ---- the calls ---- */

/* How the descriptor of a call is found. */
enum by { BY_NOTHING, BY_FD, BY_POLL, BY_SELECT, BY_FUTEX };

static const struct {
	int number;
	uint8_t doing;
	uint8_t by;
} calls[] = {
	{ SYS_nanosleep, TFT_DOING_SLEEP, BY_NOTHING },
	{ SYS_clock_nanosleep, TFT_DOING_SLEEP, BY_NOTHING },
	{ SYS_futex, TFT_DOING_LOCK, BY_FUTEX },
	{ SYS_read, TFT_DOING_FILE, BY_FD },
	{ SYS_readv, TFT_DOING_FILE, BY_FD },
	{ SYS_pread64, TFT_DOING_FILE, BY_FD },
	{ SYS_preadv, TFT_DOING_FILE, BY_FD },
	{ SYS_write, TFT_DOING_FILE, BY_FD },
	{ SYS_writev, TFT_DOING_FILE, BY_FD },
	{ SYS_pwrite64, TFT_DOING_FILE, BY_FD },
	{ SYS_fsync, TFT_DOING_FILE, BY_FD },
	{ SYS_fdatasync, TFT_DOING_FILE, BY_FD },
	{ SYS_getdents64, TFT_DOING_FILE, BY_FD },
	{ SYS_openat, TFT_DOING_FILE, BY_NOTHING },
	{ SYS_newfstatat, TFT_DOING_FILE, BY_NOTHING },
	{ SYS_statx, TFT_DOING_FILE, BY_NOTHING },
	{ SYS_recvfrom, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_recvmsg, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_recvmmsg, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_sendto, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_sendmsg, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_accept, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_accept4, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_connect, TFT_DOING_SOCKET, BY_NOTHING },
	{ SYS_ppoll, TFT_DOING_POLL, BY_POLL },
	{ SYS_pselect6, TFT_DOING_POLL, BY_SELECT },
	{ SYS_epoll_pwait, TFT_DOING_POLL, BY_NOTHING },
	{ SYS_wait4, TFT_DOING_CHILD, BY_NOTHING },
	{ SYS_waitid, TFT_DOING_CHILD, BY_NOTHING },
#ifdef SYS_vfork
	{ SYS_vfork, TFT_DOING_CHILD, BY_NOTHING },	/* until it runs its program */
#endif
#ifdef SYS_poll
	{ SYS_poll, TFT_DOING_POLL, BY_POLL },
	{ SYS_select, TFT_DOING_POLL, BY_SELECT },
	{ SYS_epoll_wait, TFT_DOING_POLL, BY_NOTHING },
	{ SYS_open, TFT_DOING_FILE, BY_NOTHING },
	{ SYS_stat, TFT_DOING_FILE, BY_NOTHING },
#endif
};

static void see_descriptor(int fd, struct host_doing *out)
{
	char path[64], target[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	if (!strncmp(target, "socket:", 7)) {
		out->doing = TFT_DOING_SOCKET;
	} else if (!strncmp(target, "pipe:", 5)) {
		out->doing = TFT_DOING_PIPE;
	} else if (target[0] == '/') {
		out->doing = TFT_DOING_FILE;
		out->what = rt_name(TFT_NAME_OTHER, target);
	}
}

static void see_poll(uintptr_t list, uintptr_t count, struct host_doing *out)
{
	struct pollfd one;

	if (!count)
		out->doing = TFT_DOING_SLEEP;
	else if (count == 1 && host_read(&one, (const void *)list, sizeof(one)) == sizeof(one))
		see_descriptor(one.fd, out);
}

static void see_call(long number, const uintptr_t *argument, struct host_doing *out)
{
	char text[32];
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && calls[i].number != number; i++)
		;
	if (i == sizeof(calls) / sizeof(calls[0])) {
		snprintf(text, sizeof(text), "system call %ld", number);
		out->what = rt_name(TFT_NAME_OTHER, text);
		return;
	}
	out->doing = calls[i].doing;
	if (calls[i].by == BY_FD)
		see_descriptor((int)argument[0], out);
	else if (calls[i].by == BY_POLL)
		see_poll(argument[0], argument[1], out);
	else if (calls[i].by == BY_SELECT && !argument[0])
		out->doing = TFT_DOING_SLEEP;
	if (calls[i].by == BY_FUTEX)
		out->futex = argument[0];
	if (calls[i].by == BY_FUTEX && argument[0] - locks_at < locks_bytes)
		out->doing = TFT_DOING_GIL;
}

bool host_state_look(uint32_t tid, struct host_doing *out)
{
	char text[256], *at = text;
	uintptr_t argument[6];
	long number;

	*out = (struct host_doing) { .doing = TFT_DOING_NATIVE };
	if (!read_of_thread(tid, FILE_SYSCALL, text, sizeof(text)))
		return false;
	if (text[0] == 'r')
		return true;
	out->doing = TFT_DOING_OTHER;
	number = strtol(at, &at, 10);
	for (int i = 0; number >= 0 && i < 6; i++)
		argument[i] = strtoul(at, &at, 16);
	out->sp = strtoul(at, &at, 16);
	out->ip = strtoul(at, &at, 16);
	if (number < 0)
		out->doing = TFT_DOING_FAULT;
	else
		see_call(number, argument, out);
	return true;
}
