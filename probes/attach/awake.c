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
#include <sys/syscall.h>

#include "model/base/util.h"
#include "probes/attach/call.h"

#define STOP_NS 100000000
#define E_RESTART_RESTARTBLOCK 516	/* from the kernel's linux/errno.h */

static bool is_sleep(long call)
{
	return call == SYS_clock_nanosleep || call == SYS_nanosleep || call == SYS_restart_syscall;
}

/* LTTng names its threads after the program, with "-ust". */
static bool is_sleeping_ust_thread(pid_t pid, pid_t tid)
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

/* Makes the sleep return 0, so that it is not continued. */
static bool end_sleep(struct tracee *e)
{
	if (!is_sleep((long)e->regs.orig_rax) || (long)e->regs.rax != -E_RESTART_RESTARTBLOCK)
		return false;
	e->regs.rax = 0;
	e->regs.orig_rax = UINT64_MAX;
	return tracee_change(e);
}

struct sleeper {
	pid_t tid;
	bool woken;
};

/* tracee_stop() and tracee_release() pass on the signals that arrive for the thread meanwhile. */
static void *wake_thread(void *data)
{
	struct sleeper *sleeper = data;
	struct tracee e;

	if (tracee_take(&e, NULL, sleeper->tid) != HOLD_DONE)
		return NULL;
	if (tracee_stop(&e, monotonic_ns() + STOP_NS) == HOLD_DONE)
		sleeper->woken = end_sleep(&e);
	tracee_release(&e);
	return NULL;
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

		struct sleeper sleeper = { .tid = tid };

		if (tid > 0 && is_sleeping_ust_thread(pid, tid) &&
		    tracee_thread(wake_thread, &sleeper) == 0)
			woken += sleeper.woken;
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
