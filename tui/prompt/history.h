/* SPDX-License-Identifier: MIT */
/*
 * Lines that were typed at the prompt, kept between runs in $XDG_STATE_HOME/tftop/history
 * (~/.local/state/...), oldest first, one per line.
 *
 * Always true: at most HISTORY_MOST lines, none of them empty, none equal to the one before it.
 * Only the owner can access the file (0600). It is only ever appended to or replaced as a whole,
 * under a lock, so that several tftops can share it. Errors with the file are ignored: the lines of
 * this run remain available.
 *
 * Threads: the loop's only.
 */
#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#define HISTORY_MOST 1000u

struct history {
	char **lines;			/* owned */
	size_t count, cap;
	char *path;			/* owned; NULL: the lines are not kept */
};

/* keep: loads the lines of other runs, and keeps those of this run. */
void history_open(struct history *history, bool keep);
void history_close(struct history *history);

/* Adds a line and stores it at once. Ignores an empty line, one that starts with a blank, and a
 * repetition of the last one. */
void history_add(struct history *history, const char *line);

/* The newest line older than number `at` (count: all are older) that starts with, or contains,
 * these bytes and differs from `except`; or the oldest newer one. count: there is none. */
size_t history_find(const struct history *history, size_t at, bool older, const char *text,
		    size_t length, bool inside, const char *except);

#endif
