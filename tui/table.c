/* SPDX-License-Identifier: MIT */
#include "tui/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/labels.h"
#include "tui/timeline_cells.h"

#define GAP 2
#define BAR_LEAST 4

void table_setup(struct table *table, const struct table_kind *kind, const char *sort_key)
{
	memset(table, 0, sizeof(*table));
	table->kind = kind;
	table_sort_by(table, sort_key);
}

static void free_rows(struct table *table)
{
	if (table->kind->free_rows)
		table->kind->free_rows(table->rows, table->count);
	else
		free(table->rows);
	table->rows = NULL;
	table->count = 0;
}

void table_teardown(struct table *table)
{
	free_rows(table);
	free(table->order);
	memset(table, 0, sizeof(*table));
}

void table_take(struct table *table, void *rows, size_t count, uint64_t total)
{
	free_rows(table);
	table->rows = rows;
	table->count = count;
	table->total = total;
	table->unsorted = true;
}

bool table_sort_by(struct table *table, const char *key)
{
	size_t i;

	for (i = 0; i < table->kind->n_columns; i++) {
		const struct table_column *column = &table->kind->columns[i];

		if (!column->key || strcmp(column->key, key) != 0)
			continue;
		table->sort = i;
		table->reverse = column->descending;
		table->unsorted = true;
		return true;
	}
	return false;
}

static const void *row_at(const struct table *table, size_t index)
{
	return (const char *)table->rows + index * table->kind->row_size;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct table *table = arg;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	const struct table_column *column = &table->kind->columns[table->sort];
	int result = 0;

	if (column->compare)
		result = column->compare(row_at(table, left), row_at(table, right));
	if (table->reverse)
		result = -result;
	/* Rows that are equal keep the model's order. */
	return result ? result : left < right ? -1 : left > right;
}

/* The cursor goes where its row went. */
static void find_cursor(struct table *table)
{
	size_t i;

	if (!table->cursor_identity)
		return;
	for (i = 0; i < table->count; i++) {
		if (table->kind->identity(row_at(table, table->order[i])) !=
		    table->cursor_identity)
			continue;
		table->cursor = i;
		return;
	}
}

static void order_rows(struct table *table)
{
	size_t i;

	if (table->unsorted) {
		if (table->count > table->order_cap) {
			table->order_cap = table->count + table->count / 2;
			table->order = xreallocarray(table->order, table->order_cap,
						     sizeof(*table->order));
		}
		for (i = 0; i < table->count; i++)
			table->order[i] = i;
		if (table->count && !table->given)
			qsort_r(table->order, table->count, sizeof(*table->order),
				compare_rows, table);
		find_cursor(table);
		table->unsorted = false;
	}
	if (table->cursor >= table->count)
		table->cursor = table->count ? table->count - 1 : 0;
}

const void *table_current(struct table *table)
{
	order_rows(table);
	return table->count ? row_at(table, table->order[table->cursor]) : NULL;
}

/* ---- commands ---- */

static void move_to(struct table *table, int64_t line)
{
	order_rows(table);
	if (line >= (int64_t)table->count)
		line = (int64_t)table->count - 1;
	if (line < 0)
		line = 0;
	table->cursor = (size_t)line;
	table->cursor_identity = 0;
	/* On the first line the cursor means "whatever comes first". */
	if (table->count && line > 0)
		table->cursor_identity =
			table->kind->identity(row_at(table, table->order[line]));
}

bool table_reveal(struct table *table, bool (*is)(const void *row, const char *key),
		  const char *key)
{
	size_t line;

	order_rows(table);
	for (line = 0; line < table->count; line++) {
		const void *row = row_at(table, table->order[line]);

		if (!is(row, key))
			continue;
		table->cursor = line;
		table->cursor_identity = table->kind->identity(row);
		return true;
	}
	return false;
}

