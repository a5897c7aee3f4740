/* SPDX-License-Identifier: MIT */
/*
 * Looks at PROGRAM before it starts: whether it can be run at all, and what
 * tftop will not see of it. Touches nothing. Threads: main only.
 */
#ifndef PROBES_SESSION_PREFLIGHT_H
#define PROBES_SESSION_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#define PREFLIGHT_NOTES 8
#define PREFLIGHT_NOTE_MAX 320

enum preflight_kind {
	PREFLIGHT_DYNAMIC = 0,	/* takes a preloaded library */
	PREFLIGHT_STATIC,
	PREFLIGHT_SECURE,	/* set-uid, set-gid, file capabilities */
	PREFLIGHT_FOREIGN,	/* other word size, other C library, other machine */
	PREFLIGHT_UNKNOWN,	/* cannot be read */
};

struct preflight {
	int exit_status;	/* 0: can be run; 126, 127: error says why */
	char error[512];
	char path[4096];	/* what is run */
	enum preflight_kind kind;	/* of the file that is run in the end */
	bool changes_user;	/* it runs another program under another uid */
	size_t note_count;
	char notes[PREFLIGHT_NOTES][PREFLIGHT_NOTE_MAX];	/* warnings */
};

void preflight_check(struct preflight *preflight, char *const *argv);

/* The kind of one file; used for children as well. */
enum preflight_kind preflight_kind(const char *path);

/* The name of a command behind which programs are out of sight (sudo, docker);
 * NULL when command is none. */
const char *preflight_hider(const char *command);

#endif
