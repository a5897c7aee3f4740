/* SPDX-License-Identifier: MIT */
/* Turns the contents of the model back into the events that they came from. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/counters/counters.h"
#include "model/idents/idents.h"
#include "model/lines/lines.h"
#include "model/recording/export_internal.h"
#include "model/totals/totals.h"

void export_put(struct model_export *x, const struct event *event)
{
	struct event *copy;

	if (x->ready_head == x->n_ready)
		x->ready_head = x->n_ready = 0;
	grow(&x->ready, &x->cap_ready, x->n_ready, sizeof(*x->ready));
	copy = &x->ready[x->n_ready++];
	*copy = *event;
	if (copy->time_ns < x->now_ns)
		copy->time_ns = x->now_ns;
	x->now_ns = copy->time_ns;
}

struct event export_event(struct model_export *x, uint32_t process, enum event_type type,
			  int64_t time_ns)
{
	const struct process *p = process_at(x->model, process);

	return (struct event) {
		.type = (uint8_t)type, .host = p->host, .pid = p->pid, .tid = p->pid,
		.time_ns = time_ns,
	};
}

uint32_t export_name(struct model_export *x, uint32_t process, uint32_t name, enum name_kind kind)
{
	struct names *names = &x->model->names;
	uint64_t key;
	struct event event;

	name = names_resolve(names, name);
	key = (uint64_t)process << 32 | name;
	if (!name || map_get(&x->defined, key) != MAP_NONE)
		return name;
	map_set(&x->defined, key, 0);
	if (!names_defined(names, name))
		return name;
	event = export_event(x, process, EVENT_NAME, x->now_ns);
	event.u.name = (struct event_name) {
		.id = name, .kind = (uint8_t)kind, .text = names_raw(names, name),
	};
	export_put(x, &event);
	return name;
}

static const char *text_of(const struct model_export *x, uint32_t name)
{
	const char *text = names_raw(&x->model->names, name);

	return text ? text : "";
}

/* ---- definitions ---- */

static void put_device(struct model_export *x, uint32_t process, const struct device_view *view,
		       uint32_t id, int64_t time_ns)
{
	const struct device *device = device_at(x->model, view->device);
	const struct device_limits *limits = &device->limits;
	struct event event = export_event(x, process, EVENT_DEVICE, time_ns);
	int64_t error_ns;

	if (device->defined) {
		event.u.device = (struct event_device) {
			.id = id, .index = device->index, .units = device->units,
			.clock_mhz = device->clock_mhz, .memory_bytes = device->memory_bytes,
			.capability = limits->capability, .threads_per_unit = limits->threads,
			.blocks_per_unit = limits->blocks,
			.registers_per_unit = limits->registers,
			.registers_per_block = limits->block_registers,
			.shared_per_unit = limits->shared,
			.shared_per_block = limits->block_shared, .bandwidth = limits->bandwidth,
			.gpu = device->gpu, .api = text_of(x, device->api),
			.name = text_of(x, device->name), .vendor = text_of(x, device->vendor),
			.platform = text_of(x, device->platform),
			.driver = text_of(x, device->driver),
			.address = text_of(x, device->address),
		};
		export_put(x, &event);
	}
	if (!clock_has(&view->clock))
		return;
	error_ns = clock_error(&view->clock);
	event = export_event(x, process, EVENT_CLOCK, time_ns);
	event.u.clock = (struct event_clock) {
		.device = id, .quality = CLOCK_KNOWN, .ticks = (uint64_t)time_ns,
		.host_ns = time_ns, .error_ns = error_ns < TIME_MAX ? error_ns : TIME_MAX,
	};
	export_put(x, &event);
}

static void put_queue(struct model_export *x, uint32_t process, const struct queue *queue,
		      uint32_t id, int64_t time_ns)
{
	struct event event = export_event(x, process, EVENT_QUEUE, time_ns);

	if (queue->view == NONE || !id)
		return;
	event.u.queue = (struct event_queue) {
		.id = id, .device = x->view_ids[queue->view], .flags = queue->flags,
		.priority = queue->priority, .name = text_of(x, queue->name),
	};
	export_put(x, &event);
}

static void put_shape(struct model_export *x, uint32_t process, uint32_t id,
		      const struct launch_shape *shape, int64_t time_ns)
{
	struct event event = export_event(x, process, EVENT_SHAPE, time_ns);

	event.u.shape.id = id;
	event.u.shape.dims = shape->dims;
	memcpy(event.u.shape.global, shape->global, sizeof(shape->global));
	memcpy(event.u.shape.local, shape->local, sizeof(shape->local));
	event.u.shape.text = export_name(x, process, shape->text, NAME_OTHER);
	event.u.shape.flop = shape->flop;
	event.u.shape.registers = shape->registers;
	event.u.shape.shared_static = shape->shared_static;
	event.u.shape.shared_dynamic = shape->shared_dynamic;
	export_put(x, &event);
}

