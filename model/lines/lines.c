/* SPDX-License-Identifier: MIT */
/* Frames and uses: adds them and sums them up, see lines.h. */
#include "model/lines/lines.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/idents/idents.h"

static struct source_lines *lines_get(struct model *model)
{
	struct source_lines *l = model->lines;

	if (l)
		return l;
	l = model->lines = xcalloc(1, sizeof(*l));
	store_init(&l->frames, sizeof(struct source_frame));
	store_init(&l->uses, sizeof(struct line_use));
	store_init(&l->shapes, sizeof(struct shape_use));
	store_init(&l->backward, sizeof(struct backward_use));
	store_init(&l->idents, sizeof(struct ident_lines));
	store_init(&l->nested, sizeof(struct nested));
	memset(l->recent, 0xff, sizeof(l->recent));
	l->free_nested = NONE;
	return l;
}

void lines_free(struct model *model)
{
	struct source_lines *l = model->lines;

	if (!l)
		return;
	store_release(&l->frames);
	store_release(&l->uses);
	store_release(&l->shapes);
	store_release(&l->backward);
	store_release(&l->idents);
	store_release(&l->nested);
	map_release(&l->frame_by_id);
	map_release(&l->use_by_key);
	map_release(&l->shape_by_key);
	map_release(&l->backward_by_key);
	free(l->pending);
	free(l);
}

size_t lines_bytes(const struct model *model)
{
	const struct source_lines *l = model->lines;

	if (!l)
		return 0;
	return sizeof(*l) + l->frames.n * sizeof(struct source_frame) +
	       l->uses.n * sizeof(struct line_use) + l->shapes.n * sizeof(struct shape_use) +
	       l->backward.n * sizeof(struct backward_use) +
	       l->idents.n * sizeof(struct ident_lines) + l->nested.n * sizeof(struct nested) +
	       map_bytes(&l->frame_by_id) + map_bytes(&l->use_by_key) +
	       map_bytes(&l->shape_by_key) + map_bytes(&l->backward_by_key) +
	       (l->pending ? LINKS_PENDING * sizeof(*l->pending) : 0);
}

struct ident_lines *ident_lines(const struct model *model, uint32_t ident)
{
	uint32_t i = ident_at(model, ident)->lines;

	return i ? store_at(&model->lines->idents, i - 1) : NULL;
}

static struct ident_lines *ident_lines_get(struct model *model, uint32_t index)
{
	struct ident *ident = ident_at(model, index);
	struct ident_lines *more;

	if (ident->lines)
		return ident_lines(model, index);
	more = store_new(&model->lines->idents);
	more->uses = more->shapes = more->backward = NONE;
	ident->lines = model->lines->idents.n;
	return more;
}

/* ---- frames ---- */

uint32_t frame_get(struct model *model, uint32_t process, uint32_t id)
{
	uint64_t key = (uint64_t)process << 32 | id;
	struct source_lines *l;
	uint32_t i;

	if (!id)
		return 0;
	l = lines_get(model);
	i = map_get(&l->frame_by_id, key);
	if (i != MAP_NONE)
		return i + 1;
	if (l->frames.n >= FRAMES_MAX) {
		l->dropped++;
		return 0;
	}
	*(struct source_frame *)store_new(&l->frames) = (struct source_frame) {
		.process = process, .id = id, .parent = NONE,
	};
	map_set(&l->frame_by_id, key, l->frames.n - 1);
	return l->frames.n;
}

void frame_define(struct model *model, const struct arrival *in)
{
	const struct event_frame *def = &in->event->u.frame;
	uint32_t index = frame_get(model, in->process->index, def->id), parent;
	struct source_frame *frame;

	/* a parent has a lower id, so that no stack is a cycle */
	if (!def->id || !def->file || def->parent >= def->id) {
		model_bad(model, BAD_ID);
		return;
	}
	if (!index) {
		model_bad(model, BAD_FULL);
		return;
	}
	parent = frame_get(model, in->process->index, def->parent);
	frame = frame_at(model->lines, index - 1);
	frame->parent = parent ? parent - 1 : NONE;
	frame->file = local_name(model, in->process, def->file);
	frame->function = names_function(&model->names,
					 local_name(model, in->process, def->function),
					 NAME_SCOPED);
	frame->line = def->line;
}

