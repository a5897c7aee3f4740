/* SPDX-License-Identifier: MIT */
/* Colours by name, step and row; shares as shades; counters of several lines. */
#include "tests/unit/test.h"
#include "tui/timeline/tint.h"

#include <stdio.h>
#include <string.h>

#define W 1000

static struct column full(int64_t busy_ns, uint64_t id)
{
	struct column column = { .busy_ns = busy_ns, .count = 1, .longest = { 1, 0, id } };

	column.work_ns[WORK_MATMUL] = busy_ns;
	if (busy_ns < W) {
		column.count = 3;
		column.edges = 6;
	}
	return column;
}

TEST(tint_of_a_name_stays_and_all_are_used)
{
	unsigned used = 0;
	char name[32];

	for (int i = 0; i < 200; i++) {
		uint8_t tint;

		snprintf(name, sizeof(name), "kernel_%d", i);
		tint = tint_of_name(name);
		CHECK(tint >= 1 && tint <= PALETTE);
		CHECK_INT(tint_of_name(name), tint);
		used |= 1u << tint;
	}
	CHECK_INT(used, 0x1fe);
	/* the same in every run and on every machine */
	CHECK_INT(tint_of_name("conv2d_fprop"), 6);
}

TEST(tint_cells_have_the_tint_or_its_letter)
{
	static const uint8_t tints[4] = { 1, 8, 0, 3 };
	struct cell_style coloured = { .colour = true, .tints = tints };
	struct cell_style plain = { .tints = tints }, ascii = { .ascii = true, .tints = tints };
	struct column columns[4] = { full(W, 1), full(W, 2), full(W, 3), full(W / 2, 4) };
	struct cell cells[4];

	cells_draw(columns, 4, 0, W, &coloured, cells, NULL);
	CHECK_INT(cells[0].fg, ROLE_PALETTE_1);
	CHECK_INT(cells[1].bg, ROLE_PALETTE_8);
	CHECK_INT(cells[2].fg, ROLE_WORK_OTHER);
	CHECK_INT(cells[3].fg, ROLE_PALETTE_3);
	cells_draw(columns, 4, 0, W, &plain, cells, NULL);
	CHECK(cells[0].ch == 'a' && cells[0].attr == ATTR_REVERSE && cells[1].ch == 'h');
	CHECK(cells[3].ch == 0x2584);
	cells_draw(columns, 4, 0, W, &ascii, cells, NULL);
	CHECK(cells[0].ch == 'a' && cells[1].ch == 'h' && cells[2].ch == 'x');
}

TEST(tint_heat_is_the_busy_share)
{
	struct cell_style style = { .colour = true, .heat = true };

	for (int busy = 1; busy < W; busy++) {
		struct column column = full(busy, 1);
		struct cell cell;

		cells_draw(&column, 1, 0, W, &style, &cell, NULL);
		CHECK(cell.ch == ' ' && cell.fg == ROLE_DEFAULT);
		CHECK_INT(cell.bg, ROLE_HEAT_1 - 1 + cells_eighths((uint64_t)busy, W));
	}
}

/* Filled eighths of a column of cells, from below without a hole. */
static int filled(const struct cell *cells, size_t n, size_t column, int lines)
{
	int eighths = 0, below = 8;

	for (int line = lines - 1; line >= 0; line--) {
		uint32_t ch = cells[(size_t)line * n + column].ch;
		int here = ch == ' ' ? 0 : (int)(ch - 0x2580);

		CHECK(here >= 0 && here <= 8 && (!here || below == 8));
		eighths += here;
		below = here;
	}
	return eighths;
}

TEST(tint_plots_of_several_lines_add_up)
{
	struct cell_style style = { .colour = true };

	for (int lines = 1; lines <= 4; lines++) {
		struct column columns[3] = { { .value = 0 }, { .value = 1 }, { .value = 0 } };
		struct cell cells[12];

		for (uint64_t value = 2; value <= 100; value++) {
			int want = (int)((value * 8 * (unsigned)lines + 50) / 100);

			columns[2].value = value;
			cells_plot(columns, 3, 100, lines, &style, cells);
			CHECK_INT(filled(cells, 3, 0, lines), 0);
			CHECK_INT(filled(cells, 3, 1, lines), 1);
			CHECK_INT(filled(cells, 3, 2, lines), want ? want : 1);
		}
	}
}

TEST(tint_of_steps_changes_and_the_legend_tells_them)
{
	struct tints tints = { .n_seen = 0 };
	struct step_row steps[12] = { { .number = 0 } };
	struct timeline_line line = { .row = 1, .label = "main" };
	struct column columns[12];
	const uint8_t *tint;
	struct strip strip;

	for (int i = 0; i < 12; i++) {
		steps[i] = (struct step_row) { .number = 90 + i, .start_ns = i * W, .dur_ns = W };
		columns[i] = full(W, (uint64_t)i + 1);
	}
	tints_begin(&tints, TINT_STEP, 12);
	tint = tints_line(&tints, NULL, NULL, &line, columns, 0, W, steps, 11);
	for (int i = 1; i < 11; i++)
		CHECK(tint[i] && tint[i] != tint[i - 1]);
	CHECK_INT(tint[11], 0);		/* behind the last step */
	strip_clear(&strip);
	tints_legend(&tints, &strip, false, true);
	CHECK_INT(strip.count, 2 * TINTS_TOLD + 1);
	CHECK_STR(strip.pieces[1].text, "step 90");
	CHECK_STR(strip.pieces[2 * TINTS_TOLD].text, "+3");
	/* of a row: its name's */
	tints_begin(&tints, TINT_QUEUE, 12);
	tint = tints_line(&tints, NULL, NULL, &line, columns, 0, W, steps, 11);
	CHECK(tint[0] == tint_of_name("main") && tint[11] == tint[0]);
	strip_clear(&strip);
	tints_legend(&tints, &strip, true, false);
	CHECK_INT(strip.count, 2);
	CHECK_INT(strip.pieces[0].text[0], 'a' + tint[0] - 1);
	tints_release(&tints);
}
