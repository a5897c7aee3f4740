/* SPDX-License-Identifier: MIT */
/* Rows: their lanes, open spans and unions, see rows.h. */
#include "model/rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

/* ---- unions ---- */

/* Adds a lane's spans that end after from_ns. Folded chunks count with their busy time. */
static void merged_take(struct merged *merged, const struct row *row, int64_t from_ns,
			struct model *breathing)
{
	for (uint32_t l = 0; l < row->n_lanes; l++) {
		const struct lane *lane = &row->lanes[l];
		struct lane_pos pos;

		for (size_t g = 0; g < lane->n_ghosts; g++)
			if (lane->ghosts[g].max_end_ns > from_ns)
				cover_add(&merged->cover, lane->ghosts[g].first_ns,
					  lane->ghosts[g].first_ns + lane->ghosts[g].busy_ns);
		if (!lane_touching(lane, from_ns, &pos))
			continue;
		for (size_t c = pos.chunk; c < lane->n; c++) {
			for (uint32_t i = 0; i < lane->chunks[c]->n; i++) {
				int64_t start = chunk_start(lane->chunks[c], i);
				int64_t end = start + chunk_dur(lane->chunks[c], i);

				if (end > from_ns)
					cover_add(&merged->cover, start, end);
			}
			if (breathing)
				model_breathe(breathing);
		}
	}
}

/* Rebuilds the union from from_ns on; INT64_MIN: all of it, which takes a while, so the old union
 * is kept until the new one is complete. */
static void merged_redo(struct model *model, struct merged *merged,
			const struct row_filter *filter, int64_t from_ns)
{
	bool all = !merged->full || from_ns == INT64_MIN;
	struct merged fresh = { .full = true };
	struct row_walk walk = ROW_WALK(filter);
	uint32_t i;

	if (!all)
		cover_cut(&merged->cover, from_ns);
	while ((i = row_walk(model, &walk)) != NONE)
		merged_take(all ? &fresh : merged, row_at(model, i), all ? INT64_MIN : from_ns,
			    all ? model : NULL);
	if (!all)
		return;
	merged_release(merged);
	*merged = fresh;
}

/* Whether the set is a single lane without overlap. */
static bool is_one_lane(const struct model *model, const struct row_filter *filter)
{
	struct row_walk walk = ROW_WALK(filter);
	uint32_t lanes = 0, i;

	while (lanes < 2 && (i = row_walk(model, &walk)) != NONE)
		lanes += row_at(model, i)->n_lanes;
	return lanes == 1;
}

static void merged_add(struct model *model, struct merged *merged,
		       const struct row_filter *filter, int64_t start_ns, int64_t end_ns)
{
	if (end_ns <= start_ns)
		return;
	if (merged->full) {
		cover_add(&merged->cover, start_ns, end_ns);
	} else if (merged->sum_ns == 0 || start_ns >= merged->end_ns) {
		merged->sum_ns += end_ns - start_ns;
		merged->end_ns = end_ns;
	} else if (!filter->threads && is_one_lane(model, filter)) {
		/* The span is late, but its place was free. */
		merged->sum_ns += end_ns - start_ns;
		if (end_ns > merged->end_ns)
			merged->end_ns = end_ns;
	} else {
		merged_redo(model, merged, filter, INT64_MIN);
	}
}

static struct row_filter filter_of(uint32_t process, uint32_t queue, uint32_t device,
				   bool kernels, bool copies)
{
	return (struct row_filter) {
		.process = process, .queue = queue, .device = device,
		.threads = process != NONE, .kernels = kernels, .copies = copies,
	};
}

static void row_redo(struct model *model, struct row *row, int64_t from_ns)
{
	struct merged fresh = { .full = true };

	if (row->merged.full && from_ns != INT64_MIN) {
		cover_cut(&row->merged.cover, from_ns);
		merged_take(&row->merged, row, from_ns, NULL);
		return;
	}
	merged_take(&fresh, row, INT64_MIN, model);
	merged_release(&row->merged);
	row->merged = fresh;
}

