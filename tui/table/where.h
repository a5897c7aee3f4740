/* SPDX-License-Identifier: MIT */
/*
 * `where EXPR` for panes that list something: carries out the command, and writes what is shown
 * above the rows. Thread: the loop's.
 */
#ifndef TUI_WHERE_H
#define TUI_WHERE_H

#include "model/filter/filter.h"
#include "tui/draw/grid.h"
#include "tui/draw/pane.h"

/* Makes the command's filter replace *filter (owned; NULL: all rows are shown). false: nothing has
 * changed, and view->status says why. */
bool where_take(struct filter **filter, struct view *view, const struct command_call *call);

/* If no row matches: a sentence that says why. known: whether any row has the field. */
void where_say_none(const struct filter *filter,
		    bool (*known)(const void *arg, enum filter_field field), const void *arg,
		    char *out, size_t size);

/* Draws a line that says what was filtered, if anything was; returns the area below it. */
struct area where_draw(const struct filter *filter, size_t count, size_t all, struct area area,
		       bool ascii);

#endif
