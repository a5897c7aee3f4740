/* SPDX-License-Identifier: MIT */
/*
 * `where EXPR` of panes that list something: what the command changes and what is said above
 * the rows. Thread: the loop's.
 */
#ifndef TUI_WHERE_H
#define TUI_WHERE_H

#include "model/filter/filter.h"
#include "tui/draw/grid.h"
#include "tui/draw/pane.h"

/* The command's filter takes the place of *filter (owned; NULL: all rows are shown). false:
 * nothing changed, view->status says why. */
bool where_take(struct filter **filter, struct view *view, const struct command_call *call);

/* When it wants none of the rows: a sentence that says why. known: whether any row has it. */
void where_say_none(const struct filter *filter,
		    bool (*known)(const void *arg, enum filter_field field), const void *arg,
		    char *out, size_t size);

/* A line that says what was chosen, if it was; returns the area below it. */
struct area where_draw(const struct filter *filter, size_t count, size_t all, struct area area,
		       bool ascii);

#endif
