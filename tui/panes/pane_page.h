/* SPDX-License-Identifier: MIT */
/*
 * The lower pane that shows pages (page.h), with the way one came: back and
 * forward return to a page where it was left. It is there once a page is.
 *
 * Always true: the cursor is on a line, and of a line with links one is selected:
 * what `open` runs. A line that is too wide is shortened where that can be read (a
 * path keeps its end); scrolled sideways it is shown as it is.
 *
 * Thread: the loop's.
 */
#ifndef TUI_PANE_PAGE_H
#define TUI_PANE_PAGE_H

#include "tui/draw/page.h"
#include "tui/draw/pane.h"

#define PANE_PAGE 9		/* its number */

extern const struct pane_ops pane_page;

/* Shows the page, takes it over; command: the line that made it; from: the pane that
 * one was in, where a new trail of pages begins, NULL: it goes on from the last page.
 * One more in the history. */
void pane_page_take(struct pane *pane, struct page *page, const char *command, const char *from);
/* The same page anew, or that which pane_page_go() went to: scroll position, cursor and
 * link are kept; the cursor goes with the line that has the selected link. */
void pane_page_refresh(struct pane *pane, struct page *page);
/* The command `by` pages back (-1) or forward (1), NULL: there is none. *Borrowed until the
 * next call.* go: that becomes where it is at, and nothing is shown until it is refreshed. */
const char *pane_page_beside(const struct pane *pane, int by);
const char *pane_page_go(struct pane *pane, int by);
/* That of the page which is shown; NULL: none yet. *Borrowed as above.* */
const char *pane_page_command(const struct pane *pane);

/* The page itself; *borrowed until another one is shown.* */
const struct page *pane_page_shown(const struct pane *pane);

#endif
