/* SPDX-License-Identifier: MIT */
/* Turns the sorted items into events of the model. */
#include "model/import/emit_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/import/details.h"

#define START_NS 1000000000		/* start time for files that count from zero */
/* 30 days: a time that is farther away is impossible */
#define APART_NS INT64_C(2592000000000000)
#define LAUNCH_MAX_NS INT64_C(4294967295)
#define PARTLY 64u	/* how many levels are searched for an op that contains the item */
#define RUN_SEEN_NS 1000	/* how long after its end the record of a device is written */

/* ---- the stack of a thread ---- */

/* Removes what ended before a moment, or (inclusive) also what ends at it. */
static void stack_pop(struct build_track *track, int64_t at_ns, bool inclusive)
{
	while (track->depth && (track->stack[track->depth - 1].end_ns < at_ns ||
				(inclusive && track->stack[track->depth - 1].end_ns == at_ns)))
		track->depth--;
}

/* The innermost op that lasts until end_ns, or Python function; instance 0: none. */
static struct build_open stack_parent(const struct build_track *track, int64_t end_ns, bool python)
{
	size_t i = track->depth;

	for (size_t n = 0; i && n < PARTLY; n++)
		if (track->stack[--i].end_ns >= end_ns && track->stack[i].python == python)
			return track->stack[i];
	return (struct build_open) { 0 };
}

/* What was at work at that time: the innermost op, or, outside of any, the innermost function. */
static struct build_open stack_worker(const struct build_track *track, int64_t at_ns)
{
	struct build_open op = stack_parent(track, at_ns, false);

	return op.instance ? op : stack_parent(track, at_ns, true);
}

static void stack_push(struct build_track *track, struct build_open open)
{
	grow(&track->stack, &track->cap, track->depth, sizeof(*track->stack));
	track->stack[track->depth++] = open;
}

static void send_edge(struct import_build *build, uint32_t process, uint32_t flow, uint64_t to,
		      int64_t at_ns)
{
	const struct build_flow *f = &build->flows[flow - 1];
	struct event *event;

	if (!f->instance || f->process != process || f->instance == to)
		return;
	event = emit_put(build, EVENT_EDGE, process, 0, at_ns);
	event->u.edge = (struct event_edge) { .from = f->instance, .to = to };
}

/* ---- items ---- */

static void emit_op(struct import_build *build, const struct import_item *item,
		    struct build_track *track, int64_t start_ns)
{
	bool async = item->flags & ITEM_ASYNC, mark = item->type == ITEM_INSTANT;
	bool python = item->flags & ITEM_PYTHON;
	bool range = item->flags & ITEM_RANGE || track->ranges ||
		(python && map_get(&build->inner, item->order) == MAP_NONE);
	int64_t end_ns = start_ns + item->dur_ns;
	uint32_t process = track->process, name, type, domain = 0;
	struct event *event;
	uint64_t parent = 0;

	if (!async) {
		stack_pop(track, start_ns, true);
		parent = stack_parent(track, end_ns, python).instance;
	}
	name = emit_name(build, process, item->name, start_ns);
	type = emit_name(build, process, item->op_type, start_ns);
	if (python)
		domain = emit_name(build, process, build_word(build, BUILD_PYTHON, NAME_DOMAIN),
				   start_ns);
	event = emit_put(build, EVENT_OP, process, track->tid, end_ns);
	event->u.op = (struct event_op) {
		.instance = ++build->instances, .parent = parent, .start_ns = start_ns,
		.dur_ns = item->dur_ns, .step = -1, .tid = async ? 0 : track->tid, .name = name,
		.op_type = type, .domain = domain, .framework = item->kind,
		.depth = async ? 0 : track->depth < UINT16_MAX ? (uint16_t)track->depth :
			UINT16_MAX,
		.flags = (uint8_t)((async ? OP_ASYNC : 0) | (mark ? OP_MARK : 0) |
				   (range ? OP_RANGE : 0)),
	};
	if ((item->flags & ITEM_GIVES) && item->correlation)
		build->flows[item->correlation - 1] = (struct build_flow) {
			.instance = build->instances, .process = process,
		};
	if (item->flags & ITEM_TAKES)
		send_edge(build, process, (uint32_t)item->place, build->instances, end_ns);
	if (async || mark)
		return;
	stack_push(track, (struct build_open) { end_ns, build->instances, item->name, python });
	if (track->flow)
		send_edge(build, process, track->flow, build->instances, end_ns);
	track->flow = 0;
}

