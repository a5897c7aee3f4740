/* SPDX-License-Identifier: MIT */
/*
 * The table that all listing panes use: columns with headings, sorting, a cursor, scrolling, bars
 * for shares.
 *
 * Always true: the widths of columns do not depend on which rows are visible, so numbers keep their
 * places. If the screen is too narrow, whole columns are dropped, the highest rank first, and the
 * heading says how many. When the order changes, the cursor stays on its row (by identity), not on
 * its line; a cursor on the first line stays on the first line.
 *
 * A column of numbers says where they come from (value) and what they are (unit): how they are
 * written, sorted and added up follows from that.
 *
 * Ownership: table_take() takes over the rows, which the kind's function frees. What a row points
 * to belongs to the model and lives as long as the model. Thread: the loop's; no function queries
 * the model, so none needs its lock.
 *
 * table.c: rows, their order, the cursor, commands; table_columns.c: the texts of columns, and
 * which are shown; table_sums.c: sums of rows; table_draw.c: drawing; column_choice.h: which
 * columns the user wants.
 */
#ifndef TUI_TABLE_H
#define TUI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/base/map.h"
#include "model/columns/columns.h"
#include "model/filter/filter.h"
#include "tui/draw/grid.h"
#include "tui/draw/pane.h"

struct column_choices;
struct mouse;

struct strbuf;
struct table;

struct table_kind {
	const struct table_columns *columns;
	size_t row_size;
	const char *empty;		/* text that is shown if there are no rows */
	void (*free_rows)(void *rows, size_t count);
	uint64_t (*identity)(const void *row);
	enum role (*bar)(const void *row);	/* role of the bar; NULL: ROLE_WORK_OP */
	bool (*bad)(const void *row);	/* the row is drawn in ROLE_BAD; NULL: none is */
	/* The fields of a row for filters, except for its share; NULL: its columns are the
	 * fields. */
	filter_get *field;
	/* For a tree: the row's depth; NULL: the table is flat. */
	unsigned (*depth)(const void *row);
	bool nested;	/* rows are parts of other rows, so there are no sums over them */
	const char *count_key, *cost_key;	/* columns that `pin` compares; NULL: none */
};

/* Sums over the rows of a table, or over those that are marked. */
struct table_sum {
	size_t rows;
	uint64_t part;			/* share of the table's total */
	int64_t value[TABLE_COLUMNS_MAX];
	bool known[TABLE_COLUMNS_MAX];
	bool estimate[TABLE_COLUMNS_MAX];	/* as that of a row is, see columns_is_scaled() */
};

/* A row's numbers at the moment of `pin`. */
struct table_pinned { int64_t count, cost; };

/* How much was added since then. */
struct table_since { int64_t count, cost; bool known; };

/* Where the columns are; columns without room have width 0. */
struct table_layout {
	size_t n;
	unsigned char column[TABLE_COLUMNS_MAX];
	int x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX];
	size_t dropped;
};

struct table {
	const struct table_kind *kind;	/* borrowed, static */
	void *rows;			/* owned, in the order in which they were taken */
	size_t count;			/* how many rows are shown: the first ones of rows ... */
	size_t all;			/* ... and how many there are without `where` */
	struct filter *where;		/* owned; NULL: all rows are shown */
	size_t *order;			/* owned; count entries */
	size_t order_cap;
	bool unsorted;			/* order is not valid yet */
	bool ascii, colour, shades;	/* as last drawn */
	uint64_t total;			/* the value that shares refer to */
	uint64_t absent;		/* one bit for each column that has no values */
	size_t sort;			/* index of the column */
	bool reverse, chosen;		/* chosen: the user chose the order */
	bool given;			/* rows are taken in the order in which they are shown */
	size_t cursor, top;		/* lines, in the order shown */
	/* identity of the cursor's row; 0: stay on the first line */
	uint64_t cursor_identity;
	int page;			/* how many rows the last drawing showed */
	const struct column_choices *choices;	/* borrowed from the view; NULL: none */
	size_t skip;			/* how many columns after the first are scrolled out */
	struct table_layout layout;	/* as last drawn */
	int above;			/* how many lines of the pane are above the table */
	int heading;			/* line of the heading in the pane, as last drawn */
	uint64_t *marked;		/* owned; identities of marked rows, sorted */
	size_t n_marked, cap_marked;
	bool summed;			/* sums and picked are valid */
	struct table_sum sums, picked;	/* of the rows shown, and of those marked */
	struct table_pinned *pinned;	/* owned; NULL: nothing is pinned */
	struct map pinned_at;		/* owned; identity -> index in pinned */
	struct table_since *since;	/* owned; for the first n_since of rows */
	size_t n_since;
	const struct table_kind *pinned_kind;
	int64_t pinned_cost, since_cost;	/* of all rows: when pinned, and since then */
	char note[192];			/* a line below the sums; "": none */
	const char *first_title;	/* title of the first column; NULL: the column's own */
};

void table_setup(struct table *table, const struct table_kind *kind, const char *sort_key);
void table_teardown(struct table *table);
/* Shows other columns for the same rows; keeps the sorting if the new kind has that column. */
void table_become(struct table *table, const struct table_kind *kind);

