/* SPDX-License-Identifier: MIT */
#include "tui/prompt.h"

#include <string.h>

void prompt_open(struct prompt *prompt, const char *text)
{
	memset(prompt, 0, sizeof(*prompt));
	prompt->open = true;
	while (*text)
		prompt_insert(prompt, text_next(&text));
}

void prompt_close(struct prompt *prompt)
{
	prompt->open = false;
}

void prompt_insert(struct prompt *prompt, uint32_t ch)
{
	char bytes[5];
	size_t size = (size_t)text_encode(ch, bytes);

	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || prompt->length + size >= PROMPT_MAX)
		return;
	memmove(prompt->text + prompt->cursor + size, prompt->text + prompt->cursor,
		prompt->length - prompt->cursor + 1);
	memcpy(prompt->text + prompt->cursor, bytes, size);
	prompt->cursor += size;
	prompt->length += size;
}

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t before(const struct prompt *prompt, size_t at)
{
	while (at > 0 && continues(prompt->text[--at]))
		;
	return at;
}

static size_t after(const struct prompt *prompt, size_t at)
{
	if (at < prompt->length)
		at++;
	while (at < prompt->length && continues(prompt->text[at]))
		at++;
	return at;
}

static size_t word_before(const struct prompt *prompt, size_t at)
{
	while (at > 0 && prompt->text[at - 1] == ' ')
		at--;
	while (at > 0 && prompt->text[at - 1] != ' ')
		at--;
	return at;
}

static size_t word_after(const struct prompt *prompt, size_t at)
{
	while (at < prompt->length && prompt->text[at] == ' ')
		at++;
	while (at < prompt->length && prompt->text[at] != ' ')
		at++;
	return at;
}

static void delete(struct prompt *prompt, size_t from, size_t to)
{
	memmove(prompt->text + from, prompt->text + to, prompt->length - to + 1);
	prompt->length -= to - from;
	prompt->cursor = from;
}

void prompt_edit(struct prompt *prompt, enum command_id command)
{
	size_t at = prompt->cursor;

	switch (command) {
	case COMMAND_ID_CHAR_LEFT: prompt->cursor = before(prompt, at); break;
	case COMMAND_ID_CHAR_RIGHT: prompt->cursor = after(prompt, at); break;
	case COMMAND_ID_WORD_LEFT: prompt->cursor = word_before(prompt, at); break;
	case COMMAND_ID_WORD_RIGHT: prompt->cursor = word_after(prompt, at); break;
	case COMMAND_ID_LINE_START: prompt->cursor = 0; break;
	case COMMAND_ID_LINE_END: prompt->cursor = prompt->length; break;
	case COMMAND_ID_RUBOUT:
		if (!prompt->length)
			prompt_close(prompt);
		else
			delete(prompt, before(prompt, at), at);
		break;
	case COMMAND_ID_DELETE_CHAR: delete(prompt, at, after(prompt, at)); break;
	case COMMAND_ID_RUBOUT_WORD: delete(prompt, word_before(prompt, at), at); break;
	case COMMAND_ID_KILL_LINE: delete(prompt, at, prompt->length); break;
	case COMMAND_ID_KILL_START: delete(prompt, 0, at); break;
	default: break;
	}
}

/* Columns of the code points from number `first` to byte `end`. */
static int columns_between(const struct prompt *prompt, int first, size_t end)
{
	const char *p = prompt->text;
	int columns = 0;

	while (p < prompt->text + end) {
		uint32_t ch = text_next(&p);

		if (first-- <= 0)
			columns += text_columns(ch);
	}
	return columns;
}

void prompt_draw(struct prompt *prompt, struct area area)
{
	const char *p = prompt->text;
	int x = 1, i;

	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_PROMPT, ROLE_DEFAULT, 0);
	/* the least scrolling that leaves the cursor on the line */
	prompt->first = 0;
	while (area.width > 2 &&
	       columns_between(prompt, prompt->first, prompt->cursor) > area.width - 2)
		prompt->first++;
	area_put(area, 0, 0, prompt->first ? '<' : ':', ROLE_PROMPT, ROLE_DEFAULT, ATTR_BOLD);
	for (i = 0; i < prompt->first && *p; i++)
		text_next(&p);
	area_text(area, x, 0, ROLE_PROMPT, 0, p);
	x += columns_between(prompt, prompt->first, prompt->cursor);
	if (x < area.width) {
		area.grid->cursor_x = area.x + x;
		area.grid->cursor_y = area.y;
	}
}
