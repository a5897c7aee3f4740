/* SPDX-License-Identifier: MIT */
/* Draws a table: selects the columns that fit, draws headings and rows. */
#include "tui/table/table.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/timeline_cells.h"

#define GAP 2
#define BAR_LEAST 4

#define SUMS_FROM 6			/* height of the area from which on sums are shown */
#define NOTE_FROM 8			/* height from which on the note is shown */

static const struct table_column *column_at(const struct table *table,
					    const struct table_layout *layout, size_t i)
{
	return table_column(table, layout->column[i]);
}

static bool is_right(const struct table_column *column)
{
	return column->unit != UNIT_TEXT && !column->part;
}

/* ---- layout ---- */

static int needed(const struct table *table, const struct table_layout *layout, bool at_ease)
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

/* Twice the rank of a column. The sort column is dropped last of those that can be dropped, and
 * before it the columns that the user requested. */
static int rank_of(const struct table *table, const struct table_layout *layout, size_t i)
{
	int rank = column_at(table, layout, i)->rank;
	size_t place;
	bool only;

	if (!rank || layout->column[i] == table->sort)
		return rank ? 1 : 0;
	return table_choice(table, layout->column[i], &place, &only) ? 3 : 2 * rank;
}

static bool drop_column(const struct table *table, struct table_layout *layout, int above)
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

/* Widens the column up to `to`, by at most `by`; returns by how much. */
static int widen(struct table_layout *layout, size_t column, int to, int by)
{
	int more = to - layout->width[column];

	more = more > by ? by : more;
	if (more <= 0)
		return 0;
	layout->width[column] += more;
	return more;
}

/* Chooses the columns that fit, each at its least width. */
static void choose(const struct table *table, int width, struct table_layout *layout)
{
	layout->dropped = 0;
	for (size_t i = 0; i < layout->n; i++)
		layout->width[i] = column_at(table, layout, i)->width;
	while (needed(table, layout, true) > width && drop_column(table, layout, 2 * TABLE_NEEDED))
		;
	while (needed(table, layout, false) > width && drop_column(table, layout, 0))
		;
}

/* When scrolled: shows the first column, then those behind the skipped ones that fit completely. */
static void choose_from(const struct table *table, int width, struct table_layout *layout)
{
	int left = width - 1;

	layout->dropped = 0;
	for (size_t i = 0; i < layout->n; i++) {
		int need = column_at(table, layout, i)->width + (i ? GAP : 0);
		bool fits = left >= need && (!i || i > table->skip);

		layout->width[i] = fits ? column_at(table, layout, i)->width : 0;
		layout->dropped += !fits;
		if (fits)
			left -= need;
		else if (i > table->skip)
			left = 0;	/* no columns follow either */
	}
}

