/* SPDX-License-Identifier: MIT */
/*
 * Reads TensorFlow's XSpace. A plane is walked twice: first for its metadata, which comes after the
 * lines that use it, then line by line, one event at a time.
 */
#include "model/import/xspace_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define LOOK_EVENTS 1024u

static uint64_t place(const struct xspace *x, const uint8_t *at)
{
	return (uint64_t)(at - x->begin);
}

static bool is_text(const struct import_wire *wire, const char *text)
{
	return wire->size == strlen(text) && !memcmp(wire->data, text, wire->size);
}

/* ---- metadata ---- */

static enum xstat stat_of(const Xplane__XStatMetadata *meta)
{
	static const char *const names[XSTAT_COUNT] = {
		[XSTAT_CORRELATION] = "correlation_id", [XSTAT_STEP_NUM] = "step_num",
		[XSTAT_TF_OP] = "tf_op", [XSTAT_HLO_OP] = "hlo_op",
		[XSTAT_KERNEL_DETAILS] = "kernel_details",
		[XSTAT_MEMCPY_DETAILS] = "memcpy_details",
		[XSTAT_MEMSET_DETAILS] = "memset_details", [XSTAT_ALLOCATOR] = "allocator_name",
		[XSTAT_ADDRESS] = "addr", [XSTAT_ALLOCATED] = "allocation_bytes",
		[XSTAT_REQUESTED] = "requested_bytes", [XSTAT_VENDOR] = "device_vendor",
		[XSTAT_CLOCK_RATE] = "clock_rate", [XSTAT_CORES] = "core_count",
		[XSTAT_MEMORY_SIZE] = "memory_size", [XSTAT_DEVICE_TYPE] = "device_type_string",
		[XSTAT_PRODUCER_TYPE] = "_pt", [XSTAT_PRODUCER] = "_p",
		[XSTAT_CONSUMER_TYPE] = "_ct", [XSTAT_CONSUMER] = "_c", [XSTAT_KEY] = "key",
		[XSTAT_NAME] = "name", [XSTAT_KERNEL_TYPE] = "kernel_type",
		[XSTAT_STEP_ID] = "step_id",
	};

	for (int i = 1; i < XSTAT_COUNT; i++)
		if (!strcasecmp(meta->name, names[i]))
			return (enum xstat)i;
	return XSTAT_OTHER;
}

static void xspace_add_stat(struct xspace *x, const struct import_wire *value)
{
	Xplane__XStatMetadata *meta = xplane__xstat_metadata__unpack(&x->arena.allocator,
								     value->size, value->data);

	if (!meta || x->n_stats >= XSPACE_META_MAX)
		return;
	grow(&x->stats, &x->cap_stats, x->n_stats, sizeof(*x->stats));
	x->stats[x->n_stats] = (struct xmeta_stat) {
		.stat = stat_of(meta),
		.name = build_word(x->build, meta->name, NAME_OP),
	};
	map_set(&x->stat_by_id, (uint64_t)meta->id, (uint32_t)x->n_stats++);
}

static enum xmeta_what what_of(const char *name, const char *type)
{
	static const struct { const char *text; enum xmeta_what what; } names[] = {
		{ "MemoryAllocation", XMETA_ALLOC }, { "MemoryDeallocation", XMETA_FREE },
		{ "ExecutorState::ProcessAsync::Start", XMETA_ASYNC_START },
		{ "ExecutorState::ProcessAsync::Done", XMETA_ASYNC_DONE },
	}, types[] = {
		{ "_Send", XMETA_SEND }, { "_HostSend", XMETA_SEND }, { "_Recv", XMETA_RECV },
		{ "_HostRecv", XMETA_RECV },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i].text))
			return names[i].what;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i].text))
			return types[i].what;
	return XMETA_PLAIN;
}

