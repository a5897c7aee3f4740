/* SPDX-License-Identifier: MIT */
/* What happened: ops, device work, calls, steps, memory, messages, losses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/binary_heap.h"
#include "model/base/util.h"
#include "model/export/walk_internal.h"

#define FLOWS_AT_ONCE 64
#define SOURCE_BYTES 1024
#define KEY_OF_MESSAGE (UINT64_C(1) << 63)	/* separate from our own numbers */

static struct walk_slice slice_of(const char *name, uint32_t name_id, const char *category,
				  int64_t start_ns, int64_t dur_ns)
{
	return (struct walk_slice) {
		.name = name && *name ? name : category, .name_id = name ? name_id : 0,
		.category = category, .start_ns = start_ns, .dur_ns = dur_ns,
	};
}

static void put_slice(struct export_walk *w, const struct walk_slice *slice)
{
	w->result->written++;
	w->sink->slice(w->sink->arg, slice);
}

static void add_text(struct arg *args, size_t *n, const char *key, const char *text)
{
	if (text && *text && *n < WALK_ARGS_MAX)
		args[(*n)++] = (struct arg) { .key = key, .text = text };
}

static void add_number(struct arg *args, size_t *n, const char *key, uint64_t value)
{
	if (*n < WALK_ARGS_MAX)
		args[(*n)++] = (struct arg) { .key = key, .value = value };
}

static void add_int(struct arg *args, size_t *n, const char *key, int64_t value)
{
	if (*n < WALK_ARGS_MAX)
		args[(*n)++] = (struct arg) {
			.key = key, .value = (uint64_t)value, .negative = value < 0,
		};
}

/* ---- ops ---- */

static const struct walk_end *first_end(const struct export_walk *w, uint64_t process,
					uint64_t instance)
{
	return w->ends + FIRST_NOT(i, 0, w->n_ends, w->ends[i].process < process ||
				   (w->ends[i].process == process &&
				    w->ends[i].instance < instance));
}

static void find_flows(struct export_walk *w, uint64_t process, uint64_t instance,
		       struct walk_slice *slice, uint64_t in[FLOWS_AT_ONCE],
		       uint64_t out[FLOWS_AT_ONCE])
{
	const struct walk_end *end;

	if (!w->n_ends || !instance)
		return;
	for (end = first_end(w, process, instance); end < w->ends + w->n_ends &&
	     end->process == process && end->instance == instance; end++) {
		size_t *n = end->out ? &slice->n_out : &slice->n_in;

		if (*n < FLOWS_AT_ONCE)
			(end->out ? out : in)[(*n)++] = end->flow;
		else
			w->result->left_out++;
	}
	slice->flow_in = in;
	slice->flow_out = out;
}

/* Adds "train.py:88", where it was called. */
static void add_source(const struct export_walk *w, uint32_t process, const struct event_op *op,
		       struct arg *args, size_t *n, char text[SOURCE_BYTES])
{
	uint32_t at = op->frame ? map_get(&w->frames_at, walk_key(process, op->frame)) : MAP_NONE;
	const struct walk_frame *frame = at == MAP_NONE ? NULL : &w->frames[at];
	const char *file = frame ? walk_name(w, frame->file) : NULL;

	if (!file || !frame->line)
		return;
	snprintf(text, SOURCE_BYTES, "%s:%" PRIu32, file, frame->line);
	add_text(args, n, "source", text);
	add_text(args, n, "function", walk_name(w, frame->function));
}

