/* SPDX-License-Identifier: MIT */
/*
 * Totals of kernels, copies, calls and compilations. They are kept while events arrive, so that
 * they do not depend on the detail that is still there. Keys are names as they were used;
 * answers/tables.c combines totals whose names turned out to be the same.
 */
#include "model/totals/totals.h"

#include <stdlib.h>
#include <string.h>

#include "model/acts/acts.h"
#include "model/base/util.h"
#include "model/idents/idents.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#define TOTALS_MAX (1u << 22)
/* The rate of a smaller transfer depends more on its launch than on the bus. */
#define PEAK_BYTES 65536u
#define COMPILES_MAX 65536u

/* ---- kernels ---- */

static struct kernel_total *kernel_get(struct model *model, const struct finished_run *run,
				       uint32_t *index)
{
	uint64_t key = (uint64_t)run->name << 32 | run->queue;
	uint32_t *recent = &model->recent_kernels[(run->name + run->queue * 37) % RECENT_KERNELS];
	struct kernel_total *total;

	*index = *recent;
	total = *index < model->kernels.n ? store_at(&model->kernels, *index) : NULL;
	if (total && total->name == run->name && total->queue == run->queue)
		return total;
	*index = map_get(&model->kernel_by_key, key);
	if (*index != MAP_NONE) {
		*recent = *index;
		return store_at(&model->kernels, *index);
	}
	if (model->kernels.n >= TOTALS_MAX)
		return NULL;
	total = store_new(&model->kernels);
	*index = model->kernels.n - 1;
	*recent = *index;
	total->name = run->name;
	total->queue = run->queue;
	total->ops = total->op = total->by_shape = total->last_shape = NONE;
	map_set(&model->kernel_by_key, key, *index);
	if (run->name && !names_defined(&model->names, run->name))
		map_set(&model->nameless_kernels, run->name, 0);
	return total;
}

static struct kernel_op_total *kernel_op_get(struct model *model, struct kernel_total *kernel,
					     uint32_t kernel_index, const struct finished_run *run)
{
	/* 22 bits of kernel, 3 of how, 24 of name. */
	uint64_t key = (uint64_t)kernel_index << 32 | (uint64_t)run->how << 24 | run->op_name;
	struct kernel_op_total *total = kernel->op == NONE ? NULL :
					store_at(&model->kernel_ops, kernel->op);
	uint32_t index;

	if (total && total->op_name == run->op_name && total->how == run->how)
		return total;
	index = map_get(&model->kernel_op_by_key, key);
	if (index != MAP_NONE) {
		kernel->op = index;
		return store_at(&model->kernel_ops, index);
	}
	if (model->kernel_ops.n >= TOTALS_MAX)
		return NULL;
	total = store_new(&model->kernel_ops);
	total->op_name = run->op_name;
	total->how = (uint8_t)run->how;
	total->next = kernel->ops;
	kernel->ops = kernel->op = model->kernel_ops.n - 1;
	map_set(&model->kernel_op_by_key, key, kernel->ops);
	return total;
}

static struct kernel_shape_total *kernel_shape_get(struct model *model,
						   struct kernel_total *kernel,
						   uint32_t kernel_index, uint32_t shape)
{
	uint64_t key = (uint64_t)kernel_index << 32 | shape;
	struct kernel_shape_total *total = kernel->last_shape == NONE ? NULL :
					   store_at(&model->kernel_shapes, kernel->last_shape);
	uint32_t index;

	if (total && total->shape == shape)
		return total;
	index = map_get(&model->kernel_shape_by_key, key);
	if (index == MAP_NONE) {
		if (model->kernel_shapes.n >= TOTALS_MAX)
			return NULL;
		total = store_new(&model->kernel_shapes);
		total->shape = shape;
		total->next = kernel->by_shape;
		index = kernel->by_shape = model->kernel_shapes.n - 1;
		map_set(&model->kernel_shape_by_key, key, index);
	}
	kernel->last_shape = index;
	return store_at(&model->kernel_shapes, index);
}

/* A shape may be used before it is defined, so its cost is looked up at the end. */
static void total_shape(struct model *model, struct kernel_total *kernel, uint32_t kernel_index,
			const struct finished_run *run)
{
	struct kernel_shape_total *total = run->shape ?
		kernel_shape_get(model, kernel, kernel_index, run->shape) : NULL;

	if (!total)
		return;
	total->count++;
	if (run->timed) {
		total->timed++;
		add_ns(&total->total_ns, run->dur_ns);
	}
}

