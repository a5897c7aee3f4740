/* SPDX-License-Identifier: MIT */
/*
 * The lower pane that shows pages (page.h), with a history: back and forward return to a page as it
 * was left. The pane exists once there is a page.
 *
 * Always true: the cursor is on a line, and on a line with links one link is selected, which `open`
 * runs: the line's main link, or, once another one was selected, what is in its column. A line
 * that is too wide is shortened where that stays readable (a path keeps its end); scrolled sideways
 * it is shown unchanged.
 *
 * Thread: the loop's.
 */
#ifndef TUI_PANE_PAGE_H
#define TUI_PANE_PAGE_H

#include "tui/draw/page.h"
#include "tui/draw/pane.h"

#define PANE_PAGE 10		/* its number */

extern const struct pane_ops pane_page;

/* Shows the page and takes it over, and adds it to the history. command: the line that made it.
 * from: the pane from which a new trail of pages starts; NULL: the trail continues from the last
 * page. */
void pane_page_take(struct pane *pane, struct page *page, const char *command, const char *from);
/* Shows a new version of the same page, or of the page that pane_page_go() went to. Scroll
 * position, cursor and link are kept; the cursor follows the line that has the selected link. */
void pane_page_refresh(struct pane *pane, struct page *page);
/* The command of the page that is `by` pages back (-1) or forward (1); NULL: there is none.
 * *Borrowed until the next call.* pane_page_go() makes that page the current one; nothing is shown
 * until it is refreshed. */
const char *pane_page_beside(const struct pane *pane, int by);
const char *pane_page_go(struct pane *pane, int by);
/* The command of the shown page; NULL: none yet. *Borrowed as above.* */
const char *pane_page_command(const struct pane *pane);

/* The page itself; *borrowed until another one is shown.* */
const struct page *pane_page_shown(const struct pane *pane);

#endif
