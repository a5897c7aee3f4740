/* SPDX-License-Identifier: MIT */
/*
 * A page: text with roles and links, as a command makes it. Its maker knows neither curses nor
 * cells; the page pane draws it, `COMMAND > FILE` writes it, tests read it.
 *
 * Always true: a line consists of consecutive parts without a line break inside; a link is a part
 * with the command that it runs. A page has at most PAGE_LINES_MAX lines; if lines are missing, the
 * last one says so.
 *
 * Ownership: all text belongs to the page. Thread: the loop's.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tui/draw/grid.h"

#define PAGE_LINES_MAX 100000u

struct page_part {
	size_t text;			/* offset in page.texts, NUL-terminated */
	size_t command;			/* the same; 0: it is not a link */
	unsigned char role, attr;
	bool main;			/* the link of the line that Enter opens */
};

struct page_line {
	size_t first;	/* index of the first part; the line ends where the next one starts */
};

struct page {
	char *texts;			/* owned; [0] is "" */
	size_t n_texts, cap_texts;
	struct page_part *parts;	/* owned */
	size_t n_parts, cap_parts;
	struct page_line *lines;	/* owned; finished lines */
	size_t n_lines, cap_lines;
	size_t begin;			/* first part of the line that is being made */
	/* the line on which the cursor is at first, and how many lines are shown above it */
	size_t show, above;
	size_t title; /* offset in texts of the heading; 0: the heading is its command */
	/* offset in texts of the command that makes the page again, if what was typed may later
	 * mean something else; 0: the typed command */
	size_t again;
};

void page_init(struct page *page);
void page_release(struct page *page);

/* Sets what the page is about, which is shown in the trail of pages, such as "kernel
 * conv2d_fprop". */
void page_title(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a part to the line that is being made. A width in the format counts bytes: for the results
 * of fmt_time() and the like use page_cell(). */
void page_add(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds a text that is right-aligned in this many columns of the screen; negative: left-aligned. */
void page_cell(struct page *page, enum role role, int columns, const char *text);
/* Adds a link; the words of the command are quoted as needed. */
void page_link(struct page *page, const char *text, int argc, const char *const *argv);
/* Gives the part that was added last another role. */
void page_role(struct page *page, enum role role);
/* Makes the link that was added last the main link of its line. */
void page_main(struct page *page);
void page_end(struct page *page);
/* Sets the command that makes the same page again, whatever the screen shows by then. */
void page_remade_by(struct page *page, int argc, const char *const *argv);
/* Adds a whole line that consists of one part. */
void page_say(struct page *page, enum role role, unsigned attr, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct sheet;
/* Adds the lines of a table, the first of which is its heading. Empties the sheet. */
void page_sheet(struct page *page, struct sheet *sheet, int width);

static inline size_t page_line_end(const struct page *page, size_t line)
{
	return line + 1 < page->n_lines ? page->lines[line + 1].first : page->begin;
}

static inline const char *page_text(const struct page *page, size_t at)
{
	return page->texts + at;
}

/* How many links a line has; the command of one of them, NULL: there is no such link. */
size_t page_links(const struct page *page, size_t line);
/* The index of the line's main link, or 0 if none is the main one. */
size_t page_main_link(const struct page *page, size_t line);
const char *page_command(const struct page *page, size_t line, size_t link);
/* The first column of a link that the line has; *width: its columns. */
int page_link_begin(const struct page *page, size_t line, size_t link, int *width);
/* The link of the line at that column, or that which begins nearest to it. */
size_t page_link_near(const struct page *page, size_t line, int column);
/* Width of a line in columns. */
int page_width(const struct page *page, size_t line);

void page_write(const struct page *page, FILE *out);

#endif
