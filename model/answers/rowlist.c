/* SPDX-License-Identifier: MIT */
/* The rows as a forest in display order, with their labels. */
#include "model/counters/counters.h"
#include "model/memory/memory.h"
#include "model/ops/pools.h"
#include "model/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define LABEL_MAX 96

/* ---- the list ---- */

struct row_list {
	struct model_row *rows;		/* owned by the caller in the end */
	size_t n, cap;
};

static bool row_looked_at(const struct model *model, const struct row *row)
{
	return row->thread != NONE && thread_at(model, row->thread)->doings.n;
}

static bool has_content(const struct model *model, const struct row *row)
{
	if (row->n_opens || row_looked_at(model, row))
		return true;
	for (uint32_t l = 0; l < row->n_lanes; l++)
		if (row->lanes[l].count)
			return true;
	return false;
}

static bool has_row(const struct model *model, uint32_t row)
{
	return row != NONE && has_content(model, row_at(model, row));
}

static struct model_row *row_list_add(struct model *model, struct row_list *list, uint32_t index,
				      uint32_t parent)
{
	const struct row *row = row_at(model, index);
	struct model_row *out;

	grow(&list->rows, &list->cap, list->n, sizeof(*list->rows));
	out = &list->rows[list->n++];
	*out = (struct model_row) {
		.id = index + 1, .parent = parent, .kind = row->kind, .direction = row->direction,
		.device = NONE, .queue = row->queue, .lanes = row->n_lanes ? row->n_lanes : 1,
		.label = "", .looked_at = row_looked_at(model, row),
	};
	if (row->process != NONE) {
		out->host = process_at(model, row->process)->host;
		out->pid = process_at(model, row->process)->pid;
	}
	if (row->thread != NONE)
		out->tid = thread_at(model, row->thread)->tid;
	for (uint32_t l = 0; l < row->n_lanes; l++) {
		out->count += row->lanes[l].count;
		out->busy_ns += row->n_lanes == 1 ? row->lanes[l].sum_ns : 0;
	}
	if (row->n_lanes > 1)
		out->busy_ns = merged_total(&row->merged);
	return out;
}

static int64_t busy_of(const struct row *row)
{
	return row->n_lanes == 1 ? row->lanes[0].sum_ns : merged_total(&row->merged);
}

static bool is_main(const struct model *model, const struct row *row)
{
	return row->thread != NONE && thread_at(model, row->thread)->tid ==
	       process_at(model, row->process)->pid;
}

/*
 * Sorts rows by busy time, but keeps their order stable: a row overtakes the one above only if it
 * is a quarter busier. The main thread stays on top. `order` is the previous order.
 */
static void rank_threads(struct model *model, uint32_t *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0; k--) {
			const struct row *above = row_at(model, rows[k - 1]);
			const struct row *below = row_at(model, rows[k]);
			int64_t busy = busy_of(above);
			uint32_t swap = rows[k];

			if (is_main(model, above) ||
			    (!is_main(model, below) && busy_of(below) <= busy + busy / 4 + 1000000))
				break;
			rows[k] = rows[k - 1];
			rows[k - 1] = swap;
		}
}

/* false: there is no room for its row. */
static bool list_series(struct model *model, struct row_list *list, uint32_t i, uint32_t parent)
{
	struct series *series = series_at(model->counters, i);
	struct model_row *out;

	if (series->row == NONE)
		series->row = row_new(model, ROW_COUNTER);
	if (series->row == NONE)
		return false;
	row_at(model, series->row)->series = i;
	out = row_list_add(model, list, series->row, parent);
	out->label = names_raw(&model->names, series->name);
	out->unit = series->unit ? names_raw(&model->names, series->unit) : "";
	out->base = series_base(series);
	out->peak = (uint64_t)(series->max - out->base);
	out->device = series_device(model, series);
	out->host = process_at(model, series->process)->host;
	out->pid = process_at(model, series->process)->pid;
	out->count = series->count;
	return true;
}

/* Lists the series of a device, or (device NONE) of a process without a device, except for its
 * usage. list NULL: only returns whether there are any. */
