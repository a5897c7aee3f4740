/* SPDX-License-Identifier: MIT */
/*
 * A table of text whose columns are as wide as what stands in them, for the
 * report. The title of the first column is the section's name.
 *
 * Always true: no line is wider than the sheet's width (columns marked flex
 * give way, names are shortened by labels.h), lines end without blanks, and
 * control characters become '?'. Threads: none of its own.
 */
#ifndef TUI_SHEET_H
#define TUI_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SHEET_COLUMNS_MAX 10

enum sheet_align { SHEET_RIGHT = 0, SHEET_LEFT };

struct sheet {
	size_t columns;
	struct {
		const char *title;	/* borrowed; NULL: no title above it */
		enum sheet_align align;
		int flex;		/* least width when space is short, 0: fixed */
		int width;
	} column[SHEET_COLUMNS_MAX];
	char **cells;			/* owned, row by row */
	size_t count, cap;
	char **links;			/* owned; of each cell, NULL: none */
	size_t cap_links;
	size_t more;			/* rows left out: "... 41 more" */
};

void sheet_column(struct sheet *sheet, const char *title, enum sheet_align align, int flex);
/* The next cell, left to right, row by row. */
void sheet_cell(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The last cell leads to the page that `command` makes of a name: for pages, print ignores it. */
void sheet_link(struct sheet *sheet, const char *command, const char *name);

/* Gets a line's texts one by one, blanks between them included, then its end. */
struct sheet_sink {
	void (*text)(void *arg, bool heading, const char *text, const char *link);
	void (*end)(void *arg);
	void *arg;
};
/* Both empty it for another use. */
void sheet_give(struct sheet *sheet, int width, const struct sheet_sink *sink);
void sheet_print(struct sheet *sheet, int width, FILE *out);

#endif