/* Visits a map's entries in the order of their values, which is the order of arrival. */
typedef void each_fn(struct model_export *x, uint32_t process, uint64_t key, uint32_t value,
		     int64_t time_ns);

struct export_pair { uint64_t key; uint32_t value; };

static int by_value(const void *a, const void *b)
{
	const struct export_pair *p = a, *q = b;

	return p->value < q->value ? -1 : p->value > q->value;
}

static void for_each(struct model_export *x, uint32_t process, const struct map *map,
		     int64_t time_ns, each_fn *fn)
{
	struct export_pair *pairs = xreallocarray(NULL, map->used + 1, sizeof(*pairs));
	size_t n = 0;

	for (size_t slot = 0; slot < map->size; slot++)
		if (map->values[slot])
			pairs[n++] = (struct export_pair) { map->keys[slot],
				map->values[slot] - 1 };
	if (n)
		qsort(pairs, n, sizeof(*pairs), by_value);
	for (size_t i = 0; i < n; i++)
		fn(x, process, pairs[i].key, pairs[i].value, time_ns);
	free(pairs);
}

static void each_view(struct model_export *x, uint32_t process, uint64_t key, uint32_t value,
		      int64_t time_ns)
{
	put_device(x, process, view_at(x->model, value), (uint32_t)key, time_ns);
}

static void each_queue(struct model_export *x, uint32_t process, uint64_t key, uint32_t value,
		       int64_t time_ns)
{
	put_queue(x, process, queue_at(x->model, value), (uint32_t)key, time_ns);
}

static void each_shape(struct model_export *x, uint32_t process, uint64_t key, uint32_t value,
		       int64_t time_ns)
{
	put_shape(x, process, (uint32_t)key, store_at(&x->model->shapes, value), time_ns);
}

static void each_thread(struct model_export *x, uint32_t process, uint64_t key, uint32_t value,
			int64_t time_ns)
{
	struct event event = export_event(x, process, EVENT_THREAD, time_ns);

	if (!thread_at(x->model, value)->name)
		return;
	event.u.thread.tid = (uint32_t)key;
	event.u.thread.name = text_of(x, thread_at(x->model, value)->name);
	export_put(x, &event);
}

/* Series that the model makes are left out, because a model will make them again. */
static void put_series(struct model_export *x, uint32_t process, int64_t time_ns)
{
	const struct counters *counters = x->model->counters;

	for (uint32_t i = 0; i < counters->series.n; i++) {
		const struct series *series = series_at(counters, i);
		struct event event = export_event(x, process, EVENT_SERIES, time_ns);

		if (series->process != process || !series->id || !series->name)
			continue;
		event.u.series = (struct event_series) {
			.id = series->id, .name = text_of(x, series->name),
			.unit = series->unit ? text_of(x, series->unit) : "",
			.device = series->usage ? EVENT_SERIES_USAGE :
				  series->view == NONE ? 0 : x->view_ids[series->view],
		};
		export_put(x, &event);
	}
}

void export_process(struct model_export *x, uint32_t process, int64_t time_ns)
{
	const struct process *p = process_at(x->model, process);
	struct event event = export_event(x, process, EVENT_PROCESS, time_ns);

	if (p->defined) {
		event.u.process = (struct event_process) {
			.schema = EVENT_SCHEMA, .parent = p->parent, .starter = p->starter,
			.start_ns = p->start_ns, .mono_ns = time_ns,
			.real_ns = p->host ? 0 : model_wall(x->model, time_ns),
			.rank = p->rank, .world = -1, .host = text_of(x, p->host_name),
			.command = text_of(x, p->command),
		};
		export_put(x, &event);
	}
	for (size_t i = 0; i < p->n_probes; i++) {
		event = export_event(x, process, EVENT_PROBE, time_ns);
		event.u.probe = (struct event_probe) {
			.name = text_of(x, p->probes[i]), .version = "",
			.blind = text_of(x, p->blind[i]),
		};
		export_put(x, &event);
	}
	export_pauses(x, process, time_ns);
	export_bares(x, process, time_ns);
	for_each(x, process, &p->threads, time_ns, each_thread);
	for_each(x, process, &p->views, time_ns, each_view);
	for_each(x, process, &p->queues, time_ns, each_queue);
	for_each(x, process, &p->shapes, time_ns, each_shape);
	put_series(x, process, time_ns);
	export_frames(x, process, time_ns);
	export_put_graphs(x, process, time_ns);
	export_doings(x, process, time_ns);
}

