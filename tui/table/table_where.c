/* SPDX-License-Identifier: MIT */
/*
 * `where EXPR`: shows the rows of a table that match a filter. The other rows are kept behind them,
 * so that code that sorts, counts or sums rows uses only those that are shown.
 */
#include "tui/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/table/where.h"

struct row_asked {
	const struct table *table;
	const void *row;
};

/* The table knows the share of the total; all other fields come from the row. */
static enum filter_known table_where_field(const void *arg, enum filter_field field,
					   struct filter_value *value)
{
	const struct row_asked *asked = arg;
	const struct table_kind *kind = asked->table->kind;
	const struct table_columns *columns = kind->columns;

	if (field != FILTER_BY_SHARE)
		return kind->field ? kind->field(asked->row, field, value) :
		       columns_filter(columns, asked->row, field, value);
	for (size_t i = 0; i < columns->n && asked->table->total; i++)
		if (columns->column[i].part)
			return filter_number(value, (int64_t)
				((__uint128_t)columns->column[i].part(asked->row) * 1000000 /
				 asked->table->total));
	return FILTER_UNKNOWN;
}

static bool table_has_fields(const struct table_kind *kind)
{
	bool any = kind->field != NULL;

	for (size_t i = 0; i < kind->columns->n && !any; i++)
		any = kind->columns->column[i].filter != 0;
	return any;
}

/* In a tree, the rows above a matching row are kept as well; levels: those with a match below. */
static bool is_kept(const struct table *table, const void *row, uint64_t *levels)
{
	struct row_asked asked = { table, row };
	bool kept = filter_match(table->where, table_where_field, &asked);
	unsigned depth;

	if (!table->given || !table->kind->depth)
		return kept;
	depth = table->kind->depth(row);
	if (depth > 62)
		return kept;
	kept |= *levels >> (depth + 1) & 1;
	*levels &= (UINT64_C(1) << (depth + 1)) - 1;
	*levels |= kept ? UINT64_C(1) << depth : 0;
	return kept;
}

void table_choose_rows(struct table *table)
{
	size_t size = table->kind->row_size, kept = 0, left = 0, i;
	char *rows, *keep;
	uint64_t levels = 0;

	table->count = table->all;
	table->unsorted = true;
	if (!table->where || !table->all || !table_has_fields(table->kind)) {
		table_look_since(table);
		return;
	}
	rows = xreallocarray(NULL, table->all, size);
	keep = xcalloc(table->all, 1);
	/* From the end, because the rows below decide. */
	for (i = table->all; i-- > 0; ) {
		keep[i] = is_kept(table, table_row(table, i), &levels);
		kept += (size_t)keep[i];
	}
	table->count = kept;
	for (i = 0, kept = 0; i < table->all; i++)
		memcpy(rows + (keep[i] ? kept++ : table->count + left++) * size,
		       table_row(table, i), size);
	free(keep);
	free(table->rows);
	table->rows = rows;
	table_look_since(table);
}

/* Whether any row has this field. */
static bool table_where_is_known(const void *arg, enum filter_field field)
{
	const struct table *table = arg;
	struct row_asked asked = { table, NULL };
	bool known = false;

	for (size_t i = 0; i < table->all && !known; i++) {
		struct filter_value value = { .number = 0 };

		asked.row = table_row(table, i);
		known = table_where_field(&asked, field, &value) != FILTER_UNKNOWN;
	}
	return known;
}

void table_say_none(const struct table *table, char *out, size_t size)
{
	where_say_none(table->where, table_where_is_known, table, out, size);
}

unsigned table_where(struct table *table, struct view *view, const struct command_call *call)
{
	if (call->argc > 1 && !table_has_fields(table->kind)) {
		snprintf(view->status, sizeof(view->status),
			 "rows of this pane cannot be filtered");
		view->status_error = true;
	} else if (where_take(&table->where, view, call)) {
		table_choose_rows(table);
	}
	return OUT_REDRAW;
}

struct area table_draw_where(const struct table *table, struct area area)
{
	return where_draw(table->where, table->count, table->all, area, table->ascii);
}
