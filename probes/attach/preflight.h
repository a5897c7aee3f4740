/* SPDX-License-Identifier: MIT */
/*
 * What can be seen of a process that runs already, or of programs on this machine
 * at all: what can be done, what cannot, why, and what to do about it.
 *
 * Always true: nothing is touched. No process is stopped, signalled or traced, no
 * file is written; all comes from /proc and from files that are read. What cannot
 * be looked at is said to be unknown, never taken to be fine. The process goes on
 * meanwhile: an answer holds for the moment it was given, and whoever attaches
 * compares start_ticks.
 *
 * Text of the process (its command, paths) may hold any byte but NUL: whoever
 * shows it makes it harmless. No state; any thread.
 */
#ifndef PROBES_ATTACH_PREFLIGHT_H
#define PROBES_ATTACH_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_LINES_MAX 32
#define ATTACH_WHY_MAX 360
#define ATTACH_TODO_MAX 240

enum attach_verdict {
	ATTACH_CAN = 0,
	ATTACH_PARTLY,		/* something will be missing */
	ATTACH_CANNOT,
	ATTACH_ABSENT,		/* there is none of it */
};

struct attach_line {
	const char *what;	/* one word; static */
	enum attach_verdict verdict;
	bool probe;		/* of one probe; another line is of everything */
	bool loaded;		/* of a probe: what it is for is seen to be in the process */
	char why[ATTACH_WHY_MAX];
	char todo[ATTACH_TODO_MAX];	/* "": nothing */
};

struct attach_check {
	bool possible;		/* all that everything hangs on can, and one probe can */
	char error[ATTACH_WHY_MAX + ATTACH_TODO_MAX + 64];	/* when not: the first reason, and what to do */
	pid_t pid;		/* 0: of the machine */
	uint64_t start_ticks;	/* of /proc/PID/stat: says which PID it was */
	uid_t uid;		/* the effective ones */
	gid_t gid;
	char command[512];	/* with its arguments, blanks between; "": gone */
	bool apart;		/* it sees other files: place.h */
	bool pid_space;		/* it has another number in its own PID namespace */
	bool again;		/* a tftop that has gone brought probes into it */
	size_t count;
	struct attach_line lines[ATTACH_LINES_MAX];
};

/* lib_dir: folder of the probe libraries, "" where there is none; borrowed for the
 * call, as are all arguments. */
void attach_check_process(struct attach_check *check, pid_t pid, const char *lib_dir);
/* Whether this probe library can be brought into a process that runs. */
bool attach_can_come_late(const char *library);
/* The name of the probe for the runtime that a library of this name shows; NULL: none. */
const char *attach_probe_for(const char *file);

/* ---- for a check of another kind (probes/session/lttng/machine.h) ---- */

/* Adds a line and returns it, so that attach_todo() can complete it. Never NULL. */
__attribute__((format(printf, 4, 5)))
struct attach_line *attach_add(struct attach_check *check, const char *what,
			       enum attach_verdict verdict, const char *why, ...);
__attribute__((format(printf, 2, 3)))
void attach_todo(struct attach_line *line, const char *format, ...);
/* Adds whether tftop may attach to programs at all. */
void attach_check_attaching(struct attach_check *check);
/* Adds a line for each probe library that is there. */
void attach_check_probes(struct attach_check *check, const char *lib_dir);
/* Sets possible and error, from the lines. */
void attach_conclude(struct attach_check *check);

#endif
