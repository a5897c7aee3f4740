/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's StepStats, alone or in a RunMetadata: what each device did in a step. Host
 * devices have threads (or, without thread ids, lanes by first fit, as TensorFlow's timeline.py
 * draws them), GPUs have streams. The label of a node names its inputs, which become data
 * edges.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/import/details.h"
#include "model/import/readers.h"
#include "formats/step_stats.pb-c.h"
#include "model/import/wire.h"

#define LANES_MAX 1024u
#define LIVE_MAX (1u << 20)		/* maximum number of allocations that wait for their free */

struct live_bytes { uint64_t address; uint32_t below; };

struct stepstats {
	struct import_build *build;
	const uint8_t *begin;
	size_t size;
	struct arena arena;
	uint32_t process;
	bool streams;			/* some device has streams of its own */
	/* For the current device. */
	char *device;			/* owned: its name */
	struct map threads, names;	/* thread id -> track; thread id -> name */
	int64_t lane_end_ns[LANES_MAX];
	uint32_t lane_track[LANES_MAX], n_lanes;
	uint32_t track, gpu;		/* for streams */
	struct map live;	/* bytes and allocator -> index of a live allocation, a stack */
	struct live_bytes *allocs;	/* owned */
	size_t n_allocs, cap_allocs;
	uint64_t addresses;
};

static uint64_t place(const struct stepstats *s, const uint8_t *at)
{
	return (uint64_t)(at - s->begin);
}

static char *device_name(const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);

	while (wire_next(&wire))
		if (wire.field == 1 && wire.data)
			return xstrndup((const char *)wire.data, wire.size < 512 ? wire.size : 512);
	return xstrdup("");
}

/* ".../device:GPU:0" for ".../device:GPU:0/stream:7". */
static char *base_device(const char *name)
{
	const char *end = strstr(name, "/stream:");
	const char *begin = strstr(name, "/device:");

	if (!end)
		end = strstr(name, "/memcpy");
	if (!end)
		end = name + strlen(name);
	if (!begin || begin > end)
		begin = strstr(name, "/gpu:");
	if (!begin || begin > end)
		begin = name;
	return xstrndup(begin, (size_t)(end - begin));
}

/* ---- tracks ---- */

static uint32_t new_track(struct stepstats *s, uint32_t tid, const char *name)
{
	uint32_t track = build_track(s->build, s->process, tid);

	build_track_name(s->build, track, name);
	return track;
}

/* Threads of devices are numbered separately, because their ids count from 0 in each device. */
static uint32_t stepstats_thread_track(struct stepstats *s, uint32_t id)
{
	uint32_t track = map_get(&s->threads, id);
	uint32_t known = map_get(&s->names, id);
	char *base, *name;

	if (track != MAP_NONE)
		return track;
	base = base_device(s->device);
	name = known == MAP_NONE ? xasprintf("%s thread %u", base, id) :
				   xasprintf("%s %s", base, build_text(s->build, known));
	track = new_track(s, (uint32_t)s->build->n_tracks + 2, name);
	map_set(&s->threads, id, track);
	free(name);
	free(base);
	return track;
}

/* The first lane that is free at that time. */
static uint32_t lane_track(struct stepstats *s, int64_t start_ns, int64_t end_ns)
{
	uint32_t i;
	char *name, *base;

	for (i = 0; i < s->n_lanes && s->lane_end_ns[i] >= start_ns; i++)
		;
	if (i == LANES_MAX)
		i--;
	if (i == s->n_lanes) {
		base = base_device(s->device);
		name = xasprintf("%s lane %u", base, i);
		s->lane_track[s->n_lanes++] = new_track(s, (uint32_t)s->build->n_tracks + 2, name);
		free(name);
		free(base);
	}
	s->lane_end_ns[i] = end_ns;
	return s->lane_track[i];
}

