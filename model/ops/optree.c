/* SPDX-License-Identifier: MIT */
#include "model/ops/ops.h"
#include "model/ops/optree_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void optree_new(struct model *model)
{
	model->optree = xcalloc(1, sizeof(*model->optree));
	store_init(&model->optree->nodes, sizeof(struct tree_node));
	model->optree->forgotten_ns = INT64_MIN;
}

void optree_free(struct model *model)
{
	struct optree *tree = model->optree;

	store_release(&tree->nodes);
	map_release(&tree->by_key);
	free(tree->ops);
	free(tree->waits);
	free(tree->kept);
	free(tree);
}

size_t optree_bytes(const struct model *model)
{
	const struct optree *tree = model->optree;

	return tree->nodes.n * sizeof(struct tree_node) + map_bytes(&tree->by_key) +
	       tree->cap_ops * sizeof(*tree->ops) +
	       (tree->cap_waits + (tree->kept ? WAITS_KEPT : 0)) * sizeof(*tree->waits);
}

uint64_t model_optree_dropped(struct model *model)
{
	return model->optree->dropped;
}

/* ---- nodes ---- */

static uint32_t tree_node_get(struct optree *tree, uint64_t key, uint32_t parent, uint32_t ident,
			      uint32_t thread)
{
	uint32_t index = map_get(&tree->by_key, key);

	if (index != MAP_NONE)
		return index;
	if (tree->nodes.n >= NODES_MAX) {
		tree->dropped++;
		return parent;
	}
	*(struct tree_node *)store_new(&tree->nodes) = (struct tree_node) {
		.parent = parent, .ident = ident, .thread = thread,
	};
	map_set(&tree->by_key, key, tree->nodes.n - 1);
	return tree->nodes.n - 1;
}

static uint32_t node_root(struct optree *tree, uint32_t process, uint32_t thread)
{
	uint64_t key = thread == NONE ? (uint64_t)(NONE - 1) << 32 | process :
					(uint64_t)NONE << 32 | thread;

	return tree_node_get(tree, key, NONE, NONE, thread);
}

/* parent NONE: there was no room for the root either. */
static uint32_t node_child(struct model *model, uint32_t parent, uint32_t ident)
{
	struct optree *tree = model->optree;

	if (parent == NONE)
		return NONE;
	ident = ident_plain(model, ident);
	return tree_node_get(tree, (uint64_t)parent << 32 | ident, parent, ident,
			     node_at(tree, parent)->thread);
}

/* ---- places by time ---- */

/* The op that is running at this time in a lane; NONE: there is none. */
static uint32_t ident_in_lane(const struct model *model, const struct row *row, uint32_t lane,
			      int64_t t_ns)
{
	struct op_cold cold;
	struct lane_pos pos;

	for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
		if (open_at(model, o)->lane == lane && open_at(model, o)->start_ns <= t_ns)
			return open_at(model, o)->cold.op.ident;
	if (lane >= row->n_lanes || !lane_before(&row->lanes[lane], t_ns + 1, &pos) ||
	    chunk_start(row->lanes[lane].chunks[pos.chunk], pos.i) +
	    chunk_dur(row->lanes[lane].chunks[pos.chunk], pos.i) < t_ns)
		return NONE;
	lane_cold(&row->lanes[lane], pos, &cold);
	return cold.flags & OP_MARK ? NONE : cold.ident;
}

/* The innermost of the ops around a moment, on the lanes above `lanes`. */
static uint32_t node_by_time(struct model *model, uint32_t thread, uint32_t lanes, int64_t t_ns)
{
	uint32_t row = thread_at(model, thread)->row, ident;
	uint32_t node = node_root(model->optree, thread_at(model, thread)->process, thread);

	for (uint32_t l = 0; row != NONE && l < lanes && l < DEPTH_MAX; l++) {
		ident = ident_in_lane(model, row_at(model, row), l, t_ns);
		if (ident == NONE)
			break;
		node = node_child(model, node, ident);
	}
	return node;
}

/* ---- places by parent ---- */

static uint32_t thread_of(const struct model *model, const struct op_state *state)
{
	return thread_find(model, state->process, state->tid);
}

static uint32_t parent_node(struct model *model, const struct op_state *state, uint32_t thread,
			    bool force, int level);

