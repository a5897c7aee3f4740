/* SPDX-License-Identifier: MIT */
/* Definitions: what the ids of a process stand for. */
#include "model/engine/engine.h"

#include <string.h>

#include "model/base/util.h"
#include "model/commands/commands.h"
#include "model/core/model.h"
#include "model/flows/rendezvous.h"
#include "model/memory/memory.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

/* Two readings of one process's start differ by less than this (the kernel's ticks). */
#define START_SLACK_NS 50000000

/* The same pid with another program: earlier events keep their own ids. */
static bool is_another(struct model *model, const struct process *process,
		       const struct event_process *def)
{
	int64_t apart = def->start_ns - process->start_ns;

	if (!process->defined)
		return false;
	if (process->execed)
		return true;
	if (time_ok(def->start_ns) && process->start_ns &&
	    (apart > START_SLACK_NS || apart < -START_SLACK_NS))
		return true;
	return process->command != names_intern(&model->names, def->command);
}

void apply_process(struct model *model, const struct arrival *in)
{
	const struct event_process *def = &in->event->u.process;
	struct process *process = in->process;

	if (is_another(model, process, def)) {
		struct process *next = process_new(model, process->host, process->pid);

		if (!next) {
			model_bad(model, BAD_FULL);
			return;
		}
		process->replaced = true;
		process = next;
	}
	process->defined = true;
	if (!process->defined_ns)
		process->defined_ns = in->event->time_ns;
	process->parent = def->parent;
	process->starter = def->starter;
	process->rank = def->rank;
	process->host_name = names_intern(&model->names, def->host);
	process->command = names_intern(&model->names, def->command);
	if (time_ok(def->start_ns))
		process->start_ns = def->start_ns;
}

void apply_exit(struct model *model, const struct arrival *in)
{
	const struct event_exit *exit_event = &in->event->u.exit;
	struct process *process = in->process;

	if (in->event->time_ns < process->defined_ns)
		return;		/* of the previous program with this pid */
	memory_exit(model, in);
	if (exit_event->reason == 2) {
		process->execed = true;
		return;
	}
	process->exited = process->said_exit = true;
	if (exit_event->status >= 0 && process->exit_status < 0)
		process->exit_status = exit_event->status;
}

void apply_probe(struct model *model, const struct arrival *in)
{
	const struct event_probe *probe = &in->event->u.probe;
	struct process *process = in->process;
	uint32_t name = names_intern(&model->names, probe->name);
	size_t i;

	if (!name)
		return;
	for (i = 0; i < process->n_probes && process->probes[i] != name; i++)
		;
	if (i == sizeof(process->probes) / sizeof(process->probes[0])) {
		model_bad(model, BAD_FULL);
		return;
	}
	process->probes[i] = name;
	process->blind[i] = names_intern(&model->names, probe->blind);
	if (i == process->n_probes)
		process->n_probes++;
}

/* ---- names ---- */

void apply_name(struct model *model, const struct arrival *in)
{
	const struct event_name *def = &in->event->u.name;
	char message[RENDEZVOUS_NAME];
	uint32_t name, old;

	if (!def->id) {
		model_bad(model, BAD_ID);
		return;
	}
	name = names_intern(&model->names, def->kind == NAME_KEY && def->text &&
			    rendezvous_name(def->text, message) ? message : def->text);
	old = map_get(&in->process->names, def->id);
	if (!name || old == name)
		return;
	map_set(&in->process->names, def->id, name);
	if (old == MAP_NONE || names_resolve(&model->names, old) != old)
		return;
	/* Whether the name was used before, or the id is reused for something else. */
	names_alias(&model->names, old, name);
	if (names_resolve(&model->names, old) != name)
		return;
	steps_named(model, old);
	if (map_get(&model->nameless_kernels, old) != MAP_NONE) {
		map_remove(&model->nameless_kernels, old);
		rows_reclassify(model, in->process->index, old);
	}
}

/* ---- threads, shapes ---- */

void apply_thread(struct model *model, const struct arrival *in)
{
	const struct event_thread *def = &in->event->u.thread;
	uint32_t thread = thread_get(model, in->process->index, def->tid);

	if (thread == NONE)
		model_bad(model, BAD_FULL);
	else
		thread_at(model, thread)->name = names_intern(&model->names, def->name);
}

void apply_shape(struct model *model, const struct arrival *in)
{
	const struct event_shape *def = &in->event->u.shape;
	struct map *shapes = &in->process->shapes;
	uint32_t index = map_get(shapes, def->id);
	struct launch_shape *shape;

	if (!def->id || def->dims > 3 || (!def->dims && !def->text) ||
	    (index == MAP_NONE && model->shapes.n >= SHAPES_MAX)) {
		model_bad(model, BAD_ID);
		return;
	}
	if (index == MAP_NONE) {
		shape = store_new(&model->shapes);
		index = model->shapes.n - 1;
		map_set(shapes, def->id, index);
	}
	shape = store_at(&model->shapes, index);
	shape->dims = def->dims;
	shape->text = local_name(model, in->process, def->text);
	shape->flop = def->flop;
	shape->registers = def->registers;
	shape->shared_static = def->shared_static;
	shape->shared_dynamic = def->shared_dynamic;
	for (int i = 0; i < 3; i++) {
		shape->global[i] = def->global[i];
		shape->local[i] = def->local[i];
	}
}