static void work_op(struct export_walk *w, const struct event *event)
{
	const struct event_op *op = &event->u.op;
	uint32_t p = walk_process(w, event);
	uint64_t in[FLOWS_AT_ONCE], out[FLOWS_AT_ONCE];
	struct arg args[WALK_ARGS_MAX];
	char source[SOURCE_BYTES];
	struct walk_slice slice = slice_of(walk_name(w, op->name), op->name,
					   op->flags & OP_RANGE && !(op->flags & OP_INNER) ?
					   "range" : "op", op->start_ns, op->dur_ns);

	add_text(args, &slice.n_args, "type", walk_name(w, op->op_type));
	add_text(args, &slice.n_args, "domain", walk_name(w, op->domain));
	if (op->framework)
		add_text(args, &slice.n_args, "framework", framework_name(op->framework));
	if (op->step != -1)
		add_int(args, &slice.n_args, "step", op->step);
	add_source(w, p, op, args, &slice.n_args, source);
	add_text(args, &slice.n_args, "shapes", walk_name(w, op->shapes));
	slice.args = args;
	find_flows(w, w->processes[p].key, op->instance, &slice, in, out);
	if (op->flags & OP_ASYNC)
		slice.track = walk_lane(w, &w->processes[p].asyncs, walk_group_of(w, p),
					"asynchronous", op->start_ns,
					op->dur_ns < 0 ? INT64_MAX : op->start_ns + op->dur_ns);
	else
		slice.track = walk_thread_track(w, p, event->tid,
						&walk_thread(w, p, event->tid)->ops, "");
	if (op->flags & OP_MARK)
		w->sink->instant(w->sink->arg, &slice);
	else
		put_slice(w, &slice);
}

/* ---- device work ---- */

static const char *category_of(enum command_kind kind)
{
	static const char *const names[COMMAND_KIND_COUNT] = {
		"work", "kernel", "copy", "fill", "map", "unmap", "marker", "barrier", "native",
		"migrate", "graph", "other",
	};

	return kind < COMMAND_KIND_COUNT ? names[kind] : "other";
}

static const char *print_size(char *text, size_t size, const uint64_t *n, uint32_t dims)
{
	int used = 0;

	for (uint32_t i = 0; i < dims && used < (int)size; i++)
		used += snprintf(text + used, size - (size_t)used, "%s%llu", i ? "x" : "",
				 (unsigned long long)n[i]);
	return text;
}

/* Uses the terms of the queue's device: CUDA's grid counts blocks. */
static void walk_add_shape(struct export_walk *w, uint32_t process, uint32_t queue, uint32_t id,
			   struct arg *args, size_t *n, char text[2][72])
{
	uint32_t at = id ? map_get(&w->shapes_at, walk_key(process, id)) : MAP_NONE;
	const struct walk_shape *shape = at == MAP_NONE ? NULL : &w->shapes[at];
	uint64_t size[3], local[3];
	bool blocks;

	if (!shape || !shape->dims)
		return;
	blocks = shape->local[0] && walk_in_blocks(w, process, queue);
	for (int i = 0; i < 3; i++) {
		local[i] = shape->local[i];
		size[i] = shape->global[i];
		if (blocks && local[i])
			size[i] = size[i] / local[i] + (size[i] % local[i] != 0);
	}
	add_text(args, n, blocks ? "grid" : "global",
		 print_size(text[0], sizeof(text[0]), size, shape->dims));
	if (local[0])
		add_text(args, n, blocks ? "block" : "local",
			 print_size(text[1], sizeof(text[1]), local, shape->dims));
}

/* A lane of the queue that is free at that time. */
static uint32_t walk_queue_lanes(struct export_walk *w, uint32_t p, const struct event_command *c,
				 int64_t start_ns, int64_t end_ns)
{
	struct walk_queue *queue = walk_queue(w, p, c->queue);
	uint32_t group = walk_device_group(w, p, queue->device);
	char name[400];
	bool copy = c->direction > DIR_NONE && c->direction < DIR_COUNT;

	if (queue->name && *queue->name)
		snprintf(name, sizeof(name), "%.300s%s%s", queue->name, copy ? " " : "",
			 direction_name(copy ? c->direction : DIR_NONE));
	else
		snprintf(name, sizeof(name), "queue %u%s%s", c->queue, copy ? " " : "",
			 direction_name(copy ? c->direction : DIR_NONE));
	return walk_lane(w, copy ? &queue->copies[c->direction] : &queue->runs, group, name,
			 start_ns, end_ns);
}

/* ---- launches ---- */

/* The launches of one call, such as that of a graph, are one slice; n: how many, named alike or
 * not. */
