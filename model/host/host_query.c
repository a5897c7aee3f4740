/* SPDX-License-Identifier: MIT */
/* What threads did by line, and by call stack: answers of query/host.h. */
#include "model/query/host.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"

#define CALLERS_MAX 384u		/* of Python and of native code */

static const char *text_of(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : "";
}

/* ---- by line ---- */

static int by_waited(const void *a, const void *b)
{
	const struct host_line_row *x = a, *y = b;

	if (x->waited_ns != y->waited_ns)
		return x->waited_ns < y->waited_ns ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (int)x->doing - (int)y->doing ?: (int)x->line - (int)y->line;
}

static struct host_line_row line_row_of(struct model *model, const struct doing_sum *sum)
{
	const struct source_frame *frame = sum->frame ? frame_at(model->lines, sum->frame - 1) :
							NULL;
	struct host_line_row row = {
		.pid = process_at(model, thread_at(model, sum->thread)->process)->pid,
		.doing = sum->kind, .what = text_of(model, sum->what), .file = "", .function = "",
	};

	if (frame && frame->file) {
		row.file = text_of(model, frame->file);
		row.function = text_of(model, frame->function);
		row.line = frame->line;
	}
	return row;
}

size_t model_host_lines(struct model *model, struct host_line_row **rows)
{
	const struct doing_sums *sums = model->doings;
	struct map by_place = { .size = 0 }, by_key = { .size = 0 };
	size_t n = 0, cap = 0;

	*rows = NULL;
	for (uint32_t i = 0; sums && i < sums->list.n; i++) {
		const struct doing_sum *sum = store_at(&sums->list, i);
		/* No collisions: names have 24 bits, places and kinds fewer than 32 and 8. */
		uint64_t place = (uint64_t)thread_at(model, sum->thread)->process << 32 |
				 sum->frame;
		uint32_t number = map_get(&by_place, place), at;
		uint64_t key;

		if (number == MAP_NONE) {
			number = (uint32_t)by_place.used;
			map_set(&by_place, place, number);
		}
		key = (uint64_t)number << 32 | (uint32_t)sum->kind << 24 | sum->what;
		at = map_get(&by_key, key);
		if (at == MAP_NONE) {
			at = (uint32_t)n;
			map_set(&by_key, key, at);
			grow(rows, &cap, n, sizeof(**rows));
			(*rows)[n++] = line_row_of(model, sum);
		}
		(*rows)[at].looks += sum->looks;
		add_ns(&(*rows)[at].ns, sum->ns);
		add_ns(&(*rows)[at].waited_ns, doing_sum_waited(model, sum));
	}
	map_release(&by_place);
	map_release(&by_key);
	if (n)
		qsort(*rows, n, sizeof(**rows), by_waited);
	return n;
}

/* ---- by stack ---- */

struct stacks {
	struct model *model;
	struct stack_node *nodes;	/* owned; parents before children */
	size_t n, cap;
	struct map by_frame, by_state;
};

static uint32_t node_add(struct stacks *s, const struct stack_node *node)
{
	grow(&s->nodes, &s->cap, s->n, sizeof(*s->nodes));
	s->nodes[s->n] = *node;
	if (node->parent != STACK_NONE)
		s->nodes[s->n].depth = s->nodes[node->parent].depth + 1;
	return (uint32_t)s->n++;
}

/*
 * The node of a frame (as frame_get() returns it) of a thread; frame 0: the thread itself. Within a
 * process a frame has one chain of callers, so that it stands once below each thread. alone: its
 * callers are unknown; with frame 0: the node in their place.
 */
static uint32_t frame_node(struct stacks *s, uint32_t thread, uint32_t parent, uint32_t frame,
			   bool alone)
{
	const struct thread *of = thread_at(s->model, thread);
	uint64_t key = (uint64_t)thread << 33 | (uint64_t)alone << 32 | frame;
	uint32_t at = map_get(&s->by_frame, key);
	struct stack_node node = {
		.kind = frame ? STACK_FRAME : alone ? STACK_UNKNOWN : STACK_THREAD,
		.parent = parent, .tid = of->tid, .pid = process_at(s->model, of->process)->pid,
		.thread = text_of(s->model, of->name), .file = "", .function = "", .what = "",
	};

	if (at != MAP_NONE)
		return at;
	if (frame) {
		const struct source_frame *source = frame_at(s->model->lines, frame - 1);

		node.file = text_of(s->model, source->file);
		node.function = text_of(s->model, source->function);
		node.line = source->line;
		node.library = lines_is_library(node.file);
		if (frame_is_changed(s->model, source))
			node.kind = STACK_UNKNOWN;
	}
	at = node_add(s, &node);
	map_set(&s->by_frame, key, at);
	return at;
}

/* Whether the frame says already in which function of native code a thread is: "Engine::run" in
 * /usr/lib/libtorch.so says "run in libtorch.so". */
static bool says_function(const struct stack_node *frame, const char *what)
{
	const char *file = path_last(frame->file), *in = strstr(what, " in ");
	size_t all = strlen(frame->function), length = in ? (size_t)(in - what) : 0;

	if (frame->kind != STACK_FRAME || frame->line || !*file ||
	    strcmp(in ? in + 4 : what, file) != 0 || length > all || !length != !all ||
	    strncmp(frame->function + all - length, what, length) != 0)
		return false;
	return length == all || frame->function[all - length - 1] == ':';
}

