/* SPDX-License-Identifier: MIT */
/* The tables of an import: the names in a file, and the numbers that stand for them. */
#include "model/import/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define NONE UINT32_MAX
#define TEXT_MAX_BYTES 4096u	/* maximum size of a name, the same as on the wire (TFT_TEXT_MAX) */
#define FAR_NS (INT64_C(1) << 60)	/* larger times are impossible */

void build_init(struct import_build *build, const struct import_options *options)
{
	memset(build, 0, sizeof(*build));
	build->options = options;
	build->spool = spool_new();
}

void build_release(struct import_build *build)
{
	struct map *const maps[] = {
		&build->name_by_hash, &build->shape_by_hash, &build->correlation_by_id,
		&build->flow_by_id, &build->queue_by_key, &build->sent, &build->device_sent,
		&build->series_by_key, &build->inner,
	};

	for (size_t i = 0; i < build->n_names; i++)
		free(build->names[i].text);
	for (size_t i = 0; i < build->n_processes; i++) {
		free(build->processes[i].command);
		free(build->processes[i].host);
	}
	for (size_t i = 0; i < build->n_devices; i++) {
		free(build->devices[i].key);
		free(build->devices[i].name);
		free(build->devices[i].vendor);
	}
	for (size_t i = 0; i < build->n_tracks; i++) {
		free(build->tracks[i].name);
		free(build->tracks[i].stack);
	}
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		map_release(maps[i]);
	keys_release(&build->keys);
	free(build->names);
	free(build->processes);
	free(build->devices);
	free(build->tracks);
	free(build->shapes);
	free(build->series);
	free(build->correlations);
	for (size_t i = 0; i < build->n_infos; i++) {
		free(build->infos[i].scope);
		free(build->infos[i].key);
		free(build->infos[i].value);
	}
	free(build->infos);
	free(build->flows);
	free(build->batch);
	spool_free(build->spool);
}

/* ---- texts ---- */

void build_say(struct import_build *build, int level, const char *format, ...)
{
	char text[IMPORT_ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (build->options->say)
		build->options->say(build->options->arg, level, text);
}

/* Counts it; true: for the first time. */
static bool count_problem(struct import_build *build, const char *what, const char *rest)
{
	size_t i;

	for (i = 0; i < BUILD_PROBLEMS && build->problems[i].what; i++)
		if (build->problems[i].what == what && build->problems[i].rest == rest) {
			build->problems[i].count++;
			return false;
		}
	if (i == BUILD_PROBLEMS)
		return false;
	build->problems[i].what = what;
	build->problems[i].rest = rest;
	build->problems[i].count = 1;
	return true;
}

void build_problem(struct import_build *build, const char *what, const char *place, uint64_t at)
{
	if (count_problem(build, what, NULL))
		build_say(build, 1, "%s, at %s %" PRIu64, what, place, at);
}

void build_drop(struct import_build *build, const char *what, const char *rest)
{
	count_problem(build, what, rest);
}

void build_cut(struct import_build *build, const char *what, const char *place, uint64_t at)
{
	build->part = true;
	build_say(build, 1, "%s, at %s %" PRIu64, what, place, at);
}

void build_tell_problems(struct import_build *build)
{
	for (size_t i = 0; i < BUILD_PROBLEMS && build->problems[i].what; i++) {
		const char *what = build->problems[i].what, *rest = build->problems[i].rest;
		uint64_t count = build->problems[i].count;
		char many[FMT_MAX];

		if (rest)
			build_say(build, 1, "%s %s %s dropped", fmt_many(many, count, what), rest,
				  count == 1 ? "was" : "were");
		else if (count > 1)
			build_say(build, 1, "%s: %" PRIu64 " times in total", what, count);
	}
}

void build_damage(struct import_build *build, const struct import_wire *wire, const uint8_t *begin)
{
	if (build->part)
		return;
	if (wire->cut)
		build_cut(build, "the file is cut off or damaged: a record reaches beyond its end",
			  "byte", (uint64_t)(wire->data - begin));
	else if (wire->damaged)
		build_cut(build, "the file is damaged: not a protobuf field", "byte",
			  (uint64_t)(wire->at - begin));
}

/* ---- tables: the entries with the same hash are linked by `next` ---- */

static uint64_t build_hash(const void *data, size_t size, uint64_t seed)
{
	const unsigned char *at = data;
	uint64_t hash = seed + size;
	uint64_t word;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = map_mix(hash ^ word) + 0x9e3779b97f4a7c15u;
	}
	word = 0;
	memcpy(&word, at, size);
	return map_mix(hash ^ word) | 1;
}

