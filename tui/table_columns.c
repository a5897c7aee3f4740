/* SPDX-License-Identifier: MIT */
/* Columns of a table: what they say of a row, how they compare, which there are. */
#include "tui/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/base/util.h"

size_t table_find_column(const struct table *table, const char *key)
{
	size_t i;

	for (i = 0; i < table->kind->n_columns; i++)
		if (strcmp(table->kind->columns[i].key, key) == 0)
			break;
	return i;
}

void table_offer(struct table *table, const char *key, bool there)
{
	size_t column = table_find_column(table, key);

	if (column == table->kind->n_columns)
		return;
	if (there)
		table->absent &= ~(UINT64_C(1) << column);
	else
		table->absent |= UINT64_C(1) << column;
}

bool table_offers(const struct table *table, size_t column)
{
	return column < table->kind->n_columns && !(table->absent >> column & 1);
}

size_t table_shown(const struct table *table, unsigned char columns[TABLE_COLUMNS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < table->kind->n_columns && n < TABLE_COLUMNS_MAX; i++)
		if (table_offers(table, i) && !(table->kind->columns[i].flags & TABLE_ASKED))
			columns[n++] = (unsigned char)i;
	return n;
}

bool table_sortable(const struct table *table, size_t column)
{
	const struct table_column *c = &table->kind->columns[column];

	return table_offers(table, column) && (c->compare || c->value || c->part);
}

bool table_descends(const struct table_column *column)
{
	return column->unit == TABLE_TEXT ? column->flags & TABLE_MOST_FIRST :
					    !(column->flags & TABLE_LEAST_FIRST);
}

bool table_value(const struct table *table, size_t column, const void *row, int64_t *value)
{
	const struct table_column *c = &table->kind->columns[column];
	uint64_t part;

	if (c->value)
		return c->value(row, value);
	if (!c->part || !table->total)
		return false;
	part = c->part(row);
	*value = (int64_t)(((__uint128_t)part * 1000 + table->total / 2) / table->total);
	return part > 0;
}

void table_print(char *text, size_t size, enum table_unit unit, int64_t value)
{
	uint64_t positive = value < 0 ? -(uint64_t)value : (uint64_t)value;
	const char *sign = value < 0 ? "-" : "";
	char buf[FMT_MAX];

	switch (unit) {
	case TABLE_TIME:
		snprintf(text, size, "%s", fmt_time(buf, value));
		return;
	case TABLE_COUNT:
		snprintf(text, size, "%s%s", sign, fmt_count(buf, positive));
		return;
	case TABLE_BYTES:
		snprintf(text, size, "%s%s", sign, fmt_bytes(buf, positive));
		return;
	case TABLE_RATE:
		snprintf(text, size, "%s%s", sign, fmt_rate(buf, positive));
		return;
	case TABLE_FLOPS:
		snprintf(text, size, "%s", fmt_gflop(buf, positive));
		return;
	case TABLE_SHARE:
		snprintf(text, size, "%s%s", sign, fmt_share(buf, positive, 1000));
		return;
	case TABLE_NUMBER:
	case TABLE_TEXT:
		break;
	}
	snprintf(text, size, "%" PRId64, value);
}

void table_text(const struct table *table, size_t column, const void *row, char *text,
		size_t size)
{
	const struct table_column *c = &table->kind->columns[column];
	char share[FMT_MAX];
	int64_t value;

	text[0] = '\0';
	if (c->text)
		c->text(table, row, text, size);
	else if (!c->value && c->part && c->part(row))	/* nothing has no share */
		snprintf(text, size, "%s", fmt_share(share, c->part(row), table->total));
	else if (c->value && table_value(table, column, row, &value))
		table_print(text, size, c->unit, value);
	else if (c->value)
		snprintf(text, size, "–");
}

int table_compare(const struct table *table, const void *a, const void *b)
{
	const struct table_column *c = &table->kind->columns[table->sort];
	int64_t left = 0, right = 0;
	bool has_left, has_right;
	int result;

	if (c->compare) {
		result = c->compare(a, b);
		return table->reverse ? -result : result;
	}
	has_left = table_value(table, table->sort, a, &left);
	has_right = table_value(table, table->sort, b, &right);
	if (!has_left || !has_right)
		return (int)has_right - (int)has_left;
	return table->reverse ? table_compare_i64(right, left) : table_compare_i64(left, right);
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
