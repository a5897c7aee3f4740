/* SPDX-License-Identifier: MIT */
/*
 * A library for the injector. Its entry creates a thread, as the real one does, and first does what
 * the argument says:
 *
 *   PATH     appends a line to this file
 *   die      kills the tracer of the thread and waits until it is not traced any more: the rest
 *            of the call and the return happen without tftop
 *   urgent   sends SIGURG to the thread
 *   signal   sends SIGUSR2 to the thread
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attach/inject.h"

int tftop_injected(const char *argument);

static void *work(void *unused)
{
	return NULL;
}

static pid_t tracer(void)
{
	char path[64], text[1024], *line;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)gettid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, "TracerPid:");
	return line ? (pid_t)atoi(line + strlen("TracerPid:")) : 0;
}

static int append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "called\n", 7) == 7;

	if (fd >= 0)
		close(fd);
	return done ? 0 : EIO;
}

int tftop_injected(const char *argument)
{
	pthread_t thread;
	int error = 0;

	if (strcmp(argument, "die") == 0) {
		if (kill(tracer(), SIGKILL) != 0)
			return EPERM;
		while (tracer())
			sched_yield();
	} else if (strcmp(argument, "signal") == 0) {
		syscall(SYS_tgkill, getpid(), gettid(), SIGUSR2);
	} else if (strcmp(argument, "urgent") == 0) {
		syscall(SYS_tgkill, getpid(), gettid(), SIGURG);
	} else if (*argument) {
		error = append(argument);
	}
	if (!error)
		error = pthread_create(&thread, NULL, work, NULL);
	if (!error)
		pthread_detach(thread);
	return error;
}
