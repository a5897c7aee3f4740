/* SPDX-License-Identifier: MIT */
/* What complete.c (the line), complete_filter.c (an expression), complete_names.c and
 * complete_model.c (what there is) share. */
#ifndef TUI_COMPLETE_INTERNAL_H
#define TUI_COMPLETE_INTERNAL_H

#include "tui/prompt/complete.h"

/* Gathering for one word. */
struct gather {
	const struct complete_ask *ask;
	const char *typed;		/* the word up to the cursor, without quotes */
	const char *const *argv;	/* words before it; [0] the command as typed */
	int argc;
	int command;			/* enum command_id, -1: that is what is typed */
	struct completion *out;
	bool inside;			/* contained, not begun, is good enough */
	char *expression;		/* owned; of a filter, up to the cursor; NULL: none */
	char outer;			/* quotes that it stands in, '\0': none */
	size_t cursor;
	char quote;			/* a value of a filter: what it is quoted with, where it
					 * must be; else '\0' */
};

/* Takes it when it fits what is typed. */
void gather_add(struct gather *gather, const char *text, const char *about, bool open);

/* Each of words, which blanks separate. */
void gather_words(struct gather *gather, const char *words);
/* Whether that stands before the word that is typed. */
bool gather_after(const struct gather *gather, const char *word);

struct gather_value {
	const char *value;		/* a word of `arguments`: "OP" */
	void (*add)(struct gather *gather);
};
/* complete_names.c, complete_model.c; ends with a NULL. */
extern const struct gather_value gather_own[], gather_of_model[];

/* What a word of `arguments` in capitals stands for; what has no names (TIME) adds none. */
void gather_values(struct gather *gather, const char *value);

/* The end of a filter's expression that stands in these quotes, '\0' none; returns how many
 * bytes of it the word has that candidates complete. */
size_t gather_filter(struct gather *gather, const char *text, char quote);

/* Names of files, folders first; only_folders: these alone. */
void gather_files(struct gather *gather, bool only_folders);

#endif
