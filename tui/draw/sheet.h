/* SPDX-License-Identifier: MIT */
/*
 * A table of text whose columns are as wide as their contents, for the report. The title of the
 * first column is the section's name.
 *
 * Always true: no line is wider than the sheet's width (columns marked flex are narrowed, and
 * labels.h shortens names), lines end without blanks, and control characters become '?'. Threads:
 * none of its own.
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
		const char *title;	/* borrowed; NULL: it has no title */
		enum sheet_align align;
		int flex;	/* smallest width if space is short; 0: the width is fixed */
		int width;
	} column[SHEET_COLUMNS_MAX];
	char **cells;			/* owned, row by row */
	size_t count, cap;
	char **links;			/* owned; one for each cell, NULL: none */
	size_t cap_links;
	size_t more;			/* rows that were left out: "... 41 more" */
};

void sheet_column(struct sheet *sheet, const char *title, enum sheet_align align, int flex);
/* Adds a cell, from left to right, row by row. */
void sheet_cell(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes the last cell a link to the page that `command` makes for a name; used by pages, ignored by
 * print. */
void sheet_link(struct sheet *sheet, const char *command, const char *name);

/* Receives the texts of a line one by one, including the blanks between them, and then its end. */
struct sheet_sink {
	void (*text)(void *arg, bool heading, const char *text, const char *link);
	void (*end)(void *arg);
	void *arg;
};
/* Both empty the sheet, so that it can be used again. */
void sheet_give(struct sheet *sheet, int width, const struct sheet_sink *sink);
void sheet_print(struct sheet *sheet, int width, FILE *out);

#endif
