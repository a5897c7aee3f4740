/* SPDX-License-Identifier: MIT */
/* Definitions of names, processes, threads, devices, queues and shapes, sent when first used. */
#include "model/base/util.h"
#include "model/import/emit_internal.h"

/* where the numbers of shapes start if names and shapes are numbered together */
#define SHAPES (UINT64_C(1) << 31)

void emit_flush(struct import_build *build, int64_t alive_ns)
{
	if (alive_ns > 0)
		build->batch[build->n_batch++] = (struct event) {
			.type = EVENT_ALIVE, .time_ns = alive_ns,
		};
	if (build->n_batch)
		build->options->sink(build->options->arg, build->batch, build->n_batch);
	build->n_batch = 0;
}

struct event *emit_put(struct import_build *build, enum event_type type, uint32_t process,
		       uint32_t tid, int64_t time_ns)
{
	struct event *event;

	if (build->n_batch + 2 >= EMIT_BATCH)
		emit_flush(build, 0);
	event = &build->batch[build->n_batch++];
	*event = (struct event) {
		.type = (uint8_t)type, .tid = tid, .time_ns = time_ns,
		.pid = build->processes[process - 1].pid,
	};
	return event;
}

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

uint32_t emit_name(struct import_build *build, uint32_t process, uint32_t name, int64_t at_ns)
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

void emit_process(struct import_build *build, uint32_t process, int64_t at_ns)
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

void emit_track(struct import_build *build, struct build_track *track, int64_t at_ns)
{
	struct event *event;

	emit_process(build, track->process, at_ns);
	if (track->sent)
		return;
	track->sent = true;
	if (track->kind != TRACK_THREAD || !track->name || !*track->name)
		return;
	event = emit_put(build, EVENT_THREAD, track->process, track->tid, at_ns);
	event->u.thread = (struct event_thread) { .tid = track->tid, .name = track->name };
}

uint32_t emit_device(struct import_build *build, uint32_t process, uint32_t device,
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

uint32_t emit_queue(struct import_build *build, uint32_t process, uint32_t track, int64_t at_ns)
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

uint32_t emit_shape(struct import_build *build, uint32_t process, uint32_t shape, int64_t at_ns)
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
