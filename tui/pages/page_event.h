/* SPDX-License-Identifier: MIT */
/* The parts of an event's page, page_event.c and page_event_parts.c. All [locked]. */
#ifndef TUI_PAGE_EVENT_H
#define TUI_PAGE_EVENT_H

#include "tui/pages/page_parts.h"

struct event_page {
	struct page *page;
	struct page_book *book;
	const struct span *span;
	const struct model_row *row;	/* NULL: it is in no row that is shown */
	int64_t dur_ns;
};

/* "~" before approximate times. */
static inline const char *event_about(const struct span *span)
{
	return span->approx ? "~" : "";
}

/* Describes it: geometry and occupancy; bytes, class, problem size, a graph's nodes. */
void event_add_shape(struct event_page *e);
void event_add_work(struct event_page *e);
/* Compares it with all events of its name; e->row must not be NULL. */
void event_add_among_kernels(struct event_page *e);
void event_add_among_copies(struct event_page *e);
void event_add_among_ops(struct event_page *e);
/* Says how long its device was idle before it, and why; e->row must not be NULL. */
void event_add_idle(struct event_page *e);

#endif
