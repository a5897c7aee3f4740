/* SPDX-License-Identifier: MIT */
/* Any text drawn anywhere stays inside its area and leaves no half of a wide code point; any edits
 * leave the prompt valid. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/fuzz/fuzz.h"
#include "tui/draw/grid.h"
#include "tui/prompt/prompt.h"

static void run(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, strnlen((const char *)data, size));
	struct prompt prompt = {0};
	struct grid grid;
	struct area area;
	size_t i;
	int x, y;

	grid_init(&grid, 20, 3);
	area_fill(grid_area(&grid), 0, 0, 20, 3, 'x', ROLE_MUTED, ROLE_DEFAULT, 0);
	area = area_sub(grid_area(&grid), 3, 1, 11, 1);
	area_text(area, size ? data[0] % 13 - 1 : 0, 0, ROLE_TITLE, 0, text);
	area_right(area, 9, 0, ROLE_TITLE, 0, text);
	for (y = 0; y < 3; y++)
		for (x = 0; x < 20; x++) {
			const struct cell *cell = &grid.cells[y * 20 + x];

			FUZZ_CHECK((y == 1 && x >= 3 && x < 14) || cell->ch == 'x');
			if (cell->ch == 0)
				FUZZ_CHECK(x > 0 && text_columns(cell[-1].ch) == 2);
			else if (text_columns(cell->ch) == 2)
				FUZZ_CHECK(x < 19 && cell[1].ch == 0);
		}
	prompt_open(&prompt, text);
	for (i = 0; i < size && i < 64; i++) {
		prompt_edit(&prompt, (enum command_id)(COMMAND_ID_CHAR_LEFT + data[i] % 11));
		prompt_insert(&prompt, data[i] * 37u);
		FUZZ_CHECK(prompt.cursor <= prompt.length && prompt.length < PROMPT_MAX);
		FUZZ_CHECK(prompt.text[prompt.length] == '\0' &&
			   strlen(prompt.text) == prompt.length);
		FUZZ_CHECK(((unsigned char)prompt.text[prompt.cursor] & 0xc0) != 0x80);
	}
	prompt_draw(&prompt, area);
	grid_release(&grid);
	free(text);
}

FUZZ_TARGET("text", run);