static void xspace_add_event(struct xspace *x, const struct import_wire *value)
{
	Xplane__XEventMetadata *meta = xplane__xevent_metadata__unpack(&x->arena.allocator,
								       value->size, value->data);
	const char *name;
	struct xmeta_event *event;
	size_t op;

	if (!meta || x->n_events >= XSPACE_META_MAX)
		return;
	/* For an op "name:Type", the display name is only the type. */
	op = x->is_device ? 0 : details_op(meta->name, strlen(meta->name));
	name = *meta->display_name && !x->is_device && !op ? meta->display_name : meta->name;
	op = op || x->is_device ? op : details_op(name, strlen(name));
	grow(&x->events, &x->cap_events, x->n_events, sizeof(*x->events));
	event = &x->events[x->n_events];
	*event = (struct xmeta_event) { 0 };
	event->name = build_word(x->build, name, x->is_device ? NAME_KERNEL : NAME_OP);
	event->op = op ? build_name(x->build, name, op, NAME_OP) : event->name;
	if (op)
		event->type = build_word(x->build, name + op + 1, NAME_OP_TYPE);
	event->what = (uint8_t)what_of(build_text(x->build, event->name),
				       build_text(x->build, event->type));
	if (meta->n_stats) {
		event->values = xmalloc(sizeof(*event->values));
		xspace_values(x, meta->stats, meta->n_stats, NULL, event->values);
	}
	map_set(&x->event_by_id, (uint64_t)meta->id, (uint32_t)x->n_events++);
}

/* Reads the value of a map's entry. */
static bool entry_value(struct xspace *x, const struct import_wire *entry,
			struct import_wire *value)
{
	*value = wire_of(entry->data, entry->size);
	while (wire_next(value))
		if (value->field == 2 && value->type == WIRE_BYTES && !value->cut)
			return true;
	build_damage(x->build, value, x->begin);
	return false;
}

/* ---- lines ---- */

static void free_plane(struct xspace *x)
{
	for (size_t i = 0; i < x->n_events; i++)
		free(x->events[i].values);
	free(x->plane);
	free(x->events);
	free(x->stats);
	map_release(&x->event_by_id);
	map_release(&x->stat_by_id);
	map_release(&x->streams);
	x->plane = NULL;
	x->events = NULL;
	x->stats = NULL;
	x->n_events = x->n_stats = x->cap_events = x->cap_stats = 0;
	x->is_device = x->has_streams = x->has_xla = false;
	x->device = 0;
}

struct xspace_line {
	uint64_t id;
	char *name;			/* owned */
};

static struct xspace_line xspace_read_line(struct xspace *x, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);
	struct xspace_line line = { 0 };
	bool display = false;

	x->line_ns = 0;
	while (wire_next(&wire)) {
		if (wire.field == 1)
			line.id = wire.value;
		else if (wire.field == 3)
			x->line_ns = (int64_t)wire.value;
		else if ((wire.field == 2 && !display) ||
			 (wire.field == 11 && wire.size && wire.data)) {
			free(line.name);
			line.name = wire.data ? xstrndup((const char *)wire.data,
							 wire.size < 256 ? wire.size : 256) : NULL;
			display = wire.field == 11;
		}
	}
	if (!line.name)
		line.name = xstrdup("");
	return line;
}

static enum xline_kind xspace_line_kind(const struct xspace *x, const char *name)
{
	static const char *const derived[] = {
		"Framework Name Scope", "Framework Ops", "XLA Modules", "XLA Ops", "XLA TraceMe",
		"Async XLA Ops", "Launch Stats", "Source code", "_counters_", "Steps",
		"Sparse Core Steps", "Sparse Core Modules", "Sparse Core Syncs",
	};

	if (!x->is_device)
		return XLINE_HOST;
	if (!strcmp(name, "Steps"))
		return XLINE_STEPS;
	if (x->has_streams)
		return strncmp(name, "Stream #", 8) ? XLINE_SKIP : XLINE_STREAM;
	if (x->has_xla)
		return strcmp(name, "XLA Ops") && strcmp(name, "Sparse Core Ops") ?
			XLINE_SKIP : XLINE_STREAM;
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++)
		if (!strcmp(name, derived[i]))
			return XLINE_SKIP;
	return XLINE_STREAM;
}

static uint32_t xspace_thread_track(struct xspace *x, const struct xspace_line *line)
{
	uint32_t track = map_get(&x->threads, line->id);

	if (track != MAP_NONE)
		return track;
	track = build_track(x->build, x->process, (uint32_t)line->id ? (uint32_t)line->id :
			    UINT32_MAX);
	map_set(&x->threads, line->id, track);
	if (*line->name)
		build_track_name(x->build, track, line->name);
	return track;
}