static bool list_counters(struct model *model, struct row_list *list, uint32_t process,
			  uint32_t device, uint32_t parent)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->counters->series.n && n < ROWS_COUNTERS; i++) {
		const struct series *series = series_at(model->counters, i);

		if (!series->count || !series->name || series->usage ||
		    series_device(model, series) != device ||
		    (device == NONE && series->process != process))
			continue;
		n++;
		if (!list || !list_series(model, list, i, parent))
			return true;
	}
	return n > 0;
}

/* Lists what the process takes of its machine: the first series, and the others below it. Nothing
 * before that one has a value, because they would change their parent then. */
static void list_usage(struct model *model, struct row_list *list, uint32_t process,
		       uint32_t parent)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->counters->series.n && n < ROWS_USAGE; i++) {
		const struct series *series = series_at(model->counters, i);

		if (!series->usage || series->process != process || !series->name ||
		    (n && !series->count))
			continue;
		if (!series->count || !list_series(model, list, i, parent))
			return;
		if (!n++)
			parent = series->row + 1;
	}
}

/* The name that a pool's threads share; 0: the thread is in no pool. */
static uint32_t pool_name(const struct model *model, uint32_t row)
{
	const struct row *one = row_at(model, row);

	return is_main(model, one) || one->thread == NONE ? 0 :
	       names_resolve(&model->names, thread_at(model, one->thread)->name);
}

static void list_thread(struct model *model, struct row_list *list, uint32_t row, uint32_t parent,
			size_t at)
{
	struct model_row *out = row_list_add(model, list, row, parent);

	out->label = thread_label(model, row_at(model, row)->thread);
	list->rows[at].count += out->count;
}

/* Lists all threads of that name below a row of their own, at the place of the first of them. */
static void list_pool(struct model *model, struct row_list *list, const uint32_t *rows, size_t n,
		      uint32_t name, uint32_t parent, size_t at)
{
	uint32_t pool = pools_row(model, row_at(model, rows[0])->process, name);
	size_t here = list->n, threads = 0;
	uint64_t before = list->rows[at].count;
	int64_t busy_ns = 0;
	char text[LABEL_MAX];

	if (pool != NONE)
		row_list_add(model, list, pool, parent);
	for (size_t i = 0; i < n; i++) {
		if (pool_name(model, rows[i]) != name)
			continue;
		list_thread(model, list, rows[i], pool == NONE ? parent : pool + 1, at);
		busy_ns += busy_of(row_at(model, rows[i]));
		threads++;
	}
	if (pool == NONE)
		return;
	list->rows[here].count = list->rows[at].count - before;
	list->rows[here].busy_ns = busy_ns / (int64_t)threads;
	snprintf(text, sizeof(text), "%.60s ×%zu", names_short(&model->names, name), threads);
	list->rows[here].label = names_raw(&model->names, names_intern(&model->names, text));
}

#define LISTED (MAP_NONE - 1)	/* value of a name whose threads are listed already */

static void list_threads(struct model *model, struct row_list *list, const uint32_t *rows, size_t n,
			 uint32_t parent, size_t at)
{
	struct map named = { .size = 0 };	/* number of threads by name */

	for (size_t i = 0; i < n; i++) {
		uint32_t name = pool_name(model, rows[i]), same = map_get(&named, name);

		if (name)
			map_set(&named, name, same == MAP_NONE ? 1 : same + 1);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t name = pool_name(model, rows[i]), same = name ? map_get(&named, name) : 1;

		if (same < ROWS_POOL) {
			list_thread(model, list, rows[i], parent, at);
		} else if (same != LISTED) {
			list_pool(model, list, rows, n, name, parent, at);
			map_set(&named, name, LISTED);
		}
	}
	map_release(&named);
}

