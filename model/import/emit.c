/* SPDX-License-Identifier: MIT */
/* Turns the sorted items into events of the model. */
#include "model/import/build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/import/details.h"

#define BATCH 512u
#define START_NS 1000000000		/* start time for files that count from zero */
/* 30 days: a time that is farther away is impossible */
#define APART_NS INT64_C(2592000000000000)
#define LAUNCH_MAX_NS INT64_C(4294967295)
#define PARTLY 64u	/* how many levels are searched for an op that contains the item */
/* where the numbers of shapes start if names and shapes are numbered together */
#define SHAPES (UINT64_C(1) << 31)
#define RUN_SEEN_NS 1000	/* how long after its end the record of a device is written */

static void flush(struct import_build *build, int64_t alive_ns)
{
	if (alive_ns > 0)
		build->batch[build->n_batch++] = (struct event) {
			.type = EVENT_ALIVE, .time_ns = alive_ns,
		};
	if (build->n_batch)
		build->options->sink(build->options->arg, build->batch, build->n_batch);
	build->n_batch = 0;
}

static struct event *emit_put(struct import_build *build, enum event_type type, uint32_t process,
			      uint32_t tid, int64_t time_ns)
{
	struct event *event;

	if (build->n_batch + 2 >= BATCH)
		flush(build, 0);
	event = &build->batch[build->n_batch++];
	*event = (struct event) {
		.type = (uint8_t)type, .tid = tid, .time_ns = time_ns,
		.pid = build->processes[process - 1].pid,
	};
	return event;
}

/* ---- definitions, sent when first used ---- */

/* Whether the definition was already sent to that process; marks it as sent. */
static bool was_sent(struct import_build *build, uint64_t *sent, uint64_t what, uint32_t process)
{
	uint64_t key = what << 32 | process, bit;

	if (process < 64) {
		bit = UINT64_C(1) << process;
		if (*sent & bit)
			return true;
		*sent |= bit;
		return false;
	}
	if (map_get(&build->sent, key) != MAP_NONE)
		return true;
	map_set(&build->sent, key, 1);
	return false;
}

static uint32_t emit_name(struct import_build *build, uint32_t process, uint32_t name,
			  int64_t at_ns)
{
	struct event *event;
	struct build_name *n;

	if (!name)
		return 0;
	n = &build->names[name - 1];
	if (was_sent(build, &n->sent, name, process))
		return name;
	event = emit_put(build, EVENT_NAME, process, 0, at_ns);
	event->u.name = (struct event_name) { .id = name, .kind = n->kind, .text = n->text };
	return name;
}

static void send_process(struct import_build *build, uint32_t process, int64_t at_ns)
{
	struct build_process *p = &build->processes[process - 1];
	struct event *event;

	if (p->sent)
		return;
	p->sent = true;
	event = emit_put(build, EVENT_PROCESS, process, p->pid, at_ns);
	event->u.process = (struct event_process) {
		.schema = EVENT_SCHEMA, .start_ns = at_ns, .rank = -1, .world = -1, .host = p->host,
		.command = p->command,
	};
	for (size_t i = 0; i < build->n_infos; i++) {
		const struct build_info *info = &build->infos[i];

		if (info->process != process)
			continue;
		event = emit_put(build, EVENT_INFO, process, 0, at_ns);
		event->u.info = (struct event_info) { info->scope, info->key, info->value };
	}
}

static void send_track(struct import_build *build, struct build_track *track, int64_t at_ns)
{
	struct event *event;

	send_process(build, track->process, at_ns);
	if (track->sent)
		return;
	track->sent = true;
	if (track->kind != TRACK_THREAD || !track->name || !*track->name)
		return;
	event = emit_put(build, EVENT_THREAD, track->process, track->tid, at_ns);
	event->u.thread = (struct event_thread) { .tid = track->tid, .name = track->name };
}

