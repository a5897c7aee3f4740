/* SPDX-License-Identifier: MIT */
/*
 * Ops and ranges, and what was launched in them: attribution.
 *
 * Idea: the probe says with each launch which op instance was on top of the thread's stack;
 * nothing is guessed here. An op's record may arrive before or after the work launched in it, a
 * child's record before or after its parent's. Each instance that any event mentions has an
 * op_state, which collects what is known. A contribution to the totals of an identity (name,
 * type, domain, framework) is added as soon as both sides are known.
 *
 * Always true, whatever the order of arrival:
 *  - ident.device_ns, kernels, copies: work launched with an op of that identity on top
 *    ("directly"), each run once;
 *  - ident.self_ns: durations minus those of children on the same thread, never below 0 per op;
 *  - an instance is finished once; a second record of it is bad;
 *  - a finished op keeps its state for OPS_KEEP more ops; after that its span is searched by time
 *    (op_find), so that late work still finds it.
 *
 * Complexity: O(1) for an op or launch; O(depth * log n) for late work of an old op.
 *
 * Worked example: launch (op 7) arrives, then op 9 with parent 7 and 30 us, then op 7 with 100
 * us, then the run of the launch with 40 us. After the launch, op_state 7 is a placeholder; after
 * op 9 it has children_ns 30; op 7 itself adds name and duration 100, so total 100, self 70; the
 * run adds device 40.
 *
 * Source: external correlation ids of CUPTI and Kineto; the rest is bookkeeping.
 */
#include "model/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "model/acts/acts.h"
#include "model/base/util.h"
#include "model/graph/graph.h"
#include "model/lines/lines.h"
#include "model/ops/optree_internal.h"
#include "model/ops/pools.h"
#include "model/steps/steps.h"

/* ---- states of instances ---- */

static void state_drop(struct model *model, uint32_t index)
{
	struct op_state *state = op_state_at(model, index);

	optree_forget(model, index);
	lines_forget(model, state);
	map_remove(&process_at(model, state->process)->ops, state->instance);
	state->instance = 0;
	state->next_free = model->free_state;
	model->free_state = index;
}

/* Keeps the state of a finished op for a while. */
static void state_keep(struct model *model, uint32_t index)
{
	model->waiting_states--;
	if (model->kept_n == model->kept_max) {
		state_drop(model, model->kept[model->kept_head]);
		model->kept_head = (model->kept_head + 1) % model->kept_max;
		model->kept_n--;
	}
	model->kept[(model->kept_head + model->kept_n) % model->kept_max] = index;
	model->kept_n++;
}

/* The identity became known: adds what waited for it. */
static void state_known(struct model *model, struct op_state *state, uint32_t ident_index)
{
	struct ident *ident;

	if ((state->flags & STATE_KNOWN) || ident_index == NONE)
		return;
	ident = ident_at(model, ident_index);
	state->ident = ident_index;
	state->flags |= STATE_KNOWN;
	add_ns(&ident->device_ns, state->device_ns);
	ident->kernels += state->kernels;
	ident->copies += state->copies;
	ident->copy_bytes += state->copy_bytes;
	add_ns(&ident->cpu_ns, state->cpu_ns);
	ident->cpu_kernels += state->cpu_kernels;
	ident->inner |= (state->flags & STATE_TOUCHED) != 0;
}

/* ---- launches ---- */

void op_touched(struct model *model, uint32_t process, uint64_t op, uint32_t op_name)
{
	uint32_t index;
	struct op_state *state;

	if (!op)
		return;
	index = op_state_get(model, process, op);
	if (index == NONE)
		return;
	state = op_state_at(model, index);
	state->flags |= STATE_TOUCHED;
	if (!state->op_name)
		state->op_name = op_name;
	if (state->flags & STATE_KNOWN)
		ident_at(model, state->ident)->inner = true;
}

static void ident_launched(struct ident *ident, const struct launch *launch)
{
	ident->inner = true;
	add_ns(&ident->device_ns, launch->device_ns);
	ident->kernels += launch->kernel;
	ident->copies += !launch->kernel;
	ident->copy_bytes += launch->kernel ? 0 : launch->bytes;
	add_ns(&ident->cpu_ns, launch->cpu ? launch->device_ns : 0);
	ident->cpu_kernels += launch->cpu && launch->kernel;
}

