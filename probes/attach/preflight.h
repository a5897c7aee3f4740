/* SPDX-License-Identifier: MIT */
/*
 * Checks a running process before tftop attaches: what is possible, what is not, why, and what to
 * do about it (`tftop --check`).
 *
 * Always true: nothing is touched. No process is stopped, signalled or traced and no file is
 * written; everything comes from /proc and from files that are read. What cannot be read is
 * reported as unknown, never assumed to be fine. The process runs on meanwhile, so that an answer
 * holds for the moment it was given; whoever attaches compares start_ticks.
 *
 * Text of the process (its command, paths) may hold any byte but NUL: whoever shows it cleans it.
 * No state; any thread.
 */
#ifndef PROBES_ATTACH_PREFLIGHT_H
#define PROBES_ATTACH_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_LINES_MAX 32
#define ATTACH_WHY_MAX 360
#define ATTACH_HINT_MAX 240

enum attach_verdict {
	ATTACH_CAN = 0,
	ATTACH_PARTLY,		/* possible, but something will be missing */
	ATTACH_CANNOT,
	ATTACH_ABSENT,		/* the process has nothing of the kind */
};

struct attach_line {
	const char *what;	/* one word; static */
	enum attach_verdict verdict;
	bool probe;		/* about one probe; other lines are about all */
	bool loaded;		/* of a probe: what it observes is loaded */
	char why[ATTACH_WHY_MAX];
	char hint[ATTACH_HINT_MAX];	/* what to do; "": nothing */
};

struct attach_check {
	bool possible;		/* nothing that all depends on failed, and a probe fits */
	/* If not possible: the first reason, and what to do. */
	char error[ATTACH_WHY_MAX + ATTACH_HINT_MAX + 64];
	pid_t pid;		/* 0: the machine was checked */
	uint64_t start_ticks;	/* of /proc/PID/stat: identifies the process */
	uid_t uid;		/* effective ids */
	gid_t gid;
	char command[512];	/* with arguments, separated by spaces; "": ended */
	bool apart;		/* it sees other files than tftop: place.h */
	bool pid_space;		/* it is in a PID namespace below tftop's */
	bool again;		/* an earlier tftop has attached to it */
	bool bare;		/* it has no C library that is known: it may be just starting */
	size_t count;
	struct attach_line lines[ATTACH_LINES_MAX];
};

/* Fills check. lib_dir: the folder of the probe libraries, "": there is none. */
void attach_check_process(struct attach_check *check, pid_t pid, const char *lib_dir);
/* Whether a probe library can be loaded into a running process. */
bool attach_can_come_late(const char *library);
/* The name of the probe for the runtime that a library of this name belongs to; NULL: none. */
const char *attach_probe_for(const char *file);

/* ---- for a check of another kind (probes/session/lttng/machine.h) ---- */

/* Adds a line and returns it, so that attach_hint() can complete it. Never NULL. */
__attribute__((format(printf, 4, 5)))
struct attach_line *attach_add(struct attach_check *check, const char *what,
			       enum attach_verdict verdict, const char *why, ...);
__attribute__((format(printf, 2, 3)))
void attach_hint(struct attach_line *line, const char *format, ...);
/* Adds whether tftop may attach to programs at all. */
void attach_check_attaching(struct attach_check *check);
/* Adds a line for each probe library that is there. */
void attach_check_probes(struct attach_check *check, const char *lib_dir);
/* Sets possible and error, from the lines. */
void attach_conclude(struct attach_check *check);

#endif
