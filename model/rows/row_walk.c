/* SPDX-License-Identifier: MIT */
/* Lists of rows and queues, so that a few can be found without looking at all of them. */
#include "model/rows/rows.h"

void row_listed(struct model *model, uint32_t index)
{
	struct row *row = row_at(model, index);
	struct index_list *list;

	row->next = NONE;
	if (row->kind == ROW_THREAD)
		list = &process_at(model, row->process)->thread_rows;
	else if (row->kind == ROW_QUEUE || row->kind == ROW_COPY)
		list = &queue_at(model, row->queue)->rows;
	else
		return;
	if (list->first == NONE)
		list->first = index;
	else
		row_at(model, list->last)->next = index;
	list->last = index;
}

void queue_listed(struct model *model, uint32_t index)
{
	struct queue *queue = queue_at(model, index);
	struct index_list *list = &view_at(model, queue->view)->queues;

	queue->next = NONE;
	if (list->first == NONE)
		list->first = index;
	else
		queue_at(model, list->last)->next = index;
	list->last = index;
}

/* The device's next queue. */
static uint32_t next_queue(const struct model *model, struct row_walk *walk)
{
	uint32_t queue = walk->queue == NONE ? NONE : queue_at(model, walk->queue)->next;

	while (queue == NONE && walk->view < model->views.n) {
		const struct device_view *view = view_at(model, walk->view++);

		if (view->device == walk->filter->device)
			queue = view->queues.first;
	}
	return queue;
}

static uint32_t walk_queues(const struct model *model, struct row_walk *walk)
{
	const struct row_filter *filter = walk->filter;

	for (;;) {
		if (walk->row != NONE) {
			walk->row = row_at(model, walk->row)->next;
		} else if (filter->queue != NONE) {
			if (walk->queue != NONE)
				return NONE;
			walk->queue = filter->queue;
			walk->row = queue_at(model, walk->queue)->rows.first;
		} else {
			walk->queue = next_queue(model, walk);
			if (walk->queue == NONE)
				return NONE;
			walk->row = queue_at(model, walk->queue)->rows.first;
		}
		if (walk->row == NONE)
			continue;
		if (row_at(model, walk->row)->kind == ROW_QUEUE ? filter->kernels : filter->copies)
			return walk->row;
	}
}

uint32_t row_walk(const struct model *model, struct row_walk *walk)
{
	if (walk->filter->queue != NONE || walk->filter->device != NONE)
		return walk_queues(model, walk);
	/* view: whether the walk has begun */
	if (!walk->filter->threads)
		return NONE;
	walk->row = !walk->view++ ? process_at(model, walk->filter->process)->thread_rows.first :
		    walk->row != NONE ? row_at(model, walk->row)->next : NONE;
	return walk->row;
}
