/* SPDX-License-Identifier: MIT */
#include "model/columns/columns.h"

#include <inttypes.h>
#include <string.h>

#include "model/base/util.h"

/* ---- values ---- */

static bool columns_member_number(const struct table_member *member, const void *row,
				  int64_t *value)
{
	const char *at = (const char *)row + member->offset;

	switch (member->type) {
	case MEMBER_I64:
	case MEMBER_U64: *value = *(const int64_t *)(const void *)at; return true;
	case MEMBER_I32: *value = *(const int *)(const void *)at; return true;
	case MEMBER_U32: *value = *(const uint32_t *)(const void *)at; return true;
	case MEMBER_BOOL: *value = *(const bool *)(const void *)at; return true;
	default: return false;
	}
}

static const char *columns_member_text(const struct table_member *member, const void *row)
{
	const char *at = (const char *)row + member->offset;

	switch (member->type) {
	case MEMBER_TEXT: return *(const char *const *)(const void *)at;
	case MEMBER_CHARS: return *at ? at : NULL;
	default: return NULL;
	}
}

/* The member that holds the number. */
static const struct table_member *columns_number(const struct table_column *column)
{
	return column->number.type ? &column->number : &column->member;
}

bool columns_is_known(const struct table_column *column, const void *row)
{
	const struct table_member *member = columns_number(column);
	int64_t value;

	if (column->known && !column->known(row))
		return false;
	if ((column->flags & TABLE_OR_NONE) && columns_member_number(member, row, &value) &&
	    (value < 0 || (member->type == MEMBER_U32 && value == UINT32_MAX)))
		return false;
	return !column->needs.type || columns_member_text(&column->needs, row) ||
	       (columns_member_number(&column->needs, row, &value) && value);
}

bool columns_value(const struct table_column *column, const void *row, int64_t *value)
{
	int64_t per = 1;

	*value = 0;
	if (!columns_is_known(column, row))
		return false;
	if (column->value)
		return column->value(row, value);
	if (!columns_member_number(columns_number(column), row, value))
		return false;
	if (column->per.type && columns_member_number(&column->per, row, &per) && per)
		*value /= per;
	return !column->per.type || per;
}

bool columns_file_value(const struct table_column *column, const void *row, int64_t *value)
{
	return columns_value(column, row, value) ||
	       ((column->flags & TABLE_FILES_ZERO) && columns_is_numeric(column));
}

const char *columns_words(const struct table_column *column, const void *row)
{
	if (!columns_is_known(column, row))
		return NULL;
	return column->words ? column->words(row) : columns_member_text(&column->member, row);
}

bool columns_is_approximate(const struct table_columns *columns,
			    const struct table_column *column, const void *row)
{
	return (column->unit == UNIT_TIME || column->unit == UNIT_RATE) && columns->approximate &&
	       columns->approximate(row);
}

bool columns_is_scaled(const struct table_columns *columns, const struct table_column *column,
		       const void *row)
{
	return (column->flags & TABLE_SCALED) && columns->scaled && columns->scaled(row);
}

const char *columns_mark(const struct table_columns *columns, const struct table_column *column,
			 const void *row)
{
	if ((column->flags & TABLE_ESTIMATE) || columns_is_scaled(columns, column, row))
		return "≈";
	return columns_is_approximate(columns, column, row) ? "~" : "";
}

/* "2.500 s", "1:02.500", "1:00:02.500". */
static void columns_print_when(char *text, size_t size, int64_t ns)
{
	uint64_t ms = (ns < 0 ? -(uint64_t)ns : (uint64_t)ns) / 1000000, s = ms / 1000;
	const char *sign = ns < 0 ? "-" : "";

	ms %= 1000;
	if (s >= 3600)
		snprintf(text, size, "%s%" PRIu64 ":%02u:%02u.%03u", sign, s / 3600,
			 (unsigned)(s / 60 % 60), (unsigned)(s % 60), (unsigned)ms);
	else if (s >= 60)
		snprintf(text, size, "%s%u:%02u.%03u", sign, (unsigned)(s / 60),
			 (unsigned)(s % 60), (unsigned)ms);
	else
		snprintf(text, size, "%s%u.%03u s", sign, (unsigned)s, (unsigned)ms);
}

