/* SPDX-License-Identifier: MIT */
/* The table of kernels: totals of names that turned out to be the same become one row. */
#include "model/totals/totals.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/commands/occupancy.h"

static int kernel_by_total(const void *a, const void *b)
{
	const struct kernel_row *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: strcmp(x->raw_name, y->raw_name);
}

/* Makes room for one more of n things: doubles when n is a power of two. */
static void *room_for(void *list, size_t n, size_t size)
{
	return n & (n - 1) ? list : xreallocarray(list, n ? n * 2 : 1, size);
}

/* slots: index in row number `at` of each op's name, by how. A kernel may have as many ops as there
 * were steps. */
static void add_kernel_ops(struct model *model, struct kernel_row *row, struct map *slots,
			   uint32_t at, const struct kernel_total *total)
{
	for (uint32_t o = total->ops; o != NONE; ) {
		const struct kernel_op_total *op = store_at(&model->kernel_ops, o);
		/* No collisions: 22 bits, 24 and 3. */
		uint64_t key = (uint64_t)at << 27 |
			       (uint64_t)names_resolve(&model->names, op->op_name) << 3 | op->how;
		uint32_t slot = map_get(slots, key);

		if (slot == MAP_NONE) {
			slot = (uint32_t)row->n_ops;
			map_set(slots, key, slot);
			row->ops = room_for(row->ops, row->n_ops, sizeof(*row->ops));
			row->ops[row->n_ops++] = (struct kernel_op) {
				.name = names_short(&model->names, op->op_name),
				.how = (enum how)op->how,
			};
		}
		row->ops[slot].count += op->count;
		add_ns(&row->ops[slot].total_ns, op->total_ns);
		o = op->next;
	}
}

static void kernel_add_total(struct kernel_row *row, struct hist *hist,
			     const struct kernel_total *total)
{
	uint64_t timed = total->count - total->untimed;

	if (timed && (row->count == row->untimed || total->min_ns < row->min_ns))
		row->min_ns = total->min_ns;
	if (total->max_ns > row->max_ns)
		row->max_ns = total->max_ns;
	row->count += total->count;
	row->failed += total->failed;
	row->approx += total->approx;
	row->untimed += total->untimed;
	add_ns(&row->total_ns, total->total_ns);
	hist_merge(hist, &total->hist);
	if (total->count) {
		row->queues = room_for(row->queues, row->n_queues, sizeof(*row->queues));
		row->queues[row->n_queues++] = (struct kernel_queue) {
			total->queue, total->count, total->total_ns,
		};
	}
}

/* The text of the shape, if all runs have the same; NULL: none, or several. */
static const char *shape_of(struct model *model, const struct kernel_total *total)
{
	const struct process *process = process_at(model, queue_at(model, total->queue)->process);
	uint32_t shape = total->shapes ? MAP_NONE : map_get(&process->shapes, total->shape);
	uint32_t text = shape == MAP_NONE ? 0 :
			((const struct launch_shape *)store_at(&model->shapes, shape))->text;

	return text ? names_raw(&model->names, text) : NULL;
}

/* Adds the sizes whose operations are known; slots: as above, by the size's text. */
static void add_kernel_shapes(struct model *model, struct kernel_row *row, struct map *slots,
			      uint32_t at, const struct kernel_total *kernel)
{
	const struct process *process = process_at(model, queue_at(model, kernel->queue)->process);

	for (uint32_t s = kernel->by_shape; s != NONE; ) {
		const struct kernel_shape_total *total = store_at(&model->kernel_shapes, s);
		uint32_t index = map_get(&process->shapes, total->shape), slot;
		const struct launch_shape *shape = index == MAP_NONE ? NULL :
					    store_at(&model->shapes, index);

		s = total->next;
		if (!shape || !shape->flop)
			continue;
		slot = map_get(slots, (uint64_t)at << 32 | shape->text);
		if (slot == MAP_NONE) {
			slot = (uint32_t)row->n_shapes;
			map_set(slots, (uint64_t)at << 32 | shape->text, slot);
			row->shapes = room_for(row->shapes, slot, sizeof(*row->shapes));
			row->shapes[row->n_shapes++] = (struct kernel_shape) {
				.text = shape->text ? names_raw(&model->names, shape->text) : NULL,
				.flop = shape->flop,
			};
		}
		row->shapes[slot].count += total->count;
		add_ns(&row->shapes[slot].total_ns, total->total_ns);
		row->flop += shape->flop * total->timed;
		add_ns(&row->flop_ns, total->total_ns);
	}
}

static int shape_by_total(const void *a, const void *b)
{
	const struct kernel_shape *x = a, *y = b;

	return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
}

