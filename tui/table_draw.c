/* SPDX-License-Identifier: MIT */
/* The picture of a table: which columns have room, headings, rows. */
#include "tui/table.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/labels.h"
#include "tui/timeline_cells.h"

#define GAP 2
#define BAR_LEAST 4

/* The columns that are shown, in their order; those without room have width 0. */
struct layout {
	size_t n;
	unsigned char column[TABLE_COLUMNS_MAX];
	int x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX];
	size_t dropped;
};

static const struct table_column *column_at(const struct table *table,
					    const struct layout *layout, size_t i)
{
	return &table->kind->columns[layout->column[i]];
}

static bool is_right(const struct table_column *column)
{
	return column->unit != TABLE_TEXT && !column->part;
}

/* ---- layout ---- */

static int needed(const struct table *table, const struct layout *layout, bool at_ease)
{
	int sum = 1;
	size_t i;

	for (i = 0; i < layout->n; i++) {
		const struct table_column *column = column_at(table, layout, i);

		if (layout->width[i])
			sum += (at_ease && column->want ? column->want : column->width) + GAP;
	}
	return sum - GAP;
}

/* The one that is sorted by goes last of those that can. */
static int rank_of(const struct table *table, const struct layout *layout, size_t i)
{
	int rank = column_at(table, layout, i)->rank;

	return rank && layout->column[i] == table->sort ? 1 : rank;
}

static bool drop_column(const struct table *table, struct layout *layout, int above)
{
	int highest = above;
	size_t i, which = 0;

	for (i = 0; i < layout->n; i++) {
		if (!layout->width[i] || rank_of(table, layout, i) <= highest)
			continue;
		highest = rank_of(table, layout, i);
		which = i;
	}
	if (highest > above) {
		layout->width[which] = 0;
		layout->dropped++;
	}
	return highest > above;
}

/* Up to `to`, by at most `by`; returns by how much. */
static int widen(struct layout *layout, size_t column, int to, int by)
{
	int more = to - layout->width[column];

	more = more > by ? by : more;
	if (more <= 0)
		return 0;
	layout->width[column] += more;
	return more;
}

/* Which have room, each at its least width. */
static void choose(const struct table *table, int width, struct layout *layout)
{
	layout->dropped = 0;
	for (size_t i = 0; i < layout->n; i++)
		layout->width[i] = column_at(table, layout, i)->width;
	while (needed(table, layout, true) > width && drop_column(table, layout, TABLE_NEEDED))
		;
	while (needed(table, layout, false) > width && drop_column(table, layout, 0))
		;
}

static void lay_out(const struct table *table, int width, struct layout *layout)
{
	int spare, x = 1;
	size_t i;

	memset(layout, 0, sizeof(*layout));
	layout->n = table_shown(table, layout->column);
	choose(table, width, layout);
	spare = width - 1 - needed(table, layout, false);
	for (i = 0; i < layout->n && spare > 0; i++)
		if (layout->width[i] && column_at(table, layout, i)->most)
			spare -= widen(layout, i, column_at(table, layout, i)->want, spare);
	/* The first one, which is the name, takes the larger part of the rest. */
	for (i = 0; i < layout->n && spare > 0; i++)
		if (layout->width[i] && column_at(table, layout, i)->most)
			spare -= widen(layout, i, column_at(table, layout, i)->most,
				       i ? spare : spare * 2 / 3);
	for (i = 0; i < layout->n; i++) {
		layout->x[i] = x;
		if (layout->width[i])
			x += layout->width[i] + GAP;
	}
}

/* ---- drawing ---- */

/* The last place in line 0 before `end` where so much is blank; -1: there is none. */
static int blank_before(struct area area, int end, int width)
{
	const struct cell *cells = area.grid->cells + (size_t)area.y * (size_t)area.grid->width;
	int blanks = 0;

	for (int x = end - 1; x >= 0; x--) {
		blanks = cells[area.x + x].ch == ' ' ? blanks + 1 : 0;
		if (blanks == width)
			return x;
	}
	return -1;
}

/* "+3 columns", "+3": those that have no room; behind the first title, else where there
 * is room between the titles. */
static void draw_dropped(struct area area, const struct layout *layout)
{
	char all[32], few[16];
	const char *texts[] = { all, all, few };
	size_t i, second = 1;

	while (second < layout->n && !layout->width[second])
		second++;
	snprintf(all, sizeof(all), "  +%zu column%s", layout->dropped,
		 layout->dropped == 1 ? "" : "s");
	snprintf(few, sizeof(few), "  +%zu", layout->dropped);
	for (i = 0; i < 3; i++) {
		int end = !i && second < layout->n ? layout->x[second] : area.width;
		int x = blank_before(area, end, text_width(texts[i]) + 2);

		if (x < 0)
			continue;
		area_text(area, x, 0, ROLE_MUTED, 0, texts[i]);
		return;
	}
}

