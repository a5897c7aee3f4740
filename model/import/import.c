/* SPDX-License-Identifier: MIT */
/* Recognises the format of a foreign file and calls its reader. */
#include "model/import/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/import/readers.h"
#include "model/import/wire.h"

#define LOOK_BYTES 4096u

enum import_kind {
	IMPORT_NONE = 0,
	IMPORT_RUN_METADATA, IMPORT_STEP_STATS, IMPORT_XSPACE, IMPORT_CHROME,
};

struct import {
	struct import_options options;
	struct bytes *source;		/* owned */
	enum import_kind kind;
	_Atomic bool stop;
	_Atomic int progress;
};

/* A phrase such as "a TensorFlow XSpace". */
static const char *import_kind_name(enum import_kind kind)
{
	static const char *const names[] = {
		[IMPORT_NONE] = "of no known format",
		[IMPORT_RUN_METADATA] = "a TensorFlow RunMetadata",
		[IMPORT_STEP_STATS] = "a TensorFlow StepStats",
		[IMPORT_XSPACE] = "a TensorFlow XSpace",
		[IMPORT_CHROME] = "a Chrome trace",
	};

	return names[kind];
}

/* ---- recognising the format ---- */

static enum import_kind kind_of_json(const uint8_t *data, size_t size)
{
	size_t i = size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (i < size && strchr(" \t\r\n", data[i]) && data[i])
		i++;
	return i < size && (data[i] == '{' || data[i] == '[') ? IMPORT_CHROME : IMPORT_NONE;
}

/*
 * All three start with messages in field 1 (for a RunMetadata, the StepStats). An XPlane starts
 * with its id (a number) or its name (field 2), a StepStats with a device, which starts with its
 * name, a text: "/job:...".
 */
static enum import_kind kind_of_proto(const uint8_t *data, size_t size)
{
	struct import_wire outer = wire_of(data, size), inner, third;

	if (!wire_next(&outer))
		return IMPORT_NONE;
	if (outer.type != WIRE_BYTES || outer.field > 4)
		return IMPORT_NONE;
	if (outer.field == 4)
		return IMPORT_XSPACE;		/* only the name of a host */
	if (outer.field != 1)
		return IMPORT_RUN_METADATA;	/* only graphs */
	inner = wire_of(outer.data, outer.size);
	if (!wire_next(&inner))
		return outer.size ? IMPORT_NONE : IMPORT_RUN_METADATA;
	if (inner.field == 1 && inner.type == WIRE_VARINT)
		return IMPORT_XSPACE;
	if (inner.field <= 3 && inner.field > 1 && inner.type == WIRE_BYTES)
		return IMPORT_XSPACE;
	if (inner.field != 1 || inner.type != WIRE_BYTES)
		return IMPORT_NONE;
	if (inner.size && inner.data[0] == '/')
		return IMPORT_STEP_STATS;
	third = wire_of(inner.data, inner.size);
	return wire_next(&third) && third.field <= 3 && third.type == WIRE_BYTES ?
	       IMPORT_RUN_METADATA : IMPORT_NONE;
}

static enum import_kind import_detect_kind(struct bytes *source, char *error)
{
	uint8_t *data = xmalloc(LOOK_BYTES);
	size_t size = 0, n;
	enum import_kind kind;

	while (size < LOOK_BYTES && (n = bytes_read(source, data + size, LOOK_BYTES - size, error)))
		size += n;
	kind = kind_of_json(data, size);
	if (!kind)
		kind = kind_of_proto(data, size);
	free(data);
	bytes_rewind(source);
	return kind;
}

static bool import_open(struct import *import, char error[IMPORT_ERROR_MAX])
{
	const struct import_options *options = &import->options;
	const char *path = options->path ? options->path : "memory";
	char why[IMPORT_ERROR_MAX] = "";

	import->source = bytes_open(options->path, options->data, options->size, error);
	if (!import->source)
		return false;
	import->kind = import_detect_kind(import->source, why);
	if (!import->kind)
		snprintf(error, IMPORT_ERROR_MAX, "tftop cannot open '%.200s': it is neither "
			 "RunMetadata, StepStats, XSpace nor Chrome's JSON%s%.200s", path,
			 *why ? ": " : "", why);
	return import->kind != IMPORT_NONE;
}

struct import *import_new(const struct import_options *options, char error[IMPORT_ERROR_MAX])
{
	struct import *import = xcalloc(1, sizeof(*import));

	import->options = *options;
	error[0] = '\0';
	if (import_open(import, error))
		return import;
	import_free(import);
	return NULL;
}

/* ---- reading ---- */

static const char *name_of(const struct import *import)
{
	return import->options.path ? basename(import->options.path) : "memory";
}

/* Reads a protobuf as one range; false: there is nothing. */
static bool read_range(struct import *import, struct import_build *build)
{
	const char *name = name_of(import);
	char error[IMPORT_ERROR_MAX];
	const uint8_t *data;
	size_t size;

	data = bytes_range(import->source, &size, &import->stop, &build->part, error);
	if (error[0])
		build_say(build, build->part ? 1 : 2, "%s", error);
	if (!data)
		return false;
	if (import->kind == IMPORT_XSPACE)
		xspace_read(build, data, size, name);
	else if (import->kind == IMPORT_STEP_STATS)
		step_stats_read(build, data, size, name);
	else
		run_metadata_read(build, data, size, name);
	bytes_unrange(import->source);
	return true;
}

/* Reads everything, hands it to the sink and returns how it went. */
static enum import_result import_read(struct import *import, struct import_build *build)
{
	char many[FMT_MAX];

	if (import->kind == IMPORT_CHROME)
		chrome_read(build, import->source, name_of(import));
	else
		read_range(import, build);
	build_run(build);
	build_tell_problems(build);
	if (!spool_count(build->spool) && !import->stop) {
		if (!build->other)
			build_say(build, 2, "there are no events in '%s'", name_of(import));
		return IMPORT_NOTHING;
	}
	build_say(build, 0, "'%s' is %s: %s%s", name_of(import), import_kind_name(import->kind),
		  fmt_many(many, spool_count(build->spool), "event"),
		  import->stop ? " until the reading was stopped" : "");
	if (import->stop)
		return IMPORT_STOPPED;
	return build->part ? IMPORT_PART : IMPORT_WHOLE;
}

enum import_result import_run(struct import *import)
{
	enum import_result result;
	struct import_build build;

	build_init(&build, &import->options);
	build.stop = &import->stop;
	build.progress = &import->progress;
	result = import_read(import, &build);
	build_release(&build);
	return result;
}

void import_stop(struct import *import)
{
	atomic_store(&import->stop, true);
}

int import_progress(const struct import *import)
{
	return atomic_load_explicit(&import->progress, memory_order_relaxed);
}

void import_free(struct import *import)
{
	if (!import)
		return;
	bytes_free(import->source);
	free(import);
}