/* Several runs of a launch, or several launches of a run: the model joins only pairs. */
static bool joined_here(const struct build_correlation *c)
{
	return c->runs != 1 || c->launches != 1;
}

static void emit_call(struct import_build *build, const struct import_item *item,
		      struct build_track *track, int64_t start_ns)
{
	struct build_correlation *c = item->correlation ?
		&build->correlations[item->correlation - 1] : NULL;
	uint32_t process = track->process, name, queue, shape;
	struct build_open op;
	struct event *event;

	stack_pop(track, start_ns, true);
	op = stack_worker(track, start_ns);
	name = emit_name(build, process, item->name, start_ns);
	event = emit_put(build, EVENT_CALL, process, track->tid, start_ns + item->dur_ns);
	event->u.call = (struct event_call) {
		.name = name, .correlation = item->correlation, .start_ns = start_ns,
		.dur_ns = item->dur_ns,
	};
	if (!c || !c->runs)
		return;
	c->op = op.instance;
	c->op_name = emit_name(build, process, op.name, start_ns);
	c->tid = track->tid;
	c->call_ns = start_ns;
	c->call_dur_ns = item->dur_ns < LAUNCH_MAX_NS ? item->dur_ns : LAUNCH_MAX_NS;
	if (joined_here(c))
		return;
	queue = emit_queue(build, process, c->track, start_ns);
	name = emit_name(build, process, c->name, start_ns);
	shape = emit_shape(build, process, c->shape, start_ns);
	event = emit_put(build, EVENT_LAUNCH, process, track->tid, start_ns);
	event->u.launch = (struct event_launch) {
		.tid = track->tid, .queue = queue, .name = name, .shape = shape,
		.correlation = item->correlation, .call_ns = start_ns,
		.call_dur_ns = (uint32_t)c->call_dur_ns, .op = c->op, .op_name = c->op_name,
		.kind = c->kind,
	};
}

/* A wait is drawn on the thread whose call waits, where the file has that call. */
static void emit_wait(struct import_build *build, const struct import_item *item,
		      struct build_track *track, int64_t start_ns)
{
	const struct build_correlation *c = item->correlation ?
		&build->correlations[item->correlation - 1] : NULL;
	struct build_track *of = c && c->thread ? &build->tracks[c->thread - 1] : track;
	const struct build_track *stream = item->place ? &build->tracks[item->place - 1] : NULL;
	uint32_t name, op_name, queue = 0;
	struct build_open op;
	struct event *event;

	emit_track(build, of, start_ns);
	stack_pop(of, start_ns, true);
	op = stack_worker(of, start_ns);
	name = emit_name(build, of->process, item->name, start_ns);
	op_name = emit_name(build, of->process, op.name, start_ns);
	if (stream && stream->runs)
		queue = emit_queue(build, of->process, (uint32_t)item->place, start_ns);
	event = emit_put(build, EVENT_WAIT, of->process, of->tid, start_ns + item->dur_ns);
	event->u.wait = (struct event_wait) {
		.name = name, .start_ns = start_ns, .dur_ns = item->dur_ns, .queue = queue,
		.op = op.instance, .op_name = op_name,
	};
}

