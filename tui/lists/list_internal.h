/* SPDX-License-Identifier: MIT */
/* What the files of the lists share: each list_*.c makes the pages of some commands. */
#ifndef TUI_LIST_INTERNAL_H
#define TUI_LIST_INTERNAL_H

#include "model/query/range.h"
#include "model/query/query.h"
#include "tui/lists/list.h"

extern const struct list_kind list_profile_kind, list_kernels_kind, list_executions_kind,
	list_copies_kind, print_copies_kind, list_tensors_kind, list_source_kind;

/* Labels of devices and queues; taken with the model's lock, used without it. */
struct list_places {
	struct device_row *devices;	/* owned */
	struct queue_row *queues;	/* owned */
	size_t n_devices, n_queues;
};

void list_places_take(struct list_places *places, struct model *model);	/* [locked] */
void list_places_release(struct list_places *places);
/* The label, such as "gpu0" or "queue 3"; NULL: unknown (UINT32_MAX). The list owns the text. */
const char *list_device(struct list *list, const struct list_places *places, uint32_t device);
const char *list_queue(struct list *list, const struct list_places *places, uint32_t queue);
/* Writes its label, "": unknown; returns its full name, NULL: unknown. */
const char *list_device_label(const struct list_places *places, uint32_t device, char *label,
			      size_t size);
/* The device of a queue; UINT32_MAX: unknown. */
uint32_t list_queue_device(const struct list_places *places, uint32_t queue);
/* Whether -d and -q let the device and the queue through: by label, or for a device also by
 * name. */
bool list_device_fits(const struct list_options *options, const struct list_places *places,
		      uint32_t device);
bool list_queue_fits(const struct list_options *options, const struct list_places *places,
		     uint32_t queue);

/* Copies by queue, direction and op, as far as they are kept in detail, most time first. */
struct list_copies {
	struct list_places places;
	struct range_part *parts;	/* owned */
	size_t n;
	uint64_t count;			/* how many copies were visited */
	bool whole;			/* no copies are missing */
};

void list_copies_take(struct list_copies *copies, const struct page_call *call);
void list_copies_release(struct list_copies *copies);

/* Makes the cell "train.py:41", a link to the page of the file; a dash if file is NULL. */
void list_link_source(struct list *list, struct list_cell *cell, const char *file, uint32_t line);
/* Adds a time that not all rows have. */
struct list_cell *list_time(struct list *list, int64_t ns, bool known, bool rough);

/* What all lists start with: parses the flags, and checks that -s names a column. */
bool list_parse(const struct page_call *call, const struct list_kind *kind,
		struct list_options *options);

#endif