/* ---- devices ---- */

/* Devices are the same if host and address are, or, without address, host, API, platform and
 * index. */
static uint32_t device_same(const struct model *model, uint16_t host,
			    const struct device *wanted)
{
	for (uint32_t i = 0; i < model->devices.n; i++) {
		const struct device *device = device_at(model, i);

		if (!device->defined || device->alias || device->host != host ||
		    device->address != wanted->address)
			continue;
		if (wanted->address || (device->api == wanted->api &&
					device->platform == wanted->platform &&
					device->index == wanted->index))
			return i;
	}
	return NONE;
}

static void device_fill(struct model *model, uint32_t index, const struct device *def)
{
	struct device *device = device_at(model, index);

	if (!device->defined)
		for (uint32_t i = 0; i < model->devices.n; i++)
			if (device_at(model, i)->defined && device_at(model, i)->gpu == def->gpu)
				device->number++;
	device->defined = true;
	device->index = def->index;
	device->units = def->units;
	device->clock_mhz = def->clock_mhz;
	device->memory_bytes = def->memory_bytes;
	device->limits = def->limits;
	device->gpu = def->gpu;
	device->processor = def->processor;
	device->api = def->api;
	device->name = def->name;
	device->vendor = def->vendor;
	device->platform = def->platform;
	device->driver = def->driver;
	device->address = def->address;
}

void apply_device(struct model *model, const struct arrival *in)
{
	const struct event_device *def = &in->event->u.device;
	struct names *names = &model->names;
	struct device wanted = {
		.index = def->index, .units = def->units, .clock_mhz = def->clock_mhz,
		.memory_bytes = def->memory_bytes, .gpu = def->gpu > 2 ? 2 : def->gpu,
		.api = names_intern(names, def->api), .name = names_intern(names, def->name),
		.vendor = names_intern(names, def->vendor),
		.platform = names_intern(names, def->platform),
		.driver = names_intern(names, def->driver),
		.address = names_intern(names, def->address),
		.processor = def->api && !strcmp(def->api, "cpu"),
		.limits = {
			.capability = def->capability, .threads = def->threads_per_unit,
			.blocks = def->blocks_per_unit, .registers = def->registers_per_unit,
			.block_registers = def->registers_per_block,
			.shared = def->shared_per_unit, .block_shared = def->shared_per_block,
			.bandwidth = def->bandwidth,
		},
	};
	uint16_t host = in->process->host;
	uint32_t same = device_same(model, host, &wanted);
	uint32_t view = map_get(&in->process->views, def->id), old;

	if (view == MAP_NONE) {
		if (same == NONE)
			same = device_make(model, host);
		if (same == NONE || view_make(model, in->process->index, def->id, same) == NONE) {
			model_bad(model, BAD_FULL);
			return;
		}
		device_fill(model, same, &wanted);
		return;
	}
	old = view_at(model, view)->device;
	if (same == NONE && !device_at(model, old)->defined)
		same = old;
	if (same == NONE)
		same = device_make(model, host);
	if (same == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	device_fill(model, same, &wanted);
	if (same == old)
		return;
	/* Work on the stand-in was work on this device. */
	view_at(model, view)->device = same;
	if (!device_at(model, old)->defined)
		device_at(model, old)->alias = true;
	device_rebuild(model, old);
	device_rebuild(model, same);
}

/* ---- queues ---- */

void apply_queue(struct model *model, const struct arrival *in)
{
	const struct event_queue *def = &in->event->u.queue;
	uint32_t index = process_queue_get(model, in->process, def->id);
	struct queue *queue;
	uint32_t view;

	if (index == NONE || !def->id) {
		model_bad(model, BAD_ID);
		return;
	}
	queue = queue_at(model, index);
	queue->flags = def->flags;
	queue->priority = def->priority;
	queue->name = names_intern(&model->names, def->name);
	view = view_get(model, in->process->index, def->device);
	if (view == NONE || (queue->view != NONE && queue->view != view)) {
		model_bad(model, BAD_REUSED);
		return;
	}
	if (queue->view == view)
		return;
	queue->view = view;
	queue_listed(model, index);
	/* Approximate and failed commands may be drawn already. */
	if (queue->rows.first != NONE)
		device_rebuild(model, view_at(model, view)->device);
	commands_drain(model, &queue->pending, false);
}
