/* SPDX-License-Identifier: MIT */
/* Rows of a table: their order, the cursor, and the commands that act on them. */
#include "tui/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/mouse.h"

void table_setup(struct table *table, const struct table_kind *kind, const char *sort_key)
{
	memset(table, 0, sizeof(*table));
	table->kind = kind;
	table_sort_by(table, sort_key);
}

static void free_rows(struct table *table)
{
	if (table->kind->free_rows)
		table->kind->free_rows(table->rows, table->all);
	else
		free(table->rows);
	table->rows = NULL;
	table->count = table->all = table->n_since = 0;
}

void table_teardown(struct table *table)
{
	free_rows(table);
	free(table->order);
	filter_free(table->where);
	free(table->marked);
	free(table->pinned);
	map_release(&table->pinned_at);
	free(table->since);
	memset(table, 0, sizeof(*table));
}

void table_take(struct table *table, void *rows, size_t count, uint64_t total)
{
	free_rows(table);
	table->rows = rows;
	table->all = count;
	table->total = total;
	table_choose_rows(table);
	table_taken(table);
}

void table_become(struct table *table, const struct table_kind *kind)
{
	const char *key = table_column(table, table->sort)->key;
	bool reverse = table->reverse;

	if (table->kind == kind)
		return;
	table->kind = kind;
	table->n_since = 0;
	table->sort = 0;
	if (table_sort_by(table, key))
		table->reverse = reverse;
}

bool table_sort_by(struct table *table, const char *key)
{
	size_t column = table_find_column(table, key);

	if (column >= table_n_columns(table) || !table_sortable(table, column))
		return false;
	table->sort = column;
	table->reverse = table_descends(table_column(table, column));
	table->unsorted = true;
	return true;
}

/* ---- order ---- */

/* A row with its sort value, so that comparing needs no calls. */
struct sorted {
	int64_t value;
	size_t row;
};

static int compare_values(const void *a, const void *b)
{
	const struct sorted *left = a, *right = b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	/* Equal rows keep the model's order. */
	return left->row < right->row ? -1 : left->row > right->row;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct table *table = arg;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int result = table_compare(table, table_row(table, left), table_row(table, right));

	return result ? result : left < right ? -1 : left > right;
}

/* Sorts as table_compare() would, but asks for each value only once. */
static void sort_values(struct table *table)
{
	struct sorted *list = xreallocarray(NULL, table->count, sizeof(*list));
	size_t i;

	for (i = 0; i < table->count; i++) {
		bool known = table_value(table, table->sort, table_row(table, i), &list[i].value);

		list[i].row = i;
		/* unknown values come last */
		if (!known)
			list[i].value = INT64_MAX;
		else if (table->reverse)
			list[i].value = ~list[i].value;
	}
	qsort(list, table->count, sizeof(*list), compare_values);
	for (i = 0; i < table->count; i++)
		table->order[i] = list[i].row;
	free(list);
}

/* The cursor follows its row. */
static void find_cursor(struct table *table)
{
	size_t i;

	if (!table->cursor_identity)
		return;
	for (i = 0; i < table->count; i++) {
		if (table->kind->identity(table_row(table, table->order[i])) !=
		    table->cursor_identity)
			continue;
		table->cursor = i;
		return;
	}
}

static void sort_rows(struct table *table)
{
	size_t i;

	/* the sort column may not be available any more */
	if (!table_sortable(table, table->sort) && !table->given &&
	    !table_sort_by(table, table->kind->cost_key ? table->kind->cost_key : ""))
		table->sort = 0;
	if (table->count > table->order_cap) {
		table->order_cap = table->count + table->count / 2;
		table->order = xreallocarray(table->order, table->order_cap,
					     sizeof(*table->order));
	}
	for (i = 0; i < table->count; i++)
		table->order[i] = i;
	if (table->given || table->count < 2)
		return;
	if (table_column(table, table->sort)->compare ||
	    !columns_is_numeric(table_column(table, table->sort)))
		qsort_r(table->order, table->count, sizeof(*table->order), compare_rows, table);
	else
		sort_values(table);
}

void table_order(struct table *table)
{
	if (table->unsorted) {
		sort_rows(table);
		find_cursor(table);
		table->unsorted = false;
		table->summed = false;
	}
	if (table->cursor >= table->count)
		table->cursor = table->count ? table->count - 1 : 0;
}

const void *table_current(struct table *table)
{
	table_order(table);
	return table->count ? table_row(table, table->order[table->cursor]) : NULL;
}

/* ---- commands ---- */

static void move_to(struct table *table, int64_t line)
{
	table_order(table);
	if (line >= (int64_t)table->count)
		line = (int64_t)table->count - 1;
	if (line < 0)
		line = 0;
	table->cursor = (size_t)line;
	table->cursor_identity = 0;
	/* On the first line the cursor means "whatever comes first". */
	if (table->count && line > 0)
		table->cursor_identity =
			table->kind->identity(table_row(table, table->order[line]));
}

bool table_reveal(struct table *table, bool (*is)(const void *row, const char *key),
		  const char *key)
{
	size_t line;

	table_order(table);
	for (line = 0; line < table->count; line++) {
		const void *row = table_row(table, table->order[line]);

		if (!is(row, key))
			continue;
		table->cursor = line;
		table->cursor_identity = table->kind->identity(row);
		return true;
	}
	return false;
}

void table_line(struct table *table, size_t line, struct strbuf *out)
{
	unsigned char shown[TABLE_COLUMNS_MAX];
	size_t n = table_shown(table, shown);
	char text[LABEL_MAX];

	table_order(table);
	for (size_t i = 0; i < n; i++) {
		if (table_column(table, shown[i])->unit != UNIT_TEXT)
			continue;
		text[0] = '\0';
		table_text(table, shown[i], table_row(table, table->order[line]), text,
			   sizeof(text));
		strbuf_addf(out, "%s ", text);
	}
}

