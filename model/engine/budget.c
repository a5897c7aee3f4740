/* SPDX-License-Identifier: MIT */
/*
 * The memory limit: measures what the model takes, and while that is too much discards the oldest
 * chunk of all lanes. A chunk leaves a ghost, so counts and times by class stay. Totals by name,
 * op and queue were taken at arrival and are not affected; unions keep their length. An eighth of
 * the limit is always left to the newest spans, whatever the rest takes.
 *
 * Complexity: O(rows) to measure, O(lanes + chunks * log lanes) to discard.
 */
#include "model/engine/engine.h"

#include <stdlib.h>

#include "model/acts/acts.h"
#include "model/align/align.h"
#include "model/align/hosts.h"
#include "model/analyses/analyses.h"
#include "model/analyses/thresholds.h"
#include "model/base/binary_heap.h"
#include "model/base/util.h"
#include "model/commands/commands.h"
#include "model/commands/join.h"
#include "model/core/model.h"
#include "model/counters/counters.h"
#include "model/flows/flows.h"
#include "model/graph/graph.h"
#include "model/host/doings.h"
#include "model/input/input.h"
#include "model/lines/lines.h"
#include "model/memory/memory.h"
#include "model/ops/ops.h"
#include "model/ops/pools.h"
#include "model/recording/journal.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"
#include "model/totals/totals.h"

static size_t merged_bytes(const struct merged *merged)
{
	return merged->cover.bytes;
}

static size_t hist_bytes(const struct hist *hist)
{
	return hist->n * sizeof(*hist->counts);
}

/* The memory of rows: their spans and unions. */
static size_t rows_bytes(const struct model *model)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < model->rows.n; i++) {
		const struct row *row = row_at(model, i);

		for (uint32_t l = 0; l < row->n_lanes; l++)
			bytes += row->lanes[l].bytes + sizeof(row->lanes[l]);
		bytes += merged_bytes(&row->merged);
	}
	for (uint32_t i = 0; i < model->devices.n; i++)
		bytes += merged_bytes(&device_at(model, i)->all) +
			 merged_bytes(&device_at(model, i)->kernels) +
			 merged_bytes(&device_at(model, i)->copies);
	for (uint32_t i = 0; i < model->queues.n; i++)
		bytes += merged_bytes(&queue_at(model, i)->merged);
	for (uint32_t i = 0; i < model->processes.n; i++)
		bytes += merged_bytes(&process_at(model, i)->merged);
	return bytes;
}

static size_t tables_bytes(const struct model *model)
{
	const struct store *const stores[] = {
		&model->processes, &model->threads, &model->devices, &model->views,
		&model->queues, &model->rows, &model->shapes, &model->opens,
		&model->op_states, &model->idents, &model->kernels, &model->kernel_ops,
		&model->kernel_shapes, &model->copies, &model->calls, &model->compiles,
	};
	const struct map *const maps[] = {
		&model->process_by_pid, &model->ident_by_hash, &model->kernel_by_key,
		&model->kernel_op_by_key, &model->kernel_shape_by_key, &model->copy_by_key,
		&model->call_by_name, &model->compile_by_key, &model->message_by_text,
		&model->nameless_kernels,
	};
	size_t bytes = sizeof(*model) + THRESHOLD_COUNT * sizeof(*model->thresholds) +
		       model->kept_max * sizeof(*model->kept) + model->ident_bytes;

	for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++)
		bytes += store_bytes(stores[i]);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bytes += map_bytes(maps[i]);
	for (uint32_t i = 0; i < model->kernels.n; i++)
		bytes += hist_bytes(&((struct kernel_total *)store_at(&model->kernels, i))->hist);
	for (size_t i = 0; i < model->n_steps; i++)
		bytes += model->steps[i].cap * sizeof(*model->steps[i].list) +
			 hist_bytes(&model->steps[i].hist);
	for (size_t i = 0; i < model->n_marked; i++)
		bytes += model->marked[i].cap * sizeof(*model->marked[i].list) +
			 hist_bytes(&model->marked[i].hist);
	return bytes + (model->cap_steps + model->cap_marked) * sizeof(*model->steps) +
	       model->cap_nameless * sizeof(*model->nameless) +
	       model->cap_losses * sizeof(*model->losses) +
	       model->cap_messages * sizeof(*model->messages);
}

/* The memory of processes, queues and clocks in addition to their tables. */
static size_t sources_bytes(const struct model *model)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);

		bytes += map_bytes(&process->names) + map_bytes(&process->views) +
			 map_bytes(&process->queues) + map_bytes(&process->threads) +
			 map_bytes(&process->shapes) + map_bytes(&process->ops) +
			 map_bytes(&process->opens) +
			 process->order.cap * sizeof(*process->order.threads) +
			 process->pauses.cap * sizeof(*process->pauses.list) +
			 process->compiling.bytes +
			 done_bytes(process) +
			 (process->mets ? METS * sizeof(*process->mets) : 0) +
			 join_process_bytes(&process->ids);
	}
	for (uint32_t i = 0; i < model->views.n; i++) {
		const struct device_view *view = view_at(model, i);

		bytes += view->pending.cap * sizeof(*view->pending.list) +
			 (view->clock.hull ? sizeof(*view->clock.hull) : 0);
	}
	for (uint32_t i = 0; i < model->queues.n; i++) {
		const struct queue *queue = queue_at(model, i);

		bytes += queue->pending.cap * sizeof(*queue->pending.list) +
			 hist_bytes(&queue->delay) + join_fifo_bytes(queue->fifo);
	}
	return bytes;
}