void rows_moved(struct model *model, uint32_t device, int64_t from_ns)
{
	struct device *d = device_at(model, device);
	struct row_filter filter = filter_of(NONE, NONE, device, true, true);
	struct row_walk walk = ROW_WALK(&filter);
	uint32_t queue = NONE, i;

	while ((i = row_walk(model, &walk)) != NONE) {
		struct row *row = row_at(model, i);

		if (row->n_lanes > 1)
			row_redo(model, row, from_ns);
		if (row->queue != queue) {
			struct row_filter one = filter_of(NONE, row->queue, NONE, true, true);

			queue = row->queue;
			merged_redo(model, &queue_at(model, queue)->merged, &one, from_ns);
		}
	}
	merged_redo(model, &d->all, &filter, from_ns);
	filter.copies = false;
	merged_redo(model, &d->kernels, &filter, from_ns);
	filter.copies = true;
	filter.kernels = false;
	merged_redo(model, &d->copies, &filter, from_ns);
}

void rows_extent(struct model *model)
{
	model->first_ns = INT64_MAX;
	model->last_ns = INT64_MIN;
	for (uint32_t i = 0; i < model->rows.n; i++) {
		struct row *row = row_at(model, i);

		for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
			if (open_at(model, o)->start_ns < model->first_ns)
				model->first_ns = open_at(model, o)->start_ns;
		for (uint32_t l = 0; l < row->n_lanes; l++)
			if (row->lanes[l].count)
				saw_time(model, lane_first_ns(&row->lanes[l]),
					 row->lanes[l].max_end_ns);
	}
}

void device_rebuild(struct model *model, uint32_t device)
{
	struct device *d = device_at(model, device);
	struct row_filter filter = filter_of(NONE, NONE, device, true, true);
	struct row_walk walk = ROW_WALK(&filter);
	uint32_t i;

	d->first_ns = INT64_MAX;
	d->last_ns = INT64_MIN;
	while ((i = row_walk(model, &walk)) != NONE) {
		struct row *row = row_at(model, i);

		for (uint32_t l = 0; l < row->n_lanes; l++) {
			struct lane *lane = &row->lanes[l];

			if (!lane->count)
				continue;
			if (lane_first_ns(lane) < d->first_ns)
				d->first_ns = lane_first_ns(lane);
			if (lane->max_end_ns > d->last_ns)
				d->last_ns = lane->max_end_ns;
		}
	}
	rows_moved(model, device, INT64_MIN);
}

/* ---- rows ---- */

#define COMMAND_FIELDS \
		LANE_FIELD(command_cold, detail, false), LANE_FIELD(command_cold, op, false), \
		LANE_FIELD(command_cold, call_ns, true), \
		[COMMAND_OP_NAME] = LANE_FIELD(command_cold, op_name, false), \
		LANE_FIELD(command_cold, tid, false), \
		LANE_FIELD(command_cold, call_dur_ns, false), \
		LANE_FIELD(command_cold, queued, false), LANE_FIELD(command_cold, submit, false), \
		LANE_FIELD(command_cold, status, true), \
		LANE_FIELD(command_cold, kind_how, false), \
		LANE_FIELD(command_cold, segment, true)