/* The queue of a device; 0: its work is already on other queues. */
static uint32_t stream_track(struct stepstats *s)
{
	const char *stream = strstr(s->device, "/stream:"), *copies = strstr(s->device, "/memcpy");
	bool all = copies || (stream && !strncmp(stream, "/stream:all", 11));
	char *base;

	if (all && s->streams)
		return 0;
	base = base_device(s->device);
	s->gpu = build_device(s->build, base);
	free(base);
	s->track = new_track(s, 0, stream ? stream + 1 : "memcpy");
	build_stream(s->build, s->track, s->gpu);
	return s->track;
}

/* ---- nodes ---- */

static bool add_times(int64_t a_us, int64_t a_ns, int64_t b_us, int64_t b_ns, int64_t *sum)
{
	__int128 total = (__int128)a_us * 1000, ns = total;

	/* Nanoseconds were added later and are more precise. */
	if (a_ns)
		ns = a_ns;
	total = ns + (b_ns ? b_ns : (__int128)b_us * 1000);
	if (total <= 0 || total > INT64_MAX / 4)
		return false;
	*sum = (int64_t)total;
	return true;
}

static bool times(const Tf__NodeExecStats *node, struct import_item *item)
{
	int64_t start, end;

	if (!add_times(node->all_start_micros, node->all_start_nanos, 0, 0, &start) ||
	    !add_times(node->all_start_micros, node->all_start_nanos, node->all_end_rel_micros,
		       node->all_end_rel_nanos, &end))
		return false;
	item->start_ns = start;
	item->dur_ns = end - start;
	return end >= start;
}

/* The flow of what a node gives. */
static uint32_t node_flow(struct stepstats *s, const char *name, size_t length)
{
	uint32_t key = build_key(s->build, name, length);

	return key ? build_flow(s->build, key) : 0;
}

/* The flow of an input "a", "a:1" or "^a": that of the node's outputs. */
static uint32_t input_flow(struct stepstats *s, const char *name, size_t length)
{
	const char *colon = memchr(name, ':', length);

	if (length && *name == '^') {
		name++;
		length--;
	}
	if (colon)
		length = (size_t)(colon - name);
	return length ? node_flow(s, name, length) : 0;
}

static void add_inputs(struct stepstats *s, const struct import_item *node, const char *inputs)
{
	struct import_item flow = *node;

	flow.type = ITEM_FLOW_TO;
	flow.flags = 0;
	flow.dur_ns = 0;
	while (*inputs && *inputs != ')') {
		size_t length = strcspn(inputs, ",)");

		flow.correlation = input_flow(s, inputs, length);
		if (flow.correlation)
			build_add(s->build, &flow);
		inputs += length;
		inputs += strspn(inputs, ", ");
	}
}

/* Adds an op from "name = Type(in, in)". */
static void stepstats_add_op(struct stepstats *s, const Tf__NodeExecStats *node,
			     struct import_item *item)
{
	const char *name = node->node_name, *type = strstr(node->timeline_label, " = ");
	const char *brace = type ? strchr(type + 3, '(') : NULL;
	size_t length = strlen(name), op = details_op(name, length);

	if (type && brace) {
		item->op_type = build_name(s->build, type + 3, (size_t)(brace - type - 3),
					   NAME_OP_TYPE);
		op = 0;
	} else if (op) {
		item->op_type = build_word(s->build, name + op + 1, NAME_OP_TYPE);
	}
	item->name = build_name(s->build, name, op ? op : length, NAME_OP);
	item->kind = FW_TENSORFLOW;
	item->flags = ITEM_GIVES;
	item->correlation = node_flow(s, name, op ? op : length);
	item->track = s->n_lanes || !node->thread_id ?
		lane_track(s, item->start_ns, item->start_ns + item->dur_ns) :
		stepstats_thread_track(s, node->thread_id);
	build_add(s->build, item);
	if (type && brace)
		add_inputs(s, item, brace + 1);
}

static void stepstats_add_run(struct stepstats *s, const Tf__NodeExecStats *node,
			      struct import_item *item)
{
	const char *label = node->timeline_label, *name = node->node_name;
	size_t length = strlen(name), op = details_op(name, length);
	const char *what = op ? name + op + 1 : name;