static void lay_out(struct table *table, int width, struct table_layout *layout)
{
	int spare, x = 1;
	size_t i;

	memset(layout, 0, sizeof(*layout));
	layout->n = table_shown(table, layout->column);
	choose(table, width, layout);
	if (!layout->dropped)
		table->skip = 0;
	if (table->skip)
		choose_from(table, width, layout);
	spare = width - 1 - needed(table, layout, false);
	for (i = 0; i < layout->n && spare > 0; i++)
		if (layout->width[i] && column_at(table, layout, i)->most)
			spare -= widen(layout, i, column_at(table, layout, i)->want, spare);
	/* The first column, which is the name, gets the larger part of the remaining width. */
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

/* The last position in line 0 before `end` with so many blanks; -1 if there is none. */
static int blank_before(struct area area, int end, int width)
{
	const struct cell *cells = area.grid->cells + (size_t)area.y * (size_t)area.grid->width;
	int blanks = 0;

	if (end > area.width)		/* too narrow: a column may start outside of the area */
		end = area.width;
	for (int x = area.height > 0 ? end - 1 : -1; x >= 0; x--) {
		blanks = cells[area.x + x].ch == ' ' ? blanks + 1 : 0;
		if (blanks == width)
			return x;
	}
	return -1;
}

/* Draws "+3 columns" or "+3", the number of columns that do not fit, behind the first title, else
 * where there is room between the titles. */
static void draw_dropped(struct area area, const struct table_layout *layout)
{
	char all[FMT_MAX + 4], few[16], columns[FMT_MAX];
	const char *texts[] = { all, all, few };
	size_t i, second = 1;

	while (second < layout->n && !layout->width[second])
		second++;
	snprintf(all, sizeof(all), "  +%s", fmt_many(columns, layout->dropped, "column"));
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

static void table_draw_heading(const struct table *table, struct area area,
			       const struct table_layout *layout)
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
		label_fit(title, sizeof(title), table->first_title && !layout->column[i] ?
			  table->first_title : columns_title(column), width - text_width(arrow),
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
	if (!table->shades)		/* the cursor's line is drawn reversed, a bar is not */
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
	const struct table_column *column = table_column(table, at);
	bool bad = table->kind->bad && table->kind->bad(row);
	enum role role = bad ? ROLE_BAD : ROLE_DEFAULT;
	char text[LABEL_MAX], fitted[LABEL_MAX];

	table_text(table, at, row, text, sizeof(text));
	if (column->part) {
		/* The number needs five columns, and one separates it from the bar. */
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

static void draw_row(const struct table *table, const struct table_layout *layout, struct area area,
		     int y, size_t line, bool focused)
{
	const void *row = table_row(table, table->order[line]);
	bool current = line == table->cursor, marked = table_is_marked(table, row);
	size_t i;

	if (current)
		area_fill(area, 0, y, area.width, 1, ' ', ROLE_DEFAULT, ROLE_SELECTED,
			  0);
	for (i = 0; i < layout->n; i++)
		if (layout->width[i])
			draw_field(table, layout->column[i], row, area, layout->x[i], y,
				   layout->width[i], current && table->shades ? ROLE_SELECTED :
				   ROLE_DEFAULT);
	/* The current row is marked by more than its background. */
	if (current)
		area_text(area, 0, y, ROLE_CURSOR, focused ? ATTR_BOLD : 0,
			  marked ? (table->ascii ? "#" : "◆") :
			  table->ascii ? ">" : focused ? "▸" : "▹");
	else if (marked)
		area_text(area, 0, y, ROLE_ACCENT, ATTR_BOLD, table->ascii ? "*" : "•");
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

/* ---- below the rows ---- */

/* Draws "… 3 above, 24 more of 51", as much of it as fits. */
static void table_say_rows(const struct table *table, int lines, char *text, size_t size, int width)
{
	size_t below = table->count - table->top - (size_t)lines;
	const char *dots = table->ascii ? ".." : "…";
	char more[80] = "";

	if (table->top && !below)
		snprintf(more, sizeof(more), "%s %zu above", dots, table->top);
	else if (table->top)
		snprintf(more, sizeof(more), "%s %zu above, %zu more", dots, table->top, below);
	else if (below)
		snprintf(more, sizeof(more), "%s %zu more", dots, below);
	if (*more)
		snprintf(text, size, "%s of %zu", more, table->count);
	else
		snprintf(text, size, "%zu rows", table->count);
	if (text_width(text) > width && *more)
		snprintf(text, size, "%s", more);
}

/* Draws the sums below their columns, with `what` at the left. */
static void draw_sum(const struct table *table, const struct table_sum *sum, struct area area,
		     int y, const char *what)
{
	const struct table_layout *layout = &table->layout;
	char text[LABEL_MAX];

	area_text(area, 1, y, ROLE_MUTED, 0, what);
	for (size_t i = 0; i < layout->n; i++) {
		size_t column = layout->column[i], n;
		int end = layout->x[i] + layout->width[i];

		text[0] = '\0';
		if (!layout->width[i])
			continue;
		n = (size_t)snprintf(text, sizeof(text), "%s", sum->estimate[column] ? "≈" : "");
		if (sum->known[column])
			columns_print(text + n, sizeof(text) - n, table_unit_of(table, column),
				      sum->value[column]);
		else if (table_column(table, column)->part && sum->rows < table->all)
			columns_print(text, sizeof(text), UNIT_SHARE, !table->total ? 0 :
				    (int64_t)((__uint128_t)sum->part * 1000 / table->total));
		if (end - text_width(text) > 1 + text_width(what))
			area_right(area, end, y, ROLE_LABEL, 0, text);
	}
}

static bool has_sums(const struct table *table)
{
	for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++)
		if (table->sums.known[i])
			return table->count > 1;
	return false;
}

/* The lines below the rows for which the area has room. */
struct below { bool rows, picked, note; };

static int plan_below(const struct table *table, int height, struct below *below)
{
	*below = (struct below){
		.rows = (has_sums(table) && height >= SUMS_FROM) ||
			((size_t)height - 1 < table->count && height > 3),
		.picked = table->n_marked && height >= SUMS_FROM,
		.note = table->note[0] && height >= NOTE_FROM,
	};
	return below->rows + below->picked + below->note;
}

static void draw_below(struct table *table, struct area area, int lines,
		       const struct below *below)
{
	char text[LABEL_MAX];
	int y = lines + 1;

	table_say_rows(table, lines, text, sizeof(text), area.width / 3);
	if (below->rows)
		draw_sum(table, &table->sums, area, y++, text);
	snprintf(text, sizeof(text), "%zu marked", table->picked.rows);
	if (below->picked)
		draw_sum(table, &table->picked, area, y++, text);
	label_fit_sentence(text, sizeof(text), table->note, area.width - 2, table->ascii);
	if (below->note)
		area_text(area, 1, y, ROLE_MUTED, 0, text);
}

void table_draw(struct table *table, const struct view *view, struct area area, bool focused)
{
	char text[LABEL_MAX], none[LABEL_MAX];
	struct below below;
	int lines, y;

	table->ascii = view->ascii;
	table->colour = view->colour;
	table->shades = view->shades;
	table->choices = view->column_choices;
	table_order(table);
	if (area.width < 1 || area.height < 1)
		return;
	table->heading = table->above - area.y;
	area = table_draw_where(table, area);
	table->heading += area.y;
	lay_out(table, area.width, &table->layout);
	table_draw_heading(table, area, &table->layout);
	if (!table->count) {
		if (table->all)
			table_say_none(table, none, sizeof(none));
		label_fit(text, sizeof(text), table->all ? none : table->kind->empty,
			  area.width - 3, view->ascii);
		area_text(area, 1, 1, ROLE_MUTED, 0, text);
		return;
	}
	table_sum(table);
	lines = area.height - 1 - plan_below(table, area.height, &below);
	if ((size_t)lines > table->count)
		lines = (int)table->count;
	scroll(table, lines);
	for (y = 0; y < lines; y++)
		draw_row(table, &table->layout, area, y + 1, table->top + (size_t)y, focused);
	draw_below(table, area, lines, &below);
}
