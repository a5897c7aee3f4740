/* SPDX-License-Identifier: MIT */
/*
 * Lines that were typed at the prompt, kept between runs in
 * $XDG_STATE_HOME/tftop/history (~/.local/state/...), oldest first, one a line.
 *
 * Always true: at most HISTORY_MOST lines, none empty, none like the one before
 * it. The file is its owner's alone (0600) and is only ever appended to or
 * replaced as a whole, under a lock, so that several tftops can share it. An
 * error with the file is ignored: the lines of this run remain.
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
	char *path;			/* owned; NULL: not kept */
};

/* keep: with those of other runs. */
void history_open(struct history *history, bool keep);
void history_close(struct history *history);

/* Kept at once. Takes no empty line, none that begins with a blank, not the last one again. */
void history_add(struct history *history, const char *line);

/* The newest line older than number `at` (count: all are) that begins with, or
 * contains, these bytes and is not `except`; or the oldest newer one. count: none. */
size_t history_find(const struct history *history, size_t at, bool older, const char *text,
		    size_t length, bool inside, const char *except);

#endif