static bool frame_stands_for(struct model *model, const struct source_frame *frame,
			     const char *file)
{
	return frame->file && !frame->line && !strcmp(names_raw(&model->names, frame->file), file);
}

bool frame_is_module(struct model *model, const struct source_frame *frame)
{
	return frame_stands_for(model, frame, MODULE_FILE);
}

bool frame_is_changed(struct model *model, const struct source_frame *frame)
{
	return frame_stands_for(model, frame, CHANGED_FILE);
}

const char *frame_file(struct model *model, const struct source_frame *frame)
{
	return frame->file ?
	       names_raw(&model->names, names_resolve(&model->names, frame->file)) : "";
}

bool frame_is_task(struct model *model, const struct source_frame *frame)
{
	return frame_stands_for(model, frame, TASK_FILE);
}

uint32_t frame_of_process(const struct model *model, uint32_t process, uint32_t id)
{
	uint32_t i = id && model->lines ?
		     map_get(&model->lines->frame_by_id, (uint64_t)process << 32 | id) : MAP_NONE;

	return i == MAP_NONE ? 0 : i + 1;
}

uint32_t frame_id(const struct model *model, uint32_t frame)
{
	return frame ? frame_at(model->lines, frame - 1)->id : 0;
}

bool same_line(const struct model *model, uint32_t a, uint32_t b)
{
	const struct source_frame *x = frame_at(model->lines, a), *y = frame_at(model->lines, b);

	return a == b || (x->file && y->file && x->line == y->line &&
			  names_resolve(&model->names, x->file) ==
			  names_resolve(&model->names, y->file));
}

/* ---- uses ---- */

uint32_t line_use_find(const struct model *model, uint32_t frame, uint32_t ident)
{
	return frame ? map_get(&model->lines->use_by_key, (uint64_t)(frame - 1) << 32 | ident) :
		       NONE;
}

uint32_t line_use_get(struct model *model, uint32_t frame, uint32_t ident)
{
	struct source_lines *l = model->lines;
	uint32_t *recent = &l->recent[(frame * 31 + ident) % 256], i = *recent;
	struct ident_lines *more;
	struct line_use *use;

	if (i != NONE && use_at(l, i)->frame == frame - 1 && use_at(l, i)->ident == ident)
		return i;
	i = line_use_find(model, frame, ident);
	if (i == NONE) {
		if (l->uses.n >= USES_MAX) {
			l->dropped++;
			return NONE;
		}
		more = ident_lines_get(model, ident);
		use = store_new(&l->uses);
		i = l->uses.n - 1;
		*use = (struct line_use) { .frame = frame - 1, .ident = ident, .next = more->uses };
		more->uses = i;
		map_set(&l->use_by_key, (uint64_t)(frame - 1) << 32 | ident, i);
	}
	return *recent = i;
}

uint64_t use_unseen(const struct model *model, const struct line_use *use)
{
	return ident_unseen(ident_at(model, use->ident)) ? use->unseen : 0;
}

/* ---- ops of one line in each other ---- */

static void nest(struct model *model, uint32_t inner, uint32_t outer, uint64_t n, int64_t ns)
{
	struct line_use *use = use_at(model->lines, inner);

	if (!same_line(model, use->frame, use_at(model->lines, outer)->frame))
		return;
	use->nested += n;
	add_ns(&use->nested_ns, ns);
}

void lines_forget(struct model *model, struct op_state *state)
{
	struct source_lines *l = model->lines;

	while (l && state->nested) {
		uint32_t i = state->nested - 1;
		struct nested *entry = store_at(&l->nested, i);

		state->nested = entry->next;
		entry->next = l->free_nested;
		l->free_nested = i;
	}
}

