/* SPDX-License-Identifier: MIT */
/*
 * What the rows of a table consist of: one array of columns for each kind of row (kernels.c,
 * copies.c, ...). An entry says everything about a column: its name, unit and meaning, where its
 * value comes from, and how and where it is shown. The pane, the list command, the report as
 * text and as JSON, CSV, filters, the page of `columns` and the manual are made from these
 * arrays. To add a column to kernels, add one entry to the array in kernels.c.
 *
 * The name of a column (its key) is the same word everywhere: `mean` is the mean duration of
 * one run, one copy or one call, `rate` is bytes per second.
 *
 * A value that was not observed is unknown, never 0.
 * Threads: any; nothing here asks the model or changes.
 */
#ifndef MODEL_COLUMNS_H
#define MODEL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/filter/filter.h"

#define TABLE_NEEDED 4
#define TABLE_COLUMNS_MAX 32
#define TABLE_SERIES_MAX 64		/* values of a strip */

enum table_unit {
	UNIT_TEXT = 0,
	UNIT_NUMBER,		/* what numbers something: never added up */
	UNIT_COUNT,
	UNIT_TIME,		/* ns */
	UNIT_BYTES,
	UNIT_RATE,		/* bytes per second */
	UNIT_FLOPS,		/* floating-point operations per second */
	UNIT_SHARE,		/* thousandths; a column with `part`: that of the total */
	UNIT_WHEN,		/* ns since the start of the run */
};

enum table_flag {
	TABLE_SUMS = 1,		/* the values of the rows add up to something */
	TABLE_LEAST_FIRST = 2,	/* sorted ascending at first; texts always are */
	TABLE_ASKED = 4,	/* hidden until `columns` asks for it */
	TABLE_MOST_FIRST = 8,	/* a text that is sorted descending at first */
	TABLE_ESTIMATE = 16,	/* shown with "≈" */
	TABLE_IF_ANY = 32,	/* lists and reports leave it out when no row has one */
	TABLE_YES_NO = 64,	/* the value is 0 or 1; true and false in JSON */
	TABLE_DASH = 128,	/* 0 is shown as a dash */
	TABLE_FILES_ZERO = 256,	/* CSV and JSON get 0 or "" where nothing is known */
	TABLE_RIGHT = 512,	/* a text that is aligned like a number */
	TABLE_OR_NONE = 1024,	/* a member that is -1 or UINT32_MAX is unknown */
	TABLE_SCALED = 2048,	/* an estimate in rows of which not all was seen, see `scaled` */
};

/* A member of the row that holds the value. */
enum table_member_type {
	MEMBER_NONE = 0, MEMBER_I64, MEMBER_U64, MEMBER_I32, MEMBER_U32, MEMBER_BOOL,
	MEMBER_TEXT,		/* const char *; NULL is unknown */
	MEMBER_CHARS,		/* char []; "" is unknown */
};

struct table_member {
	enum table_member_type type;
	size_t offset;
};

#define TABLE_MEMBER(row, member) { \
	_Generic(((row *)0)->member, int64_t: MEMBER_I64, uint64_t: MEMBER_U64, int: MEMBER_I32, \
		 uint32_t: MEMBER_U32, bool: MEMBER_BOOL, const char *: MEMBER_TEXT, \
		 char *: MEMBER_CHARS), \
	offsetof(row, member) }

/* .filter = TABLE_FILTER(MEAN): the filter field that asks for the column. */
#define TABLE_FILTER(id) (FILTER_BY_##id + 1)

struct table_column {
	const char *title;		/* heading on the screen; NULL: the key */
	const char *key;		/* name in `sort`, `columns`, -s and CSV; NULL: in none */
	int width;			/* cells; the least of a flexible column */
	int want, most;			/* flexible: the width from which on it is at ease, and
					 * the width up to which it grows; 0: fixed */
	int rank;			/* the highest goes first when there is no room;
					 * above TABLE_NEEDED: already when another
					 * column is not at ease; 0: never */
	enum table_unit unit;
	unsigned flags;			/* enum table_flag */
	const char *was;		/* key that older versions gave it; NULL: the same */
	const char *help;		/* what it means, of what, whether it is an estimate;
					 * NULL in tables that no pane shows: docs/report.md */