/* The middle of a histogram's bucket may lie outside the smallest and largest values seen. */
static int64_t within(int64_t ns, const struct kernel_row *row)
{
	return ns < row->min_ns ? row->min_ns : ns > row->max_ns ? row->max_ns : ns;
}

size_t model_kernels(struct model *model, struct kernel_row **out)
{
	struct map rows = { .size = 0 }, slots = { .size = 0 }, sizes = { .size = 0 };
	struct hist *hists = xcalloc(model->kernels.n, sizeof(*hists));
	struct occupancy_sum *sums = xcalloc(model->kernels.n, sizeof(*sums));
	size_t n = 0;

	*out = xcalloc(model->kernels.n, sizeof(**out));
	/* All names are told apart before the first is taken. */
	for (uint32_t i = 0; i < model->kernels.n; i++)
		names_work(&model->names,
			   ((const struct kernel_total *)store_at(&model->kernels, i))->name);
	for (uint32_t i = 0; i < model->kernels.n; i++) {
		const struct kernel_total *total = store_at(&model->kernels, i);
		uint32_t name = names_resolve(&model->names, total->name);
		uint32_t device = queue_device(model, queue_at(model, total->queue));
		uint64_t key = (uint64_t)name << 32 | device;
		uint32_t at = map_get(&rows, key);

		if (at == MAP_NONE) {
			at = (uint32_t)n++;
			map_set(&rows, key, at);
			(*out)[at] = (struct kernel_row) {
				.name = name ? names_short(&model->names, name) : "?",
				.raw_name = name ? names_raw(&model->names, name) : "?",
				.device = device, .work = names_work(&model->names, name),
				.class = names_class(&model->names, name),
				.shape = shape_of(model, total),
			};
		} else if ((*out)[at].shape != shape_of(model, total)) {
			(*out)[at].shape = NULL;
		}
		kernel_add_total(&(*out)[at], &hists[at], total);
		add_kernel_ops(model, &(*out)[at], &slots, at, total);
		add_kernel_shapes(model, &(*out)[at], &sizes, at, total);
		occupancy_add(model, &sums[at], total);
	}
	for (size_t i = 0; i < n; i++) {
		struct kernel_row *row = &(*out)[i];
		uint64_t timed = row->count - row->untimed;

		row->mean_ns = timed ? row->total_ns / (int64_t)timed : 0;
		row->p50_ns = timed ? within(hist_percentile(&hists[i], 500), row) : 0;
		row->p99_ns = timed ? within(hist_percentile(&hists[i], 990), row) : 0;
		hist_spread(&hists[i], row->min_ns, row->max_ns, KERNEL_SPREAD, row->spread);
		hist_release(&hists[i]);
		row->occupancy_milli = occupancy_mean(&sums[i]);
		row->occupancy_limits = sums[i].limits;
		if (row->n_shapes)
			qsort(row->shapes, row->n_shapes, sizeof(*row->shapes), shape_by_total);
	}
	free(hists);
	free(sums);
	map_release(&rows);
	map_release(&slots);
	map_release(&sizes);
	if (n)
		qsort(*out, n, sizeof(**out), kernel_by_total);
	return n;
}

void model_kernel_release(struct kernel_row *row)
{
	free(row->queues);
	free(row->ops);
	free(row->shapes);
}

void model_kernels_free(struct kernel_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		model_kernel_release(&rows[i]);
	free(rows);
}

/* ---- by class ---- */

static int class_by_time(const void *a, const void *b)
{
	const struct kernel_class_row *x = a, *y = b;

	return ASCENDING(x, y, device) ?: DESCENDING(x, y, total_ns) ?: ASCENDING(x, y, kind);
}

size_t model_kernel_classes(struct model *model, struct kernel_class_row **out)
{
	struct map rows = { .size = 0 };
	size_t n = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = 0; i < model->kernels.n; i++) {
		const struct kernel_total *total = store_at(&model->kernels, i);
		struct kernel_class class = names_class(&model->names, total->name);
		uint32_t device = queue_device(model, queue_at(model, total->queue));
		uint64_t key = (uint64_t)device << 8 | class.kind;
		uint32_t at = map_get(&rows, key);
		struct kernel_class_row *row;

		if (!total->count)
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)n;
			map_set(&rows, key, at);
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct kernel_class_row) {
				.device = device, .kind = (enum kernel_kind)class.kind,
			};
		}
		row = &(*out)[at];
		row->count += total->count;
		row->untimed += total->untimed;
		add_ns(&row->total_ns, total->total_ns);
		add_ns(&row->type_ns[class.type], total->total_ns);
		if (class.tensor != TENSOR_UNKNOWN)
			add_ns(class.tensor == TENSOR_USED ? &row->tensor_ns : &row->simt_ns,
			       total->total_ns);
	}
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), class_by_time);
	return n;
}