static size_t other_bytes(const struct model *model)
{
	return tables_bytes(model) + sources_bytes(model) + model->names.bytes +
	       hosts_bytes(model) + join_bytes(model) + memory_bytes(model) + optree_bytes(model) +
	       edges_bytes(model) + graphs_bytes(model) + lines_bytes(model) + doings_bytes(model) +
	       inputs_bytes(model) + pools_bytes(model) + flows_bytes(model) +
	       counters_bytes(model) + acts_bytes(model) + analyses_bytes(model) +
	       journal_bytes(model);
}

/* ---- a heap of lanes, by the end of their oldest chunk ---- */

struct fold_candidate {
	int64_t end_ns;
	uint32_t row, lane;
};

struct fold_candidates {
	struct fold_candidate *list;		/* owned; a heap */
	size_t n, cap;
	bool last;			/* discards even the only chunk of a lane */
};

static bool ends_before(const void *a, const void *b, const void *arg)
{
	const struct fold_candidate *x = a, *y = b;

	(void)arg;
	return x->end_ns < y->end_ns;
}

static void fold_gather(const struct model *model, struct fold_candidates *heap)
{
	heap->n = 0;
	for (uint32_t i = 0; i < model->rows.n; i++) {
		const struct row *row = row_at(model, i);

		for (uint32_t l = 0; l < row->n_lanes; l++) {
			int64_t end = lane_oldest_end(&row->lanes[l], heap->last);

			if (end == INT64_MAX)
				continue;
			grow(&heap->list, &heap->cap, heap->n, sizeof(*heap->list));
			heap->list[heap->n++] = (struct fold_candidate) { end, i, l };
		}
	}
	binary_heap_make(heap->list, heap->n, sizeof(*heap->list), ends_before, NULL);
}

/* Folds until `bytes` are free or nothing is left to fold; returns how many bytes were freed. */
static size_t fold_oldest(struct model *model, struct fold_candidates *heap, size_t bytes)
{
	size_t freed = 0;

	fold_gather(model, heap);
	while (heap->n && freed < bytes) {
		struct fold_candidate *first = &heap->list[0];
		struct lane *lane;

		row_keep_unions(model, first->row);
		lane = &row_at(model, first->row)->lanes[first->lane];
		if (first->end_ns > model->folded_ns)
			model->folded_ns = first->end_ns;
		freed += lane_fold_oldest(lane, heap->last);
		first->end_ns = lane_oldest_end(lane, heap->last);
		if (first->end_ns == INT64_MAX)
			*first = heap->list[--heap->n];
		if (heap->n)
			binary_heap_down(heap->list, heap->n, sizeof(*heap->list), 0, ends_before,
					 NULL);
		model_breathe(model);
	}
	return freed;
}

static void fold_unions(struct model *model, int64_t until)
{
	for (uint32_t i = 0; i < model->rows.n; i++)
		cover_fold(&row_at(model, i)->merged.cover, until);
	for (uint32_t i = 0; i < model->devices.n; i++) {
		cover_fold(&device_at(model, i)->all.cover, until);
		cover_fold(&device_at(model, i)->kernels.cover, until);
		cover_fold(&device_at(model, i)->copies.cover, until);
	}
	for (uint32_t i = 0; i < model->queues.n; i++)
		cover_fold(&queue_at(model, i)->merged.cover, until);
	for (uint32_t i = 0; i < model->processes.n; i++)
		cover_fold(&process_at(model, i)->merged.cover, until);
}

static void squeeze(struct model *model)
{
	for (uint32_t i = 0; i < model->rows.n; i++) {
		struct row *row = row_at(model, i);

		for (uint32_t l = 0; l < row->n_lanes; l++)
			lane_squeeze(&row->lanes[l]);
		model_breathe(model);
	}
}

/* Brings the rows down to `target` bytes; returns what they take then. */
static size_t fold_to(struct model *model, size_t target)
{
	struct fold_candidates heap = { .list = NULL };
	size_t bytes = rows_bytes(model), open = 0;

	for (uint32_t i = 0; i < model->rows.n; i++)
		for (uint32_t l = 0; l < row_at(model, i)->n_lanes; l++)
			open += row_at(model, i)->lanes[l].open_bytes;
	if (open > target / 4) {
		squeeze(model);
		bytes = rows_bytes(model);
	}
	while (bytes > target) {
		size_t freed = fold_oldest(model, &heap, bytes - target);

		fold_unions(model, model->folded_ns);
		bytes = rows_bytes(model);
		if (freed)
			continue;
		/* There are many lanes with one chunk each. */
		if (heap.last)
			break;
		heap.last = true;
	}
	free(heap.list);
	return bytes;
}

void budget_check(struct model *model)
{
	size_t others = other_bytes(model), limit = model->memory_limit;
	size_t bytes = rows_bytes(model), least = limit / 8;

	if (others + bytes > limit && bytes > least) {
		/* Frees a little more, so that not every check has to fold. */
		size_t target = others + limit / 64 < limit ? limit - limit / 64 - others : 0;

		bytes = fold_to(model, target > least ? target : least);
	}
	model->memory_bytes = others + bytes;
	model->since_check = 0;
}
