/* SPDX-License-Identifier: MIT */
#include "tui/prompt/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/utf8.h"
#include "model/base/util.h"
#include "tui/draw/labels.h"

static void close_box(struct prompt *prompt)
{
	completion_release(&prompt->box);
	prompt->boxed = false;
	prompt->choice = -1;
}

/* The text was edited: candidates and recalled lines are reset. */
static void changed(struct prompt *prompt)
{
	close_box(prompt);
	prompt->recalling = false;
}

static void insert(struct prompt *prompt, uint32_t ch)
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

static void insert_text(struct prompt *prompt, const char *text)
{
	while (*text)
		insert(prompt, text_next(&text));
}

static void set_text(struct prompt *prompt, const char *text)
{
	prompt->text[0] = '\0';
	prompt->length = prompt->cursor = 0;
	insert_text(prompt, text);
}

void prompt_open(struct prompt *prompt, const char *text)
{
	close_box(prompt);
	memset(prompt, 0, sizeof(*prompt));	/* no text, nothing recalled */
	prompt->open = true;
	prompt->choice = -1;
	insert_text(prompt, text);
}

void prompt_close(struct prompt *prompt)
{
	changed(prompt);
	prompt->open = false;
}

void prompt_insert(struct prompt *prompt, uint32_t ch)
{
	changed(prompt);
	insert(prompt, ch);
}

static size_t before(const struct prompt *prompt, size_t at)
{
	while (at > 0 && utf8_continues(prompt->text[--at]))
		;
	return at;
}

static size_t after(const struct prompt *prompt, size_t at)
{
	if (at < prompt->length)
		at++;
	while (at < prompt->length && utf8_continues(prompt->text[at]))
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

	changed(prompt);
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

void prompt_place(struct prompt *prompt, size_t at)
{
	prompt->cursor = at < prompt->length ? at : prompt->length;
	while (prompt->cursor && utf8_continues(prompt->text[prompt->cursor]))
		prompt->cursor--;
}

/* ---- completion ---- */

static void keep_typed(struct prompt *prompt)
{
	memcpy(prompt->typed, prompt->text, sizeof(prompt->typed));
	prompt->typed_cursor = prompt->cursor;
}

static void as_typed(struct prompt *prompt)
{
	set_text(prompt, prompt->typed);
	prompt_place(prompt, prompt->typed_cursor);
}

bool prompt_unbox(struct prompt *prompt)
{
	if (!prompt->boxed)
		return false;
	if (prompt->choice >= 0)
		as_typed(prompt);
	changed(prompt);
	return true;
}

/* Replaces the word that the box is about. more: the word is not complete. */
static void put_word(struct prompt *prompt, const char *text, bool more)
{
	char *word = prompt->box.raw ? xstrdup(text) : complete_word(text, more);
	size_t length = strlen(word);

	if (prompt->length + length + 2 < PROMPT_MAX) {
		delete(prompt, prompt->box.from, prompt->box.to);
		insert_text(prompt, word);
		if (!more && prompt->text[prompt->cursor] != ' ')
			insert(prompt, ' ');
		else if (!more)
			prompt->cursor++;
	}
	free(word);
}

/* Chooses the next candidate; after the last one, the text as typed. */
static void choose(struct prompt *prompt, bool back)
{
	int n = (int)prompt->box.count;

	if (back)
		prompt->choice = prompt->choice < 0 ? n - 1 : prompt->choice - 1;
	else
		prompt->choice = prompt->choice + 1 < n ? prompt->choice + 1 : -1;
	as_typed(prompt);
	if (prompt->choice >= 0)
		put_word(prompt, prompt->box.list[prompt->choice].text, true);
}

void prompt_complete(struct prompt *prompt, const struct complete_ask *ask, bool back)
{
	struct completion *box = &prompt->box;

	if (prompt->boxed && box->count > 1) {
		choose(prompt, back);
		return;
	}
	changed(prompt);
	complete_line(ask, prompt->text, prompt->cursor, box);
	prompt->boxed = true;
	if (box->total == 1) {
		put_word(prompt, box->list[0].text, box->list[0].open);
		close_box(prompt);
		return;
	}
	/* the common beginning of all candidates, if it is longer than the word */
	if (box->total > 1 && strlen(box->common) > prompt->cursor - box->from) {
		put_word(prompt, box->common, true);
		box->to = prompt->cursor;
	}
	keep_typed(prompt);
}

/* ---- earlier lines ---- */

bool prompt_recall(struct prompt *prompt, const struct history *history, enum command_id command)
{
	bool older = command != COMMAND_ID_HISTORY_NEXT,
	     inside = command == COMMAND_ID_HISTORY_SEARCH;
	size_t from = prompt->recalling ? prompt->recalled : history->count, found;

	close_box(prompt);
	if (!prompt->recalling) {
		if (!older)
			return false;
		keep_typed(prompt);
	}
	found = history_find(history, from, older, prompt->typed,
			     inside ? strlen(prompt->typed) : prompt->typed_cursor, inside,
			     prompt->text);
	if (found < history->count) {
		prompt->recalling = true;
		prompt->recalled = found;
		set_text(prompt, history->lines[found]);
		return true;
	}
	if (!older) {
		prompt->recalling = false;
		as_typed(prompt);
	}
	return false;
}

/* ---- drawing ---- */

/* Columns from code point number `first` to byte `end`. */
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
	/* scrolls only as far as needed to keep the cursor in view */
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

#define BOX_LINES 10			/* lines of candidates, if the screen is high enough */

/* Draws the heading: the number of candidates, or why there are none. */
static void draw_box_head(const struct prompt *prompt, struct area area)
{
	const struct completion *box = &prompt->box;
	char count[FMT_MAX], first[FMT_MAX];

	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_HINT, ROLE_HINT, 0);
	if (!box->total && *box->usage)
		area_printf(area, 1, 0, ROLE_HINT, 0, "nothing to complete here; usage: %s",
			    box->usage);
	else if (!box->total)
		area_text(area, 1, 0, ROLE_HINT, 0, "nothing begins with this or contains it");
	else if (box->total > box->count)
		area_printf(area, 1, 0, ROLE_HINT, 0,
			    "the first %s of %s; type more to see the others",
			    fmt_count(first, box->count), fmt_count(count, box->total));
	else if (prompt->choice >= 0)
		area_printf(area, 1, 0, ROLE_HINT, 0,
			    "%d of %zu; Tab: next, S-Tab: previous, Esc: as typed",
			    prompt->choice + 1, box->count);
	else
		area_printf(area, 1, 0, ROLE_HINT, 0, "%zu candidates; Tab goes through them",
			    box->count);
}

