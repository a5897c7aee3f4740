/* SPDX-License-Identifier: MIT */
#include "tui/draw/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_DEFAULT] = "default",
	[ROLE_HEADER] = "header",
	[ROLE_TITLE] = "title",
	[ROLE_GOOD] = "good",
	[ROLE_WARN] = "warn",
	[ROLE_BAD] = "bad",
	[ROLE_MUTED] = "muted",
	[ROLE_ACCENT] = "accent",
	[ROLE_TAB] = "tab",
	[ROLE_TAB_ACTIVE] = "tab-active",
	[ROLE_COLUMN] = "column",
	[ROLE_SELECTED] = "selected",
	[ROLE_CURSOR] = "cursor",
	[ROLE_MATCH] = "match",
	[ROLE_PROMPT] = "prompt",
	[ROLE_ERROR] = "error",
	[ROLE_HINT] = "hint",
	[ROLE_UNSETTLED] = "unsettled",
	[ROLE_LOST] = "lost",
	[ROLE_LABEL] = "label",
	[ROLE_CONTEXT] = "context",
	[ROLE_WORK_MATMUL] = "work-matmul",
	[ROLE_WORK_ELEMENTWISE] = "work-elementwise",
	[ROLE_WORK_REDUCE] = "work-reduce",
	[ROLE_WORK_COPY] = "work-copy",
	[ROLE_WORK_COMM] = "work-comm",
	[ROLE_WORK_INPUT] = "work-input",
	[ROLE_WORK_OTHER] = "work-other",
	[ROLE_WORK_OP] = "work-op",
	[ROLE_WORK_RANGE] = "work-range",
	[ROLE_PALETTE_1] = "palette-1", [ROLE_PALETTE_2] = "palette-2",
	[ROLE_PALETTE_3] = "palette-3", [ROLE_PALETTE_4] = "palette-4",
	[ROLE_PALETTE_5] = "palette-5", [ROLE_PALETTE_6] = "palette-6",
	[ROLE_PALETTE_7] = "palette-7", [ROLE_PALETTE_8] = "palette-8",
	[ROLE_HEAT_1] = "heat-1", [ROLE_HEAT_2] = "heat-2", [ROLE_HEAT_3] = "heat-3",
	[ROLE_HEAT_4] = "heat-4", [ROLE_HEAT_5] = "heat-5", [ROLE_HEAT_6] = "heat-6",
	[ROLE_HEAT_7] = "heat-7", [ROLE_HEAT_8] = "heat-8",
	[ROLE_STATE_RUN] = "state-run", [ROLE_STATE_WAIT] = "state-wait",
	[ROLE_STATE_SLEEP] = "state-sleep",
};

const char *role_name(enum role role)
{
	return (unsigned)role < ROLE_COUNT ? role_names[role] : "default";
}

int role_by_name(const char *name)
{
	int role;

	for (role = 0; role < ROLE_COUNT; role++)
		if (strcmp(role_names[role], name) == 0)
			return role;
	return -1;
}

/* ---- the grid ---- */

static const struct cell empty = {.ch = ' '};

void grid_init(struct grid *grid, int width, int height)
{
	memset(grid, 0, sizeof(*grid));
	grid_resize(grid, width, height);
}

void grid_release(struct grid *grid)
{
	free(grid->cells);
	memset(grid, 0, sizeof(*grid));
}

void grid_resize(struct grid *grid, int width, int height)
{
	if (width < 0)
		width = 0;
	if (height < 0)
		height = 0;
	grid->cells = xreallocarray(grid->cells, (size_t)width * (size_t)height + 1,
				    sizeof(*grid->cells));
	grid->width = width;
	grid->height = height;
	grid_clear(grid);
}

void grid_clear(struct grid *grid)
{
	size_t count = (size_t)grid->width * (size_t)grid->height, i;

	for (i = 0; i < count; i++)
		grid->cells[i] = empty;
	grid->cursor_x = grid->cursor_y = -1;
}

struct area grid_area(struct grid *grid)
{
	return (struct area){grid, 0, 0, grid->width, grid->height};
}

