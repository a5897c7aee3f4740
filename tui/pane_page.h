/* SPDX-License-Identifier: MIT */
/*
 * The lower pane that shows pages (page.h), with the way one came: back and
 * forward return to a page where it was left. It is there once a page is.
 *
 * Thread: the loop's.
 */
#ifndef TUI_PANE_PAGE_H
#define TUI_PANE_PAGE_H

#include "tui/page.h"
#include "tui/pane.h"

#define PANE_PAGE 9		/* its number */

extern const struct pane_ops pane_page;

/* Shows the page, takes it over; command: the line that made it. new_place: one
 * more in the history, else the one it is at. */
void pane_page_take(struct pane *pane, struct page *page, const char *command, bool new_place);
/* The command `by` pages back (-1) or forward (1), which becomes where it is at;
 * NULL: there is none. *Borrowed until the next call.* */
const char *pane_page_go(struct pane *pane, int by);

#endif