static const struct lane_layout kernel_layout = {
	.size = sizeof(struct command_cold), .n_fields = 11, .fields = { COMMAND_FIELDS },
	.op_field = COMMAND_OP_NAME + 1,
};
static const struct lane_layout copy_layout = {
	.size = sizeof(struct command_cold), .n_fields = 13, .fields = {
		COMMAND_FIELDS, LANE_FIELD(command_cold, place, false),
		LANE_FIELD(command_cold, flags, false),
	}, .rates = true, .op_field = COMMAND_OP_NAME + 1,
};
static const struct lane_layout op_layout = {
	.size = sizeof(struct op_cold), .n_fields = 14, .fields = {
		[OP_INSTANCE] = LANE_FIELD(op_cold, instance, false),
		LANE_FIELD(op_cold, device_ns, true), LANE_FIELD(op_cold, kernels, false),
		[OP_IN_IDENT] = LANE_FIELD(op_cold, ident, false), LANE_FIELD(op_cold, step, true),
		/* Often there is none. */
		LANE_FIELD(op_cold, first_row, true), LANE_FIELD(op_cold, first_id, false),
		LANE_FIELD(op_cold, depth, false), LANE_FIELD(op_cold, flags, false),
		LANE_FIELD(op_cold, wait_ns, false), LANE_FIELD(op_cold, waker, false),
		LANE_FIELD(op_cold, frame, false), [OP_IN_SHAPES] = LANE_FIELD(op_cold, shapes,
									       false),
		LANE_FIELD(op_cold, forward, false),
	},
};
static const struct lane_layout compile_layout = {
	.size = sizeof(struct compile_cold), .n_fields = 3, .fields = {
		LANE_FIELD(compile_cold, cause, false), LANE_FIELD(compile_cold, tid, false),
		LANE_FIELD(compile_cold, result, true),
	},
};

static const struct lane_layout *layout_of(enum row_kind kind)
{
	return kind == ROW_THREAD ? &op_layout : kind == ROW_COPY ? &copy_layout :
	       kind == ROW_COMPILE ? &compile_layout : &kernel_layout;
}

uint32_t row_new(struct model *model, enum row_kind kind)
{
	struct row *row;

	if (model->rows.n >= ROWS_MAX)
		return NONE;
	row = store_new(&model->rows);
	row->kind = kind;
	row->process = row->thread = row->queue = row->device = row->opens = row->next = NONE;
	return model->rows.n - 1;
}

void row_release(struct row *row)
{
	for (uint32_t i = 0; i < row->n_lanes; i++)
		lane_release(&row->lanes[i]);
	free(row->lanes);
	merged_release(&row->merged);
}

uint32_t row_of_process(struct model *model, uint32_t process)
{
	struct process *p = process_at(model, process);

	if (p->row == NONE) {
		p->row = row_new(model, ROW_PROCESS);
		if (p->row != NONE)
			row_at(model, p->row)->process = process;
	}
	return p->row;
}

uint32_t row_of_thread(struct model *model, uint32_t thread)
{
	struct thread *t = thread_at(model, thread);

	if (t->row == NONE) {
		t->row = row_new(model, ROW_THREAD);
		if (t->row != NONE) {
			row_at(model, t->row)->process = t->process;
			row_at(model, t->row)->thread = thread;
			row_listed(model, t->row);
		}
	}
	return t->row;
}

uint32_t row_of_ranges(struct model *model, uint32_t process)
{
	struct process *p = process_at(model, process);

	if (p->ranges == NONE) {
		p->ranges = row_new(model, ROW_THREAD);
		if (p->ranges != NONE) {
			row_at(model, p->ranges)->process = process;
			row_listed(model, p->ranges);
		}
	}
	return p->ranges;
}

uint32_t row_of_compiles(struct model *model, uint32_t process)
{
	struct process *p = process_at(model, process);

	if (p->compiles == NONE) {
		p->compiles = row_new(model, ROW_COMPILE);
		if (p->compiles != NONE)
			row_at(model, p->compiles)->process = process;
	}
	return p->compiles;
}

uint32_t row_of_queue(struct model *model, uint32_t queue)
{
	struct queue *q = queue_at(model, queue);

	if (q->row == NONE) {
		q->row = row_new(model, ROW_QUEUE);
		if (q->row != NONE) {
			row_at(model, q->row)->process = q->process;
			row_at(model, q->row)->queue = queue;
			row_listed(model, q->row);
		}
	}
	return q->row;
}

/* The row is beside the queue's other rows and in no union, because its nodes are. */
uint32_t row_of_graphs(struct model *model, uint32_t queue)
{
	struct queue *q = queue_at(model, queue);

	if (q->graphs == NONE) {
		q->graphs = row_new(model, ROW_GRAPH);
		if (q->graphs != NONE) {
			row_at(model, q->graphs)->process = q->process;
			row_at(model, q->graphs)->queue = queue;
		}
	}
	return q->graphs;
}

