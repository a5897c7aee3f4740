/* SPDX-License-Identifier: MIT */
/*
 * The help overlay, and the same as plain text. Both are made from the key tables, the command
 * table and the options.
 *
 * Ownership: the lines belong to the help until help_close(). Threads: the loop's only.
 */
#ifndef TUI_HELP_H
#define TUI_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "keymap/setting.h"
#include "keymap/table.h"
#include "tui/draw/grid.h"
#include "tui/draw/text_find.h"

struct help_line {
	char *left, *right;		/* owned; right NULL: the line is a heading */
	char *middle;			/* owned; a bound command; NULL: none */
};

struct help {
	bool open;
	struct help_line *lines;	/* owned */
	size_t count, cap, top;
	size_t found;			/* the line that was last found, otherwise equal to top */
	int page;			/* how many lines the last drawing showed */
};

/* about: the name of a command, or NULL for everything. */
void help_open(struct help *help, const struct keymap *keymap,
	       const struct settings *settings, const char *about);
void help_close(struct help *help);
void help_scroll(struct help *help, int lines);
/* Draws the help and marks what `find` found. */
void help_draw(struct help *help, struct area area, const struct text_find *find);
/* The text of a line; help_go() scrolls a line into the top third. */
void help_text(const struct help *help, size_t line, struct strbuf *out);
void help_go(struct help *help, size_t line);

void help_write_keys(const struct keymap *keymap, FILE *out);
void help_write_commands(const struct keymap *keymap, FILE *out);
void help_write_settings(const struct settings *settings, FILE *out);

#endif