static uint32_t state_node(struct stacks *s, uint32_t parent, const struct doing_sum *sum)
{
	struct stack_node node = s->nodes[parent];
	uint32_t what = sum->kind == DOING_NATIVE &&
			says_function(&node, text_of(s->model, sum->what)) ? 0 : sum->what;
	uint64_t key = (uint64_t)parent << 32 | (uint32_t)sum->kind << 24 | what;
	uint32_t at = map_get(&s->by_state, key);

	if (at != MAP_NONE)
		return at;
	node = (struct stack_node) {
		.kind = STACK_STATE, .parent = parent, .pid = node.pid, .tid = node.tid,
		.thread = node.thread, .file = "", .function = "", .doing = sum->kind,
		.what = text_of(s->model, what),
	};
	at = node_add(s, &node);
	map_set(&s->by_state, key, at);
	return at;
}

static void stacks_add(struct stacks *s, const struct doing_sum *sum, int64_t ns)
{
	uint32_t chain[CALLERS_MAX], n = 0, at, frame;

	if (ns <= 0)
		return;
	at = frame_node(s, sum->thread, STACK_NONE, 0, false);
	for (frame = sum->stack; frame && n < CALLERS_MAX; n++) {
		chain[n] = frame;
		frame = frame_caller(s->model->lines, frame);
	}
	/* callers that one stack is too deep to have may be there from another one */
	while (n-- && s->nodes[at].depth < STACK_DEPTH - 3)
		at = frame_node(s, sum->thread, at, chain[n], false);
	if (!sum->stack && sum->frame) {
		at = frame_node(s, sum->thread, at, 0, true);
		at = frame_node(s, sum->thread, at, sum->frame, true);
	}
	for (at = state_node(s, at, sum); at != STACK_NONE; at = s->nodes[at].parent)
		add_ns(&s->nodes[at].ns, ns);
}

/* Adds what a thread did in a window. */
static void stacks_window(struct stacks *s, uint32_t thread, const struct stacks_of *of)
{
	const struct doing *end, *at;

	for (at = doings_from(s->model, thread, of->from_ns, &end);
	     at < end && at->start_ns < of->to_ns; at++)
		stacks_add(s, doing_sum_at(s->model, at->sum),
			   doing_within(at, of->from_ns, of->to_ns));
}

static bool is_of(const struct model *model, uint32_t thread, const struct stacks_of *of)
{
	const struct thread *t = thread_at(model, thread);

	return (!of->tid || t->tid == of->tid) &&
	       (!of->pid || process_at(model, t->process)->pid == of->pid);
}

/* ---- in order ---- */

struct ordered { int64_t ns; uint32_t parent, node; };

static int by_parent(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->node < y->node ? -1 : 1;
}

/* Numbers the nodes in preorder: end of each node becomes its number, for now. The roots come last
 * in `order`, as their parent is STACK_NONE. */
static void stacks_number(struct stacks *s, const struct ordered *order, uint32_t *first)
{
	uint32_t path[STACK_DEPTH + 1], depth = 0, number = 0;

	path[0] = first[s->n];
	for (;;) {
		uint32_t at = path[depth], above = depth ? order[path[depth - 1]].node :
						   STACK_NONE;

		if (at < s->n && order[at].parent == above) {
			uint32_t node = order[at].node;

			s->nodes[node].end = number++;
			path[++depth] = first[node];
			continue;
		}
		if (!depth)
			break;
		path[--depth]++;
	}
}

/* The nodes in preorder, with the ends of their subtrees. */
static struct stack_node *stacks_in_order(struct stacks *s)
{
	struct ordered *order = xcalloc(s->n + 1, sizeof(*order));
	uint32_t *first = xcalloc(s->n + 1, sizeof(*first));
	struct stack_node *out = xcalloc(s->n, sizeof(*out));

	for (uint32_t i = 0; i < s->n; i++)
		order[i] = (struct ordered) { s->nodes[i].ns, s->nodes[i].parent, i };
	qsort(order, s->n, sizeof(*order), by_parent);
	for (uint32_t i = 0; i <= s->n; i++)
		first[i] = (uint32_t)s->n;	/* a leaf: behind all */
	for (uint32_t i = (uint32_t)s->n; i-- > 0;)
		first[order[i].parent == STACK_NONE ? s->n : order[i].parent] = i;
	stacks_number(s, order, first);
	for (uint32_t i = 0; i < s->n; i++) {
		struct stack_node node = s->nodes[i];
		uint32_t number = node.end;

		if (node.parent != STACK_NONE)
			node.parent = s->nodes[node.parent].end;
		node.end = number + 1;
		out[number] = node;
	}
	for (size_t i = s->n; i-- > 0;) {
		struct stack_node *parent = out[i].parent == STACK_NONE ? NULL :
					    &out[out[i].parent];

		if (parent && parent->end < out[i].end)
			parent->end = out[i].end;
	}
	free(order);
	free(first);
	return out;
}

size_t model_stacks(struct model *model, const struct stacks_of *of, struct stack_node **nodes)
{
	struct stacks s = { .model = model };
	const struct doing_sums *sums = model->doings;
	bool whole = of->to_ns <= of->from_ns;

	*nodes = NULL;
	for (uint32_t i = 0; sums && whole && i < sums->list.n; i++) {
		const struct doing_sum *sum = store_at(&sums->list, i);

		if (is_of(model, sum->thread, of))
			stacks_add(&s, sum, of->waited ? doing_sum_waited(model, sum) : sum->ns);
	}
	for (uint32_t i = 0; !whole && i < model->threads.n; i++)
		if (is_of(model, i, of))
			stacks_window(&s, i, of);
	if (s.n)
		*nodes = stacks_in_order(&s);
	map_release(&s.by_frame);
	map_release(&s.by_state);
	free(s.nodes);
	return s.n;
}
