/* SPDX-License-Identifier: MIT */
/* Aligned tables of text. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/base/text.h"
#include "tui/draw/labels.h"
#include "tui/draw/sheet.h"

#define INDENT 2			/* columns, of rows below the name of their section */
#define GAP 2				/* between columns */

void sheet_column(struct sheet *sheet, const char *title, enum sheet_align align, int flex)
{
	size_t i = sheet->columns;

	if (i == SHEET_COLUMNS_MAX)
		return;
	sheet->column[i].title = title;
	sheet->column[i].align = align;
	sheet->column[i].flex = flex;
	sheet->column[i].width = 0;
	sheet->columns++;
}

void sheet_cell(struct sheet *sheet, const char *format, ...)
{
	char raw[LABEL_MAX * 2], clean[LABEL_MAX * 2];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	grow(&sheet->cells, &sheet->cap, sheet->count, sizeof(*sheet->cells));
	grow(&sheet->links, &sheet->cap_links, sheet->count, sizeof(*sheet->links));
	sheet->links[sheet->count] = NULL;
	sheet->cells[sheet->count++] = xstrdup(text_clean(clean, sizeof(clean), raw));
}

void sheet_link(struct sheet *sheet, const char *command, const char *name)
{
	const char *argv[] = { command, name };
	char **link = &sheet->links[sheet->count - 1];

	free(*link);
	*link = words_join(2, argv);
}

static int indent(size_t column)
{
	return column ? GAP : INDENT;
}

static void sheet_measure(struct sheet *sheet, int width)
{
	int total = 0;

	for (size_t i = 0; i < sheet->columns; i++) {
		const char *title = sheet->column[i].title;
		int widest = title ? text_width(title) - (i ? 0 : INDENT) : 0;

		for (size_t k = i; k < sheet->count; k += sheet->columns)
			if (text_width(sheet->cells[k]) > widest)
				widest = text_width(sheet->cells[k]);
		sheet->column[i].width = widest;
		total += indent(i) + widest;
	}
	for (size_t i = sheet->columns; i-- && total > width; ) {
		int give = sheet->column[i].width - sheet->column[i].flex;

		if (!sheet->column[i].flex || give <= 0)
			continue;
		if (give > total - width)
			give = total - width;
		sheet->column[i].width -= give;
		total -= give;
	}
}

/* A line that is being written; blanks at its end are left out. */
struct giving {
	const struct sheet_sink *sink;
	bool heading;
	int blanks;
};

static void sheet_give_text(struct giving *g, const char *text, const char *link)
{
	char blanks[64];

	if (!*text)
		return;
	for (; g->blanks > 0; g->blanks -= (int)sizeof(blanks) - 1) {
		snprintf(blanks, sizeof(blanks), "%*s", g->blanks < (int)sizeof(blanks) ?
			 g->blanks : (int)sizeof(blanks) - 1, "");
		g->sink->text(g->sink->arg, g->heading, blanks, NULL);
	}
	g->blanks = 0;
	g->sink->text(g->sink->arg, g->heading, text, link);
}

static void give_cell(struct giving *g, const struct sheet *sheet, size_t column,
		      const char *text, const char *link, int width)
{
	char fitted[LABEL_MAX];
	int free_columns;

	if (text_width(text) > width) {
		/* names of kernels in C may differ at their ends only; rows must not look alike */
		(strpbrk(text, " /(:") ? label_shorten : label_fit_middle)(fitted, sizeof(fitted),
									text, width, false);
		text = fitted;
	}
	free_columns = width - text_width(text);
	if (sheet->column[column].align == SHEET_RIGHT)
		g->blanks += free_columns;
	sheet_give_text(g, text, link);
	if (sheet->column[column].align == SHEET_LEFT)
		g->blanks += free_columns;
}

static void end_line(struct giving *g)
{
	g->sink->end(g->sink->arg);
	g->blanks = 0;
	g->heading = false;
}

void sheet_give(struct sheet *sheet, int width, const struct sheet_sink *sink)
{
	struct giving g = { .sink = sink, .heading = true };
	char more[48];

	sheet_measure(sheet, width);
	for (size_t i = 0; i < sheet->columns; i++) {
		const char *title = sheet->column[i].title ? sheet->column[i].title : "";

		g.blanks += i ? GAP : 0;
		give_cell(&g, sheet, i, title, NULL, sheet->column[i].width + (i ? 0 : INDENT));
	}
	end_line(&g);
	for (size_t k = 0; k < sheet->count; k++) {
		size_t i = k % sheet->columns;

		g.blanks += indent(i);
		give_cell(&g, sheet, i, sheet->cells[k], sheet->links[k], sheet->column[i].width);
		if (i + 1 == sheet->columns)
			end_line(&g);
		free(sheet->cells[k]);
		free(sheet->links[k]);
	}
	if (sheet->more) {
		snprintf(more, sizeof(more), "  … %zu more", sheet->more);
		sheet_give_text(&g, more, NULL);
		end_line(&g);
	}
	free(sheet->cells);
	free(sheet->links);
	memset(sheet, 0, sizeof(*sheet));
}

static void print_text(void *arg, bool heading, const char *text, const char *link)
{
	(void)heading;
	(void)link;
	fputs(text, arg);
}

static void print_end(void *arg)
{
	putc('\n', arg);
}

void sheet_print(struct sheet *sheet, int width, FILE *out)
{
	sheet_give(sheet, width, &(struct sheet_sink) { print_text, print_end, out });
}