static void put_call(struct export_walk *w, const struct walk_launch *launch, size_t n, bool alike,
		     size_t n_flows)
{
	struct walk_slice slice = slice_of(launch->name, launch->name_id, "launch",
					   launch->start_ns, launch->dur_ns);
	struct walk_thread *thread = walk_thread(w, launch->process, launch->tid);
	char name[400], many[FMT_MAX];

	snprintf(name, sizeof(name), "%.300s %u launches",
		 thread->name && *thread->name ? thread->name : "thread", launch->tid);
	if (!alike) {
		slice.name = fmt_many(many, n, "launch");
		slice.name_id = 0;
	}
	/* a call of which a part has been written already */
	if (!thread->call_track || thread->call_ns != launch->start_ns ||
	    thread->call_dur_ns != launch->dur_ns)
		thread->call_track = walk_lane(w, &thread->launches,
					       walk_group_of(w, launch->process), name,
					       launch->start_ns,
					       launch->start_ns + launch->dur_ns);
	thread->call_ns = launch->start_ns;
	thread->call_dur_ns = launch->dur_ns;
	slice.track = thread->call_track;
	slice.flow_out = w->call_flows;
	slice.n_out = n_flows;
	slice.out_at_start = true;
	put_slice(w, &slice);
}

static int compare_calls(const struct walk_launch *x, const struct walk_launch *y)
{
	return ASCENDING(x, y, start_ns) ?: DESCENDING(x, y, dur_ns) ?:
	       ASCENDING(x, y, process) ?: ASCENDING(x, y, tid);
}

static bool launch_is_before(const void *a, const void *b, const void *arg)
{
	(void)arg;
	return compare_calls(a, b) < 0;
}

/* Writes the first call of those that wait, with all that it launched. */
static void pop_call(struct export_walk *w)
{
	const struct walk_launch first = w->launches[0];
	size_t n = 0, n_flows = 0;
	bool alike = true;

	while (w->n_launches && !compare_calls(&w->launches[0], &first)) {
		const struct walk_launch *launch = &w->launches[0];

		alike &= launch->name == first.name;
		n++;
		if (launch->flow) {
			grow(&w->call_flows, &w->cap_call_flows, n_flows, sizeof(*w->call_flows));
			w->call_flows[n_flows++] = launch->flow;
		}
		binary_heap_pop(w->launches, w->n_launches--, sizeof(first), launch_is_before,
				NULL);
	}
	put_call(w, &first, n, alike, n_flows);
}

/* Adds the call that launched it; returns the number of the arrow from it; 0: none. */
static uint64_t walk_add_launch(struct export_walk *w, uint32_t p, const struct event_command *c,
				const struct walk_slice *run, bool ran)
{
	struct walk_launch launch = {
		.name = run->name, .name_id = run->name_id, .start_ns = c->call_ns,
		.dur_ns = (int64_t)c->call_dur_ns, .process = p, .tid = c->tid,
	};

	if (!c->call_ns || !c->tid)
		return 0;
	if (ran && w->options->kind.dataflow)
		launch.flow = ++w->n_flows;
	if (w->n_launches == WALK_LAUNCHES)
		pop_call(w);
	w->launches[w->n_launches++] = launch;
	binary_heap_up(w->launches, w->n_launches, sizeof(launch), launch_is_before, NULL);
	return launch.flow;
}

static void work_command(struct export_walk *w, const struct event *event)
{
	const struct event_command *c = &event->u.command;
	uint32_t p = walk_process(w, event);
	bool ran = c->status >= 0 && !(c->flags & CMD_OPEN) && c->end_ticks >= c->start_ticks &&
		c->start_ticks;
	int64_t start_ns = ran ? (int64_t)c->start_ticks : c->call_ns;
	int64_t dur_ns = ran ? (int64_t)(c->end_ticks - c->start_ticks) : 0;
	struct walk_slice slice = slice_of(walk_name(w, c->name), c->name, category_of(c->kind),
					   start_ns, dur_ns);
	struct arg args[WALK_ARGS_MAX];
	char shape[2][72];
	uint64_t flow = 0;

	add_text(args, &slice.n_args, "op", walk_name(w, c->op_name));
	if (c->how && c->how < HOW_COUNT)
		add_text(args, &slice.n_args, "attribution", how_name(c->how));
	add_text(args, &slice.n_args, "direction", direction_name(c->direction));
	if (c->bytes)
		add_number(args, &slice.n_args, "bytes", c->bytes);
	if (!c->direction)
		walk_add_shape(w, p, c->queue, c->shape, args, &slice.n_args, shape);
	if (ran && c->queued_ticks)
		add_number(args, &slice.n_args, "queued_ns", c->start_ticks - c->queued_ticks);
	if (c->flags & CMD_APPROX)
		add_text(args, &slice.n_args, "times", "approximate");
	if (c->flags & CMD_OPEN)
		add_text(args, &slice.n_args, "state", "in flight");
	if (c->status < 0)
		add_int(args, &slice.n_args, "error", c->status);
	slice.args = args;
	if (c->status >= 0)
		flow = walk_add_launch(w, p, c, &slice, ran);
	/* work that did not run takes no room */
	slice.track = ran ? walk_queue_lanes(w, p, c, start_ns, start_ns + dur_ns) :
		walk_queue_lanes(w, p, c, INT64_MAX, INT64_MIN);
	if (!ran) {
		w->sink->instant(w->sink->arg, &slice);
		return;
	}
	if (flow) {
		slice.flow_in = &flow;
		slice.n_in = 1;
	}
	put_slice(w, &slice);
}

