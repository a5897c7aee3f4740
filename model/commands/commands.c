/* SPDX-License-Identifier: MIT */
/*
 * Commands of queues: from the record to a span on the timeline.
 *
 * Idea: a finished command waits until its queue (and so its device) and a map of the device's
 * clock are known, for half a second at most; after that, and at the end, its own launch anchors
 * the clock. Commands that need no clock (announcements, failures, host times, no times) never
 * wait. Spans remember the clock segment that mapped them, so that a later pair moves exactly the
 * spans that it concerns (model/align/align.c).
 *
 * Always true: a command enters the totals exactly once, when it is resolved. The announcement
 * and the end of a command may arrive in either order; the announcement of a finished command is
 * ignored (`done` remembers the last DONE_BITS correlations of a process).
 *
 * Complexity: O(1) and one insertion for a command; O(spans that move) for a new pair.
 */
#include "model/commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "model/acts/acts.h"
#include "model/align/align.h"
#include "model/base/util.h"
#include "model/clocks/clock.h"
#include "model/commands/replays.h"
#include "model/core/model.h"
#include "model/lines/lines.h"
#include "model/ops/ops.h"
#include "model/rows/rows.h"
#include "model/totals/totals.h"

#define PENDING_MAX (1u << 17)		/* commands that wait for a clock or a queue */
#define PENDING_WAIT_NS 500000000	/* after this long, a launch anchors the clock */
#define LOST_NS 1000000000		/* ends that arrive late have arrived after this long */

/* ---- kinds ---- */

static bool is_kernel(uint8_t kind)
{
	return kind == COMMAND_KERNEL || kind == COMMAND_NATIVE || kind == COMMAND_GRAPH ||
	       kind == COMMAND_OTHER;
}

static bool is_copy(uint8_t kind)
{
	return kind == COMMAND_COPY || kind == COMMAND_FILL || kind == COMMAND_MAP ||
	       kind == COMMAND_UNMAP || kind == COMMAND_MIGRATE;
}

static enum direction command_direction(const struct event_command *command)
{
	if (!is_copy(command->kind))
		return DIR_NONE;
	if (command->direction != DIR_NONE && command->direction < DIR_COUNT)
		return (enum direction)command->direction;
	switch (command->kind) {
	case COMMAND_FILL:
		return DIR_FILL;
	case COMMAND_MAP:
		return DIR_MAP;
	case COMMAND_UNMAP:
		return DIR_UNMAP;
	default:
		return DIR_NONE;
	}
}

static uint32_t row_of_command(struct model *model, uint32_t queue,
			       const struct event_command *command)
{
	return is_kernel(command->kind) ? row_of_queue(model, queue) :
	       row_of_copies(model, queue, command_direction(command));
}

static void command_fill_cold(const struct event_command *command, uint32_t op_name,
			      struct command_cold *cold)
{
	memset(cold, 0, sizeof(*cold));
	cold->detail = is_kernel(command->kind) ? command->shape : command->bytes;
	cold->op = command->op;
	cold->call_ns = time_ok(command->call_ns) ? command->call_ns : 0;
	cold->op_name = op_name;
	cold->tid = command->tid;
	cold->call_dur_ns = command->call_dur_ns;
	cold->status = command->status > 0 ? 0 : command->status;
	cold->kind_how = (uint8_t)(command->kind |
				   (command->how < HOW_COUNT ? command->how : HOW_NONE) << 5);
	cold->segment = CLOCK_FIXED;
	if (!is_kernel(command->kind)) {
		cold->place = command->shape;
		cold->flags = command->flags & (CMD_PINNED | CMD_BLOCKING);
	}
}

static uint8_t work_of_command(struct model *model, const struct event_command *command,
			       uint32_t name)
{
	return (uint8_t)(is_kernel(command->kind) ? names_work(&model->names, name) : WORK_COPY);
}

/* ---- announced ones ---- */

