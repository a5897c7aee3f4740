/* SPDX-License-Identifier: MIT */
/*
 * Finds a text in the lines of a lower pane or of the help, including lines that are scrolled out
 * of sight. (tui/timeline/find.h searches events on the timeline.)
 *
 * Always true: the text is a regular expression, and case matters if it has a capital. After the
 * last line the search continues at the first one and says so. Matches are marked in the grid.
 *
 * Complexity: O(lines) per step, each as its pane writes it. Thread: the loop's.
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
	char text[TEXT_FIND_MAX];	/* "": no search so far */
	bool shown;			/* matches are marked on the screen */
	regex_t regex;
};

/* Lines that can be searched. */
struct text_lines {
	size_t count, at;		/* at: the line under the cursor */
	void (*line)(void *arg, size_t line, struct strbuf *out);
	void *arg;
};

/* false: `error` is a sentence, and the previous search stays. */
bool text_find_set(struct text_find *find, const char *text, char *error, size_t error_size);
void text_find_release(struct text_find *find);
/* Whether it matches somewhere in the text. */
bool text_find_in(const struct text_find *find, const char *text);

/* TEXT_HERE: includes the line under the cursor */
enum text_step { TEXT_HERE, TEXT_NEXT, TEXT_PREV };

/* The line of the next match; false: there is none. said: "/conv/ 3 of 17, from the start again",
 * or why there is none. */
bool text_find_step(struct text_find *find, const struct text_lines *lines, enum text_step step,
		    size_t *line, char *said, size_t size);

/* Marks the matches on each line of the area, if marks are shown. */
void text_find_mark(const struct text_find *find, struct area area);

#endif
