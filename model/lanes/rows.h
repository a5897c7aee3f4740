/* SPDX-License-Identifier: MIT */
/* Rows, their lanes and unions; a part of model-internal.h, which includes it. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

/* ---- rows.c: rows, their lanes and unions ---- */
uint32_t row_new(struct model *model, enum row_kind kind);
uint32_t row_of_thread(struct model *model, uint32_t thread);
uint32_t row_of_ranges(struct model *model, uint32_t process);
uint32_t row_of_compiles(struct model *model, uint32_t process);
uint32_t row_of_queue(struct model *model, uint32_t queue);
uint32_t row_of_graphs(struct model *model, uint32_t queue);
uint32_t row_of_copies(struct model *model, uint32_t queue, enum direction direction);
uint32_t row_of_process(struct model *model, uint32_t process);
uint32_t row_of_device(struct model *model, uint32_t device);
void row_release(struct row *row);
/* Which lane takes [start, end); makes it when it is new. */
uint32_t row_fit(struct model *model, struct row *row, int64_t start_ns, int64_t end_ns);
struct lane_pos row_insert(struct model *model, uint32_t row, uint32_t lane, const struct lane_span *span,
		const void *cold);
/* Finds a span wherever in the row it is now. */
bool row_find(const struct row *row, uint32_t lane, uint32_t id, uint32_t *found,
	      struct lane_pos *pos);
uint32_t open_add(struct model *model, const struct open_span *span);
void open_remove(struct model *model, uint32_t open);
static inline struct open_span *open_at(const struct model *model, uint32_t i)
{
	return store_at(&model->opens, i);
}
/* Spans of this view's queues moved: unions from from_ns on are made again. */
void rows_moved(struct model *model, uint32_t device, int64_t from_ns);
/* Kernels that ran under a placeholder get their class. */
void rows_reclassify(struct model *model, uint32_t process, uint32_t placeholder);
/* First and last time of all that is there. */
void rows_extent(struct model *model);
/* A queue came to this device, or went: its unions are made again. */
void device_rebuild(struct model *model, uint32_t device);
int64_t merged_total(const struct merged *merged);
/* All unions that the row's spans are part of are kept as such from now on:
 * what is folded cannot be taken again. */
void row_keep_unions(struct model *model, uint32_t row);

/* What a union is made of. */
struct row_filter {
	uint32_t process, queue, device;	/* NONE: any */
	bool threads, kernels, copies;
};
/* ---- row-walk.c: the rows that a filter lets through, without the others ---- */
struct row_walk {
	const struct row_filter *filter;
	uint32_t view, queue, row;
};
#define ROW_WALK(filter) { (filter), 0, NONE, NONE }
/* The next one, NONE: no more. */
uint32_t row_walk(const struct model *model, struct row_walk *walk);
void row_listed(struct model *model, uint32_t row);
void queue_listed(struct model *model, uint32_t queue);
void merged_release(struct merged *merged);

#endif