/* The parent's node; NONE: it cannot be known yet. force: it must be determined now. */
static uint32_t optree_place(struct model *model, struct op_state *state, bool force, int level)
{
	uint32_t thread, parent;

	if (state->node != NONE || !(state->flags & STATE_KNOWN))
		return state->node;
	thread = thread_of(model, state);
	if (thread == NONE || (state->flags & STATE_ASYNC))
		parent = node_root(model->optree, state->process, NONE);
	else
		parent = parent_node(model, state, thread, force, level);
	/* A cycle of parents: the op has got a place meanwhile. */
	if (parent == NONE || state->node != NONE)
		return state->node;
	state->node = node_child(model, parent, state->ident);
	if (state->node != NONE) {
		struct tree_node *node = node_at(model->optree, state->node);

		/* Adds what was launched before the op's place was known. */
		add_ns(&node->device_ns, state->device_ns);
		node->kernels += state->kernels;
		node->copies += state->copies;
		node->copy_bytes += state->copy_bytes;
	}
	return state->node;
}

static uint32_t parent_node(struct model *model, const struct op_state *state, uint32_t thread,
			    bool force, int level)
{
	uint32_t index, node;
	struct op_state *parent;

	if (!state->parent || level >= NESTING_MAX)
		return node_root(model->optree, state->process, thread);
	index = op_state_find(model, state->process, state->parent);
	if (index != NONE) {
		parent = op_state_at(model, index);
		/* A parent on another thread, or its own child: that is not a stack. */
		if ((parent->tid && parent->tid != state->tid) || parent == state)
			return node_root(model->optree, state->process, thread);
		node = optree_place(model, parent, force, level + 1);
		if (node != NONE)
			return node;
	}
	return force ? node_by_time(model, thread, state->depth, state->start_ns) : NONE;
}

static void optree_count(struct model *model, struct op_state *state)
{
	struct tree_node *node;

	state->flags &= (uint8_t)~STATE_DEFERRED;
	if (state->node == NONE) {
		model->optree->dropped++;
		return;
	}
	node = node_at(model->optree, state->node);
	node->count++;
	node->unseen += state->unseen;
	node->ranges += (state->flags & STATE_RANGE) != 0;
	add_ns(&node->total_ns, state->dur_ns);
	if (state->dur_ns > node->max_ns)
		node->max_ns = state->dur_ns;
}

/* ---- waiting ops ---- */

static void settle_op(struct model *model, const struct deferred_op *op, bool force)
{
	struct op_state *state = op_state_at(model, op->state);

	if (state->instance != op->instance || state->process != op->process ||
	    !(state->flags & STATE_DEFERRED))
		return;		/* it was placed when its state was freed */
	if (optree_place(model, state, force, 0) != NONE || force)
		optree_count(model, state);
}

static void settle_wait(struct model *model, const struct tree_wait *wait)
{
	uint32_t node = node_by_time(model, wait->thread, DEPTH_MAX, wait->start_ns);

	if (node != NONE)
		add_ns(&node_at(model->optree, node)->wait_ns, wait->dur_ns);
}

void optree_try(struct model *model)
{
	struct optree *tree = model->optree;

	for (size_t i = tree->ops_head; i < tree->n_ops; i++)
		settle_op(model, &tree->ops[i], false);
}

void optree_settled(struct model *model, int64_t settled_ns)
{
	struct optree *tree = model->optree;

	while (tree->ops_head < tree->n_ops && tree->ops[tree->ops_head].due_ns <= settled_ns) {
		settle_op(model, &tree->ops[tree->ops_head++], true);
		if (tree->ops_head % 1024 == 0)
			model_breathe(model);
	}
	while (tree->waits_head < tree->n_waits &&
	       tree->waits[tree->waits_head].due_ns <= settled_ns) {
		settle_wait(model, &tree->waits[tree->waits_head++]);
		if (tree->waits_head % 1024 == 0)
			model_breathe(model);
	}
	if (tree->ops_head > tree->n_ops / 2) {
		tree->n_ops -= tree->ops_head;
		memmove(tree->ops, tree->ops + tree->ops_head, tree->n_ops * sizeof(*tree->ops));
		tree->ops_head = 0;
	}
	if (tree->waits_head > tree->n_waits / 2) {
		tree->n_waits -= tree->waits_head;
		memmove(tree->waits, tree->waits + tree->waits_head,
			tree->n_waits * sizeof(*tree->waits));
		tree->waits_head = 0;
	}
}

static void optree_defer(struct model *model, uint32_t index)
{
	struct optree *tree = model->optree;
	struct op_state *state = op_state_at(model, index);

	if (tree->n_ops - tree->ops_head >= DEFERRED_MAX)
		settle_op(model, &tree->ops[tree->ops_head++], true);
	if (tree->ops_head >= DEFERRED_MAX) {
		tree->n_ops -= tree->ops_head;
		memmove(tree->ops, tree->ops + tree->ops_head, tree->n_ops * sizeof(*tree->ops));
		tree->ops_head = 0;
	}
	grow(&tree->ops, &tree->cap_ops, tree->n_ops, sizeof(*tree->ops));
	tree->ops[tree->n_ops++] = (struct deferred_op) {
		.instance = state->instance, .process = state->process, .state = index,
		.due_ns = state->start_ns + state->dur_ns + ANNOUNCED_NS,
	};
	state->flags |= STATE_DEFERRED;
}

