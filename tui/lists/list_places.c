/* SPDX-License-Identifier: MIT */
/* Cells that several lists share: devices, queues and source lines. */
#include "tui/lists/list_internal.h"

#include <stdlib.h>
#include <string.h>

#include "keymap/command.h"
#include "model/base/util.h"
#include "tui/draw/places.h"

const struct list_kind *list_kind_of(int command)
{
	switch (command) {
	case COMMAND_ID_LIST_PROFILE: return &list_profile_kind;
	case COMMAND_ID_LIST_KERNELS: return &list_kernels_kind;
	case COMMAND_ID_LIST_EXECUTIONS: return &list_executions_kind;
	case COMMAND_ID_LIST_COPIES: return &list_copies_kind;
	case COMMAND_ID_PRINT_COPIES: return &print_copies_kind;
	case COMMAND_ID_LIST_TENSORS: return &list_tensors_kind;
	case COMMAND_ID_LIST_SOURCE: return &list_source_kind;
	default: return NULL;
	}
}

bool list_parse(const struct page_call *call, const struct list_kind *kind,
		struct list_options *options)
{
	if (!list_options_parse(call, kind->flags, kind->n_flags, kind->names, options))
		return false;
	if (list_sort_check(call, options, kind))
		return true;
	list_options_release(options);
	return false;
}

void list_places_take(struct list_places *places, struct model *model)
{
	places->n_devices = model_devices(model, &places->devices);
	places->n_queues = model_queues(model, &places->queues);
}

void list_places_release(struct list_places *places)
{
	free(places->devices);
	free(places->queues);
}

static const struct device_row *find_device(const struct list_places *places, uint32_t device)
{
	for (size_t i = 0; i < places->n_devices; i++)
		if (places->devices[i].id == device)
			return &places->devices[i];
	return NULL;
}

const char *list_device(struct list *list, const struct list_places *places, uint32_t device)
{
	char label[16];

	if (!find_device(places, device))
		return NULL;
	places_device_label(label, sizeof(label), places->devices, places->n_devices, device);
	return list_keep(list, "%s", label);
}

const char *list_queue(struct list *list, const struct list_places *places, uint32_t queue)
{
	char label[64];

	if (queue == UINT32_MAX)
		return NULL;
	places_queue_label(label, sizeof(label), places->queues, places->n_queues, queue);
	return list_keep(list, "%s", label);
}

const char *list_device_label(const struct list_places *places, uint32_t device, char *label,
			      size_t size)
{
	const struct device_row *row = find_device(places, device);

	*label = '\0';
	if (row)
		places_device_label(label, size, places->devices, places->n_devices, device);
	return row ? row->name : NULL;
}

uint32_t list_queue_device(const struct list_places *places, uint32_t queue)
{
	for (size_t i = 0; i < places->n_queues; i++)
		if (places->queues[i].id == queue)
			return places->queues[i].device;
	return UINT32_MAX;
}

bool list_device_fits(const struct list_options *options, const struct list_places *places,
		      uint32_t device)
{
	char label[16];
	const char *name = list_device_label(places, device, label, sizeof(label));

	return list_matches(options, 'd', *label ? label : NULL, name);
}

bool list_queue_fits(const struct list_options *options, const struct list_places *places,
		     uint32_t queue)
{
	char label[64];

	if (!list_given(options, 'q'))
		return true;
	places_queue_label(label, sizeof(label), places->queues, places->n_queues, queue);
	return list_matches(options, 'q', label, NULL);
}

void list_link_source(struct list *list, struct list_cell *cell, const char *file, uint32_t line)
{
	const char *base = file ? strrchr(file, '/') : NULL;

	cell->value = file && line ? LIST_NAME : LIST_NONE;
	if (cell->value == LIST_NONE)
		return;
	cell->text = list_keep(list, "%s:%u", base ? base + 1 : file, line);
	cell->link[0] = "ps";
	cell->link[1] = file;
	cell->link[2] = "-b";
	cell->link[3] = list_keep(list, "%u", line);
}

struct list_cell *list_time(struct list *list, int64_t ns, bool known, bool rough)
{
	struct list_cell *cell = list_add(list, known ? LIST_TIME : LIST_NONE, ns);

	cell->rough = rough;
	return cell;
}
