/* SPDX-License-Identifier: MIT */
/* Questions about an op by its name: its lines, shapes, backward ops, slowest runs. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"

static const char *raw(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : NULL;
}

static struct op_frame told(struct model *model, const struct source_frame *frame)
{
	return (struct op_frame) {
		raw(model, frame->file), raw(model, frame->function), frame->line,
	};
}

/* ---- by one identity, added to the results of others ---- */

static void detail_add_lines(struct model *model, const struct ident_lines *more,
			     struct op_detail *out, size_t *cap)
{
	for (uint32_t i = more->uses; i != NONE; i = use_at(model->lines, i)->next) {
		const struct line_use *use = use_at(model->lines, i);
		const struct source_frame *frame = frame_at(model->lines, use->frame);
		struct op_frame place = told(model, frame);
		size_t k = 0;

		if (!place.file || !place.line)
			continue;
		while (k < out->n_lines && (out->lines[k].file != place.file ||
					    out->lines[k].line != place.line ||
					    out->lines[k].function != place.function))
			k++;
		if (k == out->n_lines) {
			grow(&out->lines, cap, out->n_lines, sizeof(*out->lines));
			out->lines[out->n_lines++] = (struct op_place) {
				.file = place.file, .function = place.function, .line = place.line,
			};
		}
		out->lines[k].count += use->count + use_unseen(model, use);
		add_ns(&out->lines[k].total_ns, scaled_up_ns(use->total_ns, use->count,
							     use_unseen(model, use)));
	}
}

static void detail_add_shape(struct op_detail *out, size_t *cap, const struct op_shape *shape)
{
	size_t k = 0;

	while (k < out->n_shapes && out->shapes[k].shapes != shape->shapes)
		k++;
	if (k == out->n_shapes) {
		grow(&out->shapes, cap, out->n_shapes, sizeof(*out->shapes));
		out->shapes[out->n_shapes++] = (struct op_shape) { .shapes = shape->shapes };
	}
	out->shapes[k].count += shape->count;
	add_ns(&out->shapes[k].total_ns, shape->total_ns);
	if (shape->max_ns > out->shapes[k].max_ns)
		out->shapes[k].max_ns = shape->max_ns;
}

static void detail_add_shapes(struct model *model, const struct ident_lines *more,
			      struct op_detail *out, size_t *cap)
{
	struct op_shape others = {
		.count = more->other_shapes, .total_ns = more->others_ns,
		.max_ns = more->others_max_ns,
	};

	for (uint32_t i = more->shapes; i != NONE;) {
		const struct shape_use *use = store_at(&model->lines->shapes, i);
		struct op_shape shape = {
			raw(model, use->shapes), use->count, use->total_ns, use->max_ns,
		};

		detail_add_shape(out, cap, &shape);
		i = use->next;
	}
	if (others.count)
		detail_add_shape(out, cap, &others);
}

static void add_backward(struct model *model, const struct ident_lines *more,
			 struct op_detail *out, size_t *cap)
{
	for (uint32_t i = more->backward; i != NONE;) {
		const struct backward_use *use = store_at(&model->lines->backward, i);
		const char *name = names_short(&model->names, ident_at(model, use->ident)->name);
		size_t k = 0;

		while (k < out->n_backward && out->backward[k].name != name)
			k++;
		if (k == out->n_backward) {
			grow(&out->backward, cap, out->n_backward, sizeof(*out->backward));
			out->backward[out->n_backward++] = (struct op_backward) { .name = name };
		}
		out->backward[k].count += use->count;
		add_ns(&out->backward[k].total_ns, use->total_ns);
		i = use->next;
	}
}

static void add_slow(struct slow_op *slowest, size_t *n, const struct ident_lines *more)
{
	for (uint32_t i = 0; i < more->n_slow; i++) {
		size_t at = *n < OP_SLOWEST ? (*n)++ : OP_SLOWEST;

		for (; at && slowest[at - 1].dur_ns < more->slow[i].dur_ns; at--)
			if (at < OP_SLOWEST)
				slowest[at] = slowest[at - 1];
		if (at < OP_SLOWEST)
			slowest[at] = more->slow[i];
	}
}