	item->kind = (uint8_t)details_kind(what);
	item->track = s->track;
	if (item->kind == COMMAND_COPY || item->kind == COMMAND_FILL) {
		item->direction = item->kind == COMMAND_FILL ? DIR_FILL :
				  (uint8_t)details_direction(what);
		item->bytes = details_bytes(label);
	} else if (*label && !strchr(label, '=')) {
		what = label;		/* the kernel's own name */
	}
	item->name = build_word(s->build, what, NAME_KERNEL);
	item->op_type = build_name(s->build, name, op ? op : length, NAME_OP);
	item->flags = ITEM_OF;
	item->correlation = node_flow(s, name, op ? op : length);
	build_add(s->build, item);
}

/* ---- memory: records have bytes and no addresses ---- */

static void add_record(struct stepstats *s, const struct import_item *node, uint32_t allocator,
		       const Tf__AllocationRecord *record)
{
	struct import_item item = *node;
	uint64_t bytes = record->alloc_bytes < 0 ? 0 - (uint64_t)record->alloc_bytes :
						   (uint64_t)record->alloc_bytes;
	const uint64_t both[2] = { bytes, allocator };
	uint32_t key = build_key(s->build, both, sizeof(both)), last = map_get(&s->live, key);

	if (record->alloc_micros <= 0 || record->alloc_micros > INT64_MAX / 4000 || !bytes ||
	    !key)
		return;
	item.start_ns = record->alloc_micros * 1000;
	item.dur_ns = 0;
	item.name = allocator;
	item.bytes = bytes;
	item.op_type = node->name;
	item.correlation = 0;
	item.flags = 0;
	item.shape = s->gpu;
	if (record->alloc_bytes > 0) {
		if (s->n_allocs >= LIVE_MAX)
			return;
		grow(&s->allocs, &s->cap_allocs, s->n_allocs, sizeof(*s->allocs));
		s->allocs[s->n_allocs] = (struct live_bytes) {
			.address = ++s->addresses * 4096, .below = last,
		};
		map_set(&s->live, key, (uint32_t)s->n_allocs++);
		item.type = ITEM_ALLOC;
		item.place = s->addresses * 4096;
	} else if (last != MAP_NONE) {
		item.type = ITEM_FREE;
		item.place = s->allocs[last].address;
		if (s->allocs[last].below == MAP_NONE)
			map_remove(&s->live, key);
		else
			map_set(&s->live, key, s->allocs[last].below);
	} else {
		return;			/* from a previous step */
	}
	build_add(s->build, &item);
}

/* How much an allocator had given out when the node ended: a value over time. */
static void add_level(struct stepstats *s, const struct import_item *node, const char *allocator,
		      int64_t bytes)
{
	char *name = xasprintf("%s in use", allocator);
	struct import_item item = {
		.type = ITEM_COUNTER, .track = node->track,
		.start_ns = node->start_ns + node->dur_ns, .place = (uint64_t)bytes,
	};

	item.name = build_series(s->build, s->process, s->gpu, name, "bytes");
	if (item.name)
		build_add(s->build, &item);
	free(name);
}

static void add_memory(struct stepstats *s, const Tf__NodeExecStats *node,
		       const struct import_item *item)
{
	for (size_t i = 0; i < node->n_memory; i++) {
		const Tf__AllocatorMemoryUsed *memory = node->memory[i];
		uint32_t allocator = build_word(s->build, memory->allocator_name, NAME_ALLOCATOR);

		if (memory->allocator_bytes_in_use > 0)
			add_level(s, item, memory->allocator_name, memory->allocator_bytes_in_use);
		for (size_t k = 0; k < memory->n_allocation_records; k++)
			add_record(s, item, allocator, memory->allocation_records[k]);
	}
}

/* ---- devices ---- */

