/* SPDX-License-Identifier: MIT */
/* The line that is typed. */
#include <string.h>

#include "tests/unit/test.h"
#include "tui/prompt/prompt.h"

static bool is(const struct prompt *prompt, const char *text, size_t cursor)
{
	return strcmp(prompt->text, text) == 0 && prompt->length == strlen(text) &&
	       prompt->cursor == cursor;
}

TEST(prompt_edits_code_points)
{
	struct prompt p = {.open = false};

	prompt_open(&p, "aé日");
	CHECK(p.open && is(&p, "aé日", 6));
	prompt_edit(&p, COMMAND_ID_CHAR_LEFT);
	CHECK(p.cursor == 3);
	prompt_edit(&p, COMMAND_ID_RUBOUT);
	CHECK(is(&p, "a日", 1));
	prompt_insert(&p, 'x');
	CHECK(is(&p, "ax日", 2));
	prompt_edit(&p, COMMAND_ID_DELETE_CHAR);
	CHECK(is(&p, "ax", 2));
	prompt_edit(&p, COMMAND_ID_DELETE_CHAR);
	prompt_edit(&p, COMMAND_ID_CHAR_RIGHT);
	CHECK(is(&p, "ax", 2));
	prompt_edit(&p, COMMAND_ID_LINE_START);
	prompt_edit(&p, COMMAND_ID_CHAR_LEFT);
	prompt_edit(&p, COMMAND_ID_RUBOUT);
	CHECK(is(&p, "ax", 0) && p.open);
	prompt_edit(&p, COMMAND_ID_KILL_LINE);
	CHECK(is(&p, "", 0));
	prompt_edit(&p, COMMAND_ID_RUBOUT);
	CHECK(!p.open);
}

TEST(prompt_edits_words)
{
	struct prompt p = {.open = false};

	prompt_open(&p, "set split = 40");
	prompt_edit(&p, COMMAND_ID_WORD_LEFT);
	CHECK(p.cursor == 12);
	prompt_edit(&p, COMMAND_ID_RUBOUT_WORD);
	CHECK(is(&p, "set split 40", 10));
	prompt_edit(&p, COMMAND_ID_WORD_RIGHT);
	CHECK(p.cursor == 12);
	prompt_edit(&p, COMMAND_ID_WORD_LEFT);
	prompt_edit(&p, COMMAND_ID_KILL_START);
	CHECK(is(&p, "40", 0));
	prompt_edit(&p, COMMAND_ID_LINE_END);
	CHECK(p.cursor == 2);
}

TEST(prompt_takes_no_controls_and_no_more_than_fits)
{
	struct prompt p = {.open = false};
	int i;

	prompt_open(&p, "");
	prompt_insert(&p, 7);
	prompt_insert(&p, 0x9b);
	CHECK(is(&p, "", 0));
	for (i = 0; i < PROMPT_MAX; i++)
		prompt_insert(&p, 0x65e5);
	CHECK(p.length < PROMPT_MAX && p.length % 3 == 0 && p.length == strlen(p.text));
}

TEST(prompt_scrolls_so_that_the_cursor_is_seen)
{
	struct prompt p = {.open = false};
	struct grid grid;
	int i;

	grid_init(&grid, 12, 1);
	prompt_open(&p, "abcdefghijklmnopqrstuvwxyz");
	prompt_draw(&p, grid_area(&grid));
	CHECK(grid.cursor_x >= 0 && grid.cursor_x < 12 && grid.cursor_y == 0);
	CHECK(grid.cells[0].ch == '<');
	CHECK(grid.cells[grid.cursor_x - 1].ch == 'z');
	for (i = 0; i < 26; i++) {
		prompt_edit(&p, COMMAND_ID_CHAR_LEFT);
		prompt_draw(&p, grid_area(&grid));
		CHECK(grid.cursor_x >= 1 && grid.cursor_x < 12);
		CHECK(grid.cells[grid.cursor_x].ch == (uint32_t)('z' - i));
	}
	CHECK(grid.cells[0].ch == ':' && grid.cursor_x == 1);
	grid_release(&grid);
	for (i = 0; i < 4; i++) {
		grid_init(&grid, i, 1);
		prompt_draw(&p, grid_area(&grid));
		grid_release(&grid);
	}
}
