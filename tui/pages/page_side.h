/* SPDX-License-Identifier: MIT */
/* What the pages about sides share (tui/pages/side.h): names of tables, links. */
#ifndef TUI_PAGE_SIDE_H
#define TUI_PAGE_SIDE_H

#include "tui/draw/page_call.h"
#include "tui/pages/side.h"

#define SIDE_ROWS 12			/* of a table, unless all are asked for */

const char *side_table_title(enum side_table table);
/* The item's name, as a link where it has a page, and its shape. */
void side_name(struct page *page, const struct side_item *item, bool linked);
/* "step 12" or "1.5s..1.6s", so that it means the same later: a word of a command each,
 * NULL behind; texts are the caller's to free. At most two. */
void side_words(const struct when *when, int64_t base_ns, char *words[3]);
void side_words_free(char *words[3]);
/* A link that shows it on the timeline. */
void side_show(struct page *page, const char *text, const struct when *when, int64_t base_ns);
/* Why this is not all there was, if it is not. */
void side_say_rest(struct page *page, const struct side *side, int64_t base_ns);

#endif
