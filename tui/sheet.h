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
	size_t more;			/* rows left out: "... 41 more" */
};

void sheet_column(struct sheet *sheet, const char *title, enum sheet_align align, int flex);
/* The next cell, left to right, row by row. */
void sheet_cell(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints and empties it for another use. */
void sheet_print(struct sheet *sheet, int width, FILE *out);

/* Text without control characters, in at most size bytes. */
char *sheet_clean(char *out, size_t size, const char *text);

#endif