/* The device's id in the process; 0: none. */
static uint32_t emit_device(struct import_build *build, uint32_t process, uint32_t device,
			    int64_t at_ns)
{
	const struct build_device *d;
	uint64_t key = (uint64_t)device << 32 | process;
	struct event *event;

	if (!device || map_get(&build->device_sent, key) != MAP_NONE)
		return device;
	map_set(&build->device_sent, key, 1);
	d = &build->devices[device - 1];
	event = emit_put(build, EVENT_DEVICE, process, 0, at_ns);
	event->u.device = (struct event_device) {
		.id = device, .index = d->index, .units = d->units, .clock_mhz = d->clock_mhz,
		.memory_bytes = d->memory_bytes, .gpu = d->gpu, .api = "file", .name = d->name,
		.vendor = d->vendor, .platform = "", .driver = "", .address = "",
	};
	/* All times of the file are of one clock already. */
	event = emit_put(build, EVENT_CLOCK, process, 0, at_ns);
	event->u.clock = (struct event_clock) {
		.device = device, .quality = CLOCK_KNOWN, .ticks = (uint64_t)at_ns,
		.host_ns = at_ns,
	};
	return device;
}

static uint32_t emit_queue(struct import_build *build, uint32_t process, uint32_t track,
			   int64_t at_ns)
{
	const struct build_track *t = &build->tracks[track - 1];
	uint64_t key = (uint64_t)track << 32 | process;
	uint32_t queue = map_get(&build->queue_by_key, key);
	struct event *event;

	if (queue != MAP_NONE)
		return queue;
	queue = ++build->next_queue;
	map_set(&build->queue_by_key, key, queue);
	emit_device(build, process, t->device, at_ns);
	event = emit_put(build, EVENT_QUEUE, process, 0, at_ns);
	event->u.queue = (struct event_queue) {
		.id = queue, .device = t->device, .context = 1, .flags = QUEUE_PROFILED,
		.name = t->name ? t->name : "",
	};
	return queue;
}

static uint32_t emit_shape(struct import_build *build, uint32_t process, uint32_t shape,
			   int64_t at_ns)
{
	struct build_shape *s;
	struct event *event;

	if (!shape)
		return 0;
	s = &build->shapes[shape - 1];
	if (was_sent(build, &s->sent, SHAPES + shape, process))
		return shape;
	event = emit_put(build, EVENT_SHAPE, process, 0, at_ns);
	event->u.shape = (struct event_shape) {
		.id = shape, .dims = 3,
		.global = { s->global[0], s->global[1], s->global[2] },
		.local = { s->local[0], s->local[1], s->local[2] },
	};
	return shape;
}

/* ---- the stack of a thread ---- */

/* Removes what ended before a moment, or (inclusive) also what ends at it. */
static void stack_pop(struct build_track *track, int64_t at_ns, bool inclusive)
{
	while (track->depth && (track->stack[track->depth - 1].end_ns < at_ns ||
				(inclusive && track->stack[track->depth - 1].end_ns == at_ns)))
		track->depth--;
}

/* The innermost op that lasts until end_ns; instance 0: none. */
static struct build_open stack_parent(const struct build_track *track, int64_t end_ns)
{
	size_t i = track->depth;

	for (size_t n = 0; i && n < PARTLY; n++)
		if (track->stack[--i].end_ns >= end_ns)
			return track->stack[i];
	return (struct build_open) { 0 };
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
	int64_t end_ns = start_ns + item->dur_ns;
	uint32_t process = track->process, name, type;
	struct event *event;
	uint64_t parent = 0;

