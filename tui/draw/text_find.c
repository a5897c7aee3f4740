/* SPDX-License-Identifier: MIT */
#include "tui/draw/text_find.h"

#include <stdio.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"

bool text_find_set(struct text_find *find, const char *text, char *error, size_t error_size)
{
	regex_t regex;

	if (strlen(text) >= TEXT_FIND_MAX) {
		snprintf(error, error_size, "the text to find is too long: at most %u bytes",
			 TEXT_FIND_MAX - 1);
		return false;
	}
	if (!regex_make(&regex, text, REGEX_PLACES, error, error_size))
		return false;
	text_find_release(find);
	find->regex = regex;
	snprintf(find->text, sizeof(find->text), "%s", text);
	return true;
}

void text_find_release(struct text_find *find)
{
	if (*find->text)
		regfree(&find->regex);
	memset(find, 0, sizeof(*find));
}

bool text_find_in(const struct text_find *find, const char *text)
{
	return *find->text && !regexec(&find->regex, text, 0, NULL, 0);
}

static bool matches(const struct text_find *find, const struct text_lines *lines, size_t line,
		    struct strbuf *text)
{
	strbuf_reset(text);
	lines->line(lines->arg, line, text);
	return text_find_in(find, text->data);
}

/* Whether a match in that line is one that the search step wants, before it wraps around. */
static bool is_wanted(const struct text_lines *lines, enum text_step step, size_t line)
{
	return step == TEXT_PREV ? line < lines->at : step == TEXT_NEXT ? line > lines->at
									 : line >= lines->at;
}

bool text_find_step(struct text_find *find, const struct text_lines *lines, enum text_step step,
		    size_t *line, char *said, size_t size)
{
	size_t total = 0, number = 0, first = 0, last = 0;
	bool found = false;
	struct strbuf text;

	if (!*find->text) {
		snprintf(said, size, "nothing to find yet: use find REGEX");
		return false;
	}
	strbuf_init(&text);
	for (size_t i = 0; i < lines->count; i++) {
		if (!matches(find, lines, i, &text))
			continue;
		if (!total++)
			first = i;
		last = i;
		/* backwards the last match counts, else the first one */
		if (is_wanted(lines, step, i) && (!found || step == TEXT_PREV)) {
			found = true;
			number = total;
			*line = i;
		}
	}
	strbuf_release(&text);
	find->shown = total > 0;
	if (!total) {
		snprintf(said, size, "nothing here matches '%s'", find->text);
		return false;
	}
	if (!found) {
		*line = step == TEXT_PREV ? last : first;
		number = step == TEXT_PREV ? total : 1;
	}
	snprintf(said, size, "/%s/ %zu of %zu%s", find->text, number, total,
		 found		     ? ""
		 : step == TEXT_PREV ? ", continued from the end"
				     : ", continued from the start");
	return true;
}

/* ---- marks ---- */

#define ROW_MAX 2048			/* most columns of a line that are searched */

/* Copies one line of the screen as text; starts[i] is the column of byte i. */
static size_t row_text(struct area area, int y, char *text, short *starts)
{
	const struct cell *cells =
		area.grid->cells + (size_t)(area.y + y) * (size_t)area.grid->width;
	size_t length = 0;

	for (int x = 0; x < area.width && x < ROW_MAX; x++) {
		uint32_t ch = cells[area.x + x].ch;
		char bytes[5];
		int size = ch ? text_encode(ch, bytes) : 0;

		for (int i = 0; i < size; i++) {
			starts[length] = (short)x;
			text[length++] = bytes[i];
		}
	}
	text[length] = '\0';
	starts[length] = (short)(area.width < ROW_MAX ? area.width : ROW_MAX);
	return length;
}

static void mark_row(const struct text_find *find, struct area area, int y)
{
	static char text[ROW_MAX * 4 + 1];
	static short starts[ROW_MAX * 4 + 1];
	size_t length = row_text(area, y, text, starts), at = 0;
	regmatch_t match;

	while (at < length && !regexec(&find->regex, text + at, 1, &match, at ? REG_NOTBOL : 0)) {
		int from = starts[at + (size_t)match.rm_so], to = starts[at + (size_t)match.rm_eo];

		/* underlined as well, because reversing a reversed line would show nothing */
		if (match.rm_eo > match.rm_so)
			area_tint(area, from, y, to - from, ROLE_MATCH, ATTR_BOLD | ATTR_UNDERLINE);
		at += match.rm_eo > 0 ? (size_t)match.rm_eo : 1;
	}
}

void text_find_mark(const struct text_find *find, struct area area)
{
	if (!find->shown)
		return;
	if (area.x + area.width > area.grid->width)
		area.width = area.grid->width - area.x;
	for (int y = 0; y < area.height && area.y + y < area.grid->height; y++)
		mark_row(find, area, y);
}
