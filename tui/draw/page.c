/* SPDX-License-Identifier: MIT */
#include "tui/draw/page.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/draw/sheet.h"

void page_init(struct page *page)
{
	memset(page, 0, sizeof(*page));
	grow(&page->texts, &page->cap_texts, 0, 1);
	page->texts[page->n_texts++] = '\0';
}

void page_release(struct page *page)
{
	free(page->texts);
	free(page->parts);
	free(page->lines);
	memset(page, 0, sizeof(*page));
}

static size_t page_keep_text(struct page *page, const char *text)
{
	size_t at = page->n_texts, n = strlen(text) + 1;

	while (page->n_texts + n > page->cap_texts) {
		page->cap_texts = page->cap_texts * 2 + 64;
		page->texts = xrealloc(page->texts, page->cap_texts);
	}
	memcpy(page->texts + at, text, n);
	for (char *p = page->texts + at; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	page->n_texts += n;
	return at;
}

static struct page_part *part(struct page *page, const char *text)
{
	struct page_part *made;
	size_t at = page_keep_text(page, text);

	grow(&page->parts, &page->cap_parts, page->n_parts, sizeof(*page->parts));
	made = &page->parts[page->n_parts++];
	*made = (struct page_part){ .text = at };
	return made;
}

static void add(struct page *page, enum role role, unsigned attr, const char *format, va_list args)
{
	struct strbuf text;
	struct page_part *made;

	strbuf_init(&text);
	strbuf_vaddf(&text, format, args);
	made = part(page, text.data);
	made->role = (unsigned char)role;
	made->attr = (unsigned char)attr;
	strbuf_release(&text);
}

void page_add(struct page *page, enum role role, unsigned attr, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(page, role, attr, format, args);
	va_end(args);
}

void page_cell(struct page *page, enum role role, int columns, const char *text)
{
	int hidden = (int)strlen(text) - text_width(text);

	page_add(page, role, 0, "%*s", columns < 0 ? columns - hidden : columns + hidden, text);
}

void page_link(struct page *page, const char *text, int argc, const char *const *argv)
{
	char *command = words_join(argc, argv);
	struct page_part *made = part(page, text);
	size_t at = page_keep_text(page, command);

	made->command = at;
	made->role = ROLE_TITLE;
	made->attr = ATTR_UNDERLINE;
	free(command);
}

void page_role(struct page *page, enum role role)
{
	page->parts[page->n_parts - 1].role = (unsigned char)role;
}

void page_main(struct page *page)
{
	page->parts[page->n_parts - 1].main = true;
}

void page_remade_by(struct page *page, int argc, const char *const *argv)
{
	char *command = words_join(argc, argv);

	page->again = page_keep_text(page, command);
	free(command);
}

void page_end(struct page *page)
{
	if (page->n_lines >= PAGE_LINES_MAX) {
		page->n_parts = page->begin;
		return;
	}
	if (page->n_lines == PAGE_LINES_MAX - 1) {
		page->n_parts = page->begin;
		page_add(page, ROLE_WARN, 0, "... more than %u lines", PAGE_LINES_MAX);
	}
	grow(&page->lines, &page->cap_lines, page->n_lines, sizeof(*page->lines));
	page->lines[page->n_lines++].first = page->begin;
	page->begin = page->n_parts;
}

void page_say(struct page *page, enum role role, unsigned attr, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(page, role, attr, format, args);
	va_end(args);
	page_end(page);
}

void page_title(struct page *page, const char *format, ...)
{
	struct strbuf text;
	va_list args;

	strbuf_init(&text);
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	page->title = page_keep_text(page, text.data);
	strbuf_release(&text);
}

size_t page_links(const struct page *page, size_t line)
{
	size_t n = 0;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
		n += page->parts[i].command != 0;
	return n;
}

size_t page_main_link(const struct page *page, size_t line)
{
	size_t n = 0;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++) {
		if (page->parts[i].command && page->parts[i].main)
			return n;
		n += page->parts[i].command != 0;
	}
	return 0;
}

const char *page_command(const struct page *page, size_t line, size_t link)
{
	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
		if (page->parts[i].command && !link--)
			return page_text(page, page->parts[i].command);
	return NULL;
}

int page_link_begin(const struct page *page, size_t line, size_t link, int *width)
{
	int begin = 0;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++) {
		*width = text_width(page_text(page, page->parts[i].text));
		if (page->parts[i].command && !link--)
			break;
		begin += *width;
	}
	return begin;
}

size_t page_link_near(const struct page *page, size_t line, int column)
{
	size_t n = page_links(page, line), near = 0;
	int width, least = INT_MAX;

	for (size_t k = 0; k < n; k++) {
		int begin = page_link_begin(page, line, k, &width);
		int away = begin <= column && column < begin + width ? -1 : abs(begin - column);

		if (away < least) {
			least = away;
			near = k;
		}
	}
	return near;
}

int page_width(const struct page *page, size_t line)
{
	int width = 0;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
		width += text_width(page_text(page, page->parts[i].text));
	return width;
}

static struct page_part *link_part(struct page *page, const char *text, const char *command)
{
	struct page_part *made = part(page, text);
	size_t at = page_keep_text(page, command);

	made->command = at;
	made->role = ROLE_TITLE;
	made->attr = ATTR_UNDERLINE;
	return made;
}

static void sheet_text(void *arg, bool heading, const char *text, const char *link)
{
	if (link)
		link_part(arg, text, link);
	else
		page_add(arg, heading ? ROLE_COLUMN : ROLE_DEFAULT, 0, "%s", text);
}

static void sheet_end(void *arg)
{
	page_end(arg);
}

void page_sheet(struct page *page, struct sheet *sheet, int width)
{
	if (!sheet->count) {
		memset(sheet, 0, sizeof(*sheet));
		return;
	}
	sheet_give(sheet, width, &(struct sheet_sink) { sheet_text, sheet_end, page });
}

void page_write(const struct page *page, FILE *out)
{
	for (size_t line = 0; line < page->n_lines; line++) {
		for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
			fputs(page_text(page, page->parts[i].text), out);
		putc('\n', out);
	}
}