/* Adds it to the line of the op that launched it, or to the line of its own that a graph's node
 * has. use: that of the op, or NONE. */
static void line_launched(struct model *model, uint32_t use, uint32_t ident,
			  const struct launch *launch)
{
	uint32_t own = launch->frame ? line_use_get(model, launch->frame, ident) : NONE;

	if (own != NONE || use != NONE)
		lines_launched(model, own != NONE ? own : use, launch);
}

/* The op's state is not kept any more: searches for the op on the timeline. */
static bool launched_long_ago(struct model *model, const struct launch *launch)
{
	uint32_t row, lane;
	struct lane_pos pos;
	struct op_cold *cold;

	if (!time_ok(launch->call_ns) ||
	    !op_find(model, launch->process, launch->tid, launch->op, launch->call_ns, &row, &lane,
		     &pos))
		return false;
	cold = lane_edit(&row_at(model, row)->lanes[lane], pos);
	add_ns(&cold->device_ns, launch->device_ns);
	cold->kernels += launch->kernel;
	if (cold->first_row == NONE && launch->row != NONE) {
		cold->first_row = launch->row;
		cold->first_id = launch->id;
	}
	ident_launched(ident_at(model, cold->ident), launch);
	line_launched(model, line_use_find(model, cold->frame, cold->ident), cold->ident, launch);
	optree_launched_late(model, lane, launch);
	return true;
}

void op_launched(struct model *model, const struct launch *launch)
{
	uint32_t index = op_state_find(model, launch->process, launch->op);
	struct op_state *state;

	if (index == NONE && launched_long_ago(model, launch))
		return;
	if (index == NONE)
		index = op_state_get(model, launch->process, launch->op);
	if (index == NONE) {
		uint32_t ident = ident_get(model, launch->op_name, 0, 0, FW_NONE);

		if (ident != NONE)
			ident_launched(ident_at(model, ident), launch);
		model_bad(model, BAD_FULL);
		return;
	}
	state = op_state_at(model, index);
	state->flags |= STATE_TOUCHED;
	if (!state->op_name)
		state->op_name = launch->op_name;
	if (!state->tid)
		state->tid = launch->tid;
	add_ns(&state->device_ns, launch->device_ns);
	state->kernels += launch->kernel;
	state->copies += !launch->kernel;
	state->copy_bytes += launch->kernel ? 0 : launch->bytes;
	add_ns(&state->cpu_ns, launch->cpu ? launch->device_ns : 0);
	state->cpu_kernels += launch->cpu && launch->kernel;
	/* what an unfinished op has launched is added to its line when it ends */
	if (state->flags & STATE_FINISHED)
		line_launched(model, state->use - 1, state->ident, launch);
	if (state->first_row == NONE && launch->row != NONE) {
		state->first_row = launch->row;
		state->first_id = launch->id;
	}
	if (state->flags & STATE_KNOWN)
		ident_launched(ident_at(model, state->ident), launch);
	optree_launched(model, index, launch);
	if (state->flags & STATE_FINISHED)
		op_state_write(model, state);
}

/* ---- self time ---- */

static int64_t self_of(const struct op_state *state)
{
	return state->dur_ns > state->children_ns ? state->dur_ns - state->children_ns : 0;
}

/* use: the child's use (lines/lines.h), or NONE. */
static void add_child(struct model *model, uint32_t process, const struct event_op *op,
		      uint32_t use)
{
	uint32_t index, row, lane;
	struct op_state *parent;
	struct lane_pos pos;
	int64_t before;

	index = op_state_find(model, process, op->parent);
	if (index == NONE &&
	    op_find(model, process, op->tid, op->parent, op->start_ns, &row, &lane, &pos)) {
		/* A very late child: its parent ran on this thread before. */
		struct ident *ident;
		struct op_cold cold;

		lane_cold(&row_at(model, row)->lanes[lane], pos, &cold);
		ident = ident_at(model, cold.ident);

		ident->self_ns -= ident->self_ns > op->dur_ns ? op->dur_ns : ident->self_ns;
		lines_shorter(model, line_use_find(model, cold.frame, cold.ident), op->dur_ns);
		return;
	}
	if (index == NONE)
		index = op_state_get(model, process, op->parent);
	if (index == NONE)
		return;
	parent = op_state_at(model, index);
	if (parent->tid && parent->tid != op->tid)
		return;
	parent->tid = op->tid;
	before = self_of(parent);
	add_ns(&parent->children_ns, op->dur_ns);
	if (parent->flags & STATE_FINISHED) {
		ident_at(model, parent->ident)->self_ns -= before - self_of(parent);
		lines_shorter(model, parent->use - 1, before - self_of(parent));
	}
	lines_child(model, parent, use, op->dur_ns);
}