static void stepstats_add_node(struct stepstats *s, const struct import_wire *bytes)
{
	struct import_item item = { .type = ITEM_SPAN };
	Tf__NodeExecStats *node;

	arena_reset(&s->arena);
	node = tf__node_exec_stats__unpack(&s->arena.allocator, bytes->size, bytes->data);
	if (!node) {
		build_drop(s->build, "node", "that cannot be decoded");
		return;
	}
	if (!times(node, &item)) {
		build_drop(s->build, "node", "with impossible times");
		return;
	}
	if (s->track)
		stepstats_add_run(s, node, &item);
	else
		stepstats_add_op(s, node, &item);
	add_memory(s, node, &item);
}

/* Reads thread_names: a map from the id. */
static void read_names(struct stepstats *s, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);

	while (wire_next(&wire)) {
		struct import_wire entry = wire_of(wire.data, wire.size);
		uint32_t id = 0, name = 0;

		if (wire.field != 3 || wire.type != WIRE_BYTES)
			continue;
		while (wire_next(&entry))
			if (entry.field == 1 && entry.type == WIRE_VARINT)
				id = (uint32_t)entry.value;
			else if (entry.field == 2 && entry.type == WIRE_BYTES)
				name = build_name(s->build, entry.data, entry.size, NAME_OTHER);
		if (name)
			map_set(&s->names, id, name);
	}
}

static bool is_stream(const char *device)
{
	return strstr(device, "/stream:") || strstr(device, "/memcpy");
}

static void walk_device(struct stepstats *s, const struct import_wire *bytes)
{
	struct import_wire wire = wire_of(bytes->data, bytes->size);
	bool said_elsewhere;

	s->device = device_name(bytes);
	s->n_lanes = s->track = s->gpu = 0;
	read_names(s, bytes);
	said_elsewhere = is_stream(s->device) && !stream_track(s);
	while (!said_elsewhere && wire_next(&wire) && !build_stopped(s->build)) {
		if (wire.field == 2 && wire.type == WIRE_BYTES && !wire.cut)
			stepstats_add_node(s, &wire);
		build_reading(s->build, place(s, wire.at), s->size);
	}
	build_damage(s->build, &wire, s->begin);
	map_release(&s->threads);
	map_release(&s->names);
	free(s->device);
	s->device = NULL;
}

static void find_streams(struct stepstats *s, const uint8_t *data, size_t size)
{
	struct import_wire wire = wire_of(data, size);

	while (wire_next(&wire)) {
		char *name;
		const char *stream;

		if (wire.field != 1 || wire.type != WIRE_BYTES)
			continue;
		name = device_name(&wire);
		stream = strstr(name, "/stream:");
		s->streams |= stream && strncmp(stream, "/stream:all", 11);
		free(name);
	}
}

static void read_stats(struct stepstats *s, const uint8_t *data, size_t size)
{
	struct import_wire wire = wire_of(data, size);

	s->streams = false;
	find_streams(s, data, size);
	while (wire_next(&wire) && !build_stopped(s->build))
		if (wire.field == 1 && wire.type == WIRE_BYTES)
			walk_device(s, &wire);
	build_damage(s->build, &wire, s->begin);
}

static void stepstats_begin(struct stepstats *s, struct import_build *build, const uint8_t *data,
			    size_t size, const char *name)
{
	*s = (struct stepstats) { .build = build, .begin = data, .size = size };
	arena_init(&s->arena);
	s->process = build_process(build, 1, name);
}

static void stepstats_end(struct stepstats *s)
{
	arena_release(&s->arena);
	map_release(&s->live);
	free(s->allocs);
}

void step_stats_read(struct import_build *build, const uint8_t *data, size_t size, const char *name)
{
	struct stepstats s;

	stepstats_begin(&s, build, data, size, name);
	read_stats(&s, data, size);
	stepstats_end(&s);
}

void run_metadata_read(struct import_build *build, const uint8_t *data, size_t size,
		       const char *name)
{
	struct import_wire wire = wire_of(data, size);
	struct stepstats s;

	stepstats_begin(&s, build, data, size, name);
	while (wire_next(&wire) && !build_stopped(build))
		if (wire.field == 1 && wire.type == WIRE_BYTES)
			read_stats(&s, wire.data, wire.size);
	build_damage(s.build, &wire, s.begin);
	stepstats_end(&s);
}