/* ---- adding ---- */

static void know(struct op_state *state, const struct event_op *op)
{
	state->parent = op->parent;
	state->depth = op->depth;
	if (op->flags & OP_ASYNC)
		state->flags |= STATE_ASYNC;
	if ((op->flags & (OP_RANGE | OP_INNER)) == OP_RANGE)
		state->flags |= STATE_RANGE;
}

void optree_announced(struct model *model, uint32_t index, const struct event_op *op)
{
	struct op_state *state = op_state_at(model, index);

	if (!state->tid)
		state->tid = op->tid;
	know(state, op);
	optree_place(model, state, false, 0);
}

void optree_finished(struct model *model, uint32_t index, const struct event_op *op)
{
	struct op_state *state = op_state_at(model, index);

	know(state, op);
	if (optree_place(model, state, false, 0) != NONE)
		optree_count(model, state);
	else
		optree_defer(model, index);
}

void optree_nameless(struct model *model, uint32_t process, uint32_t ident, uint32_t unseen,
		     const struct event_op *op)
{
	uint32_t thread = thread_find(model, process, op->tid);
	struct tree_node *node;
	uint32_t index;

	if (thread == NONE || (op->flags & OP_ASYNC))
		index = node_root(model->optree, process, NONE);
	else
		index = node_by_time(model, thread, op->depth, op->start_ns);
	index = node_child(model, index, ident);
	if (index == NONE)
		return;
	node = node_at(model->optree, index);
	node->count++;
	node->unseen += unseen;
	add_ns(&node->total_ns, op->dur_ns);
	if (op->dur_ns > node->max_ns)
		node->max_ns = op->dur_ns;
}

void optree_forget(struct model *model, uint32_t index)
{
	struct op_state *state = op_state_at(model, index);

	if (!(state->flags & STATE_DEFERRED))
		return;
	optree_place(model, state, true, 0);
	optree_count(model, state);
}

void optree_orphan(struct model *model, uint32_t index)
{
	optree_place(model, op_state_at(model, index), true, 0);
}

static void launched(struct optree *tree, uint32_t index, const struct launch *launch)
{
	struct tree_node *node;

	if (index == NONE)
		return;
	node = node_at(tree, index);
	add_ns(&node->device_ns, launch->device_ns);
	node->kernels += launch->kernel;
	node->copies += !launch->kernel;
	node->copy_bytes += launch->kernel ? 0 : launch->bytes;
}

void optree_launched(struct model *model, uint32_t index, const struct launch *launch)
{
	launched(model->optree, op_state_at(model, index)->node, launch);
}

void optree_launched_late(struct model *model, uint32_t lane, const struct launch *launch)
{
	uint32_t thread = thread_find(model, launch->process, launch->tid);

	if (thread != NONE)
		launched(model->optree, node_by_time(model, thread, lane + 1, launch->call_ns),
			 launch);
}

void optree_wait(struct model *model, const struct arrival *in)
{
	const struct event_wait *wait = &in->event->u.wait;
	struct optree *tree = model->optree;
	uint32_t thread = thread_get(model, in->process->index, in->event->tid);
	struct tree_wait one = {
		wait->start_ns, wait->dur_ns, wait->start_ns + wait->dur_ns + ANNOUNCED_NS, thread,
	};

	if (thread == NONE)
		return;
	if (tree->n_waits - tree->waits_head >= DEFERRED_MAX)
		settle_wait(model, &tree->waits[tree->waits_head++]);
	grow(&tree->waits, &tree->cap_waits, tree->n_waits, sizeof(one));
	tree->waits[tree->n_waits++] = one;
	if (!tree->kept)
		tree->kept = xcalloc(WAITS_KEPT, sizeof(*tree->kept));
	if (tree->n_kept == WAITS_KEPT) {
		if (tree->kept[tree->kept_head].start_ns > tree->forgotten_ns)
			tree->forgotten_ns = tree->kept[tree->kept_head].start_ns;
		tree->kept_head = (tree->kept_head + 1) % WAITS_KEPT;
		tree->n_kept--;
	}
	tree->kept[(tree->kept_head + tree->n_kept++) % WAITS_KEPT] = one;
}