static void draw_heading(const struct table *table, struct area area,
			 const struct layout *layout)
{
	char title[LABEL_MAX], text[LABEL_MAX + 8];
	size_t i;

	for (i = 0; i < layout->n; i++) {
		const struct table_column *column = column_at(table, layout, i);
		int width = layout->width[i];
		const char *arrow = "";

		if (!width)
			continue;
		if (layout->column[i] == table->sort)
			arrow = table->reverse ? (table->ascii ? " v" : " ▾")
					       : (table->ascii ? " ^" : " ▴");
		label_fit(title, sizeof(title), column->title, width - text_width(arrow),
			  table->ascii);
		snprintf(text, sizeof(text), "%s%s", title, arrow);
		if (is_right(column))
			area_right(area, layout->x[i] + width, 0, ROLE_COLUMN, 0, text);
		else
			area_text(area, layout->x[i], 0, ROLE_COLUMN, 0, text);
	}
	if (layout->dropped)
		draw_dropped(area, layout);
}

static void draw_bar(const struct table *table, const void *row, struct area area, int x, int y,
		     int width, uint64_t part, enum role behind)
{
	enum role role = table->kind->bar ? table->kind->bar(row) : ROLE_WORK_OP;
	uint64_t whole = table->total;
	int eighths, i;

	if (!whole || !part || width < 1)
		return;
	if (part > whole)
		part = whole;
	eighths = (int)(((__uint128_t)part * (unsigned)width * 8 + whole / 2) / whole);
	if (!table->shades)		/* the cursor's line is reversed, a bar is not */
		area_fill(area, x, y, width, 1, ' ', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	for (i = 0; i < width && eighths > 0; i++, eighths -= 8) {
		bool full = eighths >= 8 && table->colour;

		area_put(area, x + i, y, cells_left(eighths, table->ascii), role,
			 full && !table->ascii ? role : behind, 0);
	}
}

static void draw_field(const struct table *table, size_t at, const void *row, struct area area,
		       int x, int y, int width, enum role behind)
{
	const struct table_column *column = &table->kind->columns[at];
	bool bad = table->kind->bad && table->kind->bad(row);
	enum role role = bad ? ROLE_BAD : ROLE_DEFAULT;
	char text[LABEL_MAX], fitted[LABEL_MAX];

	table_text(table, at, row, text, sizeof(text));
	if (column->part) {
		/* The number needs five columns and one between. */
		if (width - 6 >= BAR_LEAST)
			draw_bar(table, row, area, x, y, width - 6, column->part(row), behind);
	}
	if (is_right(column) || column->part) {
		label_fit(fitted, sizeof(fitted), text, width, table->ascii);
		area_right(area, x + width, y, role, 0, fitted);
		return;
	}
	label_fit_middle(fitted, sizeof(fitted), text, width, table->ascii);
	area_text(area, x, y, role, 0, fitted);
}

static void draw_row(const struct table *table, const struct layout *layout, struct area area,
		     int y, size_t line, bool focused)
{
	const void *row = table_row(table, table->order[line]);
	bool current = line == table->cursor;
	size_t i;

	if (current)
		area_fill(area, 0, y, area.width, 1, ' ', ROLE_DEFAULT, ROLE_SELECTED,
			  0);
	for (i = 0; i < layout->n; i++)
		if (layout->width[i])
			draw_field(table, layout->column[i], row, area, layout->x[i], y, layout->width[i],
				   current && table->shades ? ROLE_SELECTED : ROLE_DEFAULT);
	/* Not by the background alone. */
	if (current)
		area_text(area, 0, y, ROLE_CURSOR, focused ? ATTR_BOLD : 0,
			  table->ascii ? ">" : focused ? "▸" : "▹");
}

static void scroll(struct table *table, int lines)
{
	size_t page = lines > 0 ? (size_t)lines : 1;

	table->page = (int)page;
	if (table->cursor < table->top)
		table->top = table->cursor;
	if (table->cursor >= table->top + page)
		table->top = table->cursor - page + 1;
	if (table->top + page > table->count)
		table->top = table->count > page ? table->count - page : 0;
}

void table_draw(struct table *table, const struct view *view, struct area area, bool focused)
{
	struct layout layout;
	char more[64];
	size_t below;
	int lines, y;

	table->ascii = view->ascii;
	table->colour = view->colour;
	table->shades = view->shades;
	table_order(table);
	if (area.width < 1 || area.height < 1)
		return;
	area = table_draw_where(table, area);
	lines = area.height - 1;
	lay_out(table, area.width, &layout);
	draw_heading(table, area, &layout);
	if (!table->count) {
		char text[LABEL_MAX];

		label_fit(text, sizeof(text), table->all ?
			  "none of the rows is wanted; where alone shows all of them" :
			  table->kind->empty, area.width - 3, view->ascii);
		area_text(area, 1, 1, ROLE_MUTED, 0, text);
		return;
	}
	if ((size_t)lines < table->count && lines > 2)
		lines--;
	else if ((size_t)lines > table->count)
		lines = (int)table->count;
	scroll(table, lines);
	for (y = 0; y < lines; y++)
		draw_row(table, &layout, area, y + 1, table->top + (size_t)y, focused);
	below = table->count - table->top - (size_t)(lines > 0 ? lines : 0);
	if (lines + 1 >= area.height || (!below && !table->top))
		return;
	if (table->top)
		snprintf(more, sizeof(more), "%s %zu above, %zu more", view->ascii ? ".." : "…",
			 table->top, below);
	else
		snprintf(more, sizeof(more), "%s %zu more", view->ascii ? ".." : "…", below);
	area_text(area, 1, lines + 1, ROLE_MUTED, 0, more);
}
