/* SPDX-License-Identifier: MIT */
#include "probes/process/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP_MAX 32
#define ENVIRONMENT_MAX (128u << 10)

static void close_from_proc(unsigned int first, unsigned int last)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) && fd >= first &&
		    fd <= last && (int)fd != dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
}

static void close_span(unsigned int first, unsigned int last)
{
	if (first > last)
		return;
	/* Linux before 5.9 has no close_range. */
	if (syscall(SYS_close_range, first, last, 0u) != 0)
		close_from_proc(first, last);
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

void process_keep_fds(const int *fds, size_t count)
{
	int keep[KEEP_MAX];
	size_t n = 0;
	unsigned int next = 3;

	for (size_t i = 0; i < count && n < KEEP_MAX; i++)
		if (fds[i] > 2)
			keep[n++] = fds[i];
	qsort(keep, n, sizeof(keep[0]), by_number);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned int)keep[i] > next)
			close_span(next, (unsigned int)keep[i] - 1);
		next = (unsigned int)keep[i] + 1;
	}
	close_span(next, ~0u);
}

void process_own_folder(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);
	char *slash, *started;

	path[length > 0 ? length : 0] = '\0';
	if (length < 0) {	/* no /proc: the path that the kernel was given */
		started = realpath((const char *)getauxval(AT_EXECFN), NULL);
		snprintf(path, size, "%s", started ? started : "");
		free(started);
	}
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	else
		snprintf(path, size, ".");
}

bool process_own_file(const char *name, char *path, size_t size)
{
	char folder[PATH_MAX];

	process_own_folder(folder, sizeof(folder));
	return (size_t)snprintf(path, size, "%s/%s", folder, name) < size &&
	       access(path, F_OK) == 0;
}

void process_null_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++) {
		if (null < 0)
			close(fd);
		else if (null != fd)
			dup2(null, fd);
	}
	if (null > 2)
		close(null);
}

/* The factor: runnable tasks per processor divided by BUSY, but 1 at least, PATIENCE at most. */
#define BUSY 4
#define PATIENCE 3
#define NICE 5
#define HURRIED (-15)

static void give_way(pid_t thread)
{
	static const struct sched_param none = { .sched_priority = 0 };

	if (getpriority(PRIO_PROCESS, (id_t)thread) < NICE)
		setpriority(PRIO_PROCESS, (id_t)thread, NICE);
	if (sched_getscheduler(thread) == SCHED_OTHER)
		sched_setscheduler(thread, SCHED_BATCH, &none);
}

void process_give_way(void)
{
	give_way((pid_t)syscall(SYS_gettid));
}

void process_gives_way(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = pid > 0 ? opendir(path) : NULL;
	while (threads && (entry = readdir(threads)) != NULL)
		if (atoi(entry->d_name) > 0)
			give_way(atoi(entry->d_name));
	if (threads)
		closedir(threads);
}

bool process_hurry(void)
{
	return setpriority(PRIO_PROCESS, 0, HURRIED) == 0;
}

void process_group_gives_way(bool hurried)
{
	int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	if (hurried) {
		setpriority(PRIO_PGRP, 0, NICE);
		setpriority(PRIO_PROCESS, 0, 0);
	}
	if (fd < 0)
		return;
	if (dprintf(fd, "%d", NICE) < 0)
		errno = 0;
	close(fd);
}

int64_t process_patience(int64_t ns)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), ready = 0;
	char text[128];

	if (process_read_file("/proc/loadavg", text, sizeof(text)) > 0)
		sscanf(text, "%*s %*s %*s %ld", &ready);
	ready /= cpus > 0 ? BUSY * cpus : BUSY;
	return ready > PATIENCE ? ns * PATIENCE : ready > 1 ? ns * ready : ns;
}

void process_shrug_signals(void)
{
	static const int ignored[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
		SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
		SIGXFSZ, SIGWINCH,
	};
	sigset_t none;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void process_default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < _NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

ssize_t process_read_file(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t used = 0;

	if (fd < 0)
		return -1;
	while (used + 1 < size) {
		ssize_t got = read(fd, buffer + used, size - 1 - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(fd);
	buffer[used] = '\0';
	return (ssize_t)used;
}

ssize_t process_read(pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return process_read_file(path, buffer, size);
}

int process_open_file(pid_t pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, flags | O_CLOEXEC);
}

bool process_stat(pid_t pid, struct process_stat *stat)
{
	char text[1024], *open_paren, *close_paren;
	unsigned long long user, kernel, start, stack;
	int parent;
	size_t length;

	if (process_read(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	/* A command may hold blanks and parentheses: the last one closes it. */
	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')');
	if (!open_paren || !close_paren || close_paren < open_paren)
		return false;
	if (sscanf(close_paren + 1,
		   " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d "
		   "%llu %*u %*d %*u %*u %*u %llu",
		   &stat->state, &parent, &user, &kernel, &start, &stack) != 6)
		return false;
	length = (size_t)(close_paren - open_paren - 1);
	if (length >= sizeof(stat->comm))
		length = sizeof(stat->comm) - 1;
	memcpy(stat->comm, open_paren + 1, length);
	stat->comm[length] = '\0';
	stat->parent = parent;
	stat->start_ticks = start;
	stat->worked_ticks = user + kernel;
	stat->image = stack;
	return true;
}

bool process_uid(pid_t pid, uid_t *uid)
{
	char text[2048], *at;
	unsigned int id;

	if (process_read(pid, "status", text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "\nUid:");
	if (!at || sscanf(at, "\nUid: %*u %u", &id) != 1)
		return false;
	*uid = (uid_t)id;
	return true;
}

int process_open(pid_t pid, uint64_t start_ticks, uint64_t *image)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct process_stat stat;

	if (fd >= 0 && process_stat(pid, &stat) && stat.start_ticks == start_ticks) {
		if (image)
			*image = stat.image;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

void process_environment(pid_t pid, struct process_environment *environment)
{
	ssize_t got;

	environment->text = malloc(ENVIRONMENT_MAX);
	got = environment->text ?
		process_read(pid, "environ", environment->text, ENVIRONMENT_MAX) : -1;
	environment->size = got > 0 ? (size_t)got : 0;
}

const char *process_variable(void *arg, const char *name)
{
	const struct process_environment *e = arg;
	size_t length = strlen(name);

	for (size_t at = 0; at < e->size; at += strlen(e->text + at) + 1)
		if (!strncmp(e->text + at, name, length) && e->text[at + length] == '=')
			return e->text + at + length + 1;
	return NULL;
}

static size_t children_of_task(const char *path, pid_t *children, size_t max)
{
	char text[8192], *at = text;
	size_t count = 0;

	if (process_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	while (count < max) {
		char *end;
		long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		at = end;
		/* A number cut by the buffer has no blank behind it. */
		if (*end != ' ' && *end != '\0' && *end != '\n')
			break;
		children[count++] = (pid_t)pid;
	}
	return count;
}

size_t process_children(pid_t pid, pid_t *children, size_t max)
{
	char path[96];
	struct dirent *entry;
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (count < max && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children",
			 (int)pid, entry->d_name);
		count += children_of_task(path, children + count, max - count);
	}
	closedir(dir);
	return count;
}

void process_kill_children(int signal)
{
	pid_t children[256];
	size_t count = process_children(getpid(), children, 256);

	for (size_t i = 0; i < count; i++)
		kill(children[i], signal);
}

void process_error(char *buffer, size_t size, const char *what,
		   const char *subject, int error)
{
	snprintf(buffer, size, "%s '%s': %s", what, subject, strerror(error));
}