void lines_child(struct model *model, struct op_state *parent, uint32_t use, int64_t dur_ns)
{
	struct source_lines *l = model->lines;
	struct nested *entry;
	unsigned tries = 0;
	uint32_t i;

	if (use == NONE)
		return;
	if (parent->flags & STATE_FINISHED) {
		if (parent->use)
			nest(model, use, parent->use - 1, 1, dur_ns);
		return;
	}
	for (i = parent->nested; i && tries < NESTED_MAX; i = entry->next, tries++) {
		entry = store_at(&l->nested, i - 1);
		if (entry->use == use) {
			entry->n++;
			add_ns(&entry->ns, dur_ns);
			return;
		}
	}
	if (tries == NESTED_MAX) {
		l->dropped++;
		return;
	}
	i = l->free_nested;
	if (i != NONE) {
		entry = store_at(&l->nested, i);
		l->free_nested = entry->next;
	} else {
		entry = store_new(&l->nested);
		i = l->nested.n - 1;
	}
	*entry = (struct nested) { use, parent->nested, 1, dur_ns };
	parent->nested = i + 1;
}

/* ---- forward and backward ---- */

/* false: the forward op has not arrived yet. */
static bool link_backward(struct model *model, const struct backward_link *link)
{
	struct source_lines *l = model->lines;
	uint32_t index = op_state_find(model, link->process, link->forward), at;
	const struct op_state *forward = index == NONE ? NULL : store_at(&model->op_states, index);
	struct backward_use *use;
	struct ident_lines *more;
	uint64_t key;

	if (!forward || !(forward->flags & STATE_KNOWN))
		return false;
	key = (uint64_t)forward->ident << 32 | link->ident;
	at = map_get(&l->backward_by_key, key);
	if (at == NONE) {
		if (l->backward.n >= LINKS_MAX) {
			l->dropped++;
			return true;
		}
		more = ident_lines_get(model, forward->ident);
		use = store_new(&l->backward);
		at = l->backward.n - 1;
		*use = (struct backward_use) { .ident = link->ident, .next = more->backward };
		more->backward = at;
		map_set(&l->backward_by_key, key, at);
	}
	use = store_at(&l->backward, at);
	use->count++;
	add_ns(&use->total_ns, link->dur_ns);
	ident_lines_get(model, link->ident)->exact++;
	l->linked++;
	if (forward->use) {
		struct line_use *line = use_at(l, forward->use - 1);

		line->backward++;
		add_ns(&line->backward_ns, link->dur_ns);
	}
	return true;
}

static void link_later(struct model *model, const struct backward_link *one)
{
	struct source_lines *l = model->lines;

	if (!l->pending)
		l->pending = xcalloc(LINKS_PENDING, sizeof(*l->pending));
	if (l->n_pending == LINKS_PENDING) {
		l->unlinked += !link_backward(model, &l->pending[l->head]);
		l->head = (l->head + 1) % LINKS_PENDING;
		l->n_pending--;
	}
	l->pending[(l->head + l->n_pending++) % LINKS_PENDING] = *one;
}

void lines_settled(struct model *model, int64_t settled_ns)
{
	struct source_lines *l = model->lines;
	size_t n = l ? l->n_pending : 0;

	for (size_t i = 0; i < n; i++) {
		struct backward_link one = l->pending[l->head];

		l->head = (l->head + 1) % LINKS_PENDING;
		l->n_pending--;
		if (link_backward(model, &one))
			continue;
		/* the forward op began before this op ended */
		if (one.end_ns <= settled_ns)
			l->unlinked++;
		else
			link_later(model, &one);
	}
}

/* ---- an op ---- */

static void count_shapes(struct model *model, const struct line_op_in *op)
{
	struct source_lines *l = lines_get(model);
	struct ident_lines *more = ident_lines_get(model, op->ident);
	uint64_t key = (uint64_t)op->ident << 32 | op->shapes;
	uint32_t at = map_get(&l->shape_by_key, key);
	struct shape_use *use;

	if (at == NONE) {
		if (more->n_shapes >= OP_SHAPES || l->shapes.n >= USED_SHAPES_MAX) {
			more->other_shapes++;
			add_ns(&more->others_ns, op->dur_ns);
			if (op->dur_ns > more->others_max_ns)
				more->others_max_ns = op->dur_ns;
			return;
		}
		use = store_new(&l->shapes);
		at = l->shapes.n - 1;
		*use = (struct shape_use) { .shapes = op->shapes, .next = more->shapes };
		more->shapes = at;
		more->n_shapes++;
		map_set(&l->shape_by_key, key, at);
	}
	use = store_at(&l->shapes, at);
	use->count++;
	add_ns(&use->total_ns, op->dur_ns);
	if (op->dur_ns > use->max_ns)
		use->max_ns = op->dur_ns;
}

