/* SPDX-License-Identifier: MIT */
/* Aligned tables of text. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/grid.h"
#include "tui/labels.h"
#include "tui/sheet.h"

#define INDENT 2			/* of rows below their section's name */
#define GAP 2				/* between columns */

char *sheet_clean(char *out, size_t size, const char *text)
{
	size_t used = 0;

	while (*text) {
		uint32_t ch = text_next(&text);
		char bytes[5];
		int length;

		if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
			ch = '?';
		length = text_encode(ch, bytes);
		if (length <= 0 || used + (size_t)length + 1 > size)
			break;
		memcpy(out + used, bytes, (size_t)length);
		used += (size_t)length;
	}
	out[used] = '\0';
	return out;
}

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
	sheet->cells[sheet->count++] = xstrdup(sheet_clean(clean, sizeof(clean), raw));
}

static int indent(size_t column)
{
	return column ? GAP : INDENT;
}

static void measure(struct sheet *sheet, int width)
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

static void pad(struct strbuf *line, int columns)
{
	for (int i = 0; i < columns; i++)
		strbuf_addc(line, ' ');
}

static void add_cell(struct strbuf *line, const struct sheet *sheet, size_t column,
		     const char *text, int width)
{
	char fitted[LABEL_MAX];
	int free_columns;

	if (text_width(text) > width) {
		label_shorten(fitted, sizeof(fitted), text, width, false);
		text = fitted;
	}
	free_columns = width - text_width(text);
	if (sheet->column[column].align == SHEET_RIGHT)
		pad(line, free_columns);
	strbuf_adds(line, text);
	if (sheet->column[column].align == SHEET_LEFT)
		pad(line, free_columns);
}

static void print_line(struct strbuf *line, FILE *out)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->data[--line->length] = '\0';
	fprintf(out, "%s\n", line->data);
	strbuf_reset(line);
}

void sheet_print(struct sheet *sheet, int width, FILE *out)
{
	struct strbuf line;

	measure(sheet, width);
	strbuf_init(&line);
	for (size_t i = 0; i < sheet->columns; i++) {
		const char *title = sheet->column[i].title ? sheet->column[i].title : "";
		int own = sheet->column[i].width + (i ? 0 : INDENT);

		pad(&line, i ? GAP : 0);
		add_cell(&line, sheet, i, title, own);
	}
	print_line(&line, out);
	for (size_t k = 0; k < sheet->count; k++) {
		size_t i = k % sheet->columns;

		pad(&line, indent(i));
		add_cell(&line, sheet, i, sheet->cells[k], sheet->column[i].width);
		if (i + 1 == sheet->columns)
			print_line(&line, out);
		free(sheet->cells[k]);
	}
	if (sheet->more)
		fprintf(out, "  … %zu more\n", sheet->more);
	strbuf_release(&line);
	free(sheet->cells);
	memset(sheet, 0, sizeof(*sheet));
}