uint32_t build_name(struct import_build *build, const void *text, size_t size, uint8_t kind)
{
	struct build_name *name;
	uint64_t hash;
	uint32_t first;

	if (!size)
		return 0;
	if (size > TEXT_MAX_BYTES)
		size = TEXT_MAX_BYTES;
	hash = build_hash(text, size, kind);
	first = map_get(&build->name_by_hash, hash);
	for (uint32_t i = first; i != NONE; i = name->next) {
		name = &build->names[i];
		if (name->kind == kind && !strncmp(name->text, text, size) && !name->text[size])
			return i + 1;
	}
	if (build->n_names >= BUILD_TABLE_MAX || build->text_bytes >= BUILD_TEXT_BYTES) {
		build_problem(build, "too many different names: the others are left out",
			      "name", build->n_names);
		return 0;
	}
	grow(&build->names, &build->cap_names, build->n_names, sizeof(*build->names));
	name = &build->names[build->n_names];
	*name = (struct build_name) { .text = xstrndup(text, size), .kind = kind, .next = first };
	build->text_bytes += size;
	map_set(&build->name_by_hash, hash, (uint32_t)build->n_names);
	return (uint32_t)++build->n_names;
}

uint32_t build_word(struct import_build *build, const char *text, uint8_t kind)
{
	return build_name(build, text, strlen(text), kind);
}

const char *build_text(const struct import_build *build, uint32_t name)
{
	return name ? build->names[name - 1].text : "";
}

uint32_t build_process(struct import_build *build, uint32_t pid, const char *command)
{
	for (size_t i = 0; i < build->n_processes; i++)
		if (build->processes[i].pid == pid)
			return (uint32_t)i + 1;
	if (build->n_processes >= BUILD_PROCESSES_MAX)
		return (uint32_t)build->n_processes;
	grow(&build->processes, &build->cap_processes, build->n_processes,
	     sizeof(*build->processes));
	build->processes[build->n_processes] = (struct build_process) {
		.pid = pid, .command = xstrdup(command), .host = xstrdup(""),
	};
	return (uint32_t)++build->n_processes;
}

uint32_t build_device(struct import_build *build, const char *key)
{
	for (size_t i = 0; i < build->n_devices; i++)
		if (!strcmp(build->devices[i].key, key))
			return (uint32_t)i + 1;
	if (build->n_devices >= BUILD_DEVICES_MAX)
		return (uint32_t)build->n_devices;
	grow(&build->devices, &build->cap_devices, build->n_devices, sizeof(*build->devices));
	build->devices[build->n_devices] = (struct build_device) {
		.key = xstrdup(key), .name = xstrdup(key), .vendor = xstrdup(""), .gpu = 1,
		.index = (uint32_t)build->n_devices,
	};
	return (uint32_t)++build->n_devices;
}

uint32_t build_track(struct import_build *build, uint32_t process, uint32_t tid)
{
	if (build->n_tracks >= BUILD_TRACKS_MAX) {
		build_problem(build, "too many threads: the others are put into one",
			      "thread", build->n_tracks);
		return (uint32_t)build->n_tracks;
	}
	grow(&build->tracks, &build->cap_tracks, build->n_tracks, sizeof(*build->tracks));
	build->tracks[build->n_tracks] = (struct build_track) { .process = process, .tid = tid };
	return (uint32_t)++build->n_tracks;
}

void build_track_name(struct import_build *build, uint32_t track, const char *name)
{
	struct build_track *t = &build->tracks[track - 1];

	free(t->name);
	t->name = xstrndup(name, TEXT_MAX_BYTES);
}

void build_stream(struct import_build *build, uint32_t track, uint32_t device)
{
	build->tracks[track - 1].kind = TRACK_STREAM;
	build->tracks[track - 1].device = device;
}

