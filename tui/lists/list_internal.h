/* SPDX-License-Identifier: MIT */
/* What the files of the lists share: list_*.c, each of which makes the pages of a command. */
#ifndef TUI_LIST_INTERNAL_H
#define TUI_LIST_INTERNAL_H

#include "model/query/range.h"
#include "model/query/query.h"
#include "tui/lists/list.h"

extern const struct list_kind list_profile_kind, list_kernels_kind, list_executions_kind,
	list_copies_kind, print_copies_kind, list_tensors_kind, list_source_kind;

/* Devices and queues by their labels; taken under the model's lock, used without. */
struct list_places {
	struct device_row *devices;	/* owned */
	struct queue_row *queues;	/* owned */
	size_t n_devices, n_queues;
};

void list_places_take(struct list_places *places, struct model *model);	/* [locked] */
void list_places_release(struct list_places *places);
/* "gpu0", "queue 3"; NULL: not known (UINT32_MAX). The text is the list's. */
const char *list_device(struct list *list, const struct list_places *places, uint32_t device);
const char *list_queue(struct list *list, const struct list_places *places, uint32_t queue);
/* Its label, "" not known; returns its full name, NULL not known. */
const char *list_device_label(const struct list_places *places, uint32_t device, char *label,
			      size_t size);
/* The device of a queue, UINT32_MAX: not known. */
uint32_t list_queue_device(const struct list_places *places, uint32_t queue);
/* Whether -d and -q let them through: by label, a device also by its name. */
bool list_device_fits(const struct list_options *options, const struct list_places *places,
		      uint32_t device);
bool list_queue_fits(const struct list_options *options, const struct list_places *places,
		     uint32_t queue);

/* Copies by queue, direction and op, of those that are kept in detail, most time first. */
struct list_copies {
	struct list_places places;
	struct range_part *parts;	/* owned */
	size_t n;
	uint64_t count;			/* that were looked at */
	bool whole;			/* these are all that there were */
};

void list_copies_take(struct list_copies *copies, const struct page_call *call);
void list_copies_release(struct list_copies *copies);

/* Makes the cell "train.py:41", a link to the page of the file; a dash where file is NULL. */
void list_link_source(struct list *list, struct list_cell *cell, const char *file, uint32_t line);
/* A time that only some rows have. */
struct list_cell *list_time(struct list *list, int64_t ns, bool known, bool rough);

/* What all lists begin with: parses, and checks that -s names a column. */
bool list_parse(const struct page_call *call, const struct list_kind *kind,
		struct list_options *options);

#endif
