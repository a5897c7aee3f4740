/* SPDX-License-Identifier: MIT */
/*
 * tftop's end of the stage (stage.h): its argument, its report.
 *
 * Threads: one at a time per report.
 */
#ifndef PROBES_ATTACH_REPORT_H
#define PROBES_ATTACH_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "probes/attach/stage.h"

struct report {
	int fd, folder;		/* -1: closed */
	char name[64];
};

/*
 * Makes a report in a folder that is open (and may be closed then), readable and writable
 * for uid alone. False with a sentence: the name is there already, the disk full, …
 */
bool report_open(struct report *report, int folder, const char *name, uid_t uid, gid_t gid,
		 char *why, size_t size);

/* What it says now, into *now: each text ends, the number of loads fits. False when it
 * cannot be read or is none. */
bool report_read(const struct report *report, struct stage_report *now);

/* Answers what the stage asks for; why: "" when replaced. False: it asks for nothing (any
 * more), or it cannot be written. */
bool report_answer(const struct report *report, enum stage_codes_state state, const char *why);

/* Removes the file; a stage that is still at work keeps its own mapping. */
void report_close(struct report *report);

/*
 * Collects the entry's argument. `full` stays set once something did not fit or holds a
 * line break, which no line can: then nothing may be injected.
 */
struct stage_argument {
	char text[4096];	/* INJECT_ARGUMENT_MAX */
	size_t used;
	bool full;
};

/* path: as the *target* sees it. First. */
void argument_begin(struct stage_argument *argument, const char *path);
/* verb: "set" or "lend" with NAME=VALUE, "load" with an absolute path. */
void argument_add(struct stage_argument *argument, const char *verb, const char *what);

#endif
