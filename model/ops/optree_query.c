/* SPDX-License-Identifier: MIT */
/* The tree of calls as rows: of the whole run, or of a window. */
#include "model/idents/idents.h"
#include "model/ops/optree_internal.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

/* A node of an answer: the nodes of the tree whose names turned out to be the same. */
struct answer_node {
	struct optree_row row;		/* sums of its own */
	uint32_t name, type;
	uint64_t ranges;
	uint32_t first, next;
	int64_t children_ns;
};

struct answer {
	struct answer_node *nodes;	/* owned; parents before children */
	size_t n, cap;
	struct map by_kind, by_key;	/* (name, type) -> number; (parent, number) -> node */
	uint32_t kinds;
	bool device;			/* any device time */
};

/* parent OPTREE_TOP; name 0: outside of ops. */
static uint32_t answer_get(struct model *model, struct answer *answer, uint32_t parent,
			   const struct ident *ident, bool async)
{
	uint32_t name = ident ? steps_plain(model, ident->name) : 0;
	uint32_t type = ident ? names_resolve(&model->names, ident->type) : 0;
	/* No collisions: names have 24 bits, frameworks fewer than 8. */
	uint64_t key = (uint64_t)name << 28 | (uint64_t)type << 4 |
		       (ident ? ident->framework : 0) | (uint64_t)async << 52 |
		       (uint64_t)!ident << 53;
	uint32_t number = map_get(&answer->by_kind, key), at;

	if (number == MAP_NONE) {
		number = answer->kinds++;
		map_set(&answer->by_kind, key, number);
	}
	at = map_get(&answer->by_key, (uint64_t)parent << 32 | number);
	if (at != MAP_NONE)
		return at;
	grow(&answer->nodes, &answer->cap, answer->n, sizeof(*answer->nodes));
	answer->nodes[answer->n] = (struct answer_node) {
		.row = {
			.parent = parent, .is_async = async,
			.name = !ident ? NULL : name ? names_short(&model->names, name) : "?",
			.type = type ? names_short(&model->names, type) : NULL,
			.framework = ident ? (enum framework)ident->framework : FW_NONE,
			.id = map_mix(key ^ (parent == OPTREE_TOP ? 0 :
					     map_mix(answer->nodes[parent].row.id + 1))) | 1,
		},
		.name = name, .type = type, .first = NONE, .next = NONE,
	};
	if (parent != OPTREE_TOP) {
		answer->nodes[answer->n].next = answer->nodes[parent].first;
		answer->nodes[parent].first = (uint32_t)answer->n;
	}
	map_set(&answer->by_key, (uint64_t)parent << 32 | number, (uint32_t)answer->n);
	return (uint32_t)answer->n++;
}

/* ---- the whole run ---- */

/* ident: the node's, NULL: a root */
static void take_node(struct answer_node *to, const struct tree_node *node,
		      const struct ident *ident)
{
	uint64_t seen = node->count, unseen = ident && ident_unseen(ident) ? node->unseen : 0;

	to->row.count += seen + unseen;
	to->row.seen += seen;
	to->ranges += node->ranges;
	add_ns(&to->row.total_ns, scaled_up_ns(node->total_ns, seen, unseen));
	add_ns(&to->row.device_self_ns, scaled_up_ns(node->device_ns, seen, unseen));
	add_ns(&to->row.wait_ns, scaled_up_ns(node->wait_ns, seen, unseen));
	if (node->max_ns > to->row.max_ns)
		to->row.max_ns = node->max_ns;
	to->row.kernels += scaled_up(node->kernels, seen, unseen);
	to->row.copies += scaled_up(node->copies, seen, unseen);
	to->row.copy_bytes += scaled_up(node->copy_bytes, seen, unseen);
}

static void take_tree(struct model *model, struct answer *answer, uint32_t only_row)
{
	struct optree *tree = model->optree;
	uint32_t *at = xreallocarray(NULL, tree->nodes.n, sizeof(*at));

	optree_try(model);
	at = xreallocarray(at, tree->nodes.n, sizeof(*at));
	for (uint32_t i = 0; i < tree->nodes.n; i++) {
		const struct tree_node *node = node_at(tree, i);
		const struct ident *ident = node->ident == NONE ? NULL :
					    ident_at(model, node->ident);
		bool async = node->thread == NONE;

		at[i] = OPTREE_TOP;
		if (only_row && (async || thread_at(model, node->thread)->row != only_row - 1))
			continue;
		if (!ident && !node->wait_ns && !node->device_ns)
			continue;
		at[i] = answer_get(model, answer,
				   !ident || node_at(tree, node->parent)->ident == NONE ?
				   OPTREE_TOP : at[node->parent], ident, async);
		take_node(&answer->nodes[at[i]], node, ident);
	}
	free(at);
}

/* ---- a window ---- */

struct tree_window {
	struct model *model;
	struct answer *answer;
	int64_t t0, t1;
	struct map by_instance;		/* op's instance -> node; of one process */
};

