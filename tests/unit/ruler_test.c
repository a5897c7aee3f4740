/* SPDX-License-Identifier: MIT */
/* The ruler's steps, ticks and texts. */
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/ruler.h"
#include "tui/draw/window.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

TEST(ruler_steps_are_round)
{
	int64_t least, step;

	CHECK(ruler_step(1) == 1);
	CHECK(ruler_step(3) == 5);
	CHECK(ruler_step(12 * MS) == 20 * MS);
	CHECK(ruler_step(21 * SECOND) == 60 * SECOND || ruler_step(21 * SECOND) == 50 * SECOND);
	CHECK(ruler_step(51 * SECOND) == 60 * SECOND);
	CHECK(ruler_step(61 * SECOND) == 120 * SECOND);
	CHECK(ruler_step(25 * 3600 * SECOND) >= 25 * 3600 * SECOND);
	for (least = 1; least < INT64_MAX / 8; least += least / 3 + 1) {
		step = ruler_step(least);
		CHECK(step >= least && (least > 12 * 3600 * SECOND || step <= least * 3 ||
					least >= 20 * SECOND));
	}
}

/* Every zoom level of the window, some sizes: ticks are inside, at least
 * RULER_GAP apart, at multiples of the step, and their texts do not overlap. */
TEST(ruler_ticks_at_every_level)
{
	static const int widths[] = { 1, 2, 11, 12, 13, 44, 104, 138, 278 };
	struct ruler ruler;
	size_t i, w;
	int level;

	for (level = 0; level <= 84; level++)
		for (w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
			int64_t column = window_level_ns(level);
			int64_t base = 1234567890123456, t0 = base + 17 * column;

			ruler_layout(&ruler, t0, column, (size_t)widths[w], base);
			for (i = 0; i < ruler.count; i++) {
				const struct ruler_tick *tick = &ruler.ticks[i];

				CHECK(tick->column < (size_t)widths[w]);
				CHECK((tick->time_ns - base) % ruler.step_ns == 0);
				CHECK((tick->time_ns - t0) / column == (int64_t)tick->column);
				CHECK(strlen(tick->text) > 0 &&
				      strlen(tick->text) < RULER_TEXT - 1);
				if (i)
					CHECK(tick->column - tick[-1].column >= RULER_GAP);
			}
		}
}

TEST(ruler_first_tick_says_when_the_others_how_much_later)
{
	struct ruler ruler;

	ruler_layout(&ruler, 27800 * MS, MS, 104, 0);
	CHECK(ruler.step_ns == 20 * MS && ruler.count == 6);
	CHECK(ruler.ticks[0].column == 0);
	CHECK_STR(ruler.ticks[0].text, "27.800 s");
	CHECK_STR(ruler.ticks[1].text, "+20 ms");
	CHECK(ruler.ticks[1].column == 20);
	CHECK_STR(ruler.ticks[5].text, "+100 ms");
	ruler_layout(&ruler, 0, 20 * MS, 104, 0);
	CHECK(ruler.step_ns == 500 * MS && ruler.count == 5);
	CHECK_STR(ruler.ticks[1].text, "+500 ms");
	CHECK_STR(ruler.ticks[2].text, "+1 s");
	CHECK_STR(ruler.ticks[3].text, "+1.5 s");
}

TEST(ruler_times)
{
	static const struct { int64_t ns, step; const char *text; } cases[] = {
		{0, SECOND, "0 s"}, {27 * SECOND, SECOND, "27 s"},
		{27823214 * INT64_C(1000), 1000, "27.823214 s"},
		{27823214 * INT64_C(1000), 100000, "27.8232 s"},
		{61 * SECOND + 5 * MS, MS, "1:01.005"}, {3661 * SECOND, SECOND, "1:01:01"},
		{-1500 * MS, MS, "-1.500 s"}, {1, 1, "0.000000001 s"},
	};
	char text[RULER_TEXT];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ruler_time(text, sizeof(text), cases[i].ns, cases[i].step);
		CHECK_STR(text, cases[i].text);
	}
}

/* No time is ever cut off: it would be another time. */
TEST(ruler_draws_whole_texts)
{
	struct ruler ruler;
	struct grid grid;
	int width, x;

	for (width = 1; width < 120; width++) {
		grid_init(&grid, width, 1);
		ruler_layout(&ruler, 27800 * MS, MS, (size_t)width, 0);
		ruler_draw(&ruler, grid_area(&grid), true);
		for (x = 0; x < width; x++)
			CHECK(grid.cells[x].ch < 0x7f);
		if (width < 9)
			CHECK(width < 2 || grid.cells[1].ch == ' ');
		else
			CHECK(grid.cells[1].ch == '2' && grid.cells[8].ch == 's');
		grid_release(&grid);
	}
}

/* The word stands before the line, and only whole; times keep off both. */
TEST(ruler_draws_where_detail_ends)
{
	struct grid grid;
	int width, columns, x;

	for (width = 1; width < 40; width++)
		for (columns = 0; columns < width + 3; columns++) {
			struct ruler ruler;
			bool word = columns > 6;

			grid_init(&grid, width, 1);
			ruler_draw_folded(grid_area(&grid), columns, true);
			ruler_layout(&ruler, 27800 * MS, MS, (size_t)width, 0);
			ruler_draw(&ruler, grid_area(&grid), true);
			for (x = 0; x < width && columns > 0 && columns <= width; x++)
				if (x == columns - 1)
					CHECK(grid.cells[x].ch == '<');
				else if (word && x >= columns - 7 && x < columns - 1)
					CHECK(grid.cells[x].ch ==
					      (uint32_t) "folded"[x - columns + 7]);
				else
					CHECK(grid.cells[x].ch != '<' && grid.cells[x].ch != 'f');
			grid_release(&grid);
		}
}

TEST(ruler_marks_a_clock_that_stepped)
{
	for (int column = -2; column < 14; column++) {
		struct grid grid = { .width = 0 };
		struct ruler ruler;

		grid_init(&grid, 12, 1);
		ruler_draw_clock(grid_area(&grid), column, column % 2);
		for (int x = 0; x < 12; x++)
			if (x == column)
				CHECK(grid.cells[x].ch == (column % 2 ? '!' : 0x2260));
			else if (x > column && x <= column + 5 && column >= 0 && column + 5 < 12)
				CHECK(grid.cells[x].ch == (uint32_t)"clock"[x - column - 1]);
			else
				CHECK(grid.cells[x].ch == ' ');
		/* Times go beside it, never over it. */
		ruler_layout(&ruler, 27800 * MS, MS, 12, 0);
		ruler_draw(&ruler, grid_area(&grid), true);
		if (column >= 0 && column < 12)
			CHECK(grid.cells[column].ch == (column % 2 ? '!' : 0x2260));
		grid_release(&grid);
	}
}