/* The same number as in model_status(). */
static uint64_t calls_seen(const struct model *model)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *p = process_at(model, i);

		calls += p->beat_calls > p->counted_calls ? p->beat_calls : p->counted_calls;
	}
	return calls;
}

void export_process_end(struct model_export *x, uint32_t process)
{
	const struct process *p = process_at(x->model, process);
	struct event event = export_event(x, process, EVENT_BEAT, p->seen_ns);
	uint64_t calls = 0;

	if (x->whole && process == x->caller)
		calls = calls_seen(x->model) - x->others_calls;
	export_stages(x, process);
	export_pools(x, process);
	if (p->own_ns || p->dropped || calls) {
		event.u.beat = (struct event_beat) {
			.calls = calls, .dropped = p->dropped, .own_ns = p->own_ns,
		};
		export_put(x, &event);
	}
	if (p->settled_ns) {
		event = export_event(x, process, EVENT_SETTLED, p->seen_ns);
		event.u.settled.settled_ns = p->settled_ns;
		export_put(x, &event);
	}
	if (p->exited || p->execed) {
		event = export_event(x, process, EVENT_EXIT, p->seen_ns);
		event.u.exit = (struct event_exit) {
			.reason = p->execed ? 2 : 0, .status = p->exit_status,
		};
		export_put(x, &event);
	}
}

/* ---- spans ---- */

static uint64_t own_length(const struct model_export *x, const struct row *row,
			   const struct lane_span *span, const struct command_cold *cold)
{
	const struct queue *queue = queue_at(x->model, row->queue);
	const struct device_view *view =
		queue->view == NONE ? NULL : view_at(x->model, queue->view);

	if (!view || !clock_has(&view->clock) || cold->segment == CLOCK_FIXED)
		return (uint64_t)span->dur_ns;
	return clock_back(&view->clock, span->start_ns + span->dur_ns) -
	       clock_back(&view->clock, span->start_ns);
}

static void export_fill_times(const struct model_export *x, const struct row *row,
			      const struct lane_span *span, const struct command_cold *cold,
			      struct event_command *command)
{
	uint64_t start = (uint64_t)span->start_ns;

	command->start_ticks = start;
	if (span->flags & COLUMN_APPROX) {
		command->flags |= CMD_APPROX;
		command->end_ticks = start + (uint64_t)span->dur_ns;
		return;
	}
	command->end_ticks = start + own_length(x, row, span, cold);
	if (cold->queued && unpack_delta(cold->queued) < span->start_ns)
		command->queued_ticks = start - (uint64_t)unpack_delta(cold->queued);
	if (cold->submit && unpack_delta(cold->submit) < span->start_ns)
		command->submit_ticks = start - (uint64_t)unpack_delta(cold->submit);
}

static void fill_command(struct model_export *x, const struct row *row, uint32_t name,
			 const struct command_cold *cold, struct event *event)
{
	event->tid = cold->tid ? cold->tid : event->pid;
	event->u.command = (struct event_command) {
		.tid = cold->tid, .queue = x->queue_ids[row->queue],
		.name = export_name(x, row->process, name,
				    row->kind == ROW_QUEUE ? NAME_KERNEL : NAME_OTHER),
		.op = cold->op, .op_name = export_name(x, row->process, cold->op_name, NAME_OP),
		.call_ns = cold->call_ns, .call_dur_ns = cold->call_dur_ns,
		.status = cold->status, .kind = cold->kind_how & 31, .how = cold->kind_how >> 5,
		.direction = (uint8_t)row->direction,
	};
	if (row->kind == ROW_QUEUE)
		event->u.command.shape = (uint32_t)cold->detail;
	else
		event->u.command.bytes = cold->detail;
	event->u.command.flags = cold->flags;
	if (row->kind == ROW_COPY)
		event->u.command.shape = cold->place;
}

