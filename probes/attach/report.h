/* SPDX-License-Identifier: MIT */
/*
 * tftop's side of the stage (stage.h): the argument that it gets, and its report.
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
	int fd, folder;		/* the report and its folder; -1: closed */
	char name[64];
};

/*
 * Creates the report's file in an open folder (which may be closed afterwards), readable and
 * writable for uid alone. False with a sentence: the name exists already, the disk is full, …
 */
bool report_open(struct report *report, int folder, const char *name, uid_t uid, gid_t gid,
		 char *why, size_t size);

/* Copies the report into *now and makes it safe: every text ends, the number of loads fits.
 * False when it cannot be read or is not a report. */
bool report_read(const struct report *report, struct stage_report *now);

/* Answers the stage's request to replace code; why: "" when it was replaced. False: there is no
 * request (any more), or the answer cannot be written. */
bool report_answer(const struct report *report, enum stage_codes_state state, const char *why);

/* Removes the file; a stage that still works keeps its own mapping. */
void report_close(struct report *report);

/*
 * Collects the argument. Once something did not fit, or holds a line break, `full` stays set, and
 * nothing may be injected.
 */
struct stage_argument {
	char text[4096];	/* INJECT_ARGUMENT_MAX */
	size_t used;
	bool full;
};

/* Call this first. path: the report, as the target sees it. */
void argument_begin(struct stage_argument *argument, const char *path);
/* verb: "set" or "lend" with NAME=VALUE, "load" with an absolute path. */
void argument_add(struct stage_argument *argument, const char *verb, const char *what);

#endif