/* ---- ops ---- */

/* An op as the process sent it, with the model's ids. */
struct incoming {
	const struct event_op *op;
	struct process *process;
	uint32_t name, ident, row, lane;
	uint32_t frame, shapes;		/* frame: 1 + its index; shapes: a name; 0: none */
	uint32_t unseen;		/* for how many runs in bare steps it stands */
	uint8_t work;
	struct lane_pos pos;
};

static bool op_accept(struct model *model, struct process *process, const struct event_op *op,
		      struct incoming *in)
{
	uint32_t thread;

	in->op = op;
	in->process = process;
	in->frame = frame_get(model, process->index, op->frame);
	in->shapes = local_name(model, process, op->shapes);
	in->name = local_name(model, process, op->name);
	in->ident = ident_get(model, in->name, local_name(model, process, op->op_type),
			      local_name(model, process, op->domain),
			      op->framework < FW_COUNT ? op->framework : FW_NONE);
	if (op->flags & OP_ASYNC) {
		in->row = row_of_ranges(model, process->index);
	} else {
		thread = thread_get(model, process->index, op->tid);
		in->row = thread == NONE ? NONE : row_of_thread(model, thread);
	}
	in->work = (op->flags & OP_RANGE) && !(op->flags & OP_INNER) ? WORK_RANGE : WORK_OP;
	in->lane = op->depth < DEPTH_MAX ? op->depth : DEPTH_MAX - 1;
	return in->ident != NONE && in->row != NONE;
}

static void op_fill_cold(struct model *model, const struct incoming *in, struct op_cold *cold)
{
	const struct event_op *op = in->op;
	uint32_t waker = op->waker ? thread_find(model, in->process->index, op->waker) : NONE;

	memset(cold, 0, sizeof(*cold));
	cold->instance = op->instance;
	cold->ident = in->ident;
	cold->step = op->step;
	cold->first_row = NONE;
	cold->depth = op->depth;
	cold->flags = op->flags;
	cold->wait_ns = op->wait_ns;
	cold->waker = waker + 1;	/* NONE + 1 is 0 */
	cold->frame = in->frame;
	cold->shapes = in->shapes;
	cold->forward = op->forward;
}

static void announce_op(struct model *model, struct process *process, const struct event_op *op)
{
	struct incoming in;
	struct open_span span = { .start_ns = op->start_ns };
	struct op_state *state;
	uint32_t index;

	index = op->instance ? op_state_get(model, process->index, op->instance) : NONE;
	if (index == NONE || !time_ok(op->start_ns)) {
		model_bad(model, BAD_ID);
		return;
	}
	state = op_state_at(model, index);
	if ((state->flags & STATE_FINISHED) || state->open != NONE)
		return;		/* the op arrived late, or twice */
	if (!op_accept(model, process, op, &in)) {
		model_bad(model, BAD_FULL);
		return;
	}
	span.row = in.row;
	span.lane = op->flags & OP_ASYNC ? 0 : in.lane;
	span.name = in.name;
	span.key = op->instance;
	span.process = process->index;
	span.work = in.work;
	span.id = ++row_at(model, in.row)->last_id;
	op_fill_cold(model, &in, &span.cold.op);
	state->open = open_add(model, &span);
	state->start_ns = op->start_ns;
	if (state->open == NONE)
		model_bad(model, BAD_FULL);
	state_known(model, state, in.ident);
	optree_announced(model, index, op);
}