static void announce_command(struct model *model, struct process *process,
			     const struct event_command *command)
{
	uint32_t queue = process_queue_get(model, process, command->queue), name, open;
	struct open_span span = {
		.lane = 0, .start_ns = command->call_ns, .key = command->correlation,
		.process = process->index,
	};

	if (!is_kernel(command->kind) && !is_copy(command->kind))
		return;
	if (!command->correlation || queue == NONE || !time_ok(command->call_ns)) {
		model_bad(model, BAD_ID);
		return;
	}
	if (done_get(process, command->correlation) ||
	    map_get(&process->opens, command->correlation) != MAP_NONE)
		return;
	name = local_name(model, process, command->name);
	span.name = name;
	span.row = row_of_command(model, queue, command);
	if (span.row == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	span.work = work_of_command(model, command, name);
	command_fill_cold(command, local_name(model, process, command->op_name),
			  &span.cold.command);
	span.id = ++row_at(model, span.row)->last_id;
	open = open_add(model, &span);
	if (open == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	map_set(&process->opens, command->correlation, open);
	queue_at(model, queue)->in_flight++;
	op_touched(model, process->index, command->op, span.cold.command.op_name);
}

/* Ends the announced span of this correlation; returns its id if it was drawn in this row, else
 * 0. */
static uint32_t end_open(struct model *model, struct process *process, uint32_t correlation,
			 uint32_t row)
{
	uint32_t open = correlation ? map_get(&process->opens, correlation) : MAP_NONE, id;
	struct queue *queue;

	if (open == MAP_NONE)
		return 0;
	queue = queue_at(model, row_at(model, open_at(model, open)->row)->queue);
	queue->in_flight -= queue->in_flight > 0;
	id = open_at(model, open)->row == row ? open_at(model, open)->id : 0;
	open_remove(model, open);
	map_remove(&process->opens, correlation);
	return id;
}

void command_forget(struct model *model, struct process *process, uint32_t correlation)
{
	end_open(model, process, correlation, NONE);
}

/* Commands launched before that time and still open have lost their end; they must not look busy
 * for ever. */
static void forget_lost(struct model *model, uint32_t index, int64_t before_ns)
{
	struct queue *queue = queue_at(model, index);
	struct process *process = process_at(model, queue->process);

	for (int d = -1; d < DIR_COUNT && queue->in_flight && model->n_losses; d++) {
		uint32_t row = d < 0 ? queue->row : queue->copies[d], o, next;

		for (o = row == NONE ? NONE : row_at(model, row)->opens; o != NONE; o = next) {
			next = open_at(model, o)->next;
			if (open_at(model, o)->start_ns < before_ns)
				command_forget(model, process, (uint32_t)open_at(model, o)->key);
		}
	}
}

/* A command on an in-order queue has ended that was launched long after others: the ends of those
 * are lost. */
static void look_for_lost(struct model *model, uint32_t index, int64_t call_ns)
{
	struct queue *queue = queue_at(model, index);

	if (!(queue->flags & QUEUE_IN_ORDER) || call_ns <= queue->looked_ns + LOST_NS / 8)
		return;
	queue->looked_ns = call_ns;
	forget_lost(model, index, call_ns - LOST_NS);
}

/* ---- finished ones ---- */

/* A command on its way to the timeline. */
struct drawn_command {
	const struct event_command *command;
	struct process *process;
	uint32_t queue, name, op_name, row, lane;
	uint32_t frame;			/* frame_get() of a graph's node; 0: that of its op */
	int64_t start_ns, dur_ns;	/* dur_ns: on the device's clock */
	int64_t drawn_ns;		/* its duration on the host's clock */
	uint8_t segment;
	bool timed, again;		/* a command with this correlation has finished before */
};

static uint32_t command_draw(struct model *model, struct drawn_command *t, uint8_t flags,
			     uint32_t id)
{
	const struct event_command *command = t->command;
	struct row *row;
	struct lane_span span = {
		.start_ns = t->start_ns, .dur_ns = t->drawn_ns, .name = t->name, .flags = flags,
	};
	struct command_cold cold;
	uint64_t queued = command->queued_ticks, submit = command->submit_ticks;

	row = row_at(model, t->row);
	span.id = id ? id : ++row->last_id;
	span.work = work_of_command(model, command, t->name);
	command_fill_cold(command, t->op_name, &cold);
	if (is_kernel(command->kind))
		cold.place = t->frame;
	cold.segment = t->segment;
	if (t->segment != CLOCK_FIXED && queued && queued <= command->start_ticks)
		cold.queued = pack_delta((int64_t)(command->start_ticks - queued));
	if (t->segment != CLOCK_FIXED && submit && submit <= command->start_ticks)
		cold.submit = pack_delta((int64_t)(command->start_ticks - submit));
	t->lane = row_fit(model, row, t->start_ns, t->start_ns + t->drawn_ns);
	row_insert(model, t->row, t->lane, &span, &cold);
	return span.id;
}

static void command_count_run(struct model *model, const struct drawn_command *t, bool failed)
{
	const struct event_command *command = t->command;
	struct queue *queue = queue_at(model, t->queue);
	struct finished_run run = {
		.process = t->process->index, .queue = t->queue, .name = t->name,
		.op_name = t->op_name, .direction = command_direction(command),
		.how = command->how < HOW_COUNT ? (enum how)command->how : HOW_NONE,
		.timed = t->timed, .approx = command->flags & CMD_APPROX, .failed = failed,
		.dur_ns = t->dur_ns, .bytes = command->bytes, .shape = command->shape,
		.pinned = command->flags & CMD_PINNED,
	};
	uint64_t queued = command->queued_ticks;

	if (is_kernel(command->kind))
		total_kernel(model, &run);
	else
		total_copy(model, &run);
	if (failed) {
		queue->failed++;
		return;
	}
	*(is_kernel(command->kind) ? &queue->kernels : &queue->n_copies) += 1;
	if (is_kernel(command->kind))
		model->n_kernels++;
	model->how[run.how]++;
	if (command->kind == COMMAND_GRAPH && t->timed)
		replays_whole(model, t->name, t->op_name, t->dur_ns);
	add_ns(&model->device_ns, t->dur_ns);
	add_ns(&model->launched_ns, run.how == HOW_NONE ? 0 : t->dur_ns);
	add_ns(&model->op_ns, run.how == HOW_NONE || !t->op_name ? 0 : t->dur_ns);
	if (t->timed && !run.approx && queued && queued <= command->start_ticks &&
	    command->start_ticks - queued < DUR_MAX)
		hist_add(&queue->delay, (int64_t)(command->start_ticks - queued));
}

/* Tells the analyses that the command was launched and, if id is not 0, that it ran. */
static void push_acts(struct model *model, const struct drawn_command *t, uint32_t id)
{
	const struct event_command *command = t->command;
	struct act act = {
		.kind = ACT_LAUNCH, .start_ns = command->call_ns,
		.call_ns = id ? t->start_ns : 0, .call_dur_ns = command->call_dur_ns,
		.amount = is_kernel(command->kind) ? 0 : command->bytes, .op = command->op,
		.process = t->process->index,
		.thread = command->tid ? thread_get(model, t->process->index, command->tid) :
					 NONE,
		.device = NONE, .queue = t->queue, .name = t->name, .op_name = t->op_name,
		.command = command->kind, .direction = (uint8_t)command_direction(command),
		.object = command->shape,
		.work = is_kernel(command->kind) ? WORK_OTHER : WORK_COPY,
		.flags = (command->flags & CMD_APPROX ? ACT_APPROX : 0) |
			 (command->flags & CMD_PINNED ? ACT_PINNED : 0) |
			 (command->flags & CMD_BLOCKING ? ACT_BLOCKING : 0),
	};

	if (command->flags & CMD_MANY) {
		act.call_dur_ns = 0;
		act.flags |= ACT_NODE;
	} else if (time_ok(command->call_ns)) {
		act.end_ns = command->call_ns + command->call_dur_ns;
		acts_push(model, &act);
	} else {
		act.call_dur_ns = 0;
	}
	if (!id)
		return;
	act.call_ns = time_ok(command->call_ns) ? command->call_ns : 0;
	act.kind = ACT_RUN;
	act.start_ns = t->start_ns;
	act.end_ns = t->start_ns + t->drawn_ns;
	act.row = t->row + 1;
	acts_push(model, &act);
}

/* Whether this very command has been drawn already; correlations may also be reused. */
static bool is_twice(struct model *model, const struct drawn_command *t)
{
	const struct row *row = t->again ? row_at(model, t->row) : NULL;

	for (uint32_t l = 0; row && l < row->n_lanes; l++) {
		struct lane_pos pos;

		for (bool more = lane_lower(&row->lanes[l], t->start_ns, &pos); more;
		     more = lane_next(&row->lanes[l], &pos)) {
			struct lane_span span = lane_get(&row->lanes[l], pos);
			struct command_cold cold;

			if (span.start_ns != t->start_ns)
				break;
			lane_cold(&row->lanes[l], pos, &cold);
			if (span.dur_ns == t->drawn_ns && span.name == t->name &&
			    cold.call_ns == t->command->call_ns)
				return true;
		}
	}
	return false;
}

static void finish_failed(struct model *model, struct drawn_command *t)
{
	const struct event_command *command = t->command;
	uint32_t id;

	command_count_run(model, t, true);
	push_acts(model, t, 0);
	op_touched(model, t->process->index, command->op, t->op_name);
	t->row = row_of_command(model, t->queue, command);
	id = end_open(model, t->process, command->correlation, t->row);
	if (t->row == NONE || !time_ok(command->call_ns))
		return;
	/* The command never ran: draws an instant where it was launched. */
	t->start_ns = command->call_ns;
	t->dur_ns = t->drawn_ns = 0;
	command_draw(model, t, COLUMN_FAILED, id);
}

static void finish_command(struct model *model, struct drawn_command *t, int64_t written_ns)
{
	const struct event_command *command = t->command;
	struct launch launch = {
		.process = t->process->index, .tid = command->tid,
		.op_name = local_name(model, t->process, command->op_name),
		.op = command->op, .call_ns = command->call_ns,
		.kernel = is_kernel(command->kind), .bytes = command->bytes, .row = NONE,
		.cpu = queue_on_processor(model, t->queue), .frame = t->frame,
	};
	uint32_t id;

	t->row = row_of_command(model, t->queue, command);
	id = end_open(model, t->process, command->correlation, t->row);
	if (t->row == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	if (t->timed && !span_ok(t->start_ns, t->dur_ns, written_ns)) {
		model_bad(model, bad_time(t->dur_ns));
		t->timed = false;
	}
	if (!t->timed)
		t->dur_ns = 0;
	if (t->timed && is_twice(model, t)) {
		model_bad(model, BAD_TWICE);
		return;
	}
	command_count_run(model, t, false);
	if (t->timed) {
		launch.id = command_draw(model, t, command->flags & CMD_APPROX ? COLUMN_APPROX : 0,
					 id);
		launch.row = t->row;
		launch.device_ns = t->dur_ns;
	}
	push_acts(model, t, launch.id);
	look_for_lost(model, t->queue, command->call_ns);
	if (command->op)
		op_launched(model, &launch);
}

static void park(struct model *model, struct pendings *pending, const struct pending *one)
{
	if (model->pending_n >= PENDING_MAX)
		commands_drain(model, pending, true);
	grow(&pending->list, &pending->cap, pending->n, sizeof(*pending->list));
	pending->list[pending->n++] = *one;
	model->pending_n++;
	if (one->time_ns - pending->list[0].time_ns > PENDING_WAIT_NS)
		commands_drain(model, pending, true);
}

/* At the end, a queue that was never defined gets an unknown device. */
static uint32_t stand_in(struct model *model, uint32_t index)
{
	struct queue *queue = queue_at(model, index);
	uint32_t view = view_get(model, queue->process, 0);

	if (view == NONE)
		return NONE;
	queue->view = view;
	queue_listed(model, index);
	model_odd(model, BAD_UNKNOWN);
	/* Commands that needed no clock may be drawn already. */
	device_rebuild(model, view_at(model, view)->device);
	return view;
}

static void guess_clock(struct clock *clock, const struct pending *one)
{
	const struct event_command *command = &one->command;
	int64_t call = time_ok(command->call_ns) ? command->call_ns : one->time_ns;

	if (command->queued_ticks)
		clock_guess(clock, command->queued_ticks, call, command->call_dur_ns);
	else
		clock_guess(clock, command->start_ticks, call + command->call_dur_ns,
			    command->call_dur_ns);
}

static void take_command(struct model *model, const struct pending *one, bool force)
{
	const struct event_command *command = &one->command;
	struct process *process = process_at(model, one->process);
	struct drawn_command t = {
		.command = command, .process = process, .again = one->again,
		.queue = process_queue_get(model, process, command->queue),
	};
	struct queue *queue;
	struct device_view *view;

	if (t.queue == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	queue = queue_at(model, t.queue);
	t.name = local_name(model, process, command->name);
	/* A graph's node counts for the op that it was captured in. */
	t.op_name = local_name(model, process,
			       one->node.op_name ? one->node.op_name : command->op_name);
	t.frame = frame_get(model, process->index, one->node.source);
	if (command->status < 0) {
		finish_failed(model, &t);
		return;
	}
	t.timed = !(command->flags & CMD_NOTIMES) && command->start_ticks && command->end_ticks;
	if (t.timed && (command->end_ticks < command->start_ticks ||
			command->end_ticks - command->start_ticks > DUR_MAX)) {
		model_bad(model, BAD_END);
		t.timed = false;
	}
	t.dur_ns = t.timed ? (int64_t)(command->end_ticks - command->start_ticks) : 0;
	t.drawn_ns = t.dur_ns;
	if (!t.timed || (command->flags & CMD_APPROX)) {
		t.start_ns = (int64_t)command->start_ticks;
		finish_command(model, &t, one->time_ns);
		return;
	}
	if (queue->view == NONE && (!force || stand_in(model, t.queue) == NONE)) {
		if (!force)
			park(model, &queue->pending, one);
		else
			model_bad(model, BAD_FULL);
		return;
	}
	view = view_at(model, queue->view);
	/* A launch and a run that may not belong together must not bound the clock. */
	if (!one->observed && command->how != HOW_FIFO && command->how != HOW_GUESS)
		align_command(model, process, queue->view, command, commands_clock_known);
	if (!clock_has(&view->clock) && !force) {
		struct pending parked = *one;

		parked.observed = true;
		park(model, &view->pending, &parked);
		return;
	}
	if (!clock_has(&view->clock))
		guess_clock(&view->clock, one);
	t.start_ns = clock_map(&view->clock, command->start_ticks, &t.segment);
	t.drawn_ns = clock_length(&view->clock, command->start_ticks, command->end_ticks);
	finish_command(model, &t, one->time_ns);
}

void apply_command(struct model *model, const struct arrival *in)
{
	command_in(model, in->process, &in->event->u.command, (struct command_node){ 0 },
		   arrival_written_ns(model, in));
}

void command_in(struct model *model, struct process *process, const struct event_command *command,
		struct command_node node, int64_t written_ns)
{
	struct pending one = {
		.command = *command, .process = process->index, .node = node,
		.time_ns = written_ns,
	};

	if (command->kind == COMMAND_NONE || command->kind >= COMMAND_KIND_COUNT) {
		model_bad(model, BAD_KIND);
		return;
	}
	if (command->flags & CMD_OPEN) {
		announce_command(model, process, command);
		return;
	}
	if (command->correlation) {
		one.again = done_get(process, command->correlation);
		done_set(process, command->correlation);
	}
	if (!is_kernel(command->kind) && !is_copy(command->kind)) {
		end_open(model, process, command->correlation, NONE);
		return;		/* markers and barriers do no work */
	}
	take_command(model, &one, false);
}

void commands_drain(struct model *model, struct pendings *pending, bool force)
{
	struct pendings all = *pending;

	memset(pending, 0, sizeof(*pending));
	model->pending_n -= all.n;
	for (size_t i = 0; i < all.n; i++) {
		take_command(model, &all.list[i], force);
		if (i % 32 == 31)
			model_breathe(model);
	}
	free(all.list);
}

void commands_clock_known(struct model *model, uint32_t view)
{
	if (view_at(model, view)->pending.n)
		commands_drain(model, &view_at(model, view)->pending, false);
}

void commands_alive(struct model *model, int64_t now_ns)
{
	if (!model->pending_n)
		return;
	for (uint32_t i = 0; i < model->queues.n; i++) {
		struct pendings *pending = &queue_at(model, i)->pending;

		if (pending->n && now_ns - pending->list[0].time_ns > PENDING_WAIT_NS)
			commands_drain(model, pending, true);
	}
	for (uint32_t i = 0; i < model->views.n; i++) {
		struct pendings *pending = &view_at(model, i)->pending;

		if (pending->n && now_ns - pending->list[0].time_ns > PENDING_WAIT_NS)
			commands_drain(model, pending, true);
	}
}

void commands_finish(struct model *model)
{
	for (uint32_t i = 0; i < model->queues.n; i++)
		commands_drain(model, &queue_at(model, i)->pending, true);
	for (uint32_t i = 0; i < model->views.n; i++)
		commands_drain(model, &view_at(model, i)->pending, true);
	for (uint32_t i = 0; i < model->queues.n; i++)
		if (process_at(model, queue_at(model, i)->process)->exited)
			forget_lost(model, i, INT64_MAX);
}