static void emit_command(struct import_build *build, const struct import_item *item,
			 uint32_t process, uint32_t queue, int64_t start_ns)
{
	struct build_correlation c = { 0 };
	uint32_t name = emit_name(build, process, item->name, start_ns);
	uint32_t op = emit_name(build, process, item->op_type, start_ns);
	uint32_t shape = emit_shape(build, process, item->shape, start_ns);
	struct event *event = emit_put(build, EVENT_COMMAND, process, 0, start_ns + item->dur_ns);

	if (item->correlation && (item->flags & ITEM_OF))
		c.op = build->flows[item->correlation - 1].instance;
	else if (item->correlation)
		c = build->correlations[item->correlation - 1];
	if (c.op_name)
		op = c.op_name;
	event->u.command = (struct event_command) {
		.queue = queue, .name = name, .op_name = op, .shape = shape, .bytes = item->bytes,
		.op = c.op, .tid = c.tid, .call_ns = c.call_ns,
		.call_dur_ns = (uint32_t)c.call_dur_ns, .start_ticks = (uint64_t)start_ns,
		.end_ticks = (uint64_t)(start_ns + item->dur_ns), .kind = item->kind,
		.direction = item->direction, .how = op || c.op ? HOW_EXACT : HOW_NONE,
	};
}

static void emit_run(struct import_build *build, const struct import_item *item,
		     struct build_track *track, int64_t start_ns)
{
	struct build_correlation *c = item->correlation && !(item->flags & ITEM_OF) ?
		&build->correlations[item->correlation - 1] : NULL;
	bool launched = c && c->launches;
	uint32_t process = launched ? c->process : track->process, queue, name;
	struct event *event;

	emit_process(build, process, start_ns);
	queue = emit_queue(build, process, item->track, start_ns);
	if (!launched || joined_here(c)) {
		emit_command(build, item, process, queue, start_ns);
		return;
	}
	name = emit_name(build, process, item->name, start_ns);
	event = emit_put(build, EVENT_RUN, process, 0, start_ns + item->dur_ns + RUN_SEEN_NS);
	event->u.run = (struct event_run) {
		.queue = queue, .name = name, .correlation = item->correlation,
		.bytes = item->bytes, .start_ticks = (uint64_t)start_ns,
		.end_ticks = (uint64_t)(start_ns + item->dur_ns), .kind = item->kind,
		.direction = item->direction,
	};
}

static void emit_step(struct import_build *build, const struct import_item *item, uint32_t process,
		      int64_t start_ns)
{
	uint32_t name = emit_name(build, process, item->name, start_ns);
	struct event *event = emit_put(build, EVENT_STEP, process, 0, start_ns + item->dur_ns);

	event->u.step = (struct event_step) {
		.name = name, .number = (int64_t)item->place, .start_ns = start_ns,
		.dur_ns = item->dur_ns,
	};
}

static void emit_memory(struct import_build *build, const struct import_item *item,
			struct build_track *track, int64_t start_ns)
{
	uint32_t process = track->process, name, op, device;
	struct build_open around;
	struct event *event;

	name = emit_name(build, process, item->name, start_ns);
	if (item->type == ITEM_FREE) {
		event = emit_put(build, EVENT_FREE, process, track->tid, start_ns);
		event->u.free = (struct event_free) { .allocator = name, .address = item->place };
		return;
	}
	stack_pop(track, start_ns, true);
	around = item->flags & ITEM_ASYNC ? (struct build_open) { 0 } :
		 stack_worker(track, start_ns);
	op = emit_name(build, process, around.name ? around.name : item->op_type, start_ns);
	device = emit_device(build, process, item->shape, start_ns);
	event = emit_put(build, EVENT_ALLOC, process, track->tid, start_ns);
	event->u.alloc = (struct event_alloc) {
		.allocator = name, .device = device, .op_name = op, .address = item->place,
		.bytes = item->bytes, .op = around.instance,
	};
}

