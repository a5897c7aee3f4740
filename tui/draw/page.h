/* SPDX-License-Identifier: MIT */
/*
 * A page: text with roles and links, as a command makes it. Its maker knows
 * neither curses nor cells; the page pane draws it, `COMMAND > FILE` writes it,
 * tests read it.
 *
 * Always true: a line is parts one after the other, with no line break inside; a
 * link is a part with the command that it stands for. At most PAGE_LINES_MAX
 * lines; the last says so.
 *
 * Ownership: all text is the page's own. Thread: the loop's.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/draw/grid.h"

#define PAGE_LINES_MAX 100000u

struct page_part {
	size_t text;			/* place in page.texts, NUL-terminated */
	size_t command;			/* likewise, 0: no link */
	unsigned char role, attr;
	bool main;			/* of a line's links the one that Enter opens */
};

struct page_line {
	size_t first;			/* part; up to the next line's */
};

struct page {
	char *texts;			/* owned; [0] is "" */
	size_t n_texts, cap_texts;
	struct page_part *parts;	/* owned */
	size_t n_parts, cap_parts;
	struct page_line *lines;	/* owned; ended ones */
	size_t n_lines, cap_lines;
	size_t begin;			/* first part of the line that is being made */
	size_t show, above;		/* line the cursor is on at first, so many lines above it */
	size_t title; /* place in texts: what the heading calls it; 0: its command */
	size_t again;			/* place in texts: the command that makes it again, where
					 * what was typed may come to mean another; 0: that */
};

void page_init(struct page *page);
void page_release(struct page *page);

/* What the page is about, for the way one came: "kernel conv2d_fprop". */
void page_title(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A part of the line that is being made. A width in the format counts bytes: for what
 * fmt_time() and the like make, page_cell(). */
void page_add(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* A text to the right of so many columns of the screen, or, of -columns, to the left. */
void page_cell(struct page *page, enum role role, int columns, const char *text);
/* A link; the command's words are quoted as needed. */
void page_link(struct page *page, const char *text, int argc, const char *const *argv);
/* The link that was added last is what its line is about. */
void page_main(struct page *page);
void page_end(struct page *page);
/* What makes the same page again, whatever the screen shows by then. */
void page_remade_by(struct page *page, int argc, const char *const *argv);
/* A whole line of one part. */
void page_say(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct sheet;
/* A table's lines; the first is its heading. Empties the sheet. */
void page_sheet(struct page *page, struct sheet *sheet, int width);

static inline size_t page_line_end(const struct page *page, size_t line)
{
	return line + 1 < page->n_lines ? page->lines[line + 1].first : page->begin;
}

static inline const char *page_text(const struct page *page, size_t at)
{
	return page->texts + at;
}

/* How many links a line has, the command of one of them; NULL: no such. */
size_t page_links(const struct page *page, size_t line);
/* Which of them its line is about, else the first. */
size_t page_main_link(const struct page *page, size_t line);
const char *page_command(const struct page *page, size_t line, size_t link);
/* Columns of a line. */
int page_width(const struct page *page, size_t line);

void page_write(const struct page *page, FILE *out);

#endif
