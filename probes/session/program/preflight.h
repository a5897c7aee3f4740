/* SPDX-License-Identifier: MIT */
/*
 * Examines PROGRAM before it starts: whether it can be run at all, and what tftop will not observe.
 * Changes nothing. Threads: main only.
 */
#ifndef PROBES_SESSION_PREFLIGHT_H
#define PROBES_SESSION_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>

#define PREFLIGHT_NOTES 8
#define PREFLIGHT_NOTE_MAX 320

enum preflight_kind {
	PREFLIGHT_DYNAMIC = 0,	/* a library can be preloaded */
	PREFLIGHT_STATIC,
	PREFLIGHT_SECURE,	/* set-uid, set-gid, file capabilities */
	PREFLIGHT_FOREIGN,	/* other word size, other C library, other machine */
	PREFLIGHT_UNKNOWN,	/* it cannot be read, or is not an ELF file */
};

struct preflight {
	int exit_status;	/* 0: it can be run; 125 to 127: error says why not */
	char error[512];
	char path[4096];	/* the file that is run */
	char interpreter[4096];	/* for a script its interpreter, otherwise equal to path */
	enum preflight_kind kind;	/* kind of the interpreter */
	bool changes_user;	/* it runs another program under another uid */
	size_t note_count;
	char notes[PREFLIGHT_NOTES][PREFLIGHT_NOTE_MAX];	/* warnings */
};

void preflight_check(struct preflight *preflight, char *const *argv);

/* The kind of one file. */
enum preflight_kind preflight_kind(const char *path);

/* The name of a command whose programs tftop cannot observe (sudo, docker); NULL: command is not
 * one of them. */
const char *preflight_hider(const char *command);

/* ---- preflight_plugin.c ---- */
enum preflight_plugin {
	PREFLIGHT_PLUGIN_FINE = 0,
	PREFLIGHT_PLUGIN_UNUSED,	/* requested, but this TensorFlow ignores it */
	PREFLIGHT_PLUGIN_FATAL,		/* this TensorFlow fails at import because of it */
};

/* What libtftop_pluggable.so means for the TensorFlow that a Python would import; text explains it
 * unless the result is PREFLIGHT_PLUGIN_FINE, as for other programs. */
enum preflight_plugin preflight_plugin(const char *program, char *text, size_t size);

#endif