static unsigned sort_command(struct table *table, struct view *view,
			     const struct command_call *call)
{
	char keys[160] = "";
	size_t i, at = 0;

	if (call->argc == 2 && table_sort_by(table, call->argv[1])) {
		table->chosen = true;
		return OUT_REDRAW;
	}
	for (i = 0; i < table->kind->n_columns && at < sizeof(keys); i++)
		if (table->kind->columns[i].key)
			at += (size_t)snprintf(keys + at, sizeof(keys) - at, " %s",
					       table->kind->columns[i].key);
	snprintf(view->status, sizeof(view->status), "%s '%s'; there are:%s",
		 call->argc < 2 ? "sort by what: no" : "no column",
		 call->argc < 2 ? "column" : call->argv[1], keys);
	view->status_error = true;
	return OUT_REDRAW;
}

static unsigned sort_next(struct table *table)
{
	size_t i;

	for (i = 1; i <= table->kind->n_columns; i++) {
		size_t column = (table->sort + i) % table->kind->n_columns;

		if (!table->kind->columns[column].key)
			continue;
		table_sort_by(table, table->kind->columns[column].key);
		table->chosen = true;
		break;
	}
	return OUT_REDRAW;
}

static unsigned reverse(struct table *table)
{
	table->reverse = !table->reverse;
	table->chosen = true;
	table->unsorted = true;
	return OUT_REDRAW;
}

unsigned table_command(struct table *table, struct view *view, const struct command_call *call)
{
	const char *name = call->argv[0];
	int64_t page = table->page > 1 ? table->page - 1 : 1;
	int64_t rows = call->argc > 1 ? atoi(call->argv[1]) : 1;
	int64_t cursor = (int64_t)table->cursor;

	if (strcmp(name, "row-down") == 0)
		move_to(table, cursor + rows);
	else if (strcmp(name, "row-up") == 0)
		move_to(table, cursor - rows);
	else if (strcmp(name, "page-down") == 0)
		move_to(table, cursor + page);
	else if (strcmp(name, "page-up") == 0)
		move_to(table, cursor - page);
	else if (strcmp(name, "first-row") == 0)
		move_to(table, 0);
	else if (strcmp(name, "last-row") == 0)
		move_to(table, INT64_MAX);
	else if (strcmp(name, "sort") == 0)
		return sort_command(table, view, call);
	else if (strcmp(name, "next-sort") == 0)
		return sort_next(table);
	else if (strcmp(name, "reverse") == 0)
		return reverse(table);
	else
		return OUT_UNKNOWN;
	return OUT_REDRAW;
}

/* ---- drawing ---- */

#define COLUMNS_MAX 24

struct layout {
	int x[COLUMNS_MAX], width[COLUMNS_MAX];	/* width 0: not shown */
};

static int needed(const struct table *table, const struct layout *layout, bool at_ease)
{
	int sum = 1;
	size_t i;

	for (i = 0; i < table->kind->n_columns; i++) {
		const struct table_column *column = &table->kind->columns[i];

		if (layout->width[i])
			sum += (at_ease && column->want ? column->want : column->width) + GAP;
	}
	return sum - GAP;
}