	/* Where the value comes from: a member of the row, or a function. A text may have a
	 * number besides (an id, an enum): it is sorted by that, and programs get it where the
	 * words are unknown. */
	struct table_member member;
	struct table_member number;	/* of a text whose member is the words */
	struct table_member per;	/* the value is the member divided by this one */
	bool (*known)(const void *row);	/* whether it was observed; NULL: always */
	struct table_member needs;	/* the same in short: 0 or NULL: it was not observed */
	bool (*value)(const void *row, int64_t *value);
	const char *(*words)(const void *row);
	/* A bar in front of the text: part of the table's total. NULL: none. */
	uint64_t (*part)(const void *row);
	/* A strip of cells instead of a text; returns how many values. */
	size_t (*series)(const void *row, uint64_t values[TABLE_SERIES_MAX]);
	/* As it is shown; NULL: the words, or the value in its unit. */
	void (*text)(const void *row, bool ascii, char *text, size_t size);
	/* < 0, 0, > 0 in ascending order. NULL: by number, else by words. */
	int (*compare)(const void *a, const void *b);

	/* Where else it is shown: its place among the columns there, 0: it is not. `list` is
	 * the list command; of tables that have none, the page. */
	unsigned char list, report, csv;
	const char *report_title;	/* heading in the report; NULL: as on the screen, of the
					 * first column the name of the table */
	const char *json;		/* key in the report's JSON; NULL: none */
	const char *link;		/* command that makes a page about the words; NULL: none */
	unsigned char filter;		/* TABLE_FILTER(); 0: no field asks for it */
	struct table_member other;	/* another text that filters may match */
};

struct table_columns {
	const char *name;		/* of the pane and of the report's section: "kernels" */
	const struct table_column *column;	/* the first says what the row is */
	size_t n;			/* columns of tables; behind them ... */
	size_t beyond;			/* ... so many that panes do not have */
	/* Times and rates of the row carry "~": they are known from the host only. NULL: never. */
	bool (*approximate)(const void *row);
	/* Not all that the row stands for was seen: its sums are estimates. NULL: never. */
	bool (*scaled)(const void *row);
	const char *unknown;		/* in the report's cells of what is unknown; NULL: "" */
	int kind;			/* enum filter_kind of all rows, -1: they differ */
	filter_get *filter;		/* fields that no column stands for; NULL: none */
};

#define TABLE_COLUMNS_OF(array, not_in_panes) \
	.column = array, .n = sizeof(array) / sizeof((array)[0]) - (not_in_panes), \
	.beyond = not_in_panes

/* Whether the value was observed. */
bool columns_is_known(const struct table_column *column, const void *row);
/* false: not observed, or the column has no number. */
bool columns_value(const struct table_column *column, const void *row, int64_t *value);
/* The same for CSV and JSON. */
bool columns_file_value(const struct table_column *column, const void *row, int64_t *value);
/* The words of a text; NULL: unknown, or the column is no text. */
const char *columns_words(const struct table_column *column, const void *row);
/* Whether it has a number to be sorted by. */
bool columns_is_numeric(const struct table_column *column);
/* Whether it can be sorted by: a strip cannot. */
bool columns_is_sortable(const struct table_column *column);
static inline const char *columns_title(const struct table_column *column)
{
	return column->title ? column->title : column->key;
}
/* Whether it is a time or a rate of a row whose times are known from the host only. */
bool columns_is_approximate(const struct table_columns *columns,
			    const struct table_column *column, const void *row);
/* Whether it is an estimate because not all that the row stands for was seen. */
bool columns_is_scaled(const struct table_columns *columns, const struct table_column *column,
		       const void *row);
/* "~", "≈" or "": what stands before the number. */
const char *columns_mark(const struct table_columns *columns, const struct table_column *column,
			 const void *row);
/* By key, else by the name that an older version gave it. NULL: there is none. */
const struct table_column *columns_find(const struct table_columns *columns, const char *key);

enum columns_place { COLUMNS_REPORT, COLUMNS_LIST, COLUMNS_CSV };

/* The columns that are shown there, in their order; returns how many. */
size_t columns_at(const struct table_columns *columns, enum columns_place place,
		  const struct table_column *out[TABLE_COLUMNS_MAX]);

/* What the row has for a filter's field: all but its share of the total. */
enum filter_known columns_filter(const struct table_columns *columns, const void *row,
				 enum filter_field field, struct filter_value *value);

/* A number in its unit, as people read it. */
void columns_print(char *text, size_t size, enum table_unit unit, int64_t value);

/* ---- for the arrays ---- */

int columns_compare_i64(int64_t a, int64_t b);
int columns_compare_u64(uint64_t a, uint64_t b);
int columns_compare_text(const char *a, const char *b);	/* NULL comes last */

#endif
