/* SPDX-License-Identifier: MIT */
/* Shared by complete.c (the line), complete_filter.c (an expression), complete_names.c and
 * complete_model.c (what exists). */
#ifndef TUI_COMPLETE_INTERNAL_H
#define TUI_COMPLETE_INTERNAL_H

#include "tui/prompt/complete.h"

/* Gathers the candidates for one word. */
struct gather {
	const struct complete_ask *ask;
	const char *typed;		/* the word up to the cursor, without quotes */
	const char *const *argv;	/* the words before it; [0] is the command as typed */
	int argc;
	int command;			/* enum command_id; -1: the command itself is being typed */
	struct completion *out;
	bool inside;			/* candidates that contain the typed text match, too */
	char *expression;	/* owned; the expression of a filter up to the cursor; NULL: none */
	char outer;			/* the quotes that the expression is in; '\0': none */
	size_t cursor;
	char quote;	/* for a value in a filter: the quote to use if one is needed; else '\0' */
};

/* Adds a candidate if it matches what was typed. */
void gather_add(struct gather *gather, const char *text, const char *about, bool open);

/* Adds each of the words, which are separated by blanks. */
void gather_words(struct gather *gather, const char *words);
/* Whether this word precedes the one that is being typed. */
bool gather_after(const struct gather *gather, const char *word);

struct gather_value {
	const char *value;		/* a word of `arguments`, such as "OP" */
	void (*add)(struct gather *gather);
};
/* From complete_names.c and complete_model.c; ended by a NULL. */
extern const struct gather_value gather_own[], gather_of_model[];

/* Adds what a capitalised word of `arguments` stands for; what has no names (TIME) adds nothing. */
void gather_values(struct gather *gather, const char *value);

/* Completes the end of a filter's expression that is in these quotes ('\0': none); returns how many
 * bytes of the word the candidates replace. */
size_t gather_filter(struct gather *gather, const char *text, char quote);

/* Adds names of files, folders first; only_folders: adds no other files. */
void gather_files(struct gather *gather, bool only_folders);

#endif
