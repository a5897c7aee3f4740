/* SPDX-License-Identifier: MIT */
/* What complete.c (the line) and complete_names.c (what there is) share. */
#ifndef TUI_COMPLETE_INTERNAL_H
#define TUI_COMPLETE_INTERNAL_H

#include "tui/complete.h"

/* Gathering for one word. */
struct gather {
	const struct complete_ask *ask;
	const char *typed;		/* the word up to the cursor, without quotes */
	const char *const *argv;	/* words before it; [0] the command as typed */
	int argc;
	int command;			/* enum command_id, -1: that is what is typed */
	struct completion *out;
	bool inside;			/* contained, not begun, is good enough */
};

/* Takes it when it fits what is typed. */
void gather_add(struct gather *gather, const char *text, const char *about, bool open);

/* What a word of `arguments` in capitals stands for; what has no names (TIME) adds none. */
void gather_values(struct gather *gather, const char *value);
/* Names of files, folders first; only_folders: these alone. */
void gather_files(struct gather *gather, bool only_folders);

#endif
