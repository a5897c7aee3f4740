/* SPDX-License-Identifier: MIT */
/*
 * One table for all the panes that list something: columns with headings,
 * sorting, a cursor, scrolling, bars for shares.
 *
 * Always true: columns have widths that do not depend on the rows that happen
 * to be seen, so numbers keep their places; too narrow a screen drops whole
 * columns, the highest rank first, and the heading says how many. The cursor
 * stays on its row (by identity), not on its line, when the order changes; on the
 * first line it stays there.
 *
 * A column of numbers says where they come from (value) and what they are
 * (unit): how they are written, sorted and added up follows from that.
 *
 * Ownership: table_take() takes the rows, which are freed by the kind. What a
 * row points to belongs to the model and lives as long as it. Thread: the
 * loop's; no function asks the model, so the lock is needed by none.
 *
 * table.c: rows, their order, the cursor, commands; table_columns.c: what the
 * columns say and which are shown; table_sums.c: what rows add up to; table_draw.c:
 * the picture; column_choice.h: what the user wants of the columns.
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
	const char *empty;		/* what is said when there are no rows */
	void (*free_rows)(void *rows, size_t count);
	uint64_t (*identity)(const void *row);
	enum role (*bar)(const void *row);	/* NULL: ROLE_WORK_OP */
	bool (*bad)(const void *row);	/* drawn in ROLE_BAD; NULL: none */
	/* What a row is for filters (all but its share); NULL: what its columns say. */
	filter_get *field;
	/* Of a tree that is given: how far in; NULL: it is flat. */
	unsigned (*depth)(const void *row);
	bool nested;			/* rows are parts of others: no sums over them */
	const char *count_key, *cost_key;	/* columns that `pin` looks at, NULL: none */
};

/* What the rows of a table, or those that are marked, add up to. */
struct table_sum {
	size_t rows;
	uint64_t part;			/* of the table's total */
	int64_t value[TABLE_COLUMNS_MAX];
	bool known[TABLE_COLUMNS_MAX];
};

/* A row's numbers at the moment of `pin`. */
struct table_pinned { int64_t count, cost; };

/* What came since then. */
struct table_since { int64_t count, cost; bool known; };

/* Where the columns stand; those that have no room have width 0. */
struct table_layout {
	size_t n;
	unsigned char column[TABLE_COLUMNS_MAX];
	int x[TABLE_COLUMNS_MAX], width[TABLE_COLUMNS_MAX];
	size_t dropped;
};

struct table {
	const struct table_kind *kind;	/* borrowed, static */
	void *rows;			/* owned, in the order they came */
	size_t count;			/* that are shown: the first of rows ... */
	size_t all;			/* ... so many, without `where` */
	struct filter *where;		/* owned; NULL: all are shown */
	size_t *order;			/* owned, count entries */
	size_t order_cap;
	bool unsorted;			/* order is not valid yet */
	bool ascii, colour, shades;	/* of the last draw */
	uint64_t total;			/* what shares are of */
	uint64_t absent;		/* bits: columns that there is nothing for */
	size_t sort;			/* column */
	bool reverse, chosen;		/* chosen: the user sorted it */
	bool given;			/* rows come in the order they are shown in */
	size_t cursor, top;		/* lines of the order */
	uint64_t cursor_identity;	/* 0: stay on the first line */
	int page;			/* rows of the last draw */
	const struct column_choices *choices;	/* borrowed from the view; NULL: none */
	size_t skip;			/* columns behind the first that were scrolled away */
	struct table_layout layout;	/* of the last draw */
	int above;			/* lines of the pane above the table */
	int heading;			/* its line in the pane, of the last draw */
	uint64_t *marked;		/* owned; identities, sorted */
	size_t n_marked, cap_marked;
	bool summed;			/* sums and picked are valid */
	struct table_sum sums, picked;	/* of the rows shown, of those marked */
	struct table_pinned *pinned;	/* owned; NULL: none */
	struct map pinned_at;		/* owned; identity -> place in it */
	struct table_since *since;	/* owned; of the first n_since of rows */
	size_t n_since;
	const struct table_kind *pinned_kind;
	int64_t pinned_cost, since_cost;	/* of all rows: then, and since then */
	char note[192];			/* a line below the sums, "" none */
};

void table_setup(struct table *table, const struct table_kind *kind, const char *sort_key);
void table_teardown(struct table *table);
/* Other columns for the same rows: sorted by what it was, if that is there. */
void table_become(struct table *table, const struct table_kind *kind);

