/* SPDX-License-Identifier: MIT */
/*
 * What the commands that list things print: a heading that says what was filtered and how it
 * is sorted, a table whose titles sort it by their column and whose cells lead on, a line with
 * the sums. Values, not texts: so that -s sorts by any column, and sums and shares are exact.
 *
 *	list_begin(&list, &kind);
 *	for each row that the flags let through: list_row(&list); list_...(&list, ...) a cell each
 *	list_print(&list, call, &options, "ops", all, page);	empties it
 *
 * Always true: a row has a cell for each column, in their order; the last column is as long as
 * its text, so it is the one for names. Ownership: texts of cells are borrowed until
 * list_print(), but for those of list_keep(), which are the list's. Threads: the loop's.
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
	LIST_SUM,			/* of the rows that are listed, in the last line */
	LIST_SUM_TEXT,			/* "total of 12" stands there */
};

struct list_column {
	const char *key;		/* the word of -s */
	const char *title;		/* NULL: the key */
	enum list_sum sum;
	bool rising;			/* the least first, unless turned round */
	bool optional;			/* not there when no row has a value, unless it sorts */
	const char *was;		/* key that older versions gave it; NULL: the same */
};

/* What may be asked of a list, and what it shows. */
struct list_kind {
	const struct list_flag *flags;
	size_t n_flags;
	/* Of rows that have columns for all tables: those that stand in lists. Else ... */
	const struct table_columns *rows;
	const struct list_column *columns;	/* ... these */
	size_t n_columns;
	int names;			/* that may stand beside the flags, 0 or 1 */
};

#define LIST_KIND(flags, columns, names) \
	{ flags, sizeof(flags) / sizeof(*(flags)), NULL, columns, \
	  sizeof(columns) / sizeof(*(columns)), names }
#define LIST_KIND_OF_ROWS(flags, rows) \
	{ flags, sizeof(flags) / sizeof(*(flags)), rows, NULL, 0, 0 }

/* What the list shows; returns how many columns. */
size_t list_kind_columns(const struct list_kind *kind, struct list_column out[LIST_COLUMNS_MAX]);

/* Of an enum command_id; NULL: it makes no list. */
const struct list_kind *list_kind_of(int command);

enum list_value {
	LIST_NONE = 0,			/* not known: a dash */
	LIST_NAME, LIST_COUNT, LIST_TIME, LIST_BYTES, LIST_RATE,
	LIST_SHARE,			/* of the list's whole */
	LIST_MILLI,			/* thousandths, shown as per cent */
	LIST_WHEN,			/* since the start of the run */
	LIST_PLAIN,			/* a number that names something: a step */
};

#define LIST_LINK_WORDS 4

struct list_cell {
	enum list_value value;
	bool approx, rough;		/* "~": approximate times; "≈": an estimate */
	unsigned char role;		/* enum role */
	int64_t number;			/* what it is sorted by, unless it is a name */
	const char *text;		/* of LIST_NAME */
	const char *link[LIST_LINK_WORDS];	/* a command's words up to NULL */
};

struct list {
	struct list_column columns[LIST_COLUMNS_MAX];
	size_t n_columns;
	const struct table_columns *row_columns;	/* the kind's; NULL: none */
	struct list_cell *cells;	/* owned, row by row */
	size_t n, cap;
	char **kept;			/* owned */
	size_t n_kept, cap_kept;
	/* to be set before list_print() */
	const char *by;			/* column that rows are sorted by without -s; NULL: they
					 * stay as they came, and `order` says in which order */
	const char *order;		/* "as they lie in the file", NULL none */
	int64_t whole;			/* that shares are of */
	const char *whole_is;		/* "device time of all ops", NULL: no shares */
	enum list_value whole_value;
	const char *empty;		/* why there is nothing at all, and what to do */
	bool more;			/* others match, how many is not known */
	const char *about;		/* the name that was asked for, NULL none */
};

void list_begin(struct list *list, const struct list_kind *kind);
void list_release(struct list *list);

/* The next cell; a link is put into it by the caller. Borrowed until the next one. */
struct list_cell *list_add(struct list *list, enum list_value value, int64_t number);
/* NULL: none. */
struct list_cell *list_name(struct list *list, const char *text);
/* All cells of a row that has columns for all tables. `dress` changes what a list shows
 * otherwise than its column says: links, roles, shorter texts. */
typedef void list_dress(struct list *list, const struct table_column *column,
			struct list_cell *cell, const void *row, void *arg);
void list_row(struct list *list, const void *row, list_dress *dress, void *arg);
/* A text that is the list's own. */
const char *list_keep(struct list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void list_link(struct list_cell *cell, const char *command, const char *what)
{
	cell->link[0] = command;
	cell->link[1] = what;
}

/* -s names a column of it: else a sentence in call->error. Before anything is asked. */
bool list_sort_check(const struct page_call *call, const struct list_options *options,
		     const struct list_kind *kind);

/* what: "ops"; all: how many there are, matching or not. Empties the list. */
void list_print(struct list *list, const struct page_call *call,
		const struct list_options *options, const char *what, size_t all,
		struct page *page);

#endif