/* ---- the host ---- */

static void work_call(struct export_walk *w, const struct event *event)
{
	bool wait = event->type == EVENT_WAIT;
	uint32_t p = walk_process(w, event), name = wait ? event->u.wait.name : event->u.call.name;
	struct walk_thread *thread = walk_thread(w, p, event->tid);
	struct walk_slice slice = slice_of(walk_name(w, name), name, wait ? "wait" : "call",
					   wait ? event->u.wait.start_ns : event->u.call.start_ns,
					   wait ? event->u.wait.dur_ns : event->u.call.dur_ns);
	int32_t result = wait ? event->u.wait.result : event->u.call.result;
	struct arg args[WALK_ARGS_MAX];

	if (result)
		add_int(args, &slice.n_args, "result", result);
	slice.args = args;
	slice.track = wait ? walk_thread_track(w, p, event->tid, &thread->waits, "waits") :
		walk_thread_track(w, p, event->tid, &thread->calls, "calls");
	put_slice(w, &slice);
}

static void work_step(struct export_walk *w, const struct event *event)
{
	const struct event_step *step = &event->u.step;
	uint32_t p = walk_process(w, event), at = map_get(&w->steps_at, walk_key(p, step->name));
	const char *name = walk_name(w, step->name);
	struct walk_slice slice = slice_of(name, step->name, "step", step->start_ns, step->dur_ns);
	struct arg args[WALK_ARGS_MAX];
	char text[300];

	if (at == MAP_NONE) {
		grow(&w->steps, &w->cap_steps, w->n_steps, sizeof(*w->steps));
		at = (uint32_t)w->n_steps++;
		w->steps[at] = (struct lanes) { .n = 0 };
		map_set(&w->steps_at, walk_key(p, step->name), at);
	}
	snprintf(text, sizeof(text), "steps: %.280s", name ? name : "step");
	add_int(args, &slice.n_args, "number", step->number);
	slice.args = args;
	slice.track = walk_lane(w, &w->steps[at], walk_group_of(w, p), text, step->start_ns,
				step->start_ns + step->dur_ns);
	put_slice(w, &slice);
}

static void work_compile(struct export_walk *w, const struct event *event)
{
	const struct event_compile *compile = &event->u.compile;
	uint32_t p = walk_process(w, event);
	struct walk_slice slice = slice_of(compile->what, 0, "build", compile->start_ns,
					   compile->dur_ns);
	struct arg args[WALK_ARGS_MAX];

	add_text(args, &slice.n_args, "options", compile->options);
	if (compile->result)
		add_int(args, &slice.n_args, "result", compile->result);
	slice.args = args;
	slice.track = walk_lane(w, &w->processes[p].builds, walk_group_of(w, p), "builds",
				compile->start_ns, compile->start_ns + compile->dur_ns);
	put_slice(w, &slice);
}