void total_kernel(struct model *model, const struct finished_run *run)
{
	uint32_t index;
	struct kernel_total *total = kernel_get(model, run, &index);
	struct kernel_op_total *op;

	if (!total) {
		model_bad(model, BAD_FULL);
		return;
	}
	if (run->failed) {
		total->failed++;
		return;
	}
	total->count++;
	total->approx += run->approx && run->timed;
	total->untimed += !run->timed;
	if (total->count == 1)
		total->shape = run->shape;
	else if (total->shape != run->shape)
		total->shapes = true;
	total_shape(model, total, index, run);
	op = kernel_op_get(model, total, index, run);
	if (op) {
		op->count++;
		add_ns(&op->total_ns, run->dur_ns);
	}
	if (!run->timed)
		return;
	if (run->dur_ns < total->min_ns || total->count - total->untimed == 1)
		total->min_ns = run->dur_ns;
	if (run->dur_ns > total->max_ns)
		total->max_ns = run->dur_ns;
	add_ns(&total->total_ns, run->dur_ns);
	hist_add(&total->hist, run->dur_ns);
}

/* ---- copies ---- */

void total_copy(struct model *model, const struct finished_run *run)
{
	uint32_t peer = run->direction == DIR_P2P ? run->shape : 0;
	uint64_t key = (uint64_t)peer << 32 | (uint64_t)run->queue << 8 |
		       (uint64_t)run->direction;
	uint32_t index = map_get(&model->copy_by_key, key);
	struct copy_total *total;
	uint64_t rate;
	uint64_t *peak;

	if (index == MAP_NONE) {
		if (model->copies.n >= TOTALS_MAX) {
			model_bad(model, BAD_FULL);
			return;
		}
		total = store_new(&model->copies);
		total->queue = run->queue;
		total->peer = peer;
		total->direction = (uint8_t)run->direction;
		map_set(&model->copy_by_key, key, model->copies.n - 1);
	} else {
		total = store_at(&model->copies, index);
	}
	if (run->failed) {
		total->failed++;
		return;
	}
	total->count++;
	total->pinned += run->pinned;
	total->bytes += run->bytes;
	if (!run->timed) {
		total->untimed++;
		return;
	}
	total->approx += run->approx;
	add_ns(&total->total_ns, run->dur_ns);
	total->timed_bytes += run->bytes;
	rate = bytes_per_s(run->bytes, run->dur_ns);
	peak = run->bytes >= PEAK_BYTES ? &total->peak : &total->peak_small;
	if (rate > *peak)
		*peak = rate;
	if (!run->approx && rate > queue_at(model, run->queue)->copy_peak[run->direction])
		queue_at(model, run->queue)->copy_peak[run->direction] = rate;
}

/* ---- calls ---- */

static struct call_total *call_get(struct model *model, struct process *process, uint32_t id)
{
	uint32_t name = local_name(model, process, id);
	uint32_t index = map_get(&model->call_by_name, name);
	struct call_total *total;

	if (!name)
		return NULL;
	if (index != MAP_NONE)
		return store_at(&model->calls, index);
	if (model->calls.n >= TOTALS_MAX)
		return NULL;
	total = store_new(&model->calls);
	total->name = name;
	map_set(&model->call_by_name, name, model->calls.n - 1);
	return total;
}

void apply_call(struct model *model, const struct arrival *in)
{
	const struct event_call *call = &in->event->u.call;
	struct call_total *total;

	if (!span_ok(call->start_ns, call->dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(call->dur_ns));
		return;
	}
	total = call_get(model, in->process, call->name);
	if (!total) {
		model_bad(model, call->name ? BAD_FULL : BAD_ID);
		return;
	}
	total->count++;
	total->errors += call->result != 0;
	total->timed = true;
	add_ns(&total->total_ns, call->dur_ns);
	if (call->dur_ns > total->max_ns)
		total->max_ns = call->dur_ns;
	in->process->counted_calls++;
}

void apply_calls(struct model *model, const struct arrival *in)
{
	const struct event_calls *calls = &in->event->u.calls;
	struct call_total *total = call_get(model, in->process, calls->name);

	if (!total || calls->count > (uint64_t)1 << 48 || calls->errors > calls->count) {
		model_bad(model, BAD_KIND);
		return;
	}
	total->count += calls->count;
	total->errors += calls->errors;
	in->process->counted_calls += calls->count;
	if (calls->total_ns < 0 || calls->total_ns > TIME_MAX)
		return;
	add_ns(&total->total_ns, calls->total_ns);
	total->timed = true;
	if (calls->max_ns > total->max_ns && calls->max_ns <= calls->total_ns)
		total->max_ns = calls->max_ns;
}

/* ---- compiles ---- */

uint32_t text_first_line(struct model *model, const char *text)
{
	size_t start, length;
	char *line;
	uint32_t name;

	if (!text)
		return 0;
	start = strspn(text, " \t\r\n");
	length = strcspn(text + start, "\r\n");
	line = xstrndup(text + start, length > 300 ? 300 : length);
	name = names_intern(&model->names, line);
	free(line);
	return name;
}

