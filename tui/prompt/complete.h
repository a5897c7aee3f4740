/* SPDX-License-Identifier: MIT */
/*
 * Completion at the prompt: commands, flags, and whatever the usage of the command
 * (keymap/arguments.h) allows at the cursor; in a filter, whatever the language of filters allows
 * there.
 *
 * Always true: candidates start with what was typed or, if there are none, contain it; case matters
 * if what was typed has a capital. The first COMPLETE_KEEP candidates are kept; all of them are
 * counted and have the common start. Names of the model are sorted by time, most first; everything
 * else by the alphabet, or as in its table.
 *
 * Complexity: O(names log names); the model's lock is held only for the queries.
 * Ownership: the completion owns all text. Thread: the loop's.
 */
#ifndef TUI_COMPLETE_H
#define TUI_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#define COMPLETE_KEEP 1000u

struct candidate {
	char *text;			/* owned; the word itself, without quotes */
	char *about;			/* owned; "": there is nothing to say */
	bool open;			/* the same word continues: the name of a folder */
};

struct completion {
	struct candidate *list;		/* owned */
	size_t count, cap;
	size_t total;	/* number of all candidates, including those that were not kept */
	char *common;			/* owned; the common start of all; NULL: there are none */
	size_t from, to;		/* the bytes of the line that a candidate replaces */
	/* it is inserted as it is, without quoting, because it is not a whole word */
	bool raw;
	char usage[160];		/* usage of the command that was typed; "": none yet */
};

struct model;
struct keymap;
struct settings;
struct pane;
struct filter_names;
struct marks;
struct table;

struct complete_ask {
	struct model *model;		/* borrowed, as are all pointers here */
	const struct keymap *keymap;
	const struct settings *settings;
	struct pane *const *panes;
	size_t n_panes;
	const struct filter_names *filters;	/* NULL: none, as for all below */
	const struct marks *marks;
	const struct table *table;	/* the table that `sort` sorts */
};

/* Completes at the cursor, which is at this byte of line. */
void complete_line(const struct complete_ask *ask, const char *line, size_t cursor,
		   struct completion *out);
void completion_release(struct completion *completion);

/* The word as it is typed: quoted if necessary. The caller frees. */
char *complete_word(const char *text, bool open);

#endif