void table_go(struct table *table, size_t line)
{
	move_to(table, (int64_t)line);
}

/* Prints "op calls self": the keys of the columns that can be sorted by. */
static void table_print_keys(const struct table *table, char *text, size_t size)
{
	size_t i, at = 0;

	text[0] = '\0';
	for (i = 0; i < table_n_columns(table) && at < size; i++)
		if (table_sortable(table, i))
			at += (size_t)snprintf(text + at, size - at, " %s",
					       table_column(table, i)->key);
}

static unsigned table_sort_command(struct table *table, struct view *view,
				   const struct command_call *call)
{
	char keys[180];

	if (call->argc == 2 && table_sort_by(table, call->argv[1])) {
		table->chosen = true;
		return OUT_REDRAW;
	}
	table_print_keys(table, keys, sizeof(keys));
	snprintf(view->status, sizeof(view->status), "%s '%.40s'; there are:%s",
		 call->argc < 2 ? "sort needs a" : "no column",
		 call->argc < 2 ? "column" : call->argv[1], keys);
	view->status_error = true;
	return OUT_REDRAW;
}

/* Sorts by the next column that is shown; with -1 by the previous one. */
static unsigned sort_next(struct table *table, int by)
{
	unsigned char shown[TABLE_COLUMNS_MAX];
	size_t n = table_shown(table, shown), at = 0, i;

	for (i = 0; i < n; i++)
		if (shown[i] == table->sort)
			at = i;
	for (i = 1; i <= n; i++) {
		size_t column = shown[(at + (by < 0 ? n - i : i)) % n];

		/* a share is sorted like the column that it is a share of */
		if (!table_sortable(table, column) || table_column(table, column)->part)
			continue;
		table_sort_by(table, table_column(table, column)->key);
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

static void mark_and_go(struct table *table)
{
	table_mark(table);
	move_to(table, (int64_t)table->cursor + 1);
}

/* The first column does not scroll. */
static unsigned scroll_columns(struct table *table, struct view *view, int by)
{
	unsigned char shown[TABLE_COLUMNS_MAX];
	size_t n = table_shown(table, shown);
	bool all = table->layout.n && !table->layout.dropped;

	if (!all && by < 0 && table->skip)
		table->skip--;
	else if (!all && by > 0 && n > table->skip + 2)
		table->skip++;
	else
		snprintf(view->status, sizeof(view->status), "%s", all ?
			 "all its columns are shown" : by < 0 ? "these are the first columns" :
			 "these are the last columns");
	return OUT_REDRAW;
}

unsigned table_command(struct table *table, struct view *view, const struct command_call *call)
{
	const char *name = call->argv[0];
	int64_t page = table->page > 1 ? table->page - 1 : 1;
	int64_t rows = call->argc > 1 ? atoi(call->argv[1]) : 1;
	int64_t cursor = (int64_t)table->cursor;

	table->choices = view->column_choices;
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
		return table_sort_command(table, view, call);
	else if (strcmp(name, "next-sort") == 0)
		return sort_next(table, 1);
	else if (strcmp(name, "prev-sort") == 0)
		return sort_next(table, -1);
	else if (strcmp(name, "reverse") == 0)
		return reverse(table);
	else if (strcmp(name, "where") == 0)
		return table_where(table, view, call);
	else if (strcmp(name, "columns-left") == 0 || strcmp(name, "columns-right") == 0)
		return scroll_columns(table, view, strcmp(name, "columns-right") ? -1 : 1);
	else if (strcmp(name, "pick") == 0)
		mark_and_go(table);
	else if (strcmp(name, "pick-none") == 0)
		table_unmark(table);
	else
		return OUT_UNKNOWN;
	return OUT_REDRAW;
}

/* ---- the mouse ---- */

/* A click on a heading sorts by its column, a second one reverses the order. */
static unsigned click_heading(struct table *table, int x)
{
	const struct table_layout *layout = &table->layout;

	for (size_t i = 0; i < layout->n; i++) {
		size_t column = layout->column[i];

		if (!layout->width[i] || x < layout->x[i] ||
		    x >= layout->x[i] + layout->width[i] + 2 || !table_sortable(table, column))
			continue;
		if (column == table->sort)
			return reverse(table);
		table_sort_by(table, table_column(table, column)->key);
		table->chosen = true;
		return OUT_REDRAW;
	}
	return OUT_NONE;
}

unsigned table_mouse(struct table *table, struct view *view, const struct mouse *mouse)
{
	int line = mouse->y - table->heading - 1;
	size_t row = table->top + (size_t)(line < 0 ? 0 : line);

	switch (mouse->what) {
	case MOUSE_WHEEL_LEFT:
		return scroll_columns(table, view, -1);
	case MOUSE_WHEEL_RIGHT:
		return scroll_columns(table, view, 1);
	case MOUSE_PRESS:
	case MOUSE_DOUBLE:
		break;
	default:
		return OUT_UNKNOWN;
	}
	if (mouse->button != 1)
		return OUT_NONE;
	if (line == -1)
		return click_heading(table, mouse->x);
	if (line < 0 || line >= table->page || row >= table->count)
		return OUT_NONE;
	move_to(table, (int64_t)row);
	if (mouse->what != MOUSE_DOUBLE)
		return OUT_REDRAW;
	view->run_command = "open";
	return OUT_REDRAW | OUT_RUN_COMMAND;
}
