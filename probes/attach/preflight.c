/* SPDX-License-Identifier: MIT */
/* The preflight as a whole: its order, its result, and the checks of the process itself. */
#include "probes/attach/preflight.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/attach/preflight_internal.h"

struct attach_line *attach_add(struct attach_check *check, const char *what,
			       enum attach_verdict verdict, const char *why, ...)
{
	size_t at = check->count < ATTACH_LINES_MAX ? check->count++ : ATTACH_LINES_MAX - 1;
	struct attach_line *line = &check->lines[at];
	va_list args;

	*line = (struct attach_line){ .what = what, .verdict = verdict };
	va_start(args, why);
	vsnprintf(line->why, sizeof(line->why), why, args);
	va_end(args);
	return line;
}

void attach_hint(struct attach_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line->hint, sizeof(line->hint), format, args);
	va_end(args);
}

/* ---- the process ---- */

static void read_check_command(struct attach_check *check, pid_t pid, const char *name)
{
	ssize_t size;

	size = process_read(pid, "cmdline", check->command, sizeof(check->command));
	while (size > 0 && !check->command[size - 1])
		size--;
	for (ssize_t i = 0; i < size; i++)
		if (!check->command[i])
			check->command[i] = ' ';
	if (size <= 0)
		snprintf(check->command, sizeof(check->command), "[%s]", name);
}

static void say_absent(struct attach_check *check, pid_t pid)
{
	struct attach_line *line;

	if (kill(pid, 0) && errno == ESRCH) {
		line = attach_add(check, "process", ATTACH_CANNOT, "there is no process %d",
				  (int)pid);
		attach_hint(line, "'pgrep -af NAME' lists PIDs");
		return;
	}
	line = attach_add(check, "process", ATTACH_CANNOT, "process %d exists, but /proc does not "
			  "show it", (int)pid);
	attach_hint(line, "run tftop as the user of the process or as root (/proc is mounted with "
		    "hidepid, or belongs to another PID namespace)");
}

/* Checks what needs no further rights; false: there is nothing else to check. */
static bool check_process(struct attach_check *check, const struct facts *t)
{
	struct attach_line *line;
	int pid = (int)t->pid;

	if (t->tgid > 0 && t->tgid != t->pid) {
		line = attach_add(check, "process", ATTACH_CANNOT, "%d is a thread of process %d",
				  pid, (int)t->tgid);
		attach_hint(line, "use '-p %d'", (int)t->tgid);
	} else if (t->pid == getpid()) {
		attach_add(check, "process", ATTACH_CANNOT, "%d is this tftop itself", pid);
	} else if (t->pid == 1) {
		line = attach_add(check, "process", ATTACH_CANNOT, "1 is the init process: if it "
				  "fails, the whole machine or container ends");
		attach_hint(line, "start the program below an init process ('docker run --init')");
	} else if (t->stat.state == 'Z' || t->stat.state == 'X') {
		attach_add(check, "process", ATTACH_CANNOT, "%d has ended; its parent %d has not "
			   "collected its exit status yet", pid, (int)t->stat.parent);
	} else if (!t->has_memory) {
		attach_add(check, "process", ATTACH_CANNOT, "%d is a kernel thread", pid);
	} else if (t->stat.state == 'T') {
		line = attach_add(check, "process", ATTACH_CANNOT, "%d is stopped", pid);
		attach_hint(line, "continue it with 'kill -CONT %d', then try again", pid);
	} else {
		attach_add(check, "process", ATTACH_CAN, "%d is running, with uid %u", pid,
			   t->uids[1]);
		return true;
	}
	return t->stat.state == 'T';
}

static void check_tracer(struct attach_check *check, const struct facts *t)
{
	struct process_stat stat = { .comm = "?" };
	struct attach_line *line;

	if (t->tracer <= 0) {
		attach_add(check, "tracer", ATTACH_CAN, "no debugger or tracer is attached");
		return;
	}
	process_stat(t->tracer, &stat);
	line = attach_add(check, "tracer", ATTACH_CANNOT, "'%s' (%d) is tracing the process, and "
			  "the system allows one tracer only", stat.comm, (int)t->tracer);
	attach_hint(line, "detach or end that tracer");
}

/*
 * What a seccomp filter does with a system call cannot be determined without stopping the program,
 * and some filters end the program. A filter that applies to tftop as well permits tftop's system
 * calls, which are those of the probes.
 */
