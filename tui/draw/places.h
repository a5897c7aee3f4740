/* SPDX-License-Identifier: MIT */
/*
 * Where things are and what they are called: labels of devices and queues, the start of the
 * run, and the way from a table's row to the event on the timeline that it stands for.
 *
 * Functions marked [locked] need the model's lock held; the others take it when they need it.
 * Thread: the loop's.
 */
#ifndef TUI_PLACES_H
#define TUI_PLACES_H

#include "tui/draw/pane.h"

/* "gpu0", "cpu1": its kind and its index among devices of the same kind. */
void places_device_label(char *text, size_t size, const struct device_row *devices,
			size_t count, uint32_t device);
/* The name of a queue; "queue 3" when it has none. */
void places_queue_label(char *text, size_t size, const struct queue_row *queues,
		       size_t count, uint32_t queue);

/* The start of the run, from which times are counted; 0 before the first event. */
int64_t places_base_ns(const struct model_status *status);

/* Whether rows that a caller took earlier are still valid, because the run has ended and the model
 * has not changed since. *taken belongs to the caller and is 0 before its first call. [locked] */
bool places_stands(const struct view *view, uint64_t *taken);

/* A cost as "18.5 of 80.6 ms"; without steps "18.5 ms a second". */
char *places_cost(char *text, size_t size, int64_t cost_ns, int64_t step_ns);

/* Whether any device other than the processor has worked. [locked] */
bool places_devices(struct model *model);

/* fmt_share() into a buffer of any size. */
void places_share(char *text, size_t size, uint64_t part, uint64_t whole);

/*
 * `open` in a table: selects the longest event of that name in the window, among the rows of
 * this kind (and of this device, unless it is UINT32_MAX). If the window has none, the last one
 * before the end of the window is taken, as far back as can be searched within a frame. The
 * name is the model's own string.
 */
unsigned places_find_event(struct view *view, const char *name, enum row_kind kind,
			   uint32_t device);
/* The same for the copies of one queue and direction. */
unsigned places_find_copy(struct view *view, uint32_t queue, enum direction direction);
/* Has the loop run a command, of these words up to a NULL. */
unsigned places_run(struct view *view, const char *const *argv);
/* For `about`: shows the page that `command` makes, with that name unless it is NULL. */
unsigned places_about(struct view *view, const char *command, const char *name);

#endif
