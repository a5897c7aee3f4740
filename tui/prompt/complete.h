/* SPDX-License-Identifier: MIT */
/*
 * Completion at the prompt: commands, flags, and whatever the usage of the command
 * (keymap/arguments.h) allows at the cursor; in a filter, whatever the language of filters
 * allows there.
 *
 * Always true: candidates that begin with what is typed, or, when there are
 * none, that contain it; case matters with a capital. The first COMPLETE_KEEP
 * are kept, all are counted and are in the common beginning. Names of the
 * model come by time, most first, all else by the alphabet or as its table has it.
 *
 * Complexity: O(names log names); the model's lock is held for the asking alone.
 * Ownership: all text is the completion's. Thread: the loop's.
 */
#ifndef TUI_COMPLETE_H
#define TUI_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#define COMPLETE_KEEP 1000u

struct candidate {
	char *text;			/* owned; the word itself, not quoted */
	char *about;			/* owned; "" nothing to say */
	bool open;			/* more of the same word follows: a folder's name */
};

struct completion {
	struct candidate *list;		/* owned */
	size_t count, cap;
	size_t total;			/* with those that were not kept */
	char *common;			/* owned; beginning of all, NULL: there are none */
	size_t from, to;		/* bytes of the line that a candidate replaces */
	bool raw;			/* it takes their place as it is: not a word of its own */
	char usage[160];		/* of the command that is typed, "" none yet */
};

struct model;
struct keymap;
struct settings;
struct pane;
struct filter_names;
struct marks;
struct table;

struct complete_ask {
	struct model *model;		/* borrowed, as all */
	const struct keymap *keymap;
	const struct settings *settings;
	struct pane *const *panes;
	size_t n_panes;
	const struct filter_names *filters;	/* NULL: none, as all below */
	const struct marks *marks;
	const struct table *table;	/* that `sort` is about */
};

/* For the cursor at so many bytes of line. */
void complete_line(const struct complete_ask *ask, const char *line, size_t cursor,
		   struct completion *out);
void completion_release(struct completion *completion);

/* The word as it is typed: quoted where it must be. The caller frees. */
char *complete_word(const char *text, bool open);

#endif