/* Inserts the op's span into its lane; returns the span's id. */
static uint32_t op_draw(struct model *model, struct incoming *in, struct op_state *state)
{
	const struct event_op *op = in->op;
	struct lane_span span = {
		.start_ns = op->start_ns, .dur_ns = op->dur_ns, .name = in->name,
		.work = in->work,
	};
	struct op_cold cold;

	if (state && state->open != NONE) {
		const struct open_span *open = open_at(model, state->open);

		if (open->row == in->row)
			span.id = open->id;
		open_remove(model, state->open);
		state->open = NONE;
	}
	if (!span.id)
		span.id = ++row_at(model, in->row)->last_id;
	if (op->flags & OP_ASYNC)
		in->lane = row_fit(model, row_at(model, in->row), op->start_ns,
				   op->start_ns + op->dur_ns);
	op_fill_cold(model, in, &cold);
	if (state) {
		cold.device_ns = state->device_ns;
		cold.kernels = state->kernels;
		cold.first_row = state->first_row;
		cold.first_id = state->first_id;
	}
	in->pos = row_insert(model, in->row, in->lane, &span, &cold);
	return span.id;
}

static void op_count(struct model *model, const struct incoming *in,
		     const struct op_state *state, int64_t dur_ns)
{
	struct ident *ident = ident_at(model, state ? state->ident : in->ident);
	uint32_t buckets = ident->hist.n;

	if (!ident->count || dur_ns < ident->min_ns)
		ident->min_ns = dur_ns;
	hist_add(&ident->hist, dur_ns);
	model->ident_bytes += (ident->hist.n - buckets) * sizeof(uint64_t);
	ident->count++;
	ident->ranges += (in->op->flags & OP_RANGE) != 0;
	ident->inner |= (in->op->flags & OP_INNER) != 0;
	add_ns(&ident->total_ns, dur_ns);
	add_ns(&ident->self_ns, state ? self_of(state) : dur_ns);
	if (dur_ns > ident->max_ns)
		ident->max_ns = dur_ns;
}

/* The op waited for a thread of the pool that it was handed to. */
static void count_wait(struct model *model, const struct incoming *in)
{
	struct ident *ident = ident_at(model, in->ident);
	int64_t wait_ns = in->op->wait_ns;
	uint32_t buckets = ident->waits.n, thread;

	if (!wait_ns)
		return;
	ident->handed++;
	add_ns(&ident->wait_ns, wait_ns);
	if (wait_ns > ident->max_wait_ns)
		ident->max_wait_ns = wait_ns;
	hist_add(&ident->waits, wait_ns);
	model->ident_bytes += (ident->waits.n - buckets) * sizeof(uint64_t);
	thread = thread_get(model, in->process->index, in->op->tid);
	ident->wait_thread = thread + 1;	/* NONE + 1 is 0 */
	if (thread != NONE)
		pools_op(model, thread, wait_ns);
}

static void push_act(struct model *model, const struct incoming *in)
{
	const struct event_op *op = in->op;
	struct act act = {
		.kind = ACT_OP, .start_ns = op->start_ns, .end_ns = op->start_ns + op->dur_ns,
		.call_ns = op->wait_ns ? op->start_ns - op->wait_ns : 0,
		.op = op->instance, .process = in->process->index,
		.thread = thread_get(model, in->process->index, op->tid),
		.device = NONE, .queue = NONE, .name = in->name,
		.op_name = ident_at(model, in->ident)->type,
		.row = in->row + 1, .work = in->work, .object = op->frame,
		.command = op->framework,
		.flags = (op->flags & OP_RANGE ? ACT_RANGE : 0) |
			 (op->flags & OP_ASYNC ? ACT_ASYNC : 0),
	};

	if (op->framework >= FW_TENSORFLOW && op->payload)
		act.content = (uint32_t)(op->payload ^ op->payload >> 32) | 1;
	/* The ops that call functions have no step id, and PyTorch has no functions. */
	if (op->framework >= FW_TENSORFLOW && !(op->flags & OP_RANGE) &&
	    (op->step != -1 || op->framework == FW_PYTORCH)) {
		act.flags |= ACT_WORKS;
		act.amount = op->step != -1 ? (uint64_t)op->step : 0;
	}
	if (!(op->flags & OP_MARK))
		acts_push(model, &act);
}

