/* SPDX-License-Identifier: MIT */
/*
 * Finds a text in the lines of a lower pane or of the help, also in
 * those that are scrolled away. (Events of the timeline: tui/timeline/find.h.)
 *
 * Always true: a regular expression, case matters with a capital; past the last
 * line the search continues with the first and says so; matches are marked in the grid.
 *
 * Complexity: O(lines) a step, each as its pane writes it. Thread: the loop's.
 */
#ifndef TUI_TEXT_FIND_H
#define TUI_TEXT_FIND_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "tui/draw/grid.h"

#define TEXT_FIND_MAX 200

struct strbuf;

struct text_find {
	char text[TEXT_FIND_MAX];	/* "": nothing was looked for yet */
	bool shown;			/* marks are on the screen */
	regex_t regex;
};

/* Lines that can be looked through. */
struct text_lines {
	size_t count, at;		/* at: the one under the cursor */
	void (*line)(void *arg, size_t line, struct strbuf *out);
	void *arg;
};

/* false: a sentence in error, what was looked for before stays. */
bool text_find_set(struct text_find *find, const char *text, char *error, size_t error_size);
void text_find_release(struct text_find *find);

enum text_step { TEXT_HERE, TEXT_NEXT, TEXT_PREV };	/* HERE: also the line under the cursor */

/* The line of the next match; false: there is none. said: "/conv/ 3 of 17, from the start
 * again", or why not. */
bool text_find_step(struct text_find *find, const struct text_lines *lines, enum text_step step,
		    size_t *line, char *said, size_t size);

/* What matches on each line of the area is marked, if marks are shown. */
void text_find_mark(const struct text_find *find, struct area area);

#endif