/* A message between processes: both ends have the same key. */
static void work_flow(struct export_walk *w, const struct event *event)
{
	const struct event_flow *flow = &event->u.flow;
	uint32_t p = walk_process(w, event);
	static const char *const phases[FLOW_PHASE_COUNT] = {
		"send", "receive", "encode", "decode",
	};
	int64_t dur_ns = flow->dur_ns > 0 ? flow->dur_ns : 0;
	struct walk_slice slice = slice_of(walk_name(w, flow->name), flow->name,
					   flow->phase < FLOW_PHASE_COUNT ? phases[flow->phase] :
					   "message",
					   flow->at_ns, dur_ns);
	uint64_t id = flow->key | KEY_OF_MESSAGE;
	struct arg args[WALK_ARGS_MAX];

	add_number(args, &slice.n_args, "bytes", flow->bytes);
	slice.args = args;
	slice.track = walk_lane(w, &w->processes[p].messages, walk_group_of(w, p), "messages",
				slice.start_ns, slice.start_ns + dur_ns);
	if (w->options->kind.dataflow && flow->phase == FLOW_SENT) {
		slice.flow_out = &id;
		slice.n_out = 1;
		slice.out_at_start = true;
	} else if (w->options->kind.dataflow && flow->phase == FLOW_RECEIVED) {
		slice.flow_in = &id;
		slice.n_in = 1;
	}
	put_slice(w, &slice);
}

/* ---- the rest ---- */

void walk_finish(struct export_walk *w)
{
	while (w->n_launches)
		pop_call(w);
	walk_maxima(w);
}

static void define_series(struct export_walk *w, const struct event *event)
{
	const struct event_series *series = &event->u.series;
	uint32_t p = walk_process(w, event);
	struct track track = {
		.kind = TRACK_COUNTER, .name = series->name, .unit = series->unit,
	};

	if (map_get(&w->series_at, walk_key(p, series->id)) != MAP_NONE)
		return;
	track.group = walk_group_of(w, p);
	grow(&w->series, &w->cap_series, w->n_series, sizeof(*w->series));
	w->series[w->n_series].track = walk_track(w, &track);
	w->series[w->n_series].name = series->name;
	map_set(&w->series_at, walk_key(p, series->id), (uint32_t)w->n_series++);
}

static void work_counter(struct export_walk *w, const struct event *event)
{
	const struct event_counter *counter = &event->u.counter;
	uint32_t at = map_get(&w->series_at, walk_key(walk_process(w, event), counter->series));

	if (at != MAP_NONE)
		w->sink->counter(w->sink->arg, w->series[at].track, "Counter", w->series[at].name,
				 counter->at_ns, counter->value);
}

static void put_unseen(struct export_walk *w, struct walk_slice *slice, const char *lane)
{
	struct track track = { .kind = TRACK_GROUP, .name = "tftop" };

	if (!w->about)
		w->about = walk_track(w, &track);
	slice->track = walk_lane(w, &w->losses, w->about, lane, slice->start_ns,
				 slice->start_ns + slice->dur_ns);
	put_slice(w, slice);
}

static void work_lost(struct export_walk *w, const struct event *event)
{
	const struct event_lost *lost = &event->u.lost;
	struct walk_slice slice = slice_of(lost->packets ? "lost packets" : "lost events", 0,
					   "lost",
				      lost->begin_ns, lost->end_ns - lost->begin_ns);
	struct arg args[WALK_ARGS_MAX];

	if (lost->end_ns < lost->begin_ns)
		return;
	add_number(args, &slice.n_args, "count", lost->count);
	slice.args = args;
	put_unseen(w, &slice, "lost");
}

void walk_pause(struct export_walk *w, const struct model_pause *pause)
{
	struct walk_slice slice = slice_of(pause->taken ?
					   "the program's own profiler has the device" :
					   "level off", 0, pause->taken ? "taken" : "off",
					   pause->begin_ns, pause->end_ns - pause->begin_ns);

	put_unseen(w, &slice, "lost");
}

void walk_work(struct export_walk *w, const struct event *event)
{
	switch ((enum event_type)event->type) {
	case EVENT_OP: work_op(w, event); break;
	case EVENT_COMMAND: work_command(w, event); break;
	case EVENT_CALL:
	case EVENT_WAIT: work_call(w, event); break;
	case EVENT_STEP: work_step(w, event); break;
	case EVENT_COMPILE: work_compile(w, event); break;
	case EVENT_FLOW: work_flow(w, event); break;
	case EVENT_ALLOC: walk_alloc(w, event); break;
	case EVENT_FREE:
		walk_free(w, event, event->u.free.allocator, event->u.free.address);
		break;
	case EVENT_SERIES: define_series(w, event); break;
	case EVENT_COUNTER: work_counter(w, event); break;
	case EVENT_LOST: work_lost(w, event); break;
	default: break;
	}
}
