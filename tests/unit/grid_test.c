/* SPDX-License-Identifier: MIT */
/* Cells, clipping, wide code points, saving, looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/draw/grid.h"
#include "tui/draw/theme.h"

static bool saved(const struct grid *grid, bool roles, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	bool same;

	grid_save(grid, file, roles);
	fclose(file);
	same = strcmp(text, want) == 0;
	if (!same)
		fprintf(stderr, "want:\n%shave:\n%s", want, text);
	free(text);
	return same;
}

TEST(grid_text_is_clipped_by_its_area)
{
	struct grid grid;
	struct area area;

	grid_init(&grid, 8, 3);
	area = area_sub(grid_area(&grid), 2, 1, 4, 1);
	CHECK(area_text(area, -2, 0, ROLE_DEFAULT, 0, "abcdefgh") >= 4);
	area_text(area, 0, 1, ROLE_DEFAULT, 0, "below");
	area_text(area, 0, -1, ROLE_DEFAULT, 0, "above");
	CHECK(saved(&grid, false, "\n  cdef\n\n"));
	area = area_sub(grid_area(&grid), -5, -5, 6, 6);
	CHECK(area.width == 1 && area.height == 1);
	area = area_sub(grid_area(&grid), 7, 2, 100, 100);
	CHECK(area.width == 1 && area.height == 1);
	area = area_sub(grid_area(&grid), 9, 9, 5, 5);
	CHECK(area.width == 0 && area.height == 0);
	area_put(area, 0, 0, 'x', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	area_fill(area, -3, -3, 1 << 30, 1 << 30, 'x', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	CHECK(saved(&grid, false, "\n  cdef\n\n"));
	grid_release(&grid);
}

TEST(grid_right_aligned)
{
	struct grid grid;

	grid_init(&grid, 6, 1);
	CHECK(area_right(grid_area(&grid), 6, 0, ROLE_DEFAULT, 0, "日é") == 3);
	CHECK(saved(&grid, false, "   日é\n"));
	CHECK(area_right(grid_area(&grid), 3, 0, ROLE_DEFAULT, 0, "abcdef") == -3);
	CHECK(saved(&grid, false, "def日é\n"));
	grid_release(&grid);
}

TEST(grid_wide_code_points_leave_no_halves)
{
	struct grid grid;
	struct area area;

	grid_init(&grid, 6, 1);
	area = grid_area(&grid);
	area_text(area, 0, 0, ROLE_DEFAULT, 0, "日本語");
	CHECK(saved(&grid, false, "日本語\n"));
	area_put(area, 1, 0, 'x', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	CHECK(saved(&grid, false, " x本語\n"));
	area_put(area, 4, 0, 'y', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	CHECK(saved(&grid, false, " x本y\n"));
	area_text(area, 5, 0, ROLE_DEFAULT, 0, "日");
	CHECK(saved(&grid, false, " x本y\n"));
	area_text(area, -1, 0, ROLE_DEFAULT, 0, "日");
	CHECK(saved(&grid, false, " x本y\n"));
	/* combining marks take no cell, controls and broken bytes one */
	grid_clear(&grid);
	area_text(area, 0, 0, ROLE_DEFAULT, 0, "e\xcc\x81\x01\xff.");
	CHECK(saved(&grid, false, "e\xef\xbf\xbd\xef\xbf\xbd.\n"));
	CHECK(text_width("e\xcc\x81\x01\xff.") == 4);
	grid_release(&grid);
}

TEST(grid_saves_roles)
{
	struct grid grid;
	struct area area;

	grid_init(&grid, 20, 2);
	area = grid_area(&grid);
	area_text(area, 0, 0, ROLE_TITLE, ATTR_BOLD, "ab");
	area_text(area, 2, 0, ROLE_DEFAULT, 0, "{c}");
	area_fill(area, 6, 0, 2, 1, ' ', ROLE_DEFAULT, ROLE_WORK_COPY, 0);
	area_text(area, 0, 1, ROLE_BAD, 0, "x");
	area_tint(area, 0, 1, 3, ROLE_SELECTED, ATTR_UNDERLINE);
	CHECK(saved(&grid, true, "{title+bold:ab}{{c}} {default/work-copy:  }\n"
				 "{bad/selected+underline:x}{default/selected+underline:  }\n"));
	CHECK(saved(&grid, false, "ab{c}\nx\n"));
	grid_release(&grid);
}