uint32_t build_shape(struct import_build *build, const uint64_t global[3], const uint32_t local[3])
{
	struct build_shape shape = {
		.global = { global[0], global[1], global[2] },
		.local = { local[0], local[1], local[2] },
	};
	uint64_t hash = build_hash(&shape, offsetof(struct build_shape, sent), 0);
	uint32_t first = map_get(&build->shape_by_hash, hash);

	for (uint32_t i = first; i != NONE; i = build->shapes[i].next)
		if (!memcmp(&build->shapes[i], &shape, offsetof(struct build_shape, sent)))
			return i + 1;
	if (build->n_shapes >= BUILD_TABLE_MAX)
		return 0;
	shape.next = first;
	grow(&build->shapes, &build->cap_shapes, build->n_shapes, sizeof(*build->shapes));
	build->shapes[build->n_shapes] = shape;
	map_set(&build->shape_by_hash, hash, (uint32_t)build->n_shapes);
	return (uint32_t)++build->n_shapes;
}

uint32_t build_series(struct import_build *build, uint32_t process, uint32_t device,
		      const char *name, const char *unit)
{
	uint32_t id = build_word(build, name, NAME_OTHER), known;
	uint64_t key = ((uint64_t)id * (BUILD_PROCESSES_MAX + 1) + process) *
		(BUILD_DEVICES_MAX + 1) + device;

	known = map_get(&build->series_by_key, key);
	if (known != NONE)
		return known + 1;
	if (build->n_series >= 4096) {
		build_problem(build, "too many counters: the others are left out",
			      "counter", build->n_series);
		return 0;
	}
	grow(&build->series, &build->cap_series, build->n_series, sizeof(*build->series));
	build->series[build->n_series] = (struct build_series) {
		.name = id, .process = process, .device = device,
		.unit = build_word(build, unit, NAME_OTHER),
	};
	map_set(&build->series_by_key, key, (uint32_t)build->n_series);
	return (uint32_t)++build->n_series;
}

uint32_t build_correlation(struct import_build *build, uint64_t id)
{
	uint32_t known = map_get(&build->correlation_by_id, id);

	if (known != NONE)
		return known + 1;
	if (build->n_correlations >= BUILD_TABLE_MAX) {
		build_problem(build, "too many correlations: the others are not joined",
			      "correlation", id);
		return 0;
	}
	grow(&build->correlations, &build->cap_correlations, build->n_correlations,
	     sizeof(*build->correlations));
	build->correlations[build->n_correlations] = (struct build_correlation) { 0 };
	map_set(&build->correlation_by_id, id, (uint32_t)build->n_correlations);
	return (uint32_t)++build->n_correlations;
}

uint32_t build_flow(struct import_build *build, uint64_t id)
{
	uint32_t known = map_get(&build->flow_by_id, id);

	if (known != NONE)
		return known + 1;
	if (build->n_flows >= BUILD_TABLE_MAX) {
		build_problem(build, "too many flows: the others are left out", "flow", id);
		return 0;
	}
	grow(&build->flows, &build->cap_flows, build->n_flows, sizeof(*build->flows));
	build->flows[build->n_flows] = (struct build_flow) { 0 };
	map_set(&build->flow_by_id, id, (uint32_t)build->n_flows);
	return (uint32_t)++build->n_flows;
}

uint32_t build_key(struct import_build *build, const void *key, size_t size)
{
	uint32_t number = keys_number(&build->keys, key, size);

	if (!number)
		build_problem(build, "too many different ids: the others are left out", "id",
			      build->keys.n);
	return number;
}

void build_info(struct import_build *build, uint32_t process, const char *scope, const char *key,
		const char *value)
{
	if (build->n_infos >= BUILD_INFOS_MAX)
		return;
	grow(&build->infos, &build->cap_infos, build->n_infos, sizeof(*build->infos));
	build->infos[build->n_infos++] = (struct build_info) {
		.process = process, .scope = xstrdup(scope), .key = xstrdup(key),
		.value = xstrndup(value, TEXT_MAX_BYTES),
	};
}

void build_add(struct import_build *build, const struct import_item *item)
{
	if (!item->track || build->full)
		return;
	if (item->start_ns <= -FAR_NS || item->start_ns >= FAR_NS * 2) {
		build_drop(build, "event", "at an impossible time");
		return;
	}
	if (item->dur_ns < 0) {
		build_drop(build, "event", "with a negative duration");
		return;
	}
	if (spool_add(build->spool, item))
		return;
	build->full = true;
	build_cut(build, "no room for a temporary file in TMPDIR: the rest is left out", "item",
		  spool_count(build->spool));
}
