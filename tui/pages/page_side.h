/* SPDX-License-Identifier: MIT */
/* What the pages about sides (tui/pages/side.h) share: names of tables, links. */
#ifndef TUI_PAGE_SIDE_H
#define TUI_PAGE_SIDE_H

#include "tui/draw/page_call.h"
#include "tui/pages/side.h"

#define SIDE_ROWS 12			/* rows of a table, unless all are requested */

const char *side_table_title(enum side_table table);
/* Adds the item's name, as a link if it has a page, and its shape. */
void side_name(struct page *page, const struct side_item *item, bool linked);
/* Writes "step 12" or "1.5s..1.6s", which will mean the same later, as at most two words of a
 * command, ended by NULL; the caller frees the texts. */
void side_words(const struct when *when, int64_t base_ns, char *words[3]);
void side_words_free(char *words[3]);
/* Adds a link that shows it on the timeline. */
void side_show(struct page *page, const char *text, const struct when *when, int64_t base_ns);
/* Says why something is missing, if it is. */
void side_say_rest(struct page *page, const struct side *side, int64_t base_ns);

#endif
