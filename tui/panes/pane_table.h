/* SPDX-License-Identifier: MIT */
/*
 * The table of panes: the timeline and the numbered lower panes, in the order of their numbers,
 * and what is found by a pane's name. A new pane is one line here and one in pane_table.c.
 *
 * Thread: the loop's.
 */
#ifndef TUI_PANE_TABLE_H
#define TUI_PANE_TABLE_H

#include "tui/draw/pane.h"

extern const struct pane_ops pane_ops_table, pane_kernels, pane_copies, pane_steps, pane_memory,
	pane_findings, pane_output, pane_messages, pane_host;

/* [0] is the timeline. A number without a pane is NULL. */
extern const struct pane_ops *const pane_table[];
extern const size_t pane_count;

/* The columns that the table of a pane may have, by the pane's name; NULL: there is no such pane,
 * or it has no table. */
const struct table_kind *pane_kind(const char *pane);
/* The table of an open pane, by its name; NULL: there is none. */
struct table *pane_table_of(const struct view *view, const char *pane);

#endif
