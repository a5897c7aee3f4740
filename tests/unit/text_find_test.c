/* SPDX-License-Identifier: MIT */
/* Looking for text in lines, against counting by hand. */
#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/draw/text_find.h"

static void line_of(void *arg, size_t line, struct strbuf *out)
{
	strbuf_adds(out, ((const char *const *)arg)[line]);
}

TEST(text_find_steps_as_counted_by_hand)
{
	const char *text[12];
	char error[200], said[300], want[300];
	struct text_find find = {.text = ""};

	CHECK(text_find_set(&find, "a", error, sizeof(error)));
	for (int round = 0; round < 3000; round++) {
		struct text_lines lines = {.count = test_below(13), .line = line_of, .arg = text};
		enum text_step step = (enum text_step)test_below(3);
		size_t total = 0, number = 0, line = 99, at;
		bool around = false, good;

		for (size_t i = 0; i < lines.count; i++) {
			text[i] = test_below(3) ? "b" : test_below(2) ? "xA" : "a";
			total += text[i][0] != 'b';
		}
		lines.at = test_below(lines.count + 1);
		/* walk by hand: one line at a time, from the cursor on */
		at = lines.at;
		for (size_t k = 0; total && k <= lines.count + 1; k++) {
			if ((k || step == TEXT_HERE) && at < lines.count && text[at][0] != 'b')
				break;
			if (step == TEXT_PREV)
				around |= !at, at = at ? at - 1 : lines.count - 1;
			else
				around |= at + 1 >= lines.count,
					at = at + 1 >= lines.count ? 0 : at + 1;
		}
		for (size_t i = 0; total && i <= at; i++)
			number += text[i][0] != 'b';
		good = text_find_step(&find, &lines, step, &line, said, sizeof(said));
		CHECK(good == (total > 0) && find.shown == good);
		if (!good)
			continue;
		CHECK_INT(line, at);
		snprintf(want, sizeof(want), "/a/ %zu of %zu%s", number, total, !around ? "" :
			 step == TEXT_PREV ? ", continued from the end"
					   : ", continued from the start");
		CHECK_STR(said, want);
	}
	text_find_release(&find);
}

TEST(text_find_marks_what_is_seen)
{
	struct text_find find = {.text = ""};
	struct grid grid;
	char error[200];

	CHECK(!text_find_set(&find, "(", error, sizeof(error)));
	CHECK(strstr(error, "not a regular expression: '('"));
	grid_init(&grid, 12, 2);
	area_text(grid_area(&grid), 0, 0, ROLE_DEFAULT, 0, "x日本 conv c");
	CHECK(text_find_set(&find, "本|c.nv", error, sizeof(error)));
	text_find_mark(&find, grid_area(&grid));
	CHECK(grid.cells[3].bg != ROLE_MATCH);		/* not asked for yet */
	find.shown = true;
	text_find_mark(&find, grid_area(&grid));
	for (int x = 0; x < 12; x++)
		CHECK((grid.cells[x].bg == ROLE_MATCH) ==
		      ((x >= 3 && x < 5) || (x >= 6 && x < 10)));
	/* empty matches are none, and come to an end */
	CHECK(text_find_set(&find, "z*", error, sizeof(error)));
	find.shown = true;
	text_find_mark(&find, grid_area(&grid));
	text_find_mark(&find, area_sub(grid_area(&grid), 11, 1, 5, 5));
	grid_release(&grid);
	text_find_release(&find);
}
