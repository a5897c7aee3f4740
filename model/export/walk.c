/* SPDX-License-Identifier: MIT */
/* Where things happened: processes, threads, devices and queues, and their tracks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/recording/export.h"
#include "model/export/walk_internal.h"
#include "model/query/flows.h"

#define BATCH 1024u

/* Adds an element to an array of the walk; its value is the index. */
#define ADD(w, list) (grow(&(w)->list, &(w)->cap_##list, (w)->n_##list, sizeof(*(w)->list)), \
		      memset(&(w)->list[(w)->n_##list], 0, sizeof(*(w)->list)), \
		      (uint32_t)(w)->n_##list++)

/* ---- tracks ---- */

uint32_t walk_track(struct export_walk *w, const struct track *track)
{
	struct track copy = *track;

	copy.id = ++w->n_tracks;
	w->sink->track(w->sink->arg, &copy);
	return copy.id;
}

static uint32_t new_lane(struct export_walk *w, struct lanes *lanes, uint32_t group,
			 const char *name)
{
	char text[512];
	struct track track = { .group = group, .kind = TRACK_LANE, .name = text };

	if (lanes->n)
		snprintf(text, sizeof(text), "%s lane %zu", name, lanes->n + 1);
	else
		snprintf(text, sizeof(text), "%s", name);
	grow(&lanes->tracks, &lanes->cap_tracks, lanes->n, sizeof(*lanes->tracks));
	grow(&lanes->end_ns, &lanes->cap_ends, lanes->n, sizeof(*lanes->end_ns));
	lanes->tracks[lanes->n] = walk_track(w, &track);
	lanes->end_ns[lanes->n] = INT64_MIN;
	return (uint32_t)lanes->n++;
}

uint32_t walk_lane(struct export_walk *w, struct lanes *lanes, uint32_t group, const char *name,
		   int64_t start_ns, int64_t end_ns)
{
	size_t i;

	for (i = 0; i < lanes->n && lanes->end_ns[i] > start_ns; i++)
		;
	if (i == lanes->n)
		i = lanes->n < WALK_LANES_MAX ? new_lane(w, lanes, group, name) : 0;
	if (end_ns > lanes->end_ns[i])
		lanes->end_ns[i] = end_ns;
	return lanes->tracks[i];
}

static void lanes_release(struct lanes *lanes)
{
	free(lanes->tracks);
	free(lanes->end_ns);
}

/* ---- processes and threads ---- */

static uint64_t process_key(const struct event *event)
{
	return (uint64_t)event->host << 32 | event->pid;
}

static uint32_t new_process(struct export_walk *w, const struct event *event)
{
	uint32_t at = ADD(w, processes);

	w->processes[at].key = process_key(event);
	map_set(&w->processes_at, w->processes[at].key, at);
	return at;
}

uint32_t walk_process(struct export_walk *w, const struct event *event)
{
	uint32_t at = map_get(&w->processes_at, process_key(event));

	return at == MAP_NONE ? new_process(w, event) : at;
}

uint32_t walk_group_of(struct export_walk *w, uint32_t process)
{
	struct walk_process *p = &w->processes[process];
	const char *command = p->command && *p->command ? p->command : "process";
	struct track track = { .kind = TRACK_GROUP, .pid = (uint32_t)p->key, .name = w->text };

	if (p->group)
		return p->group;
	if (p->key >> 32)
		snprintf(w->text, sizeof(w->text), "%.400s (pid %u on %s)", command, track.pid,
			 p->host && *p->host ? p->host : "another host");
	else
		snprintf(w->text, sizeof(w->text), "%.400s (pid %u)", command, track.pid);
	return p->group = walk_track(w, &track);
}

struct walk_thread *walk_thread(struct export_walk *w, uint32_t process, uint32_t tid)
{
	uint32_t at = map_get(&w->threads_at, walk_key(process, tid));

	if (at == MAP_NONE) {
		at = ADD(w, threads);
		map_set(&w->threads_at, walk_key(process, tid), at);
	}
	return &w->threads[at];
}

uint32_t walk_thread_track(struct export_walk *w, uint32_t process, uint32_t tid, uint32_t *track,
			   const char *what)
{
	const char *name = walk_thread(w, process, tid)->name;
	struct track made = {
		.group = walk_group_of(w, process), .kind = *what ? TRACK_LANE : TRACK_THREAD,
		.pid = (uint32_t)w->processes[process].key, .tid = tid, .name = w->text,
	};

	if (*track)
		return *track;
	snprintf(w->text, sizeof(w->text), "%.400s %u%s%s", name && *name ? name : "thread", tid,
		 *what ? " " : "", what);
	return *track = walk_track(w, &made);
}

static struct walk_device *device_of(struct export_walk *w, uint32_t process, uint32_t id)
{
	uint32_t at = map_get(&w->devices_at, walk_key(process, id));

	if (at == MAP_NONE) {
		at = ADD(w, devices);
		map_set(&w->devices_at, walk_key(process, id), at);
	}
	return &w->devices[at];
}

uint32_t walk_device_group(struct export_walk *w, uint32_t process, uint32_t id)
{
	struct walk_device *device = device_of(w, process, id);
	struct track track = { .kind = TRACK_GROUP, .name = w->text };

	if (device->group)
		return device->group;
	snprintf(w->text, sizeof(w->text), "%.400s (device %u of pid %u)",
		 device->name && *device->name ? device->name : "device", id,
		 (uint32_t)w->processes[process].key);
	return device->group = walk_track(w, &track);
}

bool walk_in_blocks(struct export_walk *w, uint32_t process, uint32_t queue)
{
	return device_of(w, process, walk_queue(w, process, queue)->device)->blocks;
}

struct walk_queue *walk_queue(struct export_walk *w, uint32_t process, uint32_t id)
{
	uint32_t at = map_get(&w->queues_at, walk_key(process, id));

	if (at == MAP_NONE) {
		at = ADD(w, queues);
		map_set(&w->queues_at, walk_key(process, id), at);
	}
	return &w->queues[at];
}

const char *walk_name(const struct export_walk *w, uint32_t id)
{
	uint32_t at = id ? map_get(&w->names_at, id) : MAP_NONE;

	return at == MAP_NONE ? NULL : w->names[at];
}

/* ---- definitions ---- */

static void define_process(struct export_walk *w, const struct event *event)
{
	uint32_t at = walk_process(w, event);

	if (w->processes[at].defined)
		at = new_process(w, event);	/* another program has this pid later */
	w->processes[at].defined = true;
	w->processes[at].command = event->u.process.command;
	w->processes[at].host = event->u.process.host;
}

static void walk_define_device(struct export_walk *w, uint32_t process,
			       const struct event_device *def)
{
	struct walk_device *device = device_of(w, process, def->id);

	device->name = def->name;
	device->blocks = def->api && !strcmp(def->api, "cuda");
}

static void define_shape(struct export_walk *w, uint32_t process, const struct event_shape *shape)
{
	uint32_t at = map_get(&w->shapes_at, walk_key(process, shape->id));

	if (at == MAP_NONE)
		at = ADD(w, shapes);
	map_set(&w->shapes_at, walk_key(process, shape->id), at);
	w->shapes[at].dims = shape->dims <= 3 ? shape->dims : 0;
	memcpy(w->shapes[at].global, shape->global, sizeof(shape->global));
	memcpy(w->shapes[at].local, shape->local, sizeof(shape->local));
}

static void define_frame(struct export_walk *w, uint32_t process, const struct event_frame *frame)
{
	uint32_t at = map_get(&w->frames_at, walk_key(process, frame->id));

	if (at == MAP_NONE)
		at = ADD(w, frames);
	map_set(&w->frames_at, walk_key(process, frame->id), at);
	w->frames[at] = (struct walk_frame) { frame->file, frame->function, frame->line };
}

/* Handles a definition; returns whether it was one. */
static bool walk_define(struct export_walk *w, const struct event *event)
{
	uint32_t p, at;

	switch ((enum event_type)event->type) {
	case EVENT_PROCESS:
		define_process(w, event);
		return true;
	case EVENT_NAME:
		if (map_get(&w->names_at, event->u.name.id) == MAP_NONE) {
			at = ADD(w, names);
			w->names[at] = event->u.name.text;
			map_set(&w->names_at, event->u.name.id, at);
		}
		return true;
	case EVENT_THREAD:
		p = walk_process(w, event);
		walk_thread(w, p, event->u.thread.tid)->name = event->u.thread.name;
		return true;
	case EVENT_DEVICE:
		walk_define_device(w, walk_process(w, event), &event->u.device);
		return true;
	case EVENT_QUEUE:
		p = walk_process(w, event);
		walk_queue(w, p, event->u.queue.id)->device = event->u.queue.device;
		walk_queue(w, p, event->u.queue.id)->name = event->u.queue.name;
		return true;
	case EVENT_SHAPE:
		define_shape(w, walk_process(w, event), &event->u.shape);
		return true;
	case EVENT_FRAME:
		define_frame(w, walk_process(w, event), &event->u.frame);
		return true;
	default:
		return false;
	}
}

/* ---- data edges come before the rest, because their arrows need numbers ---- */

static int by_op(const void *a, const void *b)
{
	const struct walk_end *p = a, *q = b;

	return ASCENDING(p, q, process) ?: ASCENDING(p, q, instance) ?: ASCENDING(p, q, flow);
}

static void take_edge(struct export_walk *w, const struct event *event)
{
	const struct event_edge *edge = &event->u.edge;

	if (w->n_ends + 2 > 2 * (size_t)WALK_FLOWS_MAX) {
		w->result->left_out++;
		return;
	}
	w->n_flows++;
	for (int out = 0; out < 2; out++) {
		uint32_t at = ADD(w, ends);

		w->ends[at] = (struct walk_end) {
			process_key(event), out ? edge->from : edge->to, w->n_flows, out,
		};
	}
}

static bool any_edges(struct model *model)
{
	struct edge_row *rows;
	size_t n;

	model_lock(model);
	n = model_edges(model, &rows);
	model_unlock(model);
	free(rows);
	return n > 0;
}

static void walk_take_edges(struct export_walk *w, struct event *events)
{
	struct model_export *export;
	size_t n;

	if (!w->options->kind.dataflow || !any_edges(w->options->model))
		return;
	export = model_export_new(w->options->model, w->options->from_ns);
	while ((n = model_export_next(export, events, BATCH)) > 0)
		for (size_t i = 0; i < n; i++)
			if (events[i].type == EVENT_EDGE)
				take_edge(w, &events[i]);
	model_export_free(export);
	if (w->n_ends)
		qsort(w->ends, w->n_ends, sizeof(*w->ends), by_op);
}

/* ---- the whole ---- */

static bool walk_go_on(const struct export_walk *w, const struct model_status *status,
		       int64_t now_ns)
{
	int64_t first_ns = status->first_ns, length_ns;

	if (ferror(w->options->out))
		return false;
	if (!w->options->progress)
		return true;
	if (w->options->from_ns > first_ns)
		first_ns = w->options->from_ns;
	length_ns = status->last_ns > first_ns ? status->last_ns - first_ns : 1;
	now_ns = now_ns < first_ns ? 0 : now_ns - first_ns;
	if (now_ns > length_ns)
		now_ns = length_ns;
	return w->options->progress(w->options->arg, (int)((__int128)now_ns * 100 / length_ns));
}

/* Shows pauses of all processes like losses. */
static void walk_pauses(struct export_walk *w, struct model_status *status)
{
	struct model_pause *pauses, *taken;
	size_t n, n_taken;
	int64_t from_ns;

	model_lock(w->options->model);
	model_status(w->options->model, status);
	from_ns = w->options->from_ns > status->first_ns ? w->options->from_ns : status->first_ns;
	n = model_pauses(w->options->model, UINT32_MAX, from_ns, INT64_MAX, &pauses);
	n_taken = model_taken(w->options->model, from_ns, INT64_MAX, &taken);
	model_unlock(w->options->model);
	for (size_t i = 0; i < n; i++)
		walk_pause(w, &pauses[i]);
	for (size_t i = 0; i < n_taken; i++)
		walk_pause(w, &taken[i]);
	free(pauses);
	free(taken);
}

static bool walk_put_events(struct export_walk *w, struct event *events)
{
	struct model_export *export;
	struct model_export_gap gap;
	struct model_status status;
	bool good = true;
	size_t n;

	walk_pauses(w, &status);
	export = model_export_new(w->options->model, w->options->from_ns);
	model_export_by_start(export);
	while (good && (n = model_export_next(export, events, BATCH)) > 0) {
		for (size_t i = 0; i < n; i++)
			if (!walk_define(w, &events[i]))
				walk_work(w, &events[i]);
		good = walk_go_on(w, &status, events[n - 1].time_ns);
	}
	model_export_gap(export, &gap);
	w->result->gap_ns = gap.spans_ns;
	model_export_free(export);
	return good;
}

static void walk_release(struct export_walk *w)
{
	struct map *maps[] = {
		&w->names_at, &w->processes_at, &w->threads_at, &w->devices_at, &w->queues_at,
		&w->shapes_at, &w->frames_at, &w->steps_at, &w->accounts_at, &w->series_at,
	};
	void *lists[] = {
		w->names, w->processes, w->threads, w->devices, w->queues, w->shapes, w->frames,
		w->steps, w->accounts, w->series, w->blocks, w->ends, w->launches, w->call_flows,
	};

	for (size_t i = 0; i < w->n_processes; i++) {
		lanes_release(&w->processes[i].asyncs);
		lanes_release(&w->processes[i].builds);
		lanes_release(&w->processes[i].messages);
	}
	for (size_t i = 0; i < w->n_queues; i++) {
		lanes_release(&w->queues[i].runs);
		for (int d = 0; d < DIR_COUNT; d++)
			lanes_release(&w->queues[i].copies[d]);
	}
	for (size_t i = 0; i < w->n_steps; i++)
		lanes_release(&w->steps[i]);
	for (size_t i = 0; i < w->n_threads; i++)
		lanes_release(&w->threads[i].launches);
	for (size_t i = 0; i < w->n_accounts; i++)
		map_release(&w->accounts[i].blocks_at);
	lanes_release(&w->losses);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_release(maps[i]);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
}

bool walk_run(const struct foreign_options *options, const struct sink *sink,
	      struct foreign_result *result)
{
	struct export_walk w = { .options = options, .sink = sink, .result = result };
	struct event *events = xreallocarray(NULL, BATCH, sizeof(*events));
	bool good;

	w.launches = xreallocarray(NULL, WALK_LAUNCHES, sizeof(*w.launches));
	walk_take_edges(&w, events);
	good = walk_put_events(&w, events);
	if (good)
		walk_finish(&w);
	free(events);
	walk_release(&w);
	return good;
}
