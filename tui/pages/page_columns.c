/* SPDX-License-Identifier: MIT */
/* The page of `columns`: all columns of a table, what they mean, and which are shown. */
#include <stdio.h>
#include <string.h>

#include "tui/draw/page_call.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

static const char *const unit_names[] = {
	[UNIT_TEXT] = "text", [UNIT_NUMBER] = "number", [UNIT_COUNT] = "count",
	[UNIT_TIME] = "time", [UNIT_BYTES] = "bytes", [UNIT_RATE] = "bytes/s",
	[UNIT_FLOPS] = "FLOP/s", [UNIT_SHARE] = "share",
	[UNIT_WHEN] = "time",
};

static bool is_shown(const struct table *table, size_t column)
{
	unsigned char shown[TABLE_COLUMNS_MAX];
	size_t n = table_shown(table, shown);

	for (size_t i = 0; i < n; i++)
		if (shown[i] == column)
			return true;
	return false;
}

static bool has_room(const struct table *table, size_t column)
{
	for (size_t i = 0; i < table->layout.n; i++)
		if (table->layout.column[i] == column)
			return table->layout.width[i] > 0;
	return true;
}

static const char *state(const struct table *table, size_t column)
{
	if (!table_offers(table, column))
		return column < table->kind->columns->n ? "no data" : "after pin";
	if (!is_shown(table, column))
		return "hidden";
	return has_room(table, column) ? "shown" : "no room";
}

/* Adds one column: its key is a link that shows or hides it. */
static void say_column(struct page *page, const struct table *table, size_t column)
{
	const struct table_column *c = table_column(table, column);
	char word[64];
	const char *argv[] = {"columns", table->kind->columns->name, word};

	snprintf(word, sizeof(word), "%c%s", is_shown(table, column) ? '-' : '+', c->key);
	page_cell(page, ROLE_TITLE, -14, columns_title(c));
	page_add(page, ROLE_DEFAULT, 0, "  ");
	if (column)
		page_link(page, c->key, 3, argv);
	else
		page_add(page, ROLE_DEFAULT, 0, "%s", c->key);
	page_add(page, ROLE_DEFAULT, 0, "%*s", (int)(13 - (int)strlen(c->key)), "");
	page_cell(page, ROLE_MUTED, -10, state(table, column));
	page_cell(page, ROLE_MUTED, -8, unit_names[table_unit_of(table, column)]);
	page_add(page, ROLE_DEFAULT, 0, "%s%s", c->help,
		 column == table->sort ? "; sorts the table" : "");
	page_end(page);
}

bool page_columns(const struct page_call *call, struct page *page)
{
	const char *pane = call->argv[1];
	struct table *table = pane_table_of(call->view, pane);

	if (!table) {
		snprintf(call->error, call->error_size, "no table '%.40s': ops, kernels, copies, "
			 "steps, memory", pane);
		return false;
	}
	table->choices = call->view->column_choices;
	page_say(page, ROLE_MUTED, 0, "columns of %s, the one that sorts the table first; Enter "
		 "shows or hides one, 'columns %s reset' restores the default", pane, pane);
	page_say(page, ROLE_COLUMN, 0, "%-14s  %-13s%-10s%-8s%s", "heading", "name", "state",
		 "unit", "what it is");
	say_column(page, table, table->sort);
	for (size_t i = 0; i < table_n_columns(table); i++)
		if (i != table->sort)
			say_column(page, table, i);
	return true;
}
