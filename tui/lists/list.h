/* SPDX-License-Identifier: MIT */
/*
 * What the commands that list things print: a heading that says what was filtered and how the list
 * is sorted; a table whose titles sort it by their column and whose cells are links; and a line
 * with the sums. Cells are values, not texts, so that -s can sort by any column, and sums and
 * shares are exact.
 *
 * 	list_begin(&list, &kind);
 * 	for each row that the flags let through: list_row(&list); then
 *		list_...(&list, ...) for each cell
 * 	list_print(&list, call, &options, "ops", all, page);	empties it
 *
 * Always true: a row has a cell for each column, in the order of the columns. The last column is as
 * wide as its text, so it should be the one for names. Ownership: texts of cells are borrowed until
 * list_print(), except for those of list_keep(), which the list owns. Threads: the loop's.
 */
#ifndef TUI_LIST_H
#define TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/columns/columns.h"
#include "tui/draw/page_call.h"
#include "tui/lists/list_options.h"

#define LIST_COLUMNS_MAX 16

enum list_sum {
	LIST_SUM_NONE = 0,
	LIST_SUM,			/* the last line has the sum over the listed rows */
	LIST_SUM_TEXT,			/* the last line has "total of 12" here */
};

struct list_column {
	const char *key;		/* the word that -s takes */
	const char *title;		/* NULL: the key is the title */
	enum list_sum sum;
	bool rising;			/* sorts the smallest value first, unless reversed */
	bool optional;	/* left out if no row has a value, unless the list is sorted by it */
	const char *was;		/* key of the column in older versions; NULL: the same */
};

/* What a list can be asked for, and what it shows. */
struct list_kind {
	const struct list_flag *flags;
	size_t n_flags;
	/* For rows that have columns for all tables: these, as far as they are shown in lists.
	 * Otherwise ... */
	const struct table_columns *rows;
	const struct list_column *columns;	/* ... these */
	size_t n_columns;
	int names;	/* how many names may be given in addition to flags: 0 or 1 */
};

#define LIST_KIND(flags, columns, names) \
	{ flags, sizeof(flags) / sizeof(*(flags)), NULL, columns, \
	  sizeof(columns) / sizeof(*(columns)), names }
#define LIST_KIND_OF_ROWS(flags, rows) \
	{ flags, sizeof(flags) / sizeof(*(flags)), rows, NULL, 0, 0 }

/* Writes the columns that the list shows; returns how many. */
size_t list_kind_columns(const struct list_kind *kind, struct list_column out[LIST_COLUMNS_MAX]);

/* The kind of list that a command (enum command_id) makes; NULL: it makes none. */
const struct list_kind *list_kind_of(int command);

enum list_value {
	LIST_NONE = 0,			/* unknown: shown as a dash */
	LIST_NAME, LIST_COUNT, LIST_TIME, LIST_BYTES, LIST_RATE,
	LIST_SHARE,			/* share of the list's whole */
	LIST_MILLI,			/* thousandths, shown as a percentage */
	LIST_WHEN,			/* time since the start of the run */
	LIST_PLAIN,			/* a number that is an identifier, such as that of a step */
};

#define LIST_LINK_WORDS 4

struct list_cell {
	enum list_value value;
	bool approx, rough;		/* "~": approximate times; "≈": an estimate */
	unsigned char role;		/* enum role */
	int64_t number;			/* the value to sort by, unless it is a name */
	const char *text;		/* for LIST_NAME */
	const char *link[LIST_LINK_WORDS];	/* words of a command, ended by NULL */
};

struct list {
	struct list_column columns[LIST_COLUMNS_MAX];
	size_t n_columns;
	const struct table_columns *row_columns;	/* columns of the kind; NULL: none */
	struct list_cell *cells;	/* owned, row by row */
	size_t n, cap;
	char **kept;			/* owned */
	size_t n_kept, cap_kept;
	/* To be set before list_print(). */
	/* column by which rows are sorted without -s; NULL: they keep their order, which `order`
	 * describes */
	const char *by;
	/* describes the order, such as "as they lie in the file"; NULL: none */
	const char *order;
	int64_t whole;			/* the value that shares refer to */
	/* describes it, such as "device time of all ops"; NULL: there are no shares */
	const char *whole_is;
	enum list_value whole_value;
	const char *empty;		/* why the list is empty, and what to do */
	bool more;			/* more rows match; it is unknown how many */
	const char *about;		/* the name that was given; NULL: none */
};

void list_begin(struct list *list, const struct list_kind *kind);
void list_release(struct list *list);

/* Adds a cell; the caller may set its link. Borrowed until the next call. */
struct list_cell *list_add(struct list *list, enum list_value value, int64_t number);
/* NULL: there is none. */
struct list_cell *list_name(struct list *list, const char *text);
/* Adds all cells of a row that has columns for all tables. `dress` changes what the list shows
 * differently from the columns: links, roles, shorter texts. */
typedef void list_dress(struct list *list, const struct table_column *column,
			struct list_cell *cell, const void *row, void *arg);
void list_row(struct list *list, const void *row, list_dress *dress, void *arg);
/* Copies a text, which the list then owns. */
const char *list_keep(struct list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void list_link(struct list_cell *cell, const char *command, const char *what)
{
	cell->link[0] = command;
	cell->link[1] = what;
}

/* Whether -s names a column of the list; otherwise a sentence in call->error. To be called before
 * the model is queried. */
bool list_sort_check(const struct page_call *call, const struct list_options *options,
		     const struct list_kind *kind);

/* what: such as "ops"; all: how many rows there are, matching or not. Empties the list. */
void list_print(struct list *list, const struct page_call *call,
		const struct list_options *options, const char *what, size_t all,
		struct page *page);

#endif
