/* SPDX-License-Identifier: MIT */
/*
 * Loads the probes into one running process: injects the stage, tells it what to set and to load,
 * and waits for its report. It knows nothing of a session.
 *
 * Always true: it takes 15 s plus the injector's limits at most. It stops waiting when
 * may_go_on() says so or the process ends; the stage then finishes by itself. Everything it is
 * given belongs to the caller. Threads: any, one at a time for each name of a report.
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
	int fd;				/* pidfd */
	bool again;			/* another tftop has attached to it before */
	uid_t uid;
	gid_t gid;
	const char *dir, *name;		/* the report's folder, which it can read, and name */
	/* NULL: it sees tftop's files. Else the path of its place (place.h), which holds report and
	 * probes; place is the open folder. */
	const char *seen;
	int place;
	const struct environ_choice *probes;
	const char *lines;		/* variables, made by environ_lines() */
	size_t bytes;
	/* Called every 5 ms; false with the reason ends the waiting. */
	bool (*may_go_on)(void *arg, char *why, size_t size);
	void *arg;
	/* Results: the code that was replaced, malloc'ed, the caller's, NULL: none; and how long a
	 * thread was stopped, at most. */
	struct stage_codes *codes;
	int64_t stopped_ns;
};

/* Whether at least one probe has started, or will start once its runtime is used. *now: the result
 * for each; false: why not. */
bool bring_probes(struct bring *bring, struct stage_report *now, char *why, size_t size);

/* Whether one library of the report failed. */
bool bring_went_wrong(const struct stage_load *load);

#endif