static void check_seccomp(struct attach_check *check, const struct facts *t)
{
	struct attach_line *line;
	struct facts own;
	int mine = 0;

	if (t->seccomp == 0) {
		attach_add(check, "seccomp", ATTACH_CAN, "its system calls are not filtered");
		return;
	}
	if (facts_read(&own, getpid()))
		mine = own.filters;
	facts_free(&own);
	if (t->seccomp == 2 && t->filters > 0 && t->filters <= mine) {
		attach_add(check, "seccomp", ATTACH_CAN, "its system calls are filtered like "
			   "tftop's own (%d filters)", t->filters);
		return;
	}
	if (t->seccomp == 2)
		line = attach_add(check, "seccomp", ATTACH_CANNOT,
				  "its system calls are filtered (by %d more filters than "
				  "tftop's): a call of the probes may be refused, or end the "
				  "program",
				  t->filters - (mine > 0 ? mine : 0));
	else if (t->seccomp == 1)
		line = attach_add(check, "seccomp", ATTACH_CANNOT, "strict mode: any system call "
				  "other than read, write and exit ends the program");
	else
		line = attach_add(check, "seccomp", ATTACH_CANNOT, "this system does not tell "
				  "whether its system calls are filtered");
	attach_hint(line, "start the program without the filter, with 'tftop -- PROGRAM'");
}

/* What LTTng opens in the process: a buffer and its wake-up for each processor and channel. */
static void check_descriptors(struct attach_check *check, const struct facts *t)
{
	long long limit, needed = 4 * sysconf(_SC_NPROCESSORS_CONF) + 32;
	struct attach_line *line;
	char path[64], *text;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)t->pid);
	text = attach_read_whole(path, &size);
	if (!text)
		return;
	limit = strstr(text, "\nMax open files            unlimited") ? -1 :
		text_number(text, "Max open files", 10);
	free(text);
	if (limit < 0 || limit >= needed + 64)
		return;
	line = attach_add(check, "descriptors", ATTACH_CANNOT, "the process may open %lld files, "
			  "and LTTng alone needs %lld in it", limit, needed);
	attach_hint(line, "raise the limit with 'prlimit --pid %d --nofile=4096'", (int)t->pid);
}

/* ---- the whole check ---- */

void attach_conclude(struct attach_check *check)
{
	const struct attach_line *first = NULL;
	bool some = false;

	for (size_t i = 0; i < check->count; i++) {
		const struct attach_line *line = &check->lines[i];

		if (line->probe && line->verdict <= ATTACH_PARTLY)
			some = true;
		if (line->verdict == ATTACH_CANNOT && !line->probe && !first)
			first = line;
	}
	check->possible = some && !first;
	if (check->possible)
		return;
	if (first)
		snprintf(check->error, sizeof(check->error), "%s%s%s", first->why,
			 first->hint[0] ? ": " : "", first->hint);
	else
		snprintf(check->error, sizeof(check->error), "no probe for what the program uses "
			 "can be attached to a running process: start it with 'tftop -- PROGRAM'");
}

/* The PID may have been reused while its files were read. */
static void check_still_there(struct attach_check *check, const struct facts *t)
{
	struct process_stat now;

	if (t->stat.state == 'Z' ||
	    (process_stat(t->pid, &now) && now.start_ticks == t->stat.start_ticks &&
	     now.state != 'Z'))
		return;
	check->count = 0;
	attach_add(check, "process", ATTACH_CANNOT, "process %d ended during this check",
		   (int)t->pid);
}

void attach_check_process(struct attach_check *check, pid_t pid, const char *lib_dir)
{
	struct facts t;

	memset(check, 0, sizeof(*check));
	check->pid = pid;
	if (!facts_read(&t, pid)) {
		say_absent(check, pid);
	} else {
		check->start_ticks = t.stat.start_ticks;
		check->uid = t.uids[1];
		check->gid = t.gids[1];
		read_check_command(check, pid, t.stat.comm);
		if (check_process(check, &t)) {
			check_permission(check, &t);
			check_tracer(check, &t);
			check_program(check, &t, lib_dir);
			check_namespaces(check, &t, lib_dir);
			check_seccomp(check, &t);
			check_descriptors(check, &t);
			check_lttng(check, &t, lib_dir);
			check_probes(check, &t, lib_dir);
			check_cupti(check, &t);
			check_still_there(check, &t);
		}
	}
	facts_free(&t);
	attach_conclude(check);
}