static void window_take_span(struct tree_window *w, uint32_t node, const struct op_cold *cold,
			     int64_t dur_ns)
{
	struct answer_node *to = &w->answer->nodes[node];

	to->row.count++;
	to->row.seen++;
	to->ranges += (cold->flags & (OP_RANGE | OP_INNER)) == OP_RANGE && !cold->kernels;
	add_ns(&to->row.total_ns, dur_ns);
	if (dur_ns > to->row.max_ns)
		to->row.max_ns = dur_ns;
	add_ns(&to->row.device_self_ns, cold->device_ns);
	to->row.kernels += cold->kernels;
	if (cold->instance)
		map_set(&w->by_instance, cold->instance, node);
}

/* Adds the ops that started in [t0, t1) in a lane, and below each the ops that started in it. */
static void take_lane(struct tree_window *w, const struct row *row, uint32_t lane, uint32_t parent,
		      int64_t t0, int64_t t1)
{
	struct lane_pos pos;
	struct op_cold cold;

	if (lane >= row->n_lanes || !lane_lower(&row->lanes[lane], t0, &pos))
		return;
	do {
		const struct chunk *chunk = row->lanes[lane].chunks[pos.chunk];
		int64_t start = chunk_start(chunk, pos.i), dur = chunk_dur(chunk, pos.i);
		uint32_t node;

		if (start >= t1)
			return;
		lane_cold(&row->lanes[lane], pos, &cold);
		node = answer_get(w->model, w->answer, parent, ident_at(w->model, cold.ident),
				  cold.flags & OP_ASYNC);
		window_take_span(w, node, &cold, dur);
		if (!(cold.flags & (OP_ASYNC | OP_MARK)))
			take_lane(w, row, lane + 1, node, start, start + dur < t1 ? start + dur :
				  t1);
	} while (lane_next(&row->lanes[lane], &pos));
}

/* Adds ops outside the ops of the window: their parent started before it. */
static void take_thread(struct tree_window *w, const struct row *row, bool async)
{
	int64_t from = w->t0, end;
	struct lane_pos pos;

	if (async) {
		for (uint32_t l = 0; l < row->n_lanes; l++)
			take_lane(w, row, l, OPTREE_TOP, w->t0, w->t1);
		return;
	}
	for (uint32_t l = 0; l < row->n_lanes && from < w->t1; l++) {
		/* Up to the end of the op that reaches into the window, ops are below that one. */
		end = from;
		if (lane_before(&row->lanes[l], w->t0, &pos)) {
			const struct chunk *chunk = row->lanes[l].chunks[pos.chunk];

			end = chunk_start(chunk, pos.i) + chunk_dur(chunk, pos.i);
		}
		take_lane(w, row, l, OPTREE_TOP, end > from ? end : from, w->t1);
		if (end <= w->t0)
			return;
		w->t1 = end < w->t1 ? end : w->t1;
	}
}

static void window_take_copies(struct tree_window *w, uint32_t process)
{
	for (uint32_t i = 0; i < w->model->rows.n; i++) {
		const struct row *row = row_at(w->model, i);

		if (row->kind != ROW_COPY || queue_at(w->model, row->queue)->process != process)
			continue;
		for (uint32_t l = 0; l < row->n_lanes; l++) {
			struct command_cold cold;
			struct lane_pos pos;

			if (!lane_lower(&row->lanes[l], w->t0, &pos))
				continue;
			do {
				uint32_t node;

				if (chunk_start(row->lanes[l].chunks[pos.chunk], pos.i) >=
				    w->t1 + WINDOW_AFTER_NS)
					break;
				lane_cold(&row->lanes[l], pos, &cold);
				node = cold.op ? map_get(&w->by_instance, cold.op) : MAP_NONE;
				if (node == MAP_NONE || cold.status < 0)
					continue;
				w->answer->nodes[node].row.copies++;
				w->answer->nodes[node].row.copy_bytes += cold.detail;
			} while (lane_next(&row->lanes[l], &pos));
		}
	}
}

/* The innermost op of the window around a wait. */
static void take_wait(struct tree_window *w, uint32_t row_index, const struct tree_wait *wait)
{
	const struct row *row = row_at(w->model, row_index);
	uint32_t node = MAP_NONE;

	for (uint32_t l = 0; l < row->n_lanes; l++) {
		struct lane_pos pos;
		uint32_t found;

		if (!lane_before(&row->lanes[l], wait->start_ns + 1, &pos))
			break;
		if (chunk_start(row->lanes[l].chunks[pos.chunk], pos.i) +
		    chunk_dur(row->lanes[l].chunks[pos.chunk], pos.i) < wait->start_ns)
			break;
		found = map_get(&w->by_instance, lane_cold_field(&row->lanes[l], pos, OP_INSTANCE));
		if (found != MAP_NONE)
			node = found;
	}
	if (node == MAP_NONE)
		node = answer_get(w->model, w->answer, OPTREE_TOP, NULL, false);
	add_ns(&w->answer->nodes[node].row.wait_ns, wait->dur_ns);
}