static void list_process(struct model *model, struct row_list *list, uint32_t index,
			 uint32_t *rows, size_t n)
{
	struct process *process = process_at(model, index);
	uint32_t parent = row_of_process(model, index);
	struct model_row *out;
	size_t at = list->n;

	if (parent == NONE)
		return;
	out = row_list_add(model, list, parent, 0);
	out->label = process_label(model, process);
	out->busy_ns = merged_total(&process->merged);
	list_threads(model, list, rows, n, parent + 1, at);
	if (has_row(model, process->ranges)) {
		out = row_list_add(model, list, process->ranges, parent + 1);
		out->label = "ranges";
		list->rows[at].count += out->count;
	}
	if (has_row(model, process->compiles)) {
		out = row_list_add(model, list, process->compiles, parent + 1);
		out->label = "compiling";
		list->rows[at].count += out->count;
	}
	list_counters(model, list, index, NONE, parent + 1);
	list_usage(model, list, index, parent + 1);
}

/* Lists thread rows with content, by process, in the order in which they are kept. */
static void list_processes(struct model *model, struct row_list *list)
{
	uint32_t *rows = NULL;
	size_t n, cap = 0;

	for (uint32_t p = 0; p < model->processes.n; p++) {
		struct process *process = process_at(model, p);
		struct row_order *order = &process->order;

		for (; order->seen < model->threads.n; order->seen++) {
			const struct thread *thread = thread_at(model, order->seen);

			if (thread->process != p)
				continue;
			grow(&order->threads, &order->cap, order->n, sizeof(*order->threads));
			order->threads[order->n++] = order->seen;
		}
		n = 0;
		for (size_t i = 0; i < order->n; i++) {
			uint32_t row = thread_at(model, order->threads[i])->row;

			if (!has_row(model, row))
				continue;
			grow(&rows, &cap, n, sizeof(*rows));
			rows[n++] = row;
		}
		if (!n && !has_row(model, process->ranges) && !has_row(model, process->compiles) &&
		    !list_counters(model, NULL, p, NONE, 0))
			continue;
		rank_threads(model, rows, n);
		/* Remembers the order for the next call. */
		for (size_t i = 0, k = 0; i < order->n; i++) {
			uint32_t row = thread_at(model, order->threads[i])->row;

			if (has_row(model, row))
				order->threads[i] = row_at(model, rows[k++])->thread;
		}
		list_process(model, list, p, rows, n);
	}
	free(rows);
}

static uint32_t bandwidth_row(struct model *model, uint32_t device, enum direction direction)
{
	uint32_t *index = &device_at(model, device)->bandwidth[direction];

	if (*index == NONE) {
		*index = row_new(model, ROW_BANDWIDTH);
		if (*index != NONE) {
			row_at(model, *index)->device = device;
			row_at(model, *index)->direction = direction;
		}
	}
	return *index;
}

static bool has_bandwidth(enum direction direction)
{
	return direction != DIR_NONE && direction != DIR_FILL && direction != DIR_MAP &&
	       direction != DIR_UNMAP;
}

/* The label of a queue's row, and of its copies with their direction. Made when the row is first
 * listed and kept, because every frame lists all rows. */
static const char *listed_label(struct model *model, uint32_t index, bool shared)
{
	struct row *row = row_at(model, index);
	const struct queue *queue = queue_at(model, row->queue);
	unsigned urgency = queue->priority < 0 ? 1 : queue->priority > 0 ? 2 : 0;
	bool fallback = queue->flags & QUEUE_DEFAULT;
	uint64_t made_of = ((uint64_t)queue->name << 4 | urgency << 2 | fallback << 1 | shared) + 1;
	const char *direction = row->direction ? direction_name(row->direction) : "copy";
	char text[LABEL_MAX];

	if (row->label_of == made_of)
		return row->label;
	row->label = queue_label_of(model, queue, shared);
	row->label_of = made_of;
	if (row->kind == ROW_COPY || row->kind == ROW_GRAPH) {
		snprintf(text, sizeof(text), "%.70s %s", row->label,
			 row->kind == ROW_GRAPH ? "graph" : direction);
		row->label = names_raw(&model->names, names_intern(&model->names, text));
	}
	return row->label;
}

