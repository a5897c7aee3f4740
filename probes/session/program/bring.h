/* SPDX-License-Identifier: MIT */
/*
 * Loads the probes into one running process: injects the stage, tells it what to set and to load,
 * and waits for its report. It knows nothing about sessions.
 *
 * Always true: it takes 15 s plus the injector's limits at most, and as long again where the stage
 * is still at work for an earlier tftop. It stops waiting when may_go_on()
 * says so or when the process ends; the stage then finishes by itself. Everything that it is given
 * belongs to the caller. Threads: any, one at a time for each name of a report.
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
	bool again;			/* another tftop has attached to it before; set as well
					 * where one is seen to be just doing so */
	uid_t uid;
	gid_t gid;
	/* folder of the report, which the process can read, and the report's name */
	const char *dir, *name;
	/* NULL: the process sees tftop's files. Otherwise the path of its place (place.h), which
	 * holds the report and the probes; `place` is the open folder. */
	const char *seen;
	int place;
	const struct environ_choice *probes;
	const char *lines;		/* variables, as made by environ_lines() */
	size_t bytes;
	/* Called every 5 ms, and every 100 ms while the stage is at work for an earlier tftop;
	 * returns false with a reason to end the waiting. */
	bool (*may_go_on)(void *arg, char *why, size_t size);
	void *arg;
	/* Results: the code that was replaced, which the caller frees, NULL: none; and the longest
	 * time that a thread was stopped. */
	struct stage_codes *codes;
	int64_t stopped_ns;
};

/* Whether at least one probe has started, or will start once its runtime is used. *now: the result
 * for each; false: the reason is given. */
bool bring_probes(struct bring *bring, struct stage_report *now, char *why, size_t size);

/* Whether one library of the report failed. */
bool bring_went_wrong(const struct stage_load *load);

#endif
