/* SPDX-License-Identifier: MIT */
/* Sums of the rows of a table, of the marked rows, and of the changes since `pin`. */
#include "tui/table/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

/* ---- marked rows ---- */

/* The first position whose identity is not less than this one. */
static size_t table_mark_place(const uint64_t *list, size_t n, uint64_t identity)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle] < identity)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool table_is_marked(const struct table *table, const void *row)
{
	uint64_t identity;
	size_t at;

	if (!table->n_marked)
		return false;
	identity = table->kind->identity(row);
	at = table_mark_place(table->marked, table->n_marked, identity);
	return at < table->n_marked && table->marked[at] == identity;
}

void table_mark(struct table *table)
{
	const void *row = table_current(table);
	uint64_t identity, *list;
	size_t at;

	if (!row)
		return;
	identity = table->kind->identity(row);
	at = table_mark_place(table->marked, table->n_marked, identity);
	table->summed = false;
	if (table_is_marked(table, row)) {
		list = table->marked + at;
		memmove(list, list + 1, (--table->n_marked - at) * sizeof(*list));
		return;
	}
	grow(&table->marked, &table->cap_marked, table->n_marked, sizeof(*list));
	list = table->marked + at;
	memmove(list + 1, list, (table->n_marked++ - at) * sizeof(*list));
	*list = identity;
}

void table_unmark(struct table *table)
{
	table->n_marked = 0;
	table->summed = false;
}

/* ---- sums ---- */

/* The columns that can be summed; a share is summed by its part. */
static size_t sum_columns(const struct table *table, unsigned char columns[TABLE_COLUMNS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < table_n_columns(table) && i < TABLE_COLUMNS_MAX; i++)
		if (table_offers(table, i) &&
		    ((table_column(table, i)->flags & TABLE_SUMS) || table_column(table, i)->part))
			columns[n++] = (unsigned char)i;
	return table->kind->nested ? 0 : n;
}

static void table_sum_add(const struct table *table, struct table_sum *sum, const void *row,
			  const unsigned char *columns, size_t n)
{
	sum->rows++;
	for (size_t k = 0; k < n; k++) {
		size_t i = columns[k];
		int64_t value;

		if (table_column(table, i)->part) {
			sum->part += table_column(table, i)->part(row);
		} else if (table_value(table, i, row, &value)) {
			sum->known[i] = true;
			sum->estimate[i] |= columns_is_scaled(table->kind->columns,
							      table_column(table, i), row);
			if (__builtin_add_overflow(sum->value[i], value, &sum->value[i]))
				sum->value[i] = INT64_MAX;
		}
	}
}

void table_sum(struct table *table)
{
	unsigned char columns[TABLE_COLUMNS_MAX];
	size_t n;

	if (table->summed)
		return;
	n = sum_columns(table, columns);
	memset(&table->sums, 0, sizeof(table->sums));
	memset(&table->picked, 0, sizeof(table->picked));
	for (size_t i = 0; i < table->count; i++) {
		const void *row = table_row(table, table->order[i]);

		table_sum_add(table, &table->sums, row, columns, n);
		if (table_is_marked(table, row))
			table_sum_add(table, &table->picked, row, columns, n);
	}
	table->summed = true;
}

/* ---- since a moment ---- */

/* 0 for values that are unknown. */
static bool number(const struct table *table, size_t column, const void *row, int64_t *value)
{
	bool known = column < table->kind->columns->n && table_value(table, column, row, value);

	if (!known)
		*value = 0;
	return known;
}

static int64_t whole_cost(const struct table *table)
{
	size_t column = table_find_column(table, table->kind->cost_key);
	int64_t sum = 0, cost;

	for (size_t i = 0; i < table->all; i++) {
		number(table, column, table_row(table, i), &cost);
		sum += cost;
	}
	return sum;
}

static bool look_since(const struct table *table, const void *row, const size_t columns[2],
		       int64_t *count, int64_t *cost)
{
	uint32_t at = map_get(&table->pinned_at, table->kind->identity(row));
	const struct table_pinned *then = at == MAP_NONE ? NULL : &table->pinned[at];
	bool known;

	number(table, columns[0], row, count);
	known = number(table, columns[1], row, cost);
	*count -= then ? then->count : 0;
	*cost -= then ? then->cost : 0;
	return known;
}

static void since_columns(const struct table *table, size_t columns[2])
{
	columns[0] = table_find_column(table, table->kind->count_key);
	columns[1] = table_find_column(table, table->kind->cost_key);
}

/* Computes the change once for each row that is shown, because sorting, sums and drawing use it
 * repeatedly. */