uint32_t row_of_copies(struct model *model, uint32_t queue, enum direction direction)
{
	uint32_t *index = &queue_at(model, queue)->copies[direction];
	struct row *row;

	if (*index == NONE) {
		*index = row_new(model, ROW_COPY);
		if (*index != NONE) {
			row = row_at(model, *index);
			row->process = queue_at(model, queue)->process;
			row->queue = queue;
			row->direction = direction;
			row_listed(model, *index);
		}
	}
	return *index;
}

uint32_t row_of_device(struct model *model, uint32_t device)
{
	struct device *d = device_at(model, device);

	if (d->row == NONE) {
		d->row = row_new(model, ROW_DEVICE);
		if (d->row != NONE)
			row_at(model, d->row)->device = device;
	}
	return d->row;
}

static struct lane *row_lane(struct model *model, struct row *row, uint32_t lane)
{
	if (lane >= row->n_lanes) {
		/* A row with one lane needs no union. */
		if (row->n_lanes < 2 && lane > 0)
			row_redo(model, row, INT64_MIN);
		row->lanes = xreallocarray(row->lanes, lane + 1, sizeof(*row->lanes));
		while (row->n_lanes <= lane)
			lane_init(&row->lanes[row->n_lanes++], layout_of(row->kind));
	}
	return &row->lanes[lane];
}

uint32_t row_fit(struct model *model, struct row *row, int64_t start_ns, int64_t end_ns)
{
	uint32_t lane;

	if (row->n_lanes && start_ns >= row->lanes[0].max_end_ns)
		return 0;
	for (lane = 0; lane < SUB_LANES; lane++)
		if (lane >= row->n_lanes || lane_is_free(&row->lanes[lane], start_ns, end_ns))
			break;
	row_lane(model, row, lane);
	return lane;
}

/* Compilations are part of the ops around them, and graphs' nodes are in the rows of their
 * queues. */
static bool is_in_others(const struct row *row)
{
	return row->kind == ROW_COMPILE || row->kind == ROW_GRAPH;
}

/* Unions that the row's spans are part of. */
static void add_to_unions(struct model *model, const struct row *row, int64_t start, int64_t end)
{
	struct row_filter filter;
	struct queue *queue;
	struct device *device;
	uint32_t index;

	if (is_in_others(row))
		return;
	if (row->kind == ROW_THREAD) {
		filter = filter_of(row->process, NONE, NONE, false, false);
		merged_add(model, &process_at(model, row->process)->merged, &filter, start, end);
		return;
	}
	queue = queue_at(model, row->queue);
	filter = filter_of(NONE, row->queue, NONE, true, true);
	merged_add(model, &queue->merged, &filter, start, end);
	index = queue_device(model, queue);
	if (index == NONE)
		return;
	device = device_at(model, index);
	filter = filter_of(NONE, NONE, index, true, true);
	merged_add(model, &device->all, &filter, start, end);
	filter.kernels = row->kind == ROW_QUEUE;
	filter.copies = !filter.kernels;
	merged_add(model, filter.kernels ? &device->kernels : &device->copies, &filter, start, end);
	if (end <= start)
		return;		/* the mark of a failed command is not work */
	if (start < device->first_ns)
		device->first_ns = start;
	if (end > device->last_ns)
		device->last_ns = end;
}

static void keep_union(struct model *model, struct merged *merged, const struct row_filter *filter)
{
	if (!merged->full)
		merged_redo(model, merged, filter, INT64_MIN);
}