static void emit_counter(struct import_build *build, const struct import_item *item,
			 int64_t start_ns)
{
	struct build_series *series = &build->series[item->name - 1];
	struct event *event;

	emit_process(build, series->process, start_ns);
	if (!series->sent) {
		uint32_t device = emit_device(build, series->process, series->device, start_ns);

		event = emit_put(build, EVENT_SERIES, series->process, 0, start_ns);
		event->u.series = (struct event_series) {
			.id = item->name, .device = device, .name = build_text(build, series->name),
			.unit = build_text(build, series->unit),
		};
		series->sent = true;
	}
	event = emit_put(build, EVENT_COUNTER, series->process, 0, start_ns);
	event->u.counter = (struct event_counter) {
		.series = item->name, .at_ns = start_ns, .value = (int64_t)item->place,
	};
}

static void emit_flow(struct import_build *build, const struct import_item *item,
		      struct build_track *track, int64_t start_ns)
{
	struct build_flow *flow = &build->flows[item->correlation - 1];
	uint64_t instance;

	/* A flow may leave at the very end of its op. */
	stack_pop(track, start_ns, item->type == ITEM_FLOW_TO);
	instance = track->depth ? track->stack[track->depth - 1].instance : 0;
	if (item->type == ITEM_FLOW_FROM)
		*flow = (struct build_flow) { .instance = instance, .process = track->process };
	else if (instance)
		send_edge(build, track->process, item->correlation, instance, start_ns);
	else
		track->flow = item->correlation;
}

static void emit_message(struct import_build *build, const struct import_item *item,
			 struct build_track *track, int64_t start_ns)
{
	uint32_t name = emit_name(build, track->process, item->name, start_ns);
	struct event *event;

	stack_pop(track, start_ns, false);
	event = emit_put(build, EVENT_FLOW, track->process, track->tid, start_ns);
	event->u.flow = (struct event_flow) {
		.name = name, .key = item->place, .bytes = item->bytes, .at_ns = start_ns,
		.op = stack_worker(track, start_ns).instance, .dur_ns = -1,
		.phase = item->kind,
	};
}

static void emit_item(struct import_build *build, const struct import_item *item)
{
	struct build_track *track = &build->tracks[item->track - 1];
	int64_t start_ns = item->start_ns + build->shift_ns;

	if (track->kind == TRACK_SKIP || (track->sure_only && item->unsure))
		return;
	if (item->type != ITEM_WAIT && (track->kind == TRACK_THREAD || item->type != ITEM_SPAN))
		emit_track(build, track, start_ns);
	switch ((enum item_type)item->type) {
	case ITEM_FLOW_FROM:
	case ITEM_FLOW_TO:
		if (track->kind == TRACK_THREAD && item->correlation)
			emit_flow(build, item, track, start_ns);
		break;
	case ITEM_MESSAGE:
		emit_message(build, item, track, start_ns);
		break;
	case ITEM_STEP:
		emit_step(build, item, track->process, start_ns);
		break;
	case ITEM_ALLOC:
	case ITEM_FREE:
		emit_memory(build, item, track, start_ns);
		break;
	case ITEM_COUNTER:
		if (item->name)
			emit_counter(build, item, start_ns);
		break;
	case ITEM_WAIT:
		emit_wait(build, item, track, start_ns);
		break;
	case ITEM_SPAN:
	case ITEM_INSTANT:
		if (track->kind == TRACK_STREAM && item->type == ITEM_SPAN)
			emit_run(build, item, track, start_ns);
		else if (track->kind == TRACK_STREAM)
			break;
		else if (item->flags & ITEM_CALL || (track->calls && item->type == ITEM_SPAN))
			emit_call(build, item, track, start_ns);
		else
			emit_op(build, item, track, start_ns);
		break;
	}
}

/* ---- all items ---- */

/* Uses the file's own name for it if the reader found no better one. */
static void look_at_run(struct import_build *build, struct import_item *item)
{
	uint32_t op = item->name;
	const char *name;

	if (item->flags & ITEM_NODE) {
		item->flags &= (uint8_t)~ITEM_NODE;
		item->name = item->op_type;
		item->op_type = op;
	}
	if (item->kind)
		return;
	name = build_text(build, item->name);
	item->kind = (uint8_t)details_kind(name);
	if (item->kind == COMMAND_COPY && !item->direction)
		item->direction = (uint8_t)details_direction(name);
	if (item->kind == COMMAND_FILL)
		item->direction = DIR_FILL;
}

