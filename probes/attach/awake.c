/* SPDX-License-Identifier: MIT */
/* See awake.h. */
#include "probes/attach/awake.h"

#ifdef __x86_64__

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "probes/attach/target.h"

#define STOP_TRIES 10000	/* of 10 us */
#define E_RESTART_RESTARTBLOCK 516	/* from the kernel's linux/errno.h */

static bool is_sleep(long call)
{
	return call == SYS_clock_nanosleep || call == SYS_nanosleep || call == SYS_restart_syscall;
}

/* LTTng calls its threads by the program's name and "-ust". */
static bool sleeps(pid_t pid, pid_t tid)
{
	char path[64], text[128], *end;
	FILE *f;
	bool good;
	long call;

	status_field(pid, tid, "Name", text, sizeof(text));
	if (strlen(text) < 4 || strcmp(text + strlen(text) - 4, "-ust") != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	f = fopen(path, "re");
	good = f && fgets(text, sizeof(text), f);
	if (f)
		fclose(f);
	call = good ? strtol(text, &end, 10) : -1;
	return good && end != text && is_sleep(call);
}

/* False: it is no more, or takes too long. */
static bool stop(pid_t tid)
{
	struct timespec nap = { .tv_nsec = 10000 };
	int status;
	pid_t got;

	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0)
		return false;
	for (int i = 0; (got = waitpid(tid, &status, __WALL | WNOHANG)) == 0 && i < STOP_TRIES; i++)
		nanosleep(&nap, NULL);
	return got == tid && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP;
}

/* The sleep returns 0, instead of being gone on with. */
static bool end_sleep(pid_t tid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) != 0 || !is_sleep((long)r.orig_rax) ||
	    (long)r.rax != -E_RESTART_RESTARTBLOCK)
		return false;
	r.rax = 0;
	r.orig_rax = (unsigned long long)-1;
	return ptrace(PTRACE_SETREGS, tid, 0, &r) == 0;
}

static bool wake(pid_t tid)
{
	bool done;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
		return false;
	done = stop(tid) && end_sleep(tid);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return done;
}

int attach_awake(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int saved = errno, woken = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		pid_t tid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;

		if (tid > 0 && sleeps(pid, tid) && wake(tid))
			woken++;
	}
	if (tasks)
		closedir(tasks);
	errno = saved;
	return woken;
}

#else

int attach_awake(pid_t pid)
{
	(void)pid;
	return 0;
}

#endif