static bool drop_column(const struct table *table, struct layout *layout, int above)
{
	int highest = above;
	size_t i, which = 0;

	for (i = 0; i < table->kind->n_columns; i++) {
		if (!layout->width[i] || table->kind->columns[i].rank <= highest)
			continue;
		highest = table->kind->columns[i].rank;
		which = i;
	}
	if (highest > above)
		layout->width[which] = 0;
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

static void lay_out(const struct table *table, int width, struct layout *layout)
{
	size_t n = table->kind->n_columns, i;
	int spare, x = 1;

	memset(layout, 0, sizeof(*layout));
	for (i = 0; i < n; i++)
		layout->width[i] = table->kind->columns[i].width;
	while (needed(table, layout, true) > width && drop_column(table, layout, TABLE_NEEDED))
		;
	while (needed(table, layout, false) > width && drop_column(table, layout, 0))
		;
	spare = width - 1 - needed(table, layout, false);
	for (i = 0; i < n && spare > 0; i++)
		if (layout->width[i] && table->kind->columns[i].most)
			spare -= widen(layout, i, table->kind->columns[i].want, spare);
	/* The first one, which is the name, takes the larger part of the rest. */
	for (i = 0; i < n && spare > 0; i++)
		if (layout->width[i] && table->kind->columns[i].most)
			spare -= widen(layout, i, table->kind->columns[i].most,
				       i ? spare : spare * 2 / 3);
	for (i = 0; i < n; i++) {
		layout->x[i] = x;
		if (layout->width[i])
			x += layout->width[i] + GAP;
	}
}

static void draw_heading(const struct table *table, struct area area,
			 const struct layout *layout)
{
	size_t i;

	for (i = 0; i < table->kind->n_columns; i++) {
		const struct table_column *column = &table->kind->columns[i];
		int width = layout->width[i];
		char title[LABEL_MAX], text[LABEL_MAX + 8];
		const char *arrow = "";

		if (!width)
			continue;
		if (i == table->sort && column->key)
			arrow = table->reverse ? (table->ascii ? " v" : " ▾")
					       : (table->ascii ? " ^" : " ▴");
		label_fit(title, sizeof(title), column->title, width - text_width(arrow),
			  table->ascii);
		snprintf(text, sizeof(text), "%s%s", title, arrow);
		if (column->right)
			area_right(area, layout->x[i] + width, 0, ROLE_COLUMN, 0, text);
		else
			area_text(area, layout->x[i], 0, ROLE_COLUMN, 0, text);
	}
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

static void draw_field(const struct table *table, const struct table_column *column,
		       const void *row, struct area area, int x, int y, int width,
		       enum role behind)
{
	bool bad = table->kind->bad && table->kind->bad(row);
	enum role role = bad ? ROLE_BAD : ROLE_DEFAULT;
	char text[LABEL_MAX], fitted[LABEL_MAX];

	text[0] = '\0';
	column->text(table, row, text, sizeof(text));
	if (column->part) {
		/* The number needs five columns and one between. */
		if (width - 6 >= BAR_LEAST)
			draw_bar(table, row, area, x, y, width - 6, column->part(row), behind);
	}
	if (column->right || column->part) {
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
	const void *row = row_at(table, table->order[line]);
	bool current = line == table->cursor;
	size_t i;

	if (current)
		area_fill(area, 0, y, area.width, 1, ' ', ROLE_DEFAULT, ROLE_SELECTED,
			  0);
	for (i = 0; i < table->kind->n_columns; i++)
		if (layout->width[i])
			draw_field(table, &table->kind->columns[i], row, area, layout->x[i], y,
				   layout->width[i], current && table->shades ? ROLE_SELECTED : ROLE_DEFAULT);
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
	int lines = area.height - 1, y;
	struct layout layout;
	char more[64];
	size_t below;

	table->ascii = view->ascii;
	table->colour = view->colour;
	table->shades = view->shades;
	order_rows(table);
	if (area.width < 1 || area.height < 1)
		return;
	lay_out(table, area.width, &layout);
	draw_heading(table, area, &layout);
	if (!table->count) {
		char text[LABEL_MAX];

		label_fit(text, sizeof(text), table->kind->empty, area.width - 3, view->ascii);
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

/* ---- what the panes' columns share ---- */

int table_compare_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

int table_compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int table_compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a ? 0 : 1) - (b ? 0 : 1);
	return strcmp(a, b);
}

uint64_t table_mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 29) ^ b) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 32) ^ c) * 0x94d049bb133111ebULL;
	h ^= h >> 31;
	return h ? h : 1;
}

void table_time(char *text, size_t size, int64_t ns, bool known)
{
	char time[FMT_MAX];

	snprintf(text, size, "%s", known ? fmt_time(time, ns) : "–");
}