static void tell_slow(struct model *model, const struct slow_op *op, struct op_slow *out)
{
	uint32_t n = 0;

	*out = (struct op_slow) {
		.start_ns = op->start_ns, .dur_ns = op->dur_ns, .tid = op->tid,
		.pid = process_at(model, op->process)->pid, .shapes = raw(model, op->shapes),
	};
	for (uint32_t f = op->frame; f != NONE && n < STACK_FRAMES;
	     f = frame_at(model->lines, f)->parent)
		n++;
	out->stack = xcalloc(n + 1, sizeof(*out->stack));
	for (uint32_t f = op->frame; n; n--, f = frame_at(model->lines, f)->parent)
		if (!frame_is_module(model, frame_at(model->lines, f)))
			out->stack[out->n_stack++] = told(model, frame_at(model->lines, f));
}

bool line_of_ident(struct model *model, uint32_t ident, const char **file, uint32_t *line,
		   uint32_t *n_lines, int64_t *total_ns)
{
	const struct ident_lines *more = ident_lines(model, ident);
	struct op_detail detail = { .lines = NULL };
	size_t cap = 0, best = 0;

	if (!more)
		return false;
	detail_add_lines(model, more, &detail, &cap);
	for (size_t k = 1; k < detail.n_lines; k++)
		if (detail.lines[k].total_ns > detail.lines[best].total_ns)
			best = k;
	if (detail.n_lines) {
		*file = detail.lines[best].file;
		*line = detail.lines[best].line;
		*total_ns = detail.lines[best].total_ns;
	}
	*n_lines = (uint32_t)detail.n_lines;
	free(detail.lines);
	return *n_lines > 0;
}

/* ---- all identities of a name ---- */

static int line_by_time(const void *a, const void *b)
{
	const struct op_place *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?:
	       (x->file != y->file ? strcmp(x->file, y->file) : 0) ?: ASCENDING(x, y, line) ?:
	       strcmp(x->function ? x->function : "", y->function ? y->function : "");
}

/* The sum of all others comes last. */
static int shape_by_time(const void *a, const void *b)
{
	const struct op_shape *x = a, *y = b;

	if (!x->shapes != !y->shapes)
		return x->shapes ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->shapes ? strcmp(x->shapes, y->shapes) : 0;
}

static int backward_by_time(const void *a, const void *b)
{
	const struct op_backward *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: strcmp(x->name, y->name);
}

static void sort(struct op_detail *out)
{
	if (out->n_lines)
		qsort(out->lines, out->n_lines, sizeof(*out->lines), line_by_time);
	if (out->n_shapes)
		qsort(out->shapes, out->n_shapes, sizeof(*out->shapes), shape_by_time);
	if (out->n_backward)
		qsort(out->backward, out->n_backward, sizeof(*out->backward), backward_by_time);
}

static bool is_called(struct model *model, const struct ident *ident, const char *name,
		      const char *type)
{
	const char *own = raw(model, ident->name);

	if (!own || strcmp(own, name))
		return false;
	return !type || (ident->type && !strcmp(names_short(&model->names, ident->type), type));
}

bool model_op_detail(struct model *model, const char *name, const char *type,
		     enum framework framework, struct op_detail *out)
{
	size_t lines = 0, shapes = 0, backward = 0, n_slow = 0;
	struct slow_op slow[OP_SLOWEST];
	bool found = false;

	*out = (struct op_detail) { .lines = NULL };
	for (uint32_t i = 0; i < model->idents.n; i++) {
		const struct ident *ident = ident_at(model, i);
		const struct ident_lines *more;

		if (!ident->count || (framework != FW_NONE && ident->framework != framework) ||
		    !is_called(model, ident, name, type))
			continue;
		found = true;
		more = ident_lines(model, i);
		if (!more)
			continue;
		detail_add_lines(model, more, out, &lines);
		detail_add_shapes(model, more, out, &shapes);
		add_backward(model, more, out, &backward);
		add_slow(slow, &n_slow, more);
	}
	sort(out);
	for (; out->n_slow < n_slow; out->n_slow++)
		tell_slow(model, &slow[out->n_slow], &out->slow[out->n_slow]);
	return found;
}

void op_detail_free(struct op_detail *detail)
{
	for (size_t i = 0; i < detail->n_slow; i++)
		free(detail->slow[i].stack);
	free(detail->lines);
	free(detail->shapes);
	free(detail->backward);
	*detail = (struct op_detail) { .lines = NULL };
}
