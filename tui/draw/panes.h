/* SPDX-License-Identifier: MIT */
/*
 * What the panes share among themselves: their names for panes.c, and small
 * answers that several of them need. Functions marked [locked] want the
 * model's lock; the others take it themselves when they need it. Thread: the
 * loop's.
 */
#ifndef TUI_PANES_H
#define TUI_PANES_H

#include "tui/draw/pane.h"
#include "tui/table/table.h"

extern const struct pane_ops pane_timeline, pane_ops_table, pane_kernels, pane_copies,
	pane_steps, pane_memory, pane_findings, pane_output, pane_messages;

/* "gpu0", "cpu1": the how manieth of its sort. */
void panes_device_label(char *text, size_t size, const struct device_row *devices,
			size_t count, uint32_t device);
/* Its name, else "queue 3". */
void panes_queue_label(char *text, size_t size, const struct queue_row *queues,
		       size_t count, uint32_t queue);

/* The columns that a pane's table may have, by the pane's name; NULL: no such. */
const struct table_kind *panes_kind(const char *pane);
/* The table of an open pane; NULL: none. */
struct table *panes_table(const struct view *view, const char *pane);

/* The start of the run, which times are counted from; 0 while nothing is seen. */
int64_t panes_base_ns(const struct model_status *status);

/* Nothing comes any more and nothing changed since the caller took its rows:
 * they stand. *taken is the caller's, 0: nothing is taken. Under the model's lock. */
bool panes_stands(const struct view *view, uint64_t *taken);

/* "18.5 of 80.6 ms", without steps "18.5 ms a second". */
char *panes_cost(char *text, size_t size, int64_t cost_ns, int64_t step_ns);

/* Whether anything but the processor worked. [locked] */
bool panes_devices(struct model *model);

/* fmt_share into a buffer of any size. */
void panes_share(char *text, size_t size, uint64_t part, uint64_t whole);

/*
 * `open` in a table: selects the longest event of that name in the window, of
 * the rows of this kind (and device, unless UINT32_MAX); when there is none,
 * the last one before the window's end, as far back as can be looked at within
 * a frame. name is compared by address: the model's own string.
 */
unsigned panes_find_event(struct view *view, const char *name, enum row_kind kind,
			  uint32_t device);
/* `about`: the page that `command` makes, of that name unless it is NULL. */
unsigned panes_about(struct view *view, const char *command, const char *name);
/* The same for the copies of one queue and direction. */
unsigned panes_find_copy(struct view *view, uint32_t queue, enum direction direction);

#endif