/* Decides who launches and who runs, now that it is known what the tracks are. */
static void emit_survey_item(void *arg, struct import_item *item)
{
	struct import_build *build = arg;
	struct build_track *track = &build->tracks[item->track - 1];
	struct build_correlation *c;

	if (!build->votes)
		build->vote_ns = item->start_ns;
	build->votes += llabs(item->start_ns - build->vote_ns) < APART_NS ? 1 : -1;
	if (item->type != ITEM_SPAN || track->kind == TRACK_SKIP ||
	    (track->sure_only && item->unsure))
		return;
	if (track->kind == TRACK_STREAM) {
		look_at_run(build, item);
		track->runs = true;
	}
	if (!item->correlation || (item->flags & (ITEM_GIVES | ITEM_OF)))
		return;
	c = &build->correlations[item->correlation - 1];
	if (track->kind == TRACK_STREAM) {
		c->runs++;
		c->track = item->track;
		c->name = item->name;
		c->shape = item->shape;
		c->kind = item->kind;
	} else if (item->flags & ITEM_CALL) {
		c->launches++;
		c->process = track->process;
		c->thread = item->track;
	}
}

static void find_start(void *arg, struct import_item *item)
{
	struct import_build *build = arg;

	if (llabs(item->start_ns - build->vote_ns) < APART_NS && item->start_ns < build->low_ns)
		build->low_ns = item->start_ns;
}

/* Finds the Python functions in which device work was launched outside of any op: these are ops,
 * the others are only what ops were called from. To be called when the items are sorted. */
static void emit_find_inner(struct import_build *build)
{
	const struct import_item *item;
	struct build_open worker;

	while ((item = spool_next(build->spool)) && !build_stopped(build)) {
		struct build_track *track = &build->tracks[item->track - 1];

		if (item->type != ITEM_SPAN || track->kind != TRACK_THREAD ||
		    item->flags & ITEM_ASYNC)
			continue;
		stack_pop(track, item->start_ns, true);
		if (!(item->flags & ITEM_CALL)) {
			stack_push(track, (struct build_open) {
				item->start_ns + item->dur_ns, item->order + 1, 0,
				item->flags & ITEM_PYTHON,
			});
			continue;
		}
		worker = stack_worker(track, item->start_ns);
		if (worker.python && item->correlation &&
		    build->correlations[item->correlation - 1].runs)
			map_set(&build->inner, worker.instance - 1, 1);
	}
	for (size_t i = 0; i < build->n_tracks; i++)
		build->tracks[i].depth = 0;
	spool_sort(build->spool);
}

void build_run(struct import_build *build)
{
	uint64_t total = spool_count(build->spool);
	const struct import_item *item;
	int64_t last_ns = 0;

	if (build_stopped(build))
		return;
	build->batch = xcalloc(EMIT_BATCH + 1, sizeof(*build->batch));
	spool_each(build->spool, emit_survey_item, build);
	build->low_ns = build->vote_ns;
	spool_each(build->spool, find_start, build);
	if (build->low_ns <= 0)
		build->shift_ns = START_NS - build->low_ns;
	spool_sort(build->spool);
	if (build->python)
		emit_find_inner(build);
	while ((item = spool_next(build->spool)) && !build_stopped(build)) {
		if (llabs(item->start_ns - build->vote_ns) >= APART_NS) {
			build->strange++;
			continue;
		}
		emit_item(build, item);
		last_ns = item->start_ns + build->shift_ns;
		if (++build->out % EMIT_BATCH == 0) {
			emit_flush(build, last_ns);
			atomic_store(build->progress, 500 + (int)(build->out * 500 / total));
		}
	}
	emit_flush(build, last_ns);
	if (build->strange)
		build_say(build, 1, "%" PRIu64 " of %" PRIu64 " events lie more than 30 days from "
			  "the others: left out", build->strange, total);
}
