/* SPDX-License-Identifier: MIT */
/*
 * `where EXPR`: a table's rows are those that a filter wants. The others stay behind them,
 * so that whoever orders, counts or adds up the rows sees only what is shown.
 */
#include "tui/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/filters.h"
#include "tui/labels.h"

struct asked {
	const struct table *table;
	const void *row;
};

/* The part of the total is the table's to know, the rest the row's. */
static enum filter_known get(const void *arg, enum filter_field field, struct filter_value *value)
{
	const struct asked *asked = arg;
	const struct table_kind *kind = asked->table->kind;

	if (field != FILTER_BY_SHARE)
		return kind->field(asked->row, field, value);
	for (size_t i = 0; i < kind->n_columns && asked->table->total; i++)
		if (kind->columns[i].part)
			return filter_number(value, (int64_t)
				((__uint128_t)kind->columns[i].part(asked->row) * 1000000 /
				 asked->table->total));
	return FILTER_UNKNOWN;
}

/* Of a tree what is above a wanted one stays as well; levels: of whom one is wanted. */
static bool is_kept(const struct table *table, const void *row, uint64_t *levels)
{
	struct asked asked = { table, row };
	bool kept = filter_match(table->where, get, &asked);
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
	if (!table->where || !table->all || !table->kind->field)
		return;
	rows = xreallocarray(NULL, table->all, size);
	keep = xcalloc(table->all, 1);
	/* From the end, because what is below decides. */
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
}

/* Why no row is wanted: what the filter asks for may be nothing that rows here have. */
void table_say_none(const struct table *table, char *out, size_t size)
{
	struct asked asked = { table, NULL };
	struct filter_value value;

	for (enum filter_field field = 0; field < FILTER_FIELDS; field++) {
		bool known = !filter_asks(table->where, field);

		for (size_t i = 0; i < table->all && !known; i++) {
			asked.row = table_row(table, i);
			value = (struct filter_value) { .number = 0 };
			known = get(&asked, field, &value) != FILTER_UNKNOWN;
		}
		if (known)
			continue;
		snprintf(out, size,
			 "no row here has '%s' (filters: what there is); where alone shows all of them",
			 filter_fields[field].name);
		return;
	}
	snprintf(out, size, "none of the rows is wanted; where alone shows all of them");
}

unsigned table_where(struct table *table, struct view *view, const struct command_call *call)
{
	struct filter *filter = NULL;

	if (call->argc > 1 && !table->kind->field) {
		snprintf(view->status, sizeof(view->status), "rows here cannot be chosen by a filter");
		view->status_error = true;
		return OUT_REDRAW;
	}
	if (call->argc > 1) {
		filter = filters_parse(view->filters, call, 1, view->status, sizeof(view->status));
		view->status_error = !filter;
		if (!filter)
			return OUT_REDRAW;
	} else if (!table->where) {
		snprintf(view->status, sizeof(view->status),
			 "all rows are shown; e.g. where dur > 1ms (help filter: what there is)");
	}
	filter_free(table->where);
	table->where = filter;
	table_choose_rows(table);
	return OUT_REDRAW;
}

struct area table_draw_where(const struct table *table, struct area area)
{
	char line[LABEL_MAX], fitted[LABEL_MAX], count[FMT_MAX], all[FMT_MAX];

	if (!table->where || area.height < 3)
		return area;
	snprintf(line, sizeof(line), "%s of %s where %s", fmt_count(count, table->count),
		 fmt_count(all, table->all), filter_text(table->where));
	label_fit(fitted, sizeof(fitted), line, area.width - 2, table->ascii);
	area_text(area, 1, 0, ROLE_ACCENT, 0, fitted);
	return area_sub(area, 0, 1, area.width, area.height - 1);
}
