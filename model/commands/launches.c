/* SPDX-License-Identifier: MIT */
#include "model/commands/occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/totals/totals.h"

static const struct launch_shape *shape_at(const struct model *model,
					   const struct kernel_total *total, uint32_t id)
{
	const struct process *process = process_at(model, queue_at(model, total->queue)->process);
	uint32_t index = map_get(&process->shapes, id);

	return index == MAP_NONE ? NULL : store_at(&model->shapes, index);
}

/* Blocks and threads; the global size is in threads (work items). */
static void launch_geometry(const struct launch_shape *shape, struct kernel_launch *launch)
{
	launch->dims = shape->dims;
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t local = shape->local[i];

		launch->block[i] = shape->local[i];
		launch->grid[i] = !local ? 0 : (shape->global[i] + local - 1) / local;
		if (i >= shape->dims)
			launch->grid[i] = launch->block[i] = 1;
	}
	launch->registers = shape->registers;
	launch->shared_static = shape->shared_static;
	launch->shared_dynamic = shape->shared_dynamic;
}

/* 0: the product is too large, or a factor is unknown. */
static uint64_t product(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t n;

	return __builtin_mul_overflow(a, b, &n) || __builtin_mul_overflow(n, c, &n) ? 0 : n;
}

static struct occupancy occupancy_on(const struct model *model, uint32_t device,
				     const struct kernel_launch *l)
{
	static const struct device_limits none;
	const struct device *d = device == NONE ? NULL : device_at(model, device);
	uint64_t threads = product(l->block[0], l->block[1], l->block[2]);

	return occupancy_of(d ? &d->limits : &none, d ? d->units : 0,
			    product(l->grid[0], l->grid[1], l->grid[2]),
			    threads <= UINT32_MAX ? (uint32_t)threads : 0, l->registers,
			    (uint64_t)l->shared_static + l->shared_dynamic);
}

void occupancy_add(struct model *model, struct occupancy_sum *sum,
		   const struct kernel_total *total)
{
	uint32_t device = queue_device(model, queue_at(model, total->queue));

	if (device == NONE || !device_at(model, device)->limits.capability)
		return;
	for (uint32_t s = total->by_shape; s != NONE; ) {
		const struct kernel_shape_total *of = store_at(&model->kernel_shapes, s);
		const struct launch_shape *shape = shape_at(model, total, of->shape);
		struct kernel_launch launch = { .dims = 0 };
		struct occupancy o;

		s = of->next;
		if (!shape || of->total_ns <= 0)
			continue;
		launch_geometry(shape, &launch);
		o = occupancy_on(model, device, &launch);
		if (o.unknown)
			continue;
		sum->weighted += (unsigned __int128)of->total_ns * occupancy_milli(&o);
		add_ns(&sum->ns, of->total_ns);
		if (of->total_ns <= sum->most_ns)
			continue;
		sum->most_ns = of->total_ns;
		sum->limits = o.limits;
	}
}

int occupancy_mean(const struct occupancy_sum *sum)
{
	return sum->ns > 0 ? (int)(sum->weighted / (uint64_t)sum->ns) : -1;
}

static int by_time(const void *a, const void *b)
{
	const struct kernel_launch *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: DESCENDING(x, y, count);
}

static bool same_launch(const struct kernel_launch *a, const struct kernel_launch *b)
{
	return a->device == b->device && a->dims == b->dims &&
	       !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, b->block, sizeof(a->block)) && a->registers == b->registers &&
	       a->shared_static == b->shared_static && a->shared_dynamic == b->shared_dynamic;
}

/* Sorts equal launches next to each other. */
static int by_geometry(const void *a, const void *b)
{
	const struct kernel_launch *x = a, *y = b;
	int order = x->device < y->device ? -1 : x->device > y->device;

	if (!order)
		order = memcmp(x->grid, y->grid, sizeof(x->grid));
	if (!order)
		order = memcmp(x->block, y->block, sizeof(x->block));
	if (!order)
		order = x->registers < y->registers ? -1 : x->registers > y->registers;
	if (!order)
		order = x->shared_static < y->shared_static ? -1 :
			x->shared_static > y->shared_static;
	return order ? order : x->shared_dynamic < y->shared_dynamic ? -1 :
	       x->shared_dynamic > y->shared_dynamic;
}

/* Merges equal launches of several processes or queues. */
static size_t launches_merge(struct kernel_launch *rows, size_t n)
{
	size_t to = 0;

	if (n)
		qsort(rows, n, sizeof(*rows), by_geometry);
	for (size_t i = 0; i < n; i++) {
		if (to && same_launch(&rows[to - 1], &rows[i])) {
			rows[to - 1].count += rows[i].count;
			rows[to - 1].timed += rows[i].timed;
			add_ns(&rows[to - 1].total_ns, rows[i].total_ns);
		} else {
			rows[to++] = rows[i];
		}
	}
	return to;
}

size_t model_kernel_launches(struct model *model, const char *raw_name, uint32_t device,
			     struct kernel_launch **out)
{
	size_t n = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = 0; i < model->kernels.n; i++) {
		const struct kernel_total *total = store_at(&model->kernels, i);
		uint32_t on = queue_device(model, queue_at(model, total->queue));
		const char *name = names_raw(&model->names, total->name);

		if ((device != UINT32_MAX && on != device) || !name || strcmp(name, raw_name))
			continue;
		for (uint32_t s = total->by_shape; s != NONE; ) {
			const struct kernel_shape_total *of = store_at(&model->kernel_shapes, s);
			const struct launch_shape *shape = shape_at(model, total, of->shape);

			s = of->next;
			if (!shape || !shape->dims)
				continue;
			grow(out, &cap, n, sizeof(**out));
			(*out)[n] = (struct kernel_launch) {
				.device = on, .count = of->count, .timed = of->timed,
				.total_ns = of->total_ns,
			};
			launch_geometry(shape, &(*out)[n++]);
		}
	}
	n = launches_merge(*out, n);
	for (size_t i = 0; i < n; i++)
		(*out)[i].occupancy = occupancy_on(model, (*out)[i].device, &(*out)[i]);
	if (n)
		qsort(*out, n, sizeof(**out), by_time);
	return n;
}