/* Takes new rows, in any order, and frees the old ones. */
void table_take(struct table *table, void *rows, size_t count, uint64_t total);
/* Sorts by the column `key` in its own direction; false: there is no such column. */
bool table_sort_by(struct table *table, const char *key);
/* The row under the cursor; NULL: none. Borrowed until table_take(). */
const void *table_current(struct table *table);
/* Sorts the rows if they are not sorted. */
void table_order(struct table *table);
static inline const void *table_row(const struct table *table, size_t index)
{
	return (const char *)table->rows + index * table->kind->row_size;
}

/* Moves the cursor to the first row, in the order shown, for which `is` returns true; false: there
 * is none, and nothing changed. */
bool table_reveal(struct table *table, bool (*is)(const void *row, const char *key),
		  const char *key);

/* Handles commands about rows and sorting; OUT_UNKNOWN: the command is another one. */
unsigned table_command(struct table *table, struct view *view, const struct command_call *call);

/* A row as text, by its line in the order: the columns that are texts. Sorts first. */
void table_line(struct table *table, size_t line, struct strbuf *out);
void table_go(struct table *table, size_t line);

void table_draw(struct table *table, const struct view *view, struct area area, bool focused);

/* ---- table_where.c ---- */

/* Moves the rows that match `where` to the front; the rows are unsorted afterwards. */
void table_choose_rows(struct table *table);
/* If no row matches: a sentence that says why. O(rows) for each field that is used. */
void table_say_none(const struct table *table, char *out, size_t size);
unsigned table_where(struct table *table, struct view *view, const struct command_call *call);
/* Draws a line that says what was filtered, if anything was; returns the area below it. */
struct area table_draw_where(const struct table *table, struct area area);
/* Handles the mouse on rows and headings, and the wheel; y counts from the pane's first line. */
unsigned table_mouse(struct table *table, struct view *view, const struct mouse *mouse);

/* ---- table_columns.c ---- */

/* Columns that every table has in addition to those of its kind: their index is n_columns and
 * up. */
extern const struct table_column table_own_columns[];
extern const size_t table_n_own_columns;

static inline size_t table_n_columns(const struct table *table)
{
	return table->kind->columns->n + table_n_own_columns;
}

static inline const struct table_column *table_column(const struct table *table, size_t column)
{
	return column < table->kind->columns->n ? &table->kind->columns->column[column] :
		&table_own_columns[column - table->kind->columns->n];
}

/* Whether the user has chosen the column or excluded it, else 0: see column_choice_of(). */
char table_choice(const struct table *table, size_t column, size_t *place, bool *only);

/* A column by its key, of the kind or of those that every table has; NULL: there is none. */
const struct table_column *table_kind_column(const struct table_kind *kind, const char *key);
/* The index of a column by its key; table_n_columns(): there is none. */
size_t table_find_column(const struct table *table, const char *key);
/* Sets whether the column has any values; at first all columns count as having some. */
void table_offer(struct table *table, const char *key, bool there);
bool table_offers(const struct table *table, size_t column);
/* The columns that are shown if there is room, in their order; returns how many. */
size_t table_shown(const struct table *table, unsigned char columns[TABLE_COLUMNS_MAX]);
bool table_sortable(const struct table *table, size_t column);
/* Whether sorting by the column puts the largest value first. */
bool table_descends(const struct table_column *column);
/* The value of a cell; false: it was not observed, or is not a number. */
bool table_value(const struct table *table, size_t column, const void *row, int64_t *value);
/* The column's unit, or that of the column whose growth it shows. */
enum table_unit table_unit_of(const struct table *table, size_t column);
/* The text of a cell as it is shown. */
void table_text(const struct table *table, size_t column, const void *row, char *text,
		size_t size);
/* Compares as sorting does: < 0: a comes first. What was not observed comes last. */
int table_compare(const struct table *table, const void *a, const void *b);
/* ---- table_sums.c: sums, marked rows, changes since `pin` ---- */

void table_sum(struct table *table);
bool table_is_marked(const struct table *table, const void *row);
/* Marks or unmarks the row under the cursor. */
void table_mark(struct table *table);
void table_unmark(struct table *table);
/* Remembers the rows' numbers. */
void table_pin(struct table *table);
void table_unpin(struct table *table);
bool table_has_pin(const struct table *table);
/* To be called after new rows were taken: computes what all of them cost since then. */
void table_taken(struct table *table);
/* To be called when other rows are shown, or in another order. O(rows). */
void table_look_since(struct table *table);
/* How much was added to a row since then; false: its cost is unknown. */
bool table_since(const struct table *table, const void *row, int64_t *count, int64_t *cost);
/* Writes all rows and columns, or only the marked rows if there are any, as lines of values:
 * numbers in plain units (ns, bytes, bytes per second), separated by commas or tabs. */
void table_write(struct table *table, FILE *out, bool commas);

/* ---- helpers for the panes' columns ---- */

/* Mixes words into an identity, which is never 0. */
uint64_t table_mix(uint64_t a, uint64_t b, uint64_t c);

#endif