/* Clips [*start, *start + *length) to [0, limit). */
static void clip(int *start, int *length, int limit)
{
	int64_t end = (int64_t)*start + (*length > 0 ? *length : 0);

	if (*start < 0)
		*start = 0;
	if (*start > limit)
		*start = limit;
	if (end > limit)
		end = limit;
	*length = end > *start ? (int)end - *start : 0;
}

struct area area_sub(struct area area, int x, int y, int width, int height)
{
	clip(&x, &width, area.width);
	clip(&y, &height, area.height);
	return (struct area){area.grid, area.x + x, area.y + y, width, height};
}

static struct cell *cell_at(struct area area, int x, int y)
{
	if (x < 0 || y < 0 || x >= area.width || y >= area.height)
		return NULL;
	x += area.x;
	y += area.y;
	if (x < 0 || y < 0 || x >= area.grid->width || y >= area.grid->height)
		return NULL;
	return &area.grid->cells[(size_t)y * (size_t)area.grid->width + (size_t)x];
}

/* If one half of a wide code point is overwritten, the other half is replaced too. */
static void put_cell(struct area area, int x, int y, const struct cell *cell)
{
	struct cell *at = cell_at(area, x, y);
	int grid_x = area.x + x;

	if (!at)
		return;
	if (at->ch == 0 && cell->ch != 0 && grid_x > 0)
		at[-1].ch = ' ';
	if (grid_x + 1 < area.grid->width && at[1].ch == 0 && at->ch != 0)
		at[1].ch = ' ';
	*at = *cell;
}

/* Keeps the background of the cell: text is written over bars. */
static int put_over(struct area area, int x, int y, uint32_t ch, enum role fg,
		    int bg, unsigned attr)
{
	struct cell *at = cell_at(area, x, y);
	struct cell cell = {ch, (uint8_t)fg, 0, (uint8_t)attr};
	int columns = text_columns(ch);

	if (columns == 0)
		return x;
	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
		cell.ch = 0xfffd;
	cell.bg = bg >= 0 ? (uint8_t)bg : at ? at->bg : 0;
	if (columns == 2 && (!at || !cell_at(area, x + 1, y))) {
		cell.ch = ' ';			/* half of it would be outside */
		put_cell(area, at ? x : x + 1, y, &cell);
		return x + 2;
	}
	put_cell(area, x, y, &cell);
	if (columns == 2) {
		cell.ch = 0;
		put_cell(area, x + 1, y, &cell);
	}
	return x + columns;
}

int area_put(struct area area, int x, int y, uint32_t ch, enum role fg,
	     enum role bg, unsigned attr)
{
	return put_over(area, x, y, ch, fg, (int)bg, attr);
}

int area_text(struct area area, int x, int y, enum role fg, unsigned attr, const char *utf8)
{
	while (*utf8 && x < area.width)
		x = put_over(area, x, y, text_next(&utf8), fg, -1, attr);
	return x;
}

int area_printf(struct area area, int x, int y, enum role fg, unsigned attr,
		const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return area_text(area, x, y, fg, attr, text);
}

int area_right(struct area area, int x, int y, enum role fg, unsigned attr, const char *utf8)
{
	int begin = x - text_width(utf8), at = begin;

	while (*utf8 && at < x)
		at = put_over(area, at, y, text_next(&utf8), fg, -1, attr);
	return begin;
}

void area_fill(struct area area, int x, int y, int width, int height,
	       uint32_t ch, enum role fg, enum role bg, unsigned attr)
{
	struct cell cell = {ch, (uint8_t)fg, (uint8_t)bg, (uint8_t)attr};
	int i, j;

	clip(&x, &width, area.width);
	clip(&y, &height, area.height);
	for (j = 0; j < height; j++)
		for (i = 0; i < width; i++)
			put_cell(area, x + i, y + j, &cell);
}

void area_tint(struct area area, int x, int y, int width, enum role bg, unsigned attr)
{
	int i;

	clip(&x, &width, area.width);
	for (i = 0; i < width; i++) {
		struct cell *cell = cell_at(area, x + i, y);

		if (!cell)
			continue;
		cell->bg = (uint8_t)bg;
		cell->attr |= (uint8_t)attr;
	}
}