/* Lists a queue: its graphs above their kernels, then its copies by direction. */
static void row_list_queue(struct model *model, struct row_list *list, uint32_t index,
			   uint32_t parent, bool shared, struct model_row bandwidth[DIR_COUNT])
{
	struct queue *queue = queue_at(model, index);
	uint32_t device = queue_device(model, queue);
	struct model_row *out;

	if (has_row(model, queue->graphs)) {
		out = row_list_add(model, list, queue->graphs, parent);
		out->label = listed_label(model, queue->graphs, shared);
		out->device = device;
	}
	if (has_row(model, queue->row)) {
		out = row_list_add(model, list, queue->row, parent);
		out->label = listed_label(model, queue->row, shared);
		out->device = device;
	}
	for (int d = 0; d < DIR_COUNT; d++) {
		uint32_t row = queue->copies[d];

		if (!has_row(model, row))
			continue;
		out = row_list_add(model, list, row, parent);
		out->label = listed_label(model, row, shared);
		out->device = device;
		bandwidth[d].count += out->count;
		bandwidth[d].busy_ns += out->busy_ns;
		if (queue->copy_peak[d] > bandwidth[d].peak)
			bandwidth[d].peak = queue->copy_peak[d];
	}
}

static void list_memory(struct model *model, struct row_list *list, uint32_t device,
			uint32_t parent)
{
	uint32_t *row = &device_at(model, device)->memory;
	struct model_row *out;
	uint64_t peak = 0;

	if (memory_of_device(model, device, &peak) == NONE || !peak)
		return;
	if (*row == NONE) {
		*row = row_new(model, ROW_MEMORY);
		if (*row == NONE)
			return;
		row_at(model, *row)->device = device;
	}
	out = row_list_add(model, list, *row, parent);
	out->label = "memory";
	out->device = device;
	out->host = device_at(model, device)->host;
	out->peak = peak;
}

/* Lists all queues of a device (NONE: those whose device is unknown). */
static void row_list_device(struct model *model, struct row_list *list, uint32_t device)
{
	struct model_row bandwidth[DIR_COUNT] = { 0 };
	bool shared = device_is_shared(model, device);
	size_t at = list->n;
	uint32_t parent = 0, row;
	struct model_row *out;

	if (device != NONE) {
		row = row_of_device(model, device);
		if (row == NONE)
			return;
		parent = row + 1;
		out = row_list_add(model, list, row, 0);
		out->label = device_label(model, device);
		out->device = device;
		out->host = device_at(model, device)->host;
		out->busy_ns = merged_total(&device_at(model, device)->all);
	}
	for (uint32_t i = 0; i < model->queues.n; i++)
		if (queue_device(model, queue_at(model, i)) == device)
			row_list_queue(model, list, i, parent, shared, bandwidth);
	if (device == NONE)
		return;
	if (list->n == at + 1 && !list_counters(model, NULL, NONE, device, 0)) {
		list->n = at;		/* nothing ran there */
		return;
	}
	for (size_t i = at + 1; i < list->n; i++)
		list->rows[at].count += list->rows[i].count;
	for (int d = 0; d < DIR_COUNT; d++) {
		if (!bandwidth[d].peak || !has_bandwidth((enum direction)d))
			continue;
		row = bandwidth_row(model, device, (enum direction)d);
		if (row == NONE)
			continue;
		out = row_list_add(model, list, row, parent);
		out->label = direction_name((enum direction)d);
		out->device = device;
		out->host = device_at(model, device)->host;
		out->count = bandwidth[d].count;
		out->busy_ns = bandwidth[d].busy_ns;
		out->peak = bandwidth[d].peak;
	}
	list_memory(model, list, device, parent);
	list_counters(model, list, NONE, device, parent);
}

size_t model_rows(struct model *model, struct model_row **out)
{
	struct row_list list = { .rows = xmalloc(sizeof(*list.rows)), .cap = 1 };

	list_processes(model, &list);
	for (uint32_t i = 0; i < model->devices.n; i++)
		if (!device_at(model, i)->alias)
			row_list_device(model, &list, i);
	row_list_device(model, &list, NONE);
	*out = list.rows;
	return list.n;
}