static void line_keep_slow(struct model *model, const struct line_op_in *op)
{
	struct ident_lines *more = ident_lines(model, op->ident);
	uint32_t at;

	if (more->n_slow == OP_SLOWEST && more->slow[OP_SLOWEST - 1].dur_ns >= op->dur_ns)
		return;
	if (more->n_slow < OP_SLOWEST)
		more->n_slow++;
	for (at = more->n_slow - 1; at && more->slow[at - 1].dur_ns < op->dur_ns; at--)
		more->slow[at] = more->slow[at - 1];
	more->slow[at] = (struct slow_op) {
		op->start_ns, op->dur_ns, op->process, op->tid, op->frame - 1, op->shapes,
	};
}

static void count_use(struct model *model, struct op_state *state, const struct line_op_in *op)
{
	struct source_lines *l = model->lines;
	uint32_t index = line_use_get(model, op->frame, op->ident);
	struct line_use *use;

	if (index == NONE)
		return;
	l->with_line++;
	use = use_at(l, index);
	use->count++;
	use->unseen += op->unseen;
	add_ns(&use->total_ns, op->dur_ns);
	add_ns(&use->self_ns, op->self_ns);
	line_keep_slow(model, op);
	if (!state)
		return;
	state->use = index + 1;
	add_ns(&use->device_ns, state->device_ns - state->cpu_ns);
	add_ns(&use->cpu_ns, state->cpu_ns);
	use->kernels += state->kernels - state->cpu_kernels;
	use->cpu_kernels += state->cpu_kernels;
	use->copies += state->copies;
	use->copy_bytes += state->copy_bytes;
	use->allocated += state->allocated;
	for (uint32_t i = state->nested; i;) {
		const struct nested *entry = store_at(&l->nested, i - 1);

		nest(model, entry->use, index, entry->n, entry->ns);
		i = entry->next;
	}
}

void lines_ran(struct model *model, struct op_state *state, const struct line_op_in *op)
{
	if (op->shapes)
		count_shapes(model, op);
	if (op->frame)
		count_use(model, state, op);
	if (state)
		lines_forget(model, state);
	if (op->forward) {
		struct backward_link one = {
			op->forward, op->dur_ns, op->start_ns + op->dur_ns, op->process, op->ident,
		};

		lines_get(model);
		if (!link_backward(model, &one))
			link_later(model, &one);
	}
}

void lines_shorter(struct model *model, uint32_t use, int64_t ns)
{
	struct line_use *line = use == NONE ? NULL : use_at(model->lines, use);

	if (line)
		line->self_ns -= line->self_ns > ns ? ns : line->self_ns;
}

void lines_launched(struct model *model, uint32_t use, const struct launch *launch)
{
	struct line_use *line = use_at(model->lines, use);

	add_ns(launch->cpu ? &line->cpu_ns : &line->device_ns, launch->device_ns);
	line->kernels += launch->kernel && !launch->cpu;
	line->cpu_kernels += launch->kernel && launch->cpu;
	line->copies += !launch->kernel;
	line->copy_bytes += launch->kernel ? 0 : launch->bytes;
}

void lines_allocated(struct model *model, uint32_t process, uint64_t op, uint64_t bytes)
{
	uint32_t index = op_state_get(model, process, op);
	struct op_state *state = index == NONE ? NULL : store_at(&model->op_states, index);

	if (!state)
		return;
	state->allocated += bytes;
	if (state->use)
		use_at(model->lines, state->use - 1)->allocated += bytes;
}