void area_shade(struct area area, int x, int y, int width, enum role bg)
{
	clip(&x, &width, area.width);
	for (int i = 0; i < width; i++) {
		struct cell *cell = cell_at(area, x + i, y);

		if (cell && cell->bg == ROLE_DEFAULT)
			cell->bg = (uint8_t)bg;
	}
}

void grid_to_ascii(struct grid *grid)
{
	size_t count = (size_t)grid->width * (size_t)grid->height, i;

	for (i = 0; i < count; i++)
		if (grid->cells[i].ch == 0)
			grid->cells[i].ch = ' ';
		else if (grid->cells[i].ch >= 0x7f)
			grid->cells[i].ch = (unsigned char)text_ascii(grid->cells[i].ch);
}

/* ---- as text ---- */

static bool same_look(const struct cell *a, const struct cell *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->attr == b->attr;
}

static bool blank(const struct cell *cell, bool roles)
{
	return cell->ch == ' ' && (!roles || same_look(cell, &empty));
}

static void grid_save_look(const struct cell *cell, FILE *out)
{
	fprintf(out, "{%s", role_name((enum role)cell->fg));
	if (cell->bg)
		fprintf(out, "/%s", role_name((enum role)cell->bg));
	if (cell->attr & ATTR_BOLD)
		fputs("+bold", out);
	if (cell->attr & ATTR_UNDERLINE)
		fputs("+underline", out);
	if (cell->attr & ATTR_REVERSE)
		fputs("+reverse", out);
	if (cell->attr & ATTR_DIM)
		fputs("+dim", out);
	fputc(':', out);
}

static void save_line(const struct cell *cells, int width, FILE *out, bool roles)
{
	bool open = false;
	char text[5];
	int x;

	while (width > 0 && blank(&cells[width - 1], roles))
		width--;
	for (x = 0; x < width; x++) {
		const struct cell *cell = &cells[x];

		if (roles && (x == 0 || !same_look(cell, &cells[x - 1]))) {
			if (open)
				fputc('}', out);
			open = !same_look(cell, &empty);
			if (open)
				grid_save_look(cell, out);
		}
		if (cell->ch == 0)
			continue;
		if (roles && (cell->ch == '{' || cell->ch == '}'))
			fputc((int)cell->ch, out);
		text_encode(cell->ch, text);
		fputs(text, out);
	}
	if (open)
		fputc('}', out);
	fputc('\n', out);
}

void grid_save(const struct grid *grid, FILE *out, bool roles)
{
	int y;

	for (y = 0; y < grid->height; y++)
		save_line(grid->cells + (size_t)y * (size_t)grid->width,
			  grid->width, out, roles);
}

static bool cell_check(const struct grid *grid, int x, const struct cell *cell)
{
	bool half = cell->ch == 0;

	if (cell->fg >= ROLE_COUNT || cell->bg >= ROLE_COUNT)
		return false;
	if (half)
		return x > 0 && text_columns(cell[-1].ch) == 2;
	if (cell->ch < 0x20 || (cell->ch >= 0x7f && cell->ch < 0xa0) || cell->ch > 0x10ffff ||
	    (cell->ch >= 0xd800 && cell->ch < 0xe000))
		return false;
	if (text_columns(cell->ch) == 2)
		return x + 1 < grid->width && cell[1].ch == 0;
	return text_columns(cell->ch) == 1;
}

bool grid_check(const struct grid *grid, char *error, size_t error_size)
{
	bool hidden = grid->cursor_x < 0;
	int x, y;

	for (y = 0; y < grid->height; y++)
		for (x = 0; x < grid->width; x++) {
			const struct cell *cell = &grid->cells[(size_t)y * (size_t)grid->width +
							       (size_t)x];

			if (cell_check(grid, x, cell))
				continue;
			snprintf(error, error_size,
				 "no cell of a screen: U+%04X, roles %d and %d, at %d %d", cell->ch,
				 cell->fg, cell->bg, x, y);
			return false;
		}
	if (!hidden && (grid->cursor_x >= grid->width || grid->cursor_y < 0 ||
			grid->cursor_y >= grid->height)) {
		snprintf(error, error_size, "the cursor is outside: %d %d", grid->cursor_x,
			 grid->cursor_y);
		return false;
	}
	return true;
}
