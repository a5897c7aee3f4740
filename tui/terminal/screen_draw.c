/* SPDX-License-Identifier: MIT */
/* Turns cells into calls of curses. */
#include "tui/terminal/screen_internal.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The pair of two colours, made when first used; when a small terminal has no
 * more, the foreground alone, else none. */
static int pair_for(struct screen *screen, short fg, short bg)
{
	unsigned short *known = &screen->pair_of[fg + 1][bg + 1];

	if (fg == COLOUR_DEFAULT && bg == COLOUR_DEFAULT)
		return 0;
	if (*known)
		return *known;
	if (screen->pairs >= COLOR_PAIRS || screen->pairs >= 0xffff)
		return bg == COLOUR_DEFAULT ? 0 : screen->pair_of[fg + 1][0];
	if (init_extended_pair(screen->pairs, fg, bg) != OK)
		return 0;
	*known = (unsigned short)screen->pairs++;
	return *known;
}

#define BLANKS_LEAST 8			/* what the change of colours to blanks costs */

/* A full block on its own colour: it hides what is behind it. The terminal's own colours
 * are two, although both are called default. */
static bool is_block(const struct cell *cell, struct theme_look look)
{
	return cell->ch == 0x2588 && !look.attr && look.fg == look.bg && look.bg != COLOUR_DEFAULT;
}

static bool same(const struct cell *a, const struct cell *b)
{
	return a->ch == b->ch && a->fg == b->fg && a->bg == b->bg && a->attr == b->attr;
}

/* Cells that look alike from here on and back. */
static int run_length(const struct cell *line, int x, int width)
{
	int from = x, to = x + 1;

	while (from > 0 && x - from < BLANKS_LEAST && same(&line[from - 1], &line[x]))
		from--;
	while (to < width && to - x < BLANKS_LEAST && same(&line[to], &line[x]))
		to++;
	return to - from;
}

static void screen_put_run(struct screen *screen, const struct theme *theme, int x, int y,
			   const struct cell *line, int width)
{
	const struct cell *cell = &line[x];
	struct theme_look look = theme_look(theme, cell, screen->depth);
	wchar_t text[2] = {(wchar_t)cell->ch, 0};
	attr_t attr = A_NORMAL;
	cchar_t out;
	int pair;

	look.attr |= look.fg >= 8 && COLORS < 16 ? ATTR_BOLD : 0;
	look.fg = (short)(COLORS < 16 ? look.fg % 8 : look.fg);
	look.bg = (short)(COLORS < 16 ? look.bg % 8 : look.bg);
	if (look.attr & ATTR_BOLD)
		attr |= A_BOLD;
	if (look.attr & ATTR_UNDERLINE)
		attr |= A_UNDERLINE;
	if (look.attr & ATTR_REVERSE)
		attr |= A_REVERSE;
	if (look.attr & ATTR_DIM)
		attr |= A_DIM;
	/* The C library has the last word on what it draws how wide. */
	if (cell->ch >= 0x7f && wcwidth((wchar_t)cell->ch) != text_columns(cell->ch))
		text[0] = L'?';
	/* Many full blocks are blanks of their colour, in a third of the bytes; a few stay
	 * in the colours of the bars beside them. That is most of what a row costs. */
	if (screen->depth != DEPTH_MONO && is_block(cell, look)) {
		if (run_length(line, x, width) >= BLANKS_LEAST) {
			text[0] = L' ';
			look.fg = COLOUR_DEFAULT;
		} else {
			look.bg = COLOUR_DEFAULT;
		}
	}
	pair = screen->depth == DEPTH_MONO ? 0 : pair_for(screen, look.fg, look.bg);
	if (setcchar(&out, text, attr, (short)(pair > 0x7fff ? 0 : pair), &pair) == OK)
		mvadd_wch(y, x, &out);
}

static void screen_put_line(struct screen *screen, const struct theme *theme,
			    const struct cell *now, struct cell *was, int y, int width)
{
	int x;

	for (x = 0; x < width; x++) {
		bool changed =
			screen->all || !same(&now[x], &was[x]) ||
			(x + 1 < width && now[x + 1].ch == 0 && !same(&now[x + 1], &was[x + 1]));

		if (changed && now[x].ch)
			screen_put_run(screen, theme, x, y, now, width);
	}
	memcpy(was, now, (size_t)width * sizeof(*was));
}

/* A terminal that only prints: the lines of the picture that are not empty,
 * when it changed. Its last line has no end yet: the picture is as high as the terminal,
 * and one line more would push the first out of it. */
static void print_lines(struct screen *screen, const struct grid *grid)
{
	size_t size = (size_t)grid->width * (size_t)grid->height * sizeof(*grid->cells);
	char *text = NULL, *line, *rest;
	const char *ends;
	size_t length = 0;
	FILE *file;

	if (screen->shown.width == grid->width && screen->shown.height == grid->height &&
	    !screen->all && !memcmp(screen->shown.cells, grid->cells, size))
		return;
	ends = screen->shown.width ? "\r\n\r\n" : "";
	grid_resize(&screen->shown, grid->width, grid->height);
	memcpy(screen->shown.cells, grid->cells, size);
	screen->all = false;
	file = open_memstream(&text, &length);
	if (!file)
		return;
	grid_save(grid, file, false);
	fclose(file);
	screen_out_begin(screen);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		fprintf(screen->out, "%s%s", ends, line);
		ends = "\r\n";
	}
	fflush(screen->out);
	screen_out_end(screen, false);
	free(text);
}

bool screen_only_prints(const struct screen *screen)
{
	return screen->printer;
}

void screen_draw(struct screen *screen, const struct theme *theme, const struct grid *grid)
{
	int width = grid->width < COLS ? grid->width : COLS;
	int height = grid->height < LINES ? grid->height : LINES;
	int y;

	if (screen->suspended || !screen_ready(screen))
		return;
	if (screen->printer) {
		print_lines(screen, grid);
		return;
	}
	if (screen->shown.width != grid->width || screen->shown.height != grid->height) {
		grid_resize(&screen->shown, grid->width, grid->height);
		screen->all = true;
	}
	screen_out_begin(screen);
	if (screen->all) {
		erase();
		clearok(curscr, TRUE);
	}
	for (y = 0; y < height; y++)
		screen_put_line(screen, theme, grid->cells + (size_t)y * (size_t)grid->width,
			 screen->shown.cells + (size_t)y * (size_t)grid->width, y, width);
	screen->all = false;
	if (grid->cursor_x >= 0 && grid->cursor_x < COLS && grid->cursor_y < LINES) {
		curs_set(1);
		move(grid->cursor_y, grid->cursor_x);
	} else {
		curs_set(0);
		move(height > 0 ? height - 1 : 0, 0);
	}
	wnoutrefresh(stdscr);
	doupdate();
	screen_out_end(screen, true);
}
