/* SPDX-License-Identifier: MIT */
/*
 * Processes that ran already when the session started: tftop attaches to them (targets.c), provides
 * what they need if they see other files than tftop (apart.c), or joins them (join.c). There is no
 * launcher then.
 *
 * Always true: a target is held by a pidfd from the check on, so that nothing is ever done to
 * another process that got its PID. session->aparts has no entry for a process that has ended.
 *
 * Threads: main only.
 */
#ifndef PROBES_SESSION_TARGETS_H
#define PROBES_SESSION_TARGETS_H

#include "probes/session/core/core.h"
#include "probes/session/program/children.h"

struct session_target {
	pid_t pid;
	int fd;				/* pidfd; -1: the target was left out */
	uint64_t start_ticks;		/* start time when it was checked */
	uint64_t image;			/* what it ran then (process.h) */
	bool given;			/* named by the user; if it fails, there is no session */
	bool again;			/* another tftop has attached to it before */
	bool attached, ended;
	bool is_apart;			/* it sees other files than tftop */
	struct stage_codes *codes;	/* owned; its code that was replaced (code.h), or NULL */
	struct session_apart *apart;	/* what provides files for it; NULL: nothing yet */
	/* owned; the processes that it starts. NULL: they belong to another target above it */
	struct children *children;
};

/* Checks and holds all targets; false and a sentence if one that was named cannot be attached
 * to. */
bool targets_begin(struct session *session, const struct session_options *options,
		   char error[SESSION_ERROR_MAX]);
/* Makes their ends wake session_next(); false and errno. */
bool targets_watch(struct session *session);
/* Brings the probes into them and waits until these are armed; returns 0, or -1 and a sentence. */
int targets_attach(struct session *session, char error[SESSION_ERROR_MAX]);

/* A target that has ended since the last call; NULL: none. */
struct session_target *targets_ended(struct session *session);
/* How many are attached to and still running. */
size_t targets_running(const struct session *session);
/* Reports which processes they have started and which of these have ended. */
void targets_look(struct session *session, child_function *tell);
/* Whether a process has the probes, or is a target and will get them. */
bool targets_reach(const struct session *session, pid_t pid);
/* Whether libtftop-runtime.so is mapped in a process. */
bool targets_has_runtime(pid_t pid);

/* Undoes the changes to their code, as far as that is possible; before tftop ends. */
void targets_put_back(struct session *session);
void targets_free(struct session *session);

/* ---- apart.c ---- */

/* Makes the probes' files visible to the target; false and a sentence. */
bool apart_open(struct session *session, struct session_target *target, char *why,
		size_t size);
/* Removes what no running target needs any more. */
void apart_clear(struct session *session);
/* The private folder as the target sees it. */
const char *apart_dir(const struct session *session, const struct session_target *target);
/* The descriptor of that folder; -1: the target sees tftop's files. */
int apart_folder(const struct session_target *target);
/* The probes' folder as the target sees it; NULL: as tftop sees it. */
const char *apart_libraries(const struct session_target *target);

/* ---- join.c ---- */

/* Checks and holds the program, before anything is forked; false and a sentence. */
bool targets_join_begin(struct session *session, char error[SESSION_ERROR_MAX]);
/* Waits until the program has connected; false and a sentence. */
bool targets_join(struct session *session, char *why, size_t size);

#endif