static void take_waits(struct tree_window *w, uint32_t row)
{
	const struct optree *tree = w->model->optree;

	for (size_t i = 0; i < tree->n_kept; i++) {
		const struct tree_wait *wait = &tree->kept[(tree->kept_head + i) % WAITS_KEPT];

		if (wait->start_ns >= w->t0 && wait->start_ns < w->t1 &&
		    thread_at(w->model, wait->thread)->row == row)
			take_wait(w, row, wait);
	}
}

static void take_window(struct model *model, struct answer *answer,
			const struct optree_question *question)
{
	for (uint32_t p = 0; p < model->processes.n; p++) {
		struct tree_window w = { .model = model, .answer = answer };

		for (uint32_t i = 0; i < model->rows.n; i++) {
			const struct row *row = row_at(model, i);

			if (row->kind != ROW_THREAD || row->process != p ||
			    (question->row && question->row - 1 != i))
				continue;
			w.t0 = question->t0;
			w.t1 = question->t1;
			take_thread(&w, row, row->thread == NONE);
			w.t1 = question->t1;
			take_waits(&w, i);
		}
		w.t0 = question->t0;
		w.t1 = question->t1;
		if (w.by_instance.used)
			window_take_copies(&w, p);
		map_release(&w.by_instance);
	}
}

/* ---- the answer ---- */

/* Children come after their parents, so going backwards, each node adds its sums to its parent. */
static void answer_add_up(struct answer *answer)
{
	for (size_t i = answer->n; i-- > 0;) {
		struct answer_node *node = &answer->nodes[i], *parent;
		struct optree_row *row = &node->row;

		add_ns(&row->device_ns, row->device_self_ns);
		row->self_ns = row->total_ns > node->children_ns ?
			       row->total_ns - node->children_ns : 0;
		row->is_range = node->ranges == row->count && row->count && !row->kernels &&
				!row->copies && !row->children;
		answer->device = answer->device || row->device_ns > 0;
		if (row->parent == OPTREE_TOP)
			continue;
		parent = &answer->nodes[row->parent];
		parent->row.children++;
		add_ns(&parent->children_ns, row->total_ns);
		add_ns(&parent->row.device_ns, row->device_ns);
		add_ns(&parent->row.wait_ns, row->wait_ns);
		parent->row.kernels += row->kernels;
		parent->row.copies += row->copies;
		parent->row.copy_bytes += row->copy_bytes;
	}
}

static int by_answer_cost(const void *a, const void *b, void *arg)
{
	const struct answer *answer = arg;
	const struct optree_row *x = &answer->nodes[*(const uint32_t *)a].row;
	const struct optree_row *y = &answer->nodes[*(const uint32_t *)b].row;

	if (answer->device && x->device_ns != y->device_ns)
		return x->device_ns > y->device_ns ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->is_async != y->is_async)
		return x->is_async ? 1 : -1;
	if (!x->name || !y->name)
		return x->name ? -1 : y->name ? 1 : 0;
	return strcmp(x->name, y->name);
}

/* The children of a node (OPTREE_TOP: the top ones) and all below, in order. */
static void answer_write_out(struct answer *answer, uint32_t index, uint32_t parent, uint32_t depth,
			     struct optree_row *out, size_t *n)
{
	uint32_t *list = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t i = index == OPTREE_TOP ? 0 : answer->nodes[index].first;
	     i < answer->n; i = index == OPTREE_TOP ? i + 1 : answer->nodes[i].next) {
		if (index == OPTREE_TOP && answer->nodes[i].row.parent != OPTREE_TOP)
			continue;
		grow(&list, &cap, count, sizeof(*list));
		list[count++] = i;
	}
	if (count > 1)
		qsort_r(list, count, sizeof(*list), by_answer_cost, answer);
	for (size_t k = 0; k < count; k++) {
		uint32_t at = (uint32_t)*n;

		out[at] = answer->nodes[list[k]].row;
		out[at].parent = parent;
		out[at].depth = depth;
		++*n;
		answer_write_out(answer, list[k], at, depth + 1, out, n);
	}
	free(list);
}

size_t model_optree(struct model *model, const struct optree_question *question,
		    bool *waits_known, struct optree_row **out)
{
	bool window = question->t0 < question->t1;
	struct answer answer = { .nodes = NULL };
	size_t n = 0;

	*waits_known = !window || question->t0 > model->optree->forgotten_ns;
	if (window)
		take_window(model, &answer, question);
	else
		take_tree(model, &answer, question->row);
	answer_add_up(&answer);
	*out = xcalloc(answer.n, sizeof(**out));
	answer_write_out(&answer, OPTREE_TOP, OPTREE_TOP, 0, *out, &n);
	free(answer.nodes);
	map_release(&answer.by_kind);
	map_release(&answer.by_key);
	return n;
}