static void fill_op(struct model_export *x, const struct row *row, uint32_t name,
		    const struct op_cold *cold, struct event *event)
{
	const struct ident *ident = ident_at(x->model, cold->ident);

	event->tid = row->thread == NONE ? event->pid : thread_at(x->model, row->thread)->tid;
	event->u.op = (struct event_op) {
		.instance = cold->instance, .step = cold->step, .tid = event->tid,
		.name = export_name(x, row->process, name,
				    cold->flags & OP_RANGE ? NAME_RANGE : NAME_OP),
		.op_type = export_name(x, row->process, ident->type, NAME_OP_TYPE),
		.domain = export_name(x, row->process, ident->domain, NAME_DOMAIN),
		.depth = cold->depth, .framework = ident->framework, .flags = cold->flags,
		.wait_ns = cold->wait_ns,
		.waker = cold->waker ? thread_at(x->model, cold->waker - 1)->tid : 0,
		.frame = frame_id(x->model, cold->frame), .forward = cold->forward,
		.shapes = export_name(x, row->process, cold->shapes, NAME_SHAPES),
	};
}

/* The op around this one on its thread; remembers this one. */
static uint64_t parent_of(struct model_export *x, uint32_t row_index, const struct event_op *op)
{
	struct export_stack *stack = x->stacks[row_index];
	uint32_t depth = op->depth;

	if (!stack)
		stack = x->stacks[row_index] = xcalloc(1, sizeof(*stack));
	if (depth < DEPTH_MAX) {
		stack->instance[depth] = op->instance;
		stack->end_ns[depth] = op->start_ns + op->dur_ns;
	}
	if (!depth || depth >= DEPTH_MAX ||
	    stack->end_ns[depth - 1] < op->start_ns + op->dur_ns)
		return 0;
	return stack->instance[depth - 1];
}

struct event export_span(struct model_export *x, const struct row *row, uint32_t row_index,
			 const struct lane_span *span, const union cold *cold)
{
	bool op = row->kind == ROW_THREAD;
	struct event event = export_event(x, row->process, op ? EVENT_OP : EVENT_COMMAND,
					  span->start_ns + span->dur_ns);

	x->gap.spans++;
	if (op) {
		fill_op(x, row, span->name, &cold->op, &event);
		event.u.op.start_ns = span->start_ns;
		event.u.op.dur_ns = span->dur_ns;
		if (!(event.u.op.flags & OP_ASYNC))
			event.u.op.parent = parent_of(x, row_index, &event.u.op);
		return event;
	}
	fill_command(x, row, span->name, &cold->command, &event);
	if (event.u.command.status >= 0)
		export_fill_times(x, row, span, &cold->command, &event.u.command);
	return event;
}

void export_open(struct model_export *x, const struct open_span *open)
{
	const struct row *row = row_at(x->model, open->row);
	bool op = row->kind == ROW_THREAD;
	struct event event = export_event(x, open->process, op ? EVENT_OP : EVENT_COMMAND,
					  x->now_ns);

	if (op) {
		fill_op(x, row, open->name, &open->cold.op, &event);
		event.u.op.start_ns = open->start_ns;
		event.u.op.dur_ns = -1;
		event.u.op.instance = open->key;
	} else {
		fill_command(x, row, open->name, &open->cold.command, &event);
		event.u.command.flags |= CMD_OPEN;
		event.u.command.correlation = (uint32_t)open->key;
	}
	export_put(x, &event);
}

/* ---- the journal, totals ---- */

static void export_remember_call(struct model_export *x, const struct journal_entry *entry)
{
	uint32_t name = names_resolve(&x->model->names, entry->name);
	uint32_t at = map_get(&x->calls_by_name, name);
	struct export_calls *calls;

	if (at == MAP_NONE) {
		at = (uint32_t)x->n_calls;
		grow(&x->calls, &x->cap_calls, x->n_calls, sizeof(*x->calls));
		x->calls[x->n_calls++] = (struct export_calls) { .name = name };
		map_set(&x->calls_by_name, name, at);
	}
	calls = &x->calls[at];
	calls->count++;
	x->others_calls += entry->process != x->caller;
	calls->errors += entry->result != 0;
	add_ns(&calls->total_ns, entry->dur_ns);
	if (entry->dur_ns > calls->max_ns)
		calls->max_ns = entry->dur_ns;
}

/* For allocators: what they gave out and took back, and the regions that these are parts of. */
static void export_journal_memory(struct model_export *x, const struct journal_entry *entry,
				  struct event *event)
{
	uint32_t allocator = export_name(x, entry->process, entry->name, NAME_ALLOCATOR);

	if (event->type == EVENT_ALLOC)
		event->u.alloc = (struct event_alloc) {
			.allocator = allocator, .device = entry->id,
			.op_name = export_name(x, entry->process, entry->other, NAME_OP),
			.address = entry->a, .bytes = entry->b, .op = (uint64_t)entry->start_ns,
		};
	else if (event->type == EVENT_REGION)
		event->u.region = (struct event_region) {
			.allocator = allocator, .device = entry->id, .address = entry->a,
			.bytes = entry->b, .joined = entry->result != 0,
		};
	else
		event->u.free = (struct event_free) { .allocator = allocator, .address = entry->a };
}