static void draw_compile(struct model *model, const struct arrival *in, uint32_t what,
			 uint32_t cause)
{
	const struct event_compile *compile = &in->event->u.compile;
	uint32_t index = row_of_compiles(model, in->process->index);
	struct lane_span span = {
		.start_ns = compile->start_ns, .dur_ns = compile->dur_ns, .name = what,
		.work = WORK_OTHER,
	};
	struct compile_cold cold = {
		.cause = cause, .tid = in->event->tid, .result = compile->result,
	};
	struct row *row;

	if (index == NONE)
		return;
	row = row_at(model, index);
	span.id = ++row->last_id;
	row_insert(model, index, row_fit(model, row, span.start_ns, span.start_ns + span.dur_ns),
		   &span, &cold);
}

void apply_compile(struct model *model, const struct arrival *in)
{
	const struct event_compile *compile = &in->event->u.compile;
	uint32_t what = names_intern(&model->names, compile->what);
	uint32_t cause = compile->result ? text_first_line(model, compile->log) :
			 names_intern(&model->names, compile->options);
	uint64_t key = (uint64_t)what << 32 | cause;
	uint32_t index = map_get(&model->compile_by_key, key);
	struct compile_total *total;

	if (!span_ok(compile->start_ns, compile->dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(compile->dur_ns));
		return;
	}
	if (index == MAP_NONE) {
		if (model->compiles.n >= COMPILES_MAX) {
			model_bad(model, BAD_FULL);
			return;
		}
		total = store_new(&model->compiles);
		total->what = what;
		total->cause = cause;
		map_set(&model->compile_by_key, key, model->compiles.n - 1);
	} else {
		total = store_at(&model->compiles, index);
	}
	total->count++;
	total->failed += compile->result != 0;
	add_ns(&total->total_ns, compile->dur_ns);
	draw_compile(model, in, what, cause);
	if (compile->dur_ns >= COMPILE_LONG_NS) {
		cover_add(&in->process->compiling, compile->start_ns,
			  compile->start_ns + compile->dur_ns);
		in->process->compiled++;
		steps_compiled(model, in->process->index, compile->start_ns, compile->dur_ns);
	}
	acts_push(model, &(struct act) {
		.kind = ACT_COMPILE, .start_ns = compile->start_ns,
		.end_ns = compile->start_ns + compile->dur_ns, .process = in->process->index,
		.thread = thread_get(model, in->process->index, in->event->tid),
		.device = NONE, .queue = NONE, .name = what, .op_name = cause,
	});
}

/* ---- queries ---- */

static int call_by_time(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: DESCENDING(x, y, count) ?: strcmp(x->name, y->name);
}

/* The index of the row of a name; makes the row if it is new. */
static uint32_t total_row_for(struct map *rows, uint32_t name, size_t *n)
{
	uint32_t at = map_get(rows, name);

	if (at == MAP_NONE) {
		at = (uint32_t)(*n)++;
		map_set(rows, name, at);
	}
	return at;
}

size_t model_calls(struct model *model, struct call_row **out)
{
	struct map rows = { .size = 0 };
	size_t n = 0;

	*out = xcalloc(model->calls.n, sizeof(**out));
	for (uint32_t i = 0; i < model->calls.n; i++) {
		const struct call_total *total = store_at(&model->calls, i);
		uint32_t name = names_resolve(&model->names, total->name);
		struct call_row *row = &(*out)[total_row_for(&rows, name, &n)];

		row->name = names_raw(&model->names, name);
		row->count += total->count;
		row->errors += total->errors;
		row->timed |= total->timed;
		add_ns(&row->total_ns, total->total_ns);
		if (total->max_ns > row->max_ns)
			row->max_ns = total->max_ns;
	}
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), call_by_time);
	return n;
}

static int compile_by_time(const void *a, const void *b)
{
	const struct compile_row *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: strcmp(x->what, y->what);
}

size_t model_compiles(struct model *model, struct compile_row **out)
{
	*out = xcalloc(model->compiles.n, sizeof(**out));
	for (uint32_t i = 0; i < model->compiles.n; i++) {
		const struct compile_total *total = store_at(&model->compiles, i);

		(*out)[i] = (struct compile_row) {
			.what = total->what ? names_raw(&model->names, total->what) : "",
			.cause = total->cause ? names_raw(&model->names, total->cause) : NULL,
			.count = total->count, .failed = total->failed,
			.total_ns = total->total_ns,
		};
	}
	if (model->compiles.n)
		qsort(*out, model->compiles.n, sizeof(**out), compile_by_time);
	return model->compiles.n;
}

void totals_release(struct model *model)
{
	for (uint32_t i = 0; i < model->kernels.n; i++)
		hist_release(&((struct kernel_total *)store_at(&model->kernels, i))->hist);
	for (uint32_t i = 0; i < model->idents.n; i++) {
		struct ident *ident = store_at(&model->idents, i);

		hist_release(&ident->hist);
		free(ident->unseen);
		hist_release(&ident->waits);
	}
}