/* The track of a stream, or of the line that contains the steps. */
static uint32_t device_track(struct xspace *x, struct xspace_line *line)
{
	uint32_t track = map_get(&x->streams, line->id);

	if (track != MAP_NONE)
		return track;
	track = build_track(x->build, x->process, 0);
	map_set(&x->streams, line->id, track);
	if (x->kind != XLINE_STREAM)
		return track;
	if (x->has_streams)
		line->name[strcspn(line->name, "(")] = '\0';
	build_track_name(x->build, track, line->name);
	build_stream(x->build, track, x->device);
	return track;
}

static void xspace_walk_events(struct xspace *x, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);
	unsigned int count = 0;
	Xplane__XEvent *event;

	while (wire_next(&wire)) {
		if (wire.field != 4 || wire.type != WIRE_BYTES || wire.cut)
			continue;
		if (++count % LOOK_EVENTS == 0) {
			build_reading(x->build, place(x, wire.at), x->size);
			if (build_stopped(x->build))
				return;
		}
		arena_reset(&x->arena);
		event = xplane__xevent__unpack(&x->arena.allocator, wire.size, wire.data);
		if (event)
			xspace_event(x, event);
		else
			build_drop(x->build, "event", "that cannot be decoded");
	}
	build_damage(x->build, &wire, x->begin);
}

static void walk_line(struct xspace *x, const struct import_wire *bytes)
{
	struct xspace_line line = xspace_read_line(x, bytes);

	x->kind = xspace_line_kind(x, line.name);
	if (x->kind == XLINE_HOST)
		x->track = xspace_thread_track(x, &line);
	else if (x->kind != XLINE_SKIP)
		x->track = device_track(x, &line);
	if (x->kind != XLINE_SKIP && x->track)
		xspace_walk_events(x, bytes);
	free(line.name);
}

/* ---- planes ---- */

/* Determines what the plane is, by its name and the names of its lines. */
static void look_at_plane(struct xspace *x, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);

	while (wire_next(&wire)) {
		struct import_wire line = wire_of(wire.data, wire.size);

		if (wire.field == 2 && wire.data && !x->plane)
			x->plane = xstrndup((const char *)wire.data,
					    wire.size < 256 ? wire.size : 256);
		if (wire.field != 3)
			continue;
		while (wire_next(&line) && line.field < 4)
			if (line.field == 2 && line.data) {
				x->has_streams |= line.size > 8 && !memcmp(line.data, "Stream "
									   "#", 8);
				x->has_xla |= is_text(&line, "XLA Ops");
			}
	}
	build_damage(x->build, &wire, x->begin);
	if (!x->plane)
		x->plane = xstrdup("");
	x->is_device = !strncmp(x->plane, "/device:", 8);
}

/* Reads the entries of one of the plane's maps. */
static void read_map(struct xspace *x, const struct import_wire *bytes, uint32_t field,
		     void (*add)(struct xspace *x, const struct import_wire *value))
{
	struct import_wire wire = wire_of(bytes->data, bytes->size), value;

	while (wire_next(&wire) && !build_stopped(x->build)) {
		if (wire.type != WIRE_BYTES || wire.field != field || wire.cut ||
		    !entry_value(x, &wire, &value))
			continue;
		arena_reset(&x->arena);
		add(x, &value);
	}
}

/* Adds a statistic of the plane as a setting, if it is a number or a word. */
static void add_info(struct xspace *x, const Xplane__XStat *stat)
{
	uint32_t meta = map_get(&x->stat_by_id, (uint64_t)stat->metadata_id), ref;
	char *text = NULL;

	if (meta == MAP_NONE)
		return;
	switch (stat->value_case) {
	case XPLANE__XSTAT__VALUE_DOUBLE_VALUE:
		text = xasprintf("%.10g", stat->double_value);
		break;
	case XPLANE__XSTAT__VALUE_UINT64_VALUE:
		text = xasprintf("%" PRIu64, stat->uint64_value);
		break;
	case XPLANE__XSTAT__VALUE_INT64_VALUE:
		text = xasprintf("%" PRId64, stat->int64_value);
		break;
	case XPLANE__XSTAT__VALUE_STR_VALUE:
		text = xstrdup(stat->str_value);
		break;
	case XPLANE__XSTAT__VALUE_REF_VALUE:
		ref = map_get(&x->stat_by_id, stat->ref_value);
		text = xstrdup(ref == MAP_NONE ? "" : build_text(x->build, x->stats[ref].name));
		break;
	default:			/* bytes contain messages */
		return;
	}
	build_info(x->build, x->process, x->plane, build_text(x->build, x->stats[meta].name), text);
	free(text);
}