struct event export_journal(struct model_export *x, const struct journal_entry *entry)
{
	struct event event = export_event(x, entry->process, (enum event_type)entry->type,
					  entry->time_ns);
	uint32_t p = entry->process;

	event.tid = entry->tid;
	switch ((enum event_type)entry->type) {
	case EVENT_CALL:
		export_remember_call(x, entry);
		event.u.call = (struct event_call) {
			.name = export_name(x, p, entry->name, NAME_CALL),
			.correlation = entry->id, .result = entry->result,
			.start_ns = entry->start_ns, .dur_ns = entry->dur_ns,
		};
		break;
	case EVENT_WAIT:
		event.u.wait = (struct event_wait) {
			.name = export_name(x, p, entry->name, NAME_CALL), .queue = entry->other,
			.correlation = entry->id, .result = entry->result,
			.start_ns = entry->start_ns, .dur_ns = entry->dur_ns, .op = entry->a,
			.op_name = export_name(x, p, (uint32_t)entry->b, NAME_OP),
		};
		break;
	case EVENT_COMPILE:
		event.u.compile = (struct event_compile) {
			.start_ns = entry->start_ns, .dur_ns = entry->dur_ns,
			.result = entry->result, .what = text_of(x, entry->name),
			.options = text_of(x, entry->other), .log = text_of(x, entry->id),
		};
		break;
	case EVENT_EDGE:
		event.u.edge = (struct event_edge) {
			.from = entry->a, .to = entry->b, .bytes = (uint64_t)entry->start_ns,
			.key = export_name(x, p, entry->name, NAME_OTHER),
		};
		break;
	case EVENT_FLOW:
		event.u.flow = (struct event_flow) {
			.name = export_name(x, p, entry->name, NAME_KEY), .key = entry->a,
			.bytes = entry->b, .op = (uint64_t)entry->other << 32 | entry->id,
			.at_ns = entry->start_ns, .dur_ns = entry->dur_ns,
			.phase = (uint8_t)entry->result,
		};
		break;
	case EVENT_REQUEST:
		event.u.request = (struct event_request) {
			.name = export_name(x, p, entry->name, NAME_OTHER), .passes = entry->id,
			.sequences = entry->other, .start_ns = entry->start_ns,
			.dur_ns = entry->dur_ns, .first_ns = (int64_t)entry->a,
			.rest_ns = (int64_t)entry->b,
		};
		break;
	case EVENT_COUNTER:
		event.u.counter = (struct event_counter) {
			.series = entry->id, .at_ns = entry->start_ns, .value = (int64_t)entry->a,
		};
		break;
	default:
		export_journal_memory(x, entry, &event);
	}
	return event;
}

/* Calls that had no event of their own. */
static void put_calls(struct model_export *x, const struct call_total *total)
{
	uint32_t name = names_resolve(&x->model->names, total->name);
	uint32_t at = map_get(&x->calls_by_name, name);
	struct export_calls none = { .name = name },
		*given = at == MAP_NONE ? &none : &x->calls[at];
	struct event event;

	if (total->count <= given->count)
		return;
	event = export_event(x, x->caller, EVENT_CALLS, x->now_ns);
	event.u.calls = (struct event_calls) {
		.name = export_name(x, x->caller, name, NAME_CALL),
		.count = total->count - given->count,
		.errors = (uint32_t)(total->errors > given->errors ?
				     total->errors - given->errors : 0),
		.total_ns = total->timed ? total->total_ns - given->total_ns : -1,
		.max_ns = total->timed ? total->max_ns : -1,
	};
	export_put(x, &event);
}

void export_totals(struct model_export *x)
{
	struct model *model = x->model;
	struct event event = { .type = EVENT_LOST, .time_ns = x->now_ns };

	if (!x->whole || !model->processes.n)
		return;
	for (uint32_t i = 0; i < model->calls.n; i++)
		put_calls(x, store_at(&model->calls, i));
	event.u.lost.begin_ns = event.u.lost.end_ns = x->now_ns;
	if (model->lost_events > x->lost_events) {
		event.u.lost.count = model->lost_events - x->lost_events;
		export_put(x, &event);
	}
	if (model->lost_packets > x->lost_packets) {
		event.u.lost.count = model->lost_packets - x->lost_packets;
		event.u.lost.packets = true;
		export_put(x, &event);
	}
}
