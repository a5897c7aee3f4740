/* SPDX-License-Identifier: MIT */
/* Columns of a table: their values, how they compare, and which of them exist. */
#include "tui/table/table.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/table/column_choice.h"

/* ---- columns of every table ---- */

enum { OWN_COUNT, OWN_COST, OWN_SHARE };

const struct table_column table_own_columns[] = {
	[OWN_COUNT] = {"+calls", "since-calls", 9, 0, 0, 2, UNIT_COUNT, TABLE_SUMS,
		       .help = "count since `pin`"},
	[OWN_COST] = {"since", "since", 10, 0, 0, 1, UNIT_TIME, TABLE_SUMS,
		      .help = "cost since `pin`: time, or bytes of memory"},
	[OWN_SHARE] = {"share since", "since-share", 11, 0, 0, 3, UNIT_SHARE, 0,
		       .help = "share of what all rows cost since `pin`"},
};
const size_t table_n_own_columns = sizeof(table_own_columns) / sizeof(table_own_columns[0]);

static bool table_own_value(const struct table *table, size_t own, const void *row, int64_t *value)
{
	int64_t count, cost;

	bool known = table_since(table, row, &count, &cost);

	*value = own == OWN_COUNT ? count : cost;
	if (own != OWN_SHARE)
		return known || own == OWN_COUNT;
	if (!known || table->since_cost <= 0)
		return false;
	*value = (int64_t)((__int128_t)cost * 1000 / table->since_cost);
	return true;
}

/* A column of growth has the unit of the column that grows. */
enum table_unit table_unit_of(const struct table *table, size_t column)
{
	size_t own = column - table->kind->columns->n;

	if (column < table->kind->columns->n || own != OWN_COST || !table->kind->cost_key)
		return table_column(table, column)->unit;
	return table_column(table, table_find_column(table, table->kind->cost_key))->unit;
}

/* ---- of a table ---- */

const struct table_column *table_kind_column(const struct table_kind *kind, const char *key)
{
	for (size_t i = 0; i < table_n_own_columns; i++)
		if (!strcmp(table_own_columns[i].key, key))
			return &table_own_columns[i];
	return columns_find(kind->columns, key);
}

size_t table_find_column(const struct table *table, const char *key)
{
	const struct table_column *column = table_kind_column(table->kind, key);
	size_t i = 0;

	while (i < table_n_columns(table) && table_column(table, i) != column)
		i++;
	return i;
}

void table_offer(struct table *table, const char *key, bool there)
{
	size_t column = table_find_column(table, key);

	if (column >= table->kind->columns->n)
		return;
	if (there)
		table->absent &= ~(UINT64_C(1) << column);
	else
		table->absent |= UINT64_C(1) << column;
}

bool table_offers(const struct table *table, size_t column)
{
	if (column >= table->kind->columns->n)
		return column < table_n_columns(table) && table_has_pin(table);
	return !(table->absent >> column & 1);
}

char table_choice(const struct table *table, size_t column, size_t *place, bool *only)
{
	return column_choice_of(table->choices, table->kind->columns->name,
				table_column(table, column)->key, place, only);
}

size_t table_shown(const struct table *table, unsigned char columns[TABLE_COLUMNS_MAX])
{
	size_t places[TABLE_COLUMNS_MAX], n = 0;

	/* In the order of the kind; the chosen columns in the order of the choice. */
	for (size_t i = 0; i < table_n_columns(table) && n < TABLE_COLUMNS_MAX; i++) {
		size_t place, at;
		bool only;
		char sign = table_choice(table, i, &place, &only);

		if (!table_offers(table, i) || sign == '-' || (i && only && !sign) ||
		    (i && !sign && (table_column(table, i)->flags & TABLE_ASKED)))
			continue;
		place = !i ? 0 : only ? place + 1 : i;
		for (at = n++; at && places[at - 1] > place; at--) {
			places[at] = places[at - 1];
			columns[at] = columns[at - 1];
		}
		places[at] = place;
		columns[at] = (unsigned char)i;
	}
	return n;
}

bool table_sortable(const struct table *table, size_t column)
{
	const struct table_column *c = table_column(table, column);

	return table_offers(table, column) && columns_is_sortable(c);
}

bool table_descends(const struct table_column *column)
{
	return column->unit == UNIT_TEXT ? column->flags & TABLE_MOST_FIRST :
					    !(column->flags & TABLE_LEAST_FIRST);
}

bool table_value(const struct table *table, size_t column, const void *row, int64_t *value)
{
	const struct table_column *c = table_column(table, column);
	uint64_t part;

	if (column >= table->kind->columns->n)
		return table_own_value(table, column - table->kind->columns->n, row, value);
	if (!c->part)
		return columns_value(c, row, value);
	if (!table->total)
		return false;
	part = c->part(row);
	*value = (int64_t)(((__uint128_t)part * 1000 + table->total / 2) / table->total);
	return part > 0;
}

/* One cell for each value, in eighths of the highest one; a value above 0 has at least the lowest
 * block. */
static void table_strip(char *text, size_t size, const uint64_t *values, size_t n)
{
	uint64_t most = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < n && at + 4 < size; i++)
		if (values[i])
			at += text_encode(0x2581 + (uint32_t)((__uint128_t)values[i] * 7 / most),
					  text + at);
		else
			text[at++] = ' ';
	text[at] = '\0';
}

void table_text(const struct table *table, size_t column, const void *row, char *text,
		size_t size)
{
	const struct table_column *c = table_column(table, column);
	uint64_t values[TABLE_SERIES_MAX];
	char number[FMT_MAX];
	const char *words;
	int64_t value;

	text[0] = '\0';
	if (c->text) {
		c->text(row, table->ascii, text, size);
	} else if (c->series) {
		table_strip(text, size, values, c->series(row, values));
	} else if (c->part) {		/* there is no share of a total of 0 */
		if (c->part(row))
			snprintf(text, size, "%s", fmt_share(number, c->part(row), table->total));
	} else if (c->unit == UNIT_TEXT) {
		words = columns_words(c, row);
		snprintf(text, size, "%s", words ? words : "");
	} else if (table_value(table, column, row, &value) && (value || !(c->flags & TABLE_DASH))) {
		columns_print(number, sizeof(number), table_unit_of(table, column), value);
		snprintf(text, size, "%s%s", columns_mark(table->kind->columns, c, row), number);
	} else {
		snprintf(text, size, "–");
	}
}

int table_compare(const struct table *table, const void *a, const void *b)
{
	const struct table_column *c = table_column(table, table->sort);
	int64_t left = 0, right = 0;
	bool has_left, has_right;
	int result;

	if (c->compare || !columns_is_numeric(c)) {
		result = c->compare ? c->compare(a, b) :
			 columns_compare_text(columns_words(c, a), columns_words(c, b));
		return table->reverse ? -result : result;
	}
	has_left = table_value(table, table->sort, a, &left);
	has_right = table_value(table, table->sort, b, &right);
	if (!has_left || !has_right)
		return (int)has_right - (int)has_left;
	return table->reverse ? columns_compare_i64(right, left) : columns_compare_i64(left, right);
}

/* ---- what the panes' columns share ---- */

uint64_t table_mix(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t h = a * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 29) ^ b) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 32) ^ c) * 0x94d049bb133111ebULL;
	h ^= h >> 31;
	return h ? h : 1;
}
