/* SPDX-License-Identifier: MIT */
/*
 * The probes are brought into one process that runs: the stage is loaded into it, told what
 * to set and to load, and waited for. Knows of no session.
 *
 * Always true: it takes 15 s and the injector's times at most, and stops waiting when
 * may_go_on() says so or the process ends; the stage then finishes by itself. All is the
 * caller's. Threads: any, one at a time per name of a report.
 */
#ifndef PROBES_SESSION_BRING_H
#define PROBES_SESSION_BRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/attach/report.h"
#include "probes/attach/stage.h"
#include "probes/session/program/environ.h"

struct bring {
	pid_t pid;
	int fd;				/* its pidfd */
	bool again;			/* another tftop has watched it before */
	uid_t uid;
	gid_t gid;
	const char *dir, *name;		/* folder of the report, which it can read; its name */
	const char *seen;		/* NULL: it sees tftop's files; else its place (place.h) is there, */
	int place;			/* with report and probes in it: its folder, open */
	const struct environ_choice *probes;
	const char *lines;		/* variables, of environ_lines() */
	size_t bytes;
	/* Asked each 5 ms; false: why it is over. */
	bool (*may_go_on)(void *arg, char *why, size_t size);
	void *arg;
	struct stage_codes *codes;	/* out: what was replaced, malloc'd, the caller's; NULL: nothing */
	int64_t stopped_ns;		/* out: how long one of its threads stood still, at most */
};

/* Whether at least one probe is there, or will be once there is something for it. *now: what
 * became of each; false: why not. */
bool bring_probes(struct bring *bring, struct stage_report *now, char *why, size_t size);

/* Of one library in the report. */
bool bring_went_wrong(const struct stage_load *load);

#endif