void prompt_draw_box(const struct prompt *prompt, struct area area, bool ascii)
{
	const struct completion *box = &prompt->box;
	int lines = (int)box->count,
	    most = area.height / 3 < BOX_LINES ? area.height / 3 : BOX_LINES;
	char about[LABEL_MAX];
	int first = 0, name = 0, y;

	if (!prompt->boxed || area.height < 2)
		return;
	if (most < 1)
		most = 1;
	if (lines > most)
		lines = most;
	if (prompt->choice >= lines)
		first = prompt->choice - lines + 1;
	area = area_sub(area, 0, area.height - lines - 1, area.width, lines + 1);
	draw_box_head(prompt, area);
	for (y = 0; y < lines; y++) {
		int width = text_width(box->list[first + y].text);

		name = width > name ? width : name;
	}
	if (name > area.width * 2 / 3)
		name = area.width * 2 / 3;
	for (y = 0; y < lines; y++) {
		const struct candidate *candidate = &box->list[first + y];
		bool chosen = first + y == prompt->choice;

		area_fill(area, 0, y + 1, area.width, 1, ' ', ROLE_DEFAULT, ROLE_DEFAULT, 0);
		if (chosen)
			area_put(area, 0, y + 1, 0x25b9, ROLE_CURSOR, ROLE_DEFAULT, 0);
		area_text(area_sub(area, 1, y + 1, *candidate->about ? name : area.width - 1, 1), 0,
			  0, ROLE_TITLE, 0, candidate->text);
		label_fit_sentence(about, sizeof(about), candidate->about, area.width - name - 4,
				   ascii);
		area_text(area, name + 3, y + 1, ROLE_MUTED, 0, about);
		if (chosen)
			area_tint(area, 0, y + 1, area.width, ROLE_SELECTED, 0);
	}
}