/* The next statistic of the plane itself, in the arena; NULL: there are no more. */
static Xplane__XStat *next_stat(struct xspace *x, struct import_wire *wire)
{
	Xplane__XStat *stat;

	while (wire_next(wire)) {
		if (wire->field != 6 || wire->type != WIRE_BYTES || wire->cut)
			continue;
		arena_reset(&x->arena);
		stat = xplane__xstat__unpack(&x->arena.allocator, wire->size, wire->data);
		if (stat)
			return stat;
	}
	return NULL;
}

static void describe_device(struct xspace *x, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);
	struct build_device *device;
	struct xvalues values;
	Xplane__XStat *stat;

	x->device = build_device(x->build, x->plane);
	device = &x->build->devices[x->device - 1];
	device->gpu = strncmp(x->plane, "/device:GPU", 11) ? strncmp(x->plane, "/device:CPU", 11) ?
		2 : 0 : 1;
	while ((stat = next_stat(x, &wire))) {
		xspace_values(x, &stat, 1, NULL, &values);
		if (values.there[XSTAT_VENDOR]) {
			free(device->vendor);
			device->vendor = xstrdup(build_text(x->build, values.text[XSTAT_VENDOR]));
		}
		if (values.text[XSTAT_DEVICE_TYPE]) {
			free(device->name);
			device->name = xasprintf("%s %s", build_text(x->build,
						 values.text[XSTAT_DEVICE_TYPE]), x->plane + 8);
		}
		if (values.there[XSTAT_CORES])
			device->units = (uint32_t)values.number[XSTAT_CORES];
		if (values.there[XSTAT_CLOCK_RATE])	/* kHz */
			device->clock_mhz = (uint32_t)(values.number[XSTAT_CLOCK_RATE] / 1000);
		if (values.there[XSTAT_MEMORY_SIZE])
			device->memory_bytes = values.number[XSTAT_MEMORY_SIZE];
	}
}

static bool is_silent(const char *plane)
{
	static const char *const silent[] = {
		"/host:metadata", "/host:tfstreamz", "Task Environment", "/host:TFStreamz",
	};

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (!strcmp(plane, silent[i]))
			return true;
	return *plane == '#';
}

static void walk_plane(struct xspace *x, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);

	struct import_wire stats = wire;
	Xplane__XStat *stat;

	look_at_plane(x, bytes);
	read_map(x, bytes, 5, xspace_add_stat);
	while ((stat = next_stat(x, &stats)))
		add_info(x, stat);
	if (!is_silent(x->plane)) {
		/* their statistics need the names */
		read_map(x, bytes, 4, xspace_add_event);
		if (x->is_device)
			describe_device(x, bytes);
		while (wire_next(&wire) && !build_stopped(x->build))
			if (wire.field == 3 && wire.type == WIRE_BYTES)
				walk_line(x, &wire);
	}
	free_plane(x);
}

void xspace_read(struct import_build *build, const uint8_t *data, size_t size, const char *name)
{
	struct xspace x = { .build = build, .begin = data, .size = size };
	struct import_wire wire = wire_of(data, size);

	arena_init(&x.arena);
	x.process = build_process(build, 1, name);
	while (wire_next(&wire) && !build_stopped(build)) {
		if (wire.field == 1 && wire.type == WIRE_BYTES)
			walk_plane(&x, &wire);
		else if (wire.field == 2 && wire.type == WIRE_BYTES)
			build_say(build, 2, "the profiler said: %.*s",
				  (int)(wire.size < 300 ? wire.size : 300),
				  (const char *)wire.data);
		else if (wire.field == 3 && wire.type == WIRE_BYTES)
			build_say(build, 1, "the profiler said: %.*s",
				  (int)(wire.size < 300 ? wire.size : 300),
				  (const char *)wire.data);
		else if (wire.field == 4 && wire.type == WIRE_BYTES && !wire.cut) {
			free(build->processes[x.process - 1].host);
			build->processes[x.process - 1].host =
				xstrndup((const char *)wire.data,
					 wire.size < 255 ? wire.size : 255);
		}
	}
	build_damage(x.build, &wire, x.begin);
	map_release(&x.threads);
	map_release(&x.async_by_id);
	free(x.asyncs);
	arena_release(&x.arena);
}