TEST(grid_text_keeps_the_bar_under_it)
{
	struct grid grid;
	struct area area;

	grid_init(&grid, 4, 1);
	area = grid_area(&grid);
	area_fill(area, 0, 0, 4, 1, ' ', ROLE_DEFAULT, ROLE_WORK_MATMUL, 0);
	area_text(area, 1, 0, ROLE_DEFAULT, 0, "ab");
	CHECK(saved(&grid, true, "{default/work-matmul: ab }\n"));
	grid_release(&grid);
}

TEST(grid_in_ascii)
{
	struct grid grid;
	const struct cell *cell;

	grid_init(&grid, 24, 1);
	area_text(grid_area(&grid), 0, 0, ROLE_DEFAULT, 0, "▾ µs ▁▄█▏▌ ░▒ ↔ … ±▹ 日é");
	grid_to_ascii(&grid);
	for (cell = grid.cells; cell < grid.cells + 24; cell++)
		CHECK(cell->ch >= ' ' && cell->ch < 0x7f);
	CHECK(saved(&grid, false, "v us .-#|= :% / ~ ~> ? ?\n"));
	grid_release(&grid);
}

TEST(grid_role_names)
{
	int role;

	for (role = 0; role < ROLE_COUNT; role++) {
		CHECK(role_name((enum role)role));
		CHECK(role_by_name(role_name((enum role)role)) == role);
	}
	CHECK(role_by_name("nothing") == -1);
}

TEST(text_decodes_as_encoded)
{
	static const uint32_t points[] = {1, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff};
	char bytes[5];
	uint32_t ch;
	size_t i;
	int n;

	for (i = 0; i < sizeof(points) / sizeof(*points); i++) {
		n = text_encode(points[i], bytes);
		CHECK(text_decode(bytes, (size_t)n, &ch) == n && ch == points[i]);
		if (n > 1)
			CHECK(text_decode(bytes, (size_t)n - 1, &ch) < 0);
	}
	CHECK(text_decode("\xc0\x80", 2, &ch) == 1 && ch == 0xfffd);
	CHECK(text_decode("\xed\xa0\x80", 3, &ch) == 3 && ch == 0xfffd);
	CHECK(text_decode("\xe2x", 2, &ch) == 1 && ch == 0xfffd);
	CHECK(text_decode("", 0, &ch) == 0);
	CHECK(text_encode(0xd800, bytes) == 3 && !strcmp(bytes, "\xef\xbf\xbd"));
}

TEST(theme_looks)
{
	struct theme theme;
	char error[128];
	struct cell bar = {' ', ROLE_DEFAULT, ROLE_WORK_COPY, 0};
	struct cell on_header = {'x', ROLE_TITLE, ROLE_HEADER, 0};
	struct theme_look look;

	theme_init(&theme);
	CHECK(theme_set(&theme, 3, (const char *[]){ "work-copy", "214|yellow", "default" }, error,
			sizeof(error)));
	CHECK(theme_set(&theme, 4,
			(const char *[]){ "header", "default", "236|default", "reverse16" }, error,
			sizeof(error)));
	CHECK(theme_set(&theme, 3, (const char *[]){"title", "231", "bold"}, error, sizeof(error)));
	/* a bar is in its role's own colour, its text readable on it */
	look = theme_look(&theme, &bar, DEPTH_256);
	CHECK(look.bg == 214 && look.fg == 16);
	look = theme_look(&theme, &bar, DEPTH_16);
	CHECK(look.bg == 3);
	look = theme_look(&theme, &bar, DEPTH_MONO);
	CHECK(look.bg == COLOUR_DEFAULT && look.fg == COLOUR_DEFAULT && (look.attr & ATTR_REVERSE));
	look = theme_look(&theme, &on_header, DEPTH_256);
	CHECK(look.bg == 236 && look.fg == 231 && look.attr == ATTR_BOLD);
	look = theme_look(&theme, &on_header, DEPTH_16);
	CHECK(look.bg == COLOUR_DEFAULT && (look.attr & ATTR_REVERSE));
	/* a role that is reversed with few colours gives no colour to what stands on it */
	CHECK(theme_set(&theme, 4,
			(const char *[]){ "cursor", "231|white", "240|default", "reverse16" },
			error, sizeof(error)));
	on_header.bg = ROLE_CURSOR;
	on_header.fg = ROLE_DEFAULT;
	look = theme_look(&theme, &on_header, DEPTH_16);
	CHECK(look.bg == COLOUR_DEFAULT && look.fg == COLOUR_DEFAULT && (look.attr & ATTR_REVERSE));
}