void row_keep_unions(struct model *model, uint32_t index)
{
	const struct row *row = row_at(model, index);
	struct row_filter filter;
	struct device *device;
	uint32_t d;

	if (is_in_others(row))
		return;
	if (row->kind == ROW_THREAD) {
		filter = filter_of(row->process, NONE, NONE, false, false);
		keep_union(model, &process_at(model, row->process)->merged, &filter);
		return;
	}
	filter = filter_of(NONE, row->queue, NONE, true, true);
	keep_union(model, &queue_at(model, row->queue)->merged, &filter);
	d = queue_device(model, queue_at(model, row->queue));
	if (d == NONE)
		return;
	device = device_at(model, d);
	filter = filter_of(NONE, NONE, d, true, true);
	keep_union(model, &device->all, &filter);
	filter.copies = false;
	keep_union(model, &device->kernels, &filter);
	filter.copies = true;
	filter.kernels = false;
	keep_union(model, &device->copies, &filter);
}

struct lane_pos row_insert(struct model *model, uint32_t row_index, uint32_t lane,
			   const struct lane_span *span, const void *cold)
{
	struct row *row = row_at(model, row_index);
	int64_t end = span->start_ns + span->dur_ns;
	struct lane_pos pos = lane_insert(row_lane(model, row, lane), span, cold);

	if (row->n_lanes > 1)
		cover_add(&row->merged.cover, span->start_ns, end);
	add_to_unions(model, row, span->start_ns, end);
	saw_time(model, span->start_ns, end);
	if (model->watch)
		watch_note(model, row_index, lane, span);
	return pos;
}

bool row_find(const struct row *row, uint32_t lane, uint32_t id, uint32_t *found,
	      struct lane_pos *pos)
{
	if (lane < row->n_lanes && lane_find(&row->lanes[lane], id, pos)) {
		*found = lane;
		return true;
	}
	/* The span was open then and has found its place in another lane. */
	for (uint32_t l = 0; l < row->n_lanes; l++)
		if (l != lane && lane_find(&row->lanes[l], id, pos)) {
			*found = l;
			return true;
		}
	return false;
}

void rows_reclassify(struct model *model, uint32_t process, uint32_t placeholder)
{
	uint8_t work = (uint8_t)names_work(&model->names, placeholder);

	for (uint32_t r = 0; r < model->rows.n; r++) {
		struct row *row = row_at(model, r);

		if (row->kind != ROW_QUEUE || row->process != process)
			continue;
		for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
			if (open_at(model, o)->name == placeholder)
				open_at(model, o)->work = work;
		for (uint32_t l = 0; l < row->n_lanes; l++)
			lane_reclassify(&row->lanes[l], placeholder, work);
	}
}

/* ---- open spans ---- */

uint32_t open_add(struct model *model, const struct open_span *span)
{
	struct row *row = row_at(model, span->row);
	uint32_t index = model->free_open;
	struct open_span *open;

	if (model->n_alive_opens >= OPENS_MAX)
		return NONE;
	if (index != NONE) {
		open = open_at(model, index);
		model->free_open = open->next;
	} else {
		open = store_new(&model->opens);
		index = model->opens.n - 1;
	}
	*open = *span;
	open->prev = NONE;
	open->next = row->opens;
	if (row->opens != NONE)
		open_at(model, row->opens)->prev = index;
	row->opens = index;
	row->n_opens++;
	model->n_alive_opens++;
	row_lane(model, row, span->lane);
	if (span->start_ns < model->first_ns)
		model->first_ns = span->start_ns;
	return index;
}

void open_remove(struct model *model, uint32_t index)
{
	struct open_span *open = open_at(model, index);
	struct row *row = row_at(model, open->row);

	if (open->prev != NONE)
		open_at(model, open->prev)->next = open->next;
	else
		row->opens = open->next;
	if (open->next != NONE)
		open_at(model, open->next)->prev = open->prev;
	row->n_opens--;
	model->n_alive_opens--;
	open->next = model->free_open;
	model->free_open = index;
}

uint32_t pack_delta(int64_t ns)
{
	if (ns < 0)
		return 0;
	if (ns < DELTA_US)
		return ns ? (uint32_t)ns : 1;
	ns /= 1000;
	return DELTA_US | (ns < DELTA_US ? (uint32_t)ns : DELTA_US - 1);
}