static void count_lines(struct model *model, const struct incoming *in, struct op_state *state)
{
	const struct event_op *op = in->op;
	struct line_op_in line = {
		.ident = in->ident, .frame = in->frame, .shapes = in->shapes,
		.process = in->process->index, .tid = op->tid, .start_ns = op->start_ns,
		.dur_ns = op->dur_ns, .self_ns = state ? self_of(state) : op->dur_ns,
		.forward = op->forward, .unseen = in->unseen,
	};

	if (in->frame || in->shapes || op->forward || (state && state->nested))
		lines_ran(model, state, &line);
}

/* The op of the state has ended, so its times are known. */
static void state_ended(struct model *model, struct op_state *state, struct incoming *in)
{
	/* Children on other threads do not count. */
	if (state->tid && state->tid != in->op->tid)
		state->children_ns = 0;
	state->tid = in->op->tid;
	state->dur_ns = in->op->dur_ns;
	state->start_ns = in->op->start_ns;
	state_known(model, state, in->ident);
	in->ident = state->ident;
}

/* Remembers where its span is. */
static void state_drawn(struct op_state *state, const struct incoming *in, uint32_t id)
{
	state->row = in->row;
	state->lane = in->lane;
	state->id = id;
	state->place = (uint32_t)in->pos.chunk * LANE_CHUNK + in->pos.i;
	state->flags |= STATE_FINISHED;
}

void apply_op(struct model *model, const struct arrival *arrival)
{
	struct process *process = arrival->process;
	struct event_op op = arrival->event->u.op;
	struct op_state *state = NULL;
	struct incoming in;
	uint32_t index = NONE, id;

	if (op.dur_ns == -1 && !(op.flags & OP_MARK)) {
		announce_op(model, process, &op);
		return;
	}
	if (op.flags & OP_MARK)
		op.dur_ns = 0;
	if (op.wait_ns < 0 || op.wait_ns > DUR_MAX)
		op.wait_ns = 0;
	if (!span_ok(op.start_ns, op.dur_ns, arrival->event->time_ns)) {
		model_bad(model, bad_time(op.dur_ns));
		return;
	}
	if (!op_accept(model, process, &op, &in)) {
		model_bad(model, BAD_FULL);
		return;
	}
	if (op.instance)
		index = op_state_get(model, process->index, op.instance);
	if (index != NONE) {
		state = op_state_at(model, index);
		if (state->flags & STATE_FINISHED) {
			model_bad(model, BAD_TWICE);
			return;
		}
		state_ended(model, state, &in);
	}
	if (state && (state->flags & STATE_TOUCHED))
		in.work = WORK_OP;
	in.unseen = unseen_ran(model, process, in.ident, index, &op);
	if (state)
		state->unseen = in.unseen;
	op_count(model, &in, state, op.dur_ns);
	count_wait(model, &in);
	count_lines(model, &in, state);
	id = op_draw(model, &in, state);
	push_act(model, &in);
	graph_ran(model, process->index, in.ident, &op);
	if (state) {
		state_drawn(state, &in, id);
		optree_finished(model, index, &op);
		state_keep(model, index);
	} else {
		optree_nameless(model, process->index, in.ident, in.unseen, &op);
	}
	/* outermost on its thread: the parent is on another thread and keeps its self time */
	if (op.parent && op.depth && !(op.flags & (OP_ASYNC | OP_MARK)))
		add_child(model, process->index, &op,
			  state && state->use ? state->use - 1 : NONE);
	if ((op.flags & (OP_RANGE | OP_MARK)) == OP_RANGE)
		steps_range(model, process->index, in.name, op.start_ns, op.dur_ns);
	else if (op.framework == FW_JAX)
		steps_jax(model, process->index, local_name(model, process, op.op_type), in.name,
			  op.start_ns, op.dur_ns);
}

void ops_finish(struct model *model)
{
	/* Device work launched in ops that never arrived counts for the name in the launch. */
	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct map *ops = &process_at(model, i)->ops;

		for (size_t slot = 0; slot < ops->size; slot++) {
			struct op_state *state;

			if (!ops->values[slot])
				continue;
			state = op_state_at(model, ops->values[slot] - 1);
			if (!(state->flags & STATE_KNOWN) && (state->kernels || state->copies))
				state_known(model, state, ident_get(model, state->op_name, 0, 0,
								    FW_NONE));
			optree_orphan(model, ops->values[slot] - 1);
		}
	}
}