/* New rows, in any order; the old ones are freed. */
void table_take(struct table *table, void *rows, size_t count, uint64_t total);
/* By the column `key` in its own direction; false: there is none. */
bool table_sort_by(struct table *table, const char *key);
/* The row under the cursor, NULL: none. Borrowed until table_take(). */
const void *table_current(struct table *table);
/* The rows are put in order, if they are not. */
void table_order(struct table *table);
static inline const void *table_row(const struct table *table, size_t index)
{
	return (const char *)table->rows + index * table->kind->row_size;
}

/* The cursor goes to the first row, in the order shown, that `is` what is
 * wanted; false: there is none, nothing changed. */
bool table_reveal(struct table *table, bool (*is)(const void *row, const char *key),
		  const char *key);

/* Row and sort commands; OUT_UNKNOWN: not one of the table's. */
unsigned table_command(struct table *table, struct view *view, const struct command_call *call);

/* A row as text, by its line of the order: columns that are texts. Sorts first. */
void table_line(struct table *table, size_t line, struct strbuf *out);
void table_go(struct table *table, size_t line);

void table_draw(struct table *table, const struct view *view, struct area area, bool focused);

/* ---- table_where.c ---- */

/* Puts the rows that `where` wants to the front; they are unsorted then. */
void table_choose_rows(struct table *table);
/* When it wants none of them: a sentence that says why. O(rows) for each field asked for. */
void table_say_none(const struct table *table, char *out, size_t size);
unsigned table_where(struct table *table, struct view *view, const struct command_call *call);
/* A line that says what was chosen, if it was; returns the area below it. */
struct area table_draw_where(const struct table *table, struct area area);
/* Rows under the mouse, headings, the wheel; y counts from the pane's first line. */
unsigned table_mouse(struct table *table, struct view *view, const struct mouse *mouse);

/* ---- table_columns.c ---- */

/* Columns that every table has beside its kind's: their index is n_columns and up. */
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

/* Whether the user asked for it or against it, else 0: column_choice_of(). */
char table_choice(const struct table *table, size_t column, size_t *place, bool *only);

/* By key, of the kind's or those that every table has; NULL: there is none. */
const struct table_column *table_kind_column(const struct table_kind *kind, const char *key);
/* Index by key; table_n_columns(): there is none. */
size_t table_find_column(const struct table *table, const char *key);
/* Whether there is anything for the column; all are there at first. */
void table_offer(struct table *table, const char *key, bool there);
bool table_offers(const struct table *table, size_t column);
/* The columns that are shown where there is room, in their order; returns how many. */
size_t table_shown(const struct table *table, unsigned char columns[TABLE_COLUMNS_MAX]);
bool table_sortable(const struct table *table, size_t column);
/* Whether what is most comes first when it is sorted by. */
bool table_descends(const struct table_column *column);
/* false: not observed, or no number. */
bool table_value(const struct table *table, size_t column, const void *row, int64_t *value);
/* Its own, or that of what it is the growth of. */
enum table_unit table_unit_of(const struct table *table, size_t column);
/* As it is shown. */
void table_text(const struct table *table, size_t column, const void *row, char *text,
		size_t size);
/* As it is sorted: < 0, what comes first. What was not observed comes last. */
int table_compare(const struct table *table, const void *a, const void *b);
/* ---- table_sums.c: sums, marked rows, what came since `pin` ---- */

void table_sum(struct table *table);
bool table_is_marked(const struct table *table, const void *row);
/* The row under the cursor is marked, or not any more. */
void table_mark(struct table *table);
void table_unmark(struct table *table);
/* The rows' numbers are remembered. */
void table_pin(struct table *table);
void table_unpin(struct table *table);
bool table_has_pin(const struct table *table);
/* New rows were taken: what all of them cost since then. */
void table_taken(struct table *table);
/* Other rows are shown, or in other places. O(rows). */
void table_look_since(struct table *table);
/* What came since then; false: what it costs is not known. */
bool table_since(const struct table *table, const void *row, int64_t *count, int64_t *cost);
/* All rows and columns, those marked only if any are, as lines of values: numbers in
 * plain units (ns, bytes, bytes per second), separated by commas or tabs. */
void table_write(struct table *table, FILE *out, bool commas);

/* ---- what the panes' columns share ---- */

/* Mixes words into an identity that is not 0. */
uint64_t table_mix(uint64_t a, uint64_t b, uint64_t c);

#endif