void columns_print(char *text, size_t size, enum table_unit unit, int64_t value)
{
	uint64_t positive = value < 0 ? -(uint64_t)value : (uint64_t)value;
	const char *sign = value < 0 ? "-" : "";
	char buf[FMT_MAX];

	switch (unit) {
	case UNIT_TIME:
		snprintf(text, size, "%s", fmt_time(buf, value));
		return;
	case UNIT_COUNT:
		snprintf(text, size, "%s%s", sign, fmt_count(buf, positive));
		return;
	case UNIT_BYTES:
		snprintf(text, size, "%s%s", sign, fmt_bytes(buf, positive));
		return;
	case UNIT_RATE:
		snprintf(text, size, "%s%s", sign, fmt_rate(buf, positive));
		return;
	case UNIT_FLOPS:
		snprintf(text, size, "%s", fmt_gflop(buf, positive));
		return;
	case UNIT_SHARE:
		snprintf(text, size, "%s%s", sign, fmt_share(buf, positive, 1000));
		return;
	case UNIT_WHEN:
		columns_print_when(text, size, value);
		return;
	case UNIT_NUMBER:
	case UNIT_TEXT:
		break;
	}
	snprintf(text, size, "%" PRId64, value);
}

/* ---- which ---- */

const struct table_column *columns_find(const struct table_columns *columns, const char *key)
{
	for (size_t i = 0; i < columns->n; i++)
		if (!strcmp(columns->column[i].key, key))
			return &columns->column[i];
	for (size_t i = 0; i < columns->n; i++)
		if (columns->column[i].was && !strcmp(columns->column[i].was, key))
			return &columns->column[i];
	return NULL;
}

static unsigned columns_place_of(const struct table_column *column, enum columns_place place)
{
	return place == COLUMNS_LIST ? column->list : place == COLUMNS_REPORT ? column->report :
	       column->csv;
}

size_t columns_at(const struct table_columns *columns, enum columns_place place,
		  const struct table_column *out[TABLE_COLUMNS_MAX])
{
	size_t n = 0, at;

	for (size_t i = 0; i < columns->n + columns->beyond; i++) {
		const struct table_column *column = &columns->column[i];

		if (!columns_place_of(column, place))
			continue;
		for (at = n++; at && columns_place_of(out[at - 1], place) >
				     columns_place_of(column, place); at--)
			out[at] = out[at - 1];
		out[at] = column;
	}
	return n;
}

bool columns_is_numeric(const struct table_column *column)
{
	return column->unit != UNIT_TEXT || column->value || column->number.type;
}

bool columns_is_sortable(const struct table_column *column)
{
	return column->compare || columns_is_numeric(column) || column->words ||
	       column->member.type;
}

/* ---- filters ---- */

static const struct table_column *columns_by_field(const struct table_columns *columns,
						   enum filter_field field)
{
	for (size_t i = 0; i < columns->n + columns->beyond; i++)
		if (columns->column[i].filter == field + 1)
			return &columns->column[i];
	/* A row stands for several events: their duration is the mean, their calls a count. */
	return field == FILTER_BY_DUR ? columns_by_field(columns, FILTER_BY_MEAN) :
	       field == FILTER_BY_CALLS ? columns_by_field(columns, FILTER_BY_COUNT) : NULL;
}

enum filter_known columns_filter(const struct table_columns *columns, const void *row,
				 enum filter_field field, struct filter_value *value)
{
	const struct table_column *column = columns_by_field(columns, field);
	int64_t number;

	if (!column && field == FILTER_BY_KIND && columns->kind >= 0)
		return filter_number(value, columns->kind);
	if (!column && field == FILTER_BY_APPROXIMATE && columns->approximate)
		return filter_number(value, columns->approximate(row));
	if (!column)
		return columns->filter ? columns->filter(row, field, value) : FILTER_UNKNOWN;
	if (filter_fields[field].type == FILTER_TEXT)
		return filter_words(value, columns_words(column, row),
				    columns_member_text(&column->other, row));
	if (!columns_value(column, row, &number))
		return FILTER_UNKNOWN;
	if (filter_fields[field].type == FILTER_SHARE)
		number *= 1000;
	return filter_number(value, filter_fields[field].type == FILTER_FLAG ? number > 0 : number);
}

/* ---- for the arrays ---- */

int columns_compare_i64(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

int columns_compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int columns_compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a ? 0 : 1) - (b ? 0 : 1);
	return strcmp(a, b);
}