void table_look_since(struct table *table)
{
	size_t columns[2];

	table->n_since = 0;
	if (!table_has_pin(table))
		return;
	since_columns(table, columns);
	table->since = xreallocarray(table->since, table->count + 1, sizeof(*table->since));
	for (size_t i = 0; i < table->count; i++) {
		struct table_since *since = &table->since[i];

		since->known = look_since(table, table_row(table, i), columns, &since->count,
					  &since->cost);
	}
	table->n_since = table->count;
}

void table_pin(struct table *table)
{
	size_t columns[2];

	table_unpin(table);
	if (!table->kind->count_key)
		return;
	since_columns(table, columns);
	table->pinned = xcalloc(table->all + 1, sizeof(*table->pinned));
	table->pinned_kind = table->kind;
	for (size_t i = 0; i < table->all; i++) {
		const void *row = table_row(table, i);

		map_set(&table->pinned_at, table->kind->identity(row), (uint32_t)i);
		number(table, columns[0], row, &table->pinned[i].count);
		number(table, columns[1], row, &table->pinned[i].cost);
	}
	table->pinned_cost = whole_cost(table);
	table->since_cost = 0;
	table_look_since(table);
	table->unsorted = true;
	table->summed = false;
}

void table_unpin(struct table *table)
{
	free(table->pinned);
	map_release(&table->pinned_at);
	table->pinned = NULL;
	table->n_since = 0;
	table->unsorted = true;
	table->summed = false;
}

bool table_has_pin(const struct table *table)
{
	return table->pinned && table->pinned_kind == table->kind;
}

void table_taken(struct table *table)
{
	if (table_has_pin(table))
		table->since_cost = whole_cost(table) - table->pinned_cost;
}

bool table_since(const struct table *table, const void *row, int64_t *count, int64_t *cost)
{
	const char *at = row, *rows = table->rows;
	size_t columns[2], i;

	*count = *cost = 0;
	if (!table_has_pin(table))
		return false;
	i = at >= rows ? (size_t)(at - rows) / table->kind->row_size : SIZE_MAX;
	if (i < table->n_since) {
		*count = table->since[i].count;
		*cost = table->since[i].cost;
		return table->since[i].known;
	}
	since_columns(table, columns);
	return look_since(table, row, columns, count, cost);
}

/* ---- to a file ---- */

static void table_write_words(FILE *out, const char *text, bool commas)
{
	if (!commas) {
		for (; *text; text++)
			fputc(*text == '\t' || *text == '\n' || *text == '\r' ? ' ' : *text, out);
		return;
	}
	if (!text[strcspn(text, ",\"\n\r")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void table_write_field(const struct table *table, size_t column, const void *row, FILE *out,
			      bool commas)
{
	const struct table_column *c = table_column(table, column);
	char text[256];
	int64_t value;

	if (c->unit == UNIT_TEXT) {
		table_text(table, column, row, text, sizeof(text));
		table_write_words(out, text + strspn(text, " "), commas);
	} else if (table_value(table, column, row, &value)) {
		if (c->unit == UNIT_SHARE)
			fprintf(out, "%" PRId64 ".%03" PRId64, value / 1000, value % 1000);
		else
			fprintf(out, "%" PRId64, value);
	}
}

void table_write(struct table *table, FILE *out, bool commas)
{
	static const char *const units[] = {
		[UNIT_TIME] = "_ns", [UNIT_BYTES] = "_bytes", [UNIT_RATE] = "_bytes_per_s",
		[UNIT_FLOPS] = "_flop_per_s", [UNIT_SHARE] = "", [UNIT_WHEN] = "_ns",
	};
	char separator = commas ? ',' : '\t';
	size_t n = table_n_columns(table);

	table_order(table);
	for (size_t c = 0; c < n; c++) {
		enum table_unit unit = table_unit_of(table, c);
		const char *key = table_column(table, c)->key;
		const char *suffix = unit > UNIT_COUNT && units[unit] ? units[unit] : "";

		if (!table_offers(table, c))
			continue;
		/* the key says "bytes" already */
		if (*suffix && strcmp(key, suffix + 1) == 0)
			suffix = "";
		fprintf(out, "%s%s%s", c ? (char[]){separator, '\0'} : "", key, suffix);
	}
	fputc('\n', out);
	for (size_t i = 0; i < table->count; i++) {
		const void *row = table_row(table, table->order[i]);

		if (table->n_marked && !table_is_marked(table, row))
			continue;
		for (size_t c = 0; c < n; c++) {
			if (!table_offers(table, c))
				continue;
			if (c)
				fputc(separator, out);
			table_write_field(table, c, row, out, commas);
		}
		fputc('\n', out);
	}
}