	if (!async) {
		stack_pop(track, start_ns, true);
		parent = stack_parent(track, end_ns).instance;
	}
	name = emit_name(build, process, item->name, start_ns);
	type = emit_name(build, process, item->op_type, start_ns);
	event = emit_put(build, EVENT_OP, process, track->tid, end_ns);
	event->u.op = (struct event_op) {
		.instance = ++build->instances, .parent = parent, .start_ns = start_ns,
		.dur_ns = item->dur_ns, .step = -1, .tid = async ? 0 : track->tid, .name = name,
		.op_type = type, .framework = item->kind,
		.depth = async ? 0 : track->depth < UINT16_MAX ? (uint16_t)track->depth :
			UINT16_MAX,
		.flags = (uint8_t)((async ? OP_ASYNC : 0) | (mark ? OP_MARK : 0) |
				   (item->flags & ITEM_RANGE ? OP_RANGE : 0)),
	};
	if ((item->flags & ITEM_GIVES) && item->correlation)
		build->flows[item->correlation - 1] = (struct build_flow) {
			.instance = build->instances, .process = process,
		};
	if (item->flags & ITEM_TAKES)
		send_edge(build, process, (uint32_t)item->place, build->instances, end_ns);
	if (async || mark)
		return;
	grow(&track->stack, &track->cap, track->depth, sizeof(*track->stack));
	track->stack[track->depth++] = (struct build_open) { end_ns, build->instances, item->name };
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
	op = stack_parent(track, start_ns);
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

	send_process(build, process, start_ns);
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
	around = stack_parent(track, start_ns);
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

	send_process(build, series->process, start_ns);
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
		.op = stack_parent(track, start_ns).instance, .dur_ns = -1,
		.phase = item->kind,
	};
}

static void emit_item(struct import_build *build, const struct import_item *item)
{
	struct build_track *track = &build->tracks[item->track - 1];
	int64_t start_ns = item->start_ns + build->shift_ns;

	if (track->kind == TRACK_SKIP)
		return;
	if (track->kind == TRACK_THREAD || item->type != ITEM_SPAN)
		send_track(build, track, start_ns);
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
	case ITEM_SPAN:
	case ITEM_INSTANT:
		if (track->kind == TRACK_STREAM && item->type == ITEM_SPAN)
			emit_run(build, item, track, start_ns);
		else if (track->kind == TRACK_STREAM)
			break;
		else if (item->flags & ITEM_CALL)
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
	const struct build_track *track = &build->tracks[item->track - 1];
	struct build_correlation *c;

	if (!build->votes)
		build->vote_ns = item->start_ns;
	build->votes += llabs(item->start_ns - build->vote_ns) < APART_NS ? 1 : -1;
	if (item->type != ITEM_SPAN || track->kind == TRACK_SKIP)
		return;
	if (track->kind == TRACK_STREAM)
		look_at_run(build, item);
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
	}
}

static void find_start(void *arg, struct import_item *item)
{
	struct import_build *build = arg;

	if (llabs(item->start_ns - build->vote_ns) < APART_NS && item->start_ns < build->low_ns)
		build->low_ns = item->start_ns;
}

void build_run(struct import_build *build)
{
	uint64_t total = spool_count(build->spool);
	const struct import_item *item;
	int64_t last_ns = 0;

	if (build_stopped(build))
		return;
	build->batch = xcalloc(BATCH + 1, sizeof(*build->batch));
	spool_each(build->spool, emit_survey_item, build);
	build->low_ns = build->vote_ns;
	spool_each(build->spool, find_start, build);
	if (build->low_ns <= 0)
		build->shift_ns = START_NS - build->low_ns;
	spool_sort(build->spool);
	while ((item = spool_next(build->spool)) && !build_stopped(build)) {
		if (llabs(item->start_ns - build->vote_ns) >= APART_NS) {
			build->strange++;
			continue;
		}
		emit_item(build, item);
		last_ns = item->start_ns + build->shift_ns;
		if (++build->out % BATCH == 0) {
			flush(build, last_ns);
			atomic_store(build->progress, 500 + (int)(build->out * 500 / total));
		}
	}
	flush(build, last_ns);
	if (build->strange)
		build_say(build, 1, "%" PRIu64 " of %" PRIu64 " events lie more than 30 days from "
			  "the others: left out", build->strange, total);
}
