/* SPDX-License-Identifier: MIT */
/*
 * Reads Chrome's trace JSON as a stream: TensorFlow's timeline.py, TensorBoard's trace.json.gz,
 * PyTorch's Kineto, Perfetto's JSON. It is either an object with "traceEvents" or the array alone.
 * Only the event that is being read is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "model/import/chrome_internal.h"

#define DEPTH_MAX 512u
/* maximum number of bytes after which the parser must have reported something */
#define VALUE_MAX (16u << 20)
#define CHUNK (128u << 10)
#define TEXT_BYTES 65536u		/* maximum size of a text that is kept */

/* where in an event a text stands */
enum level { LEVEL_EVENT, LEVEL_ARGS, LEVEL_ID2, LEVEL_OTHER };

static const struct { const char *key; enum level level; } keys[CHROME_TEXTS] = {
	[CHROME_PH] = { "ph", LEVEL_EVENT }, [CHROME_NAME] = { "name", LEVEL_EVENT },
	[CHROME_CAT] = { "cat", LEVEL_EVENT }, [CHROME_TS] = { "ts", LEVEL_EVENT },
	[CHROME_DUR] = { "dur", LEVEL_EVENT }, [CHROME_PID] = { "pid", LEVEL_EVENT },
	[CHROME_TID] = { "tid", LEVEL_EVENT }, [CHROME_ID] = { "id", LEVEL_EVENT },
	[CHROME_SCOPE] = { "scope", LEVEL_EVENT }, [CHROME_BP] = { "bp", LEVEL_EVENT },
	[CHROME_ID_LOCAL] = { "local", LEVEL_ID2 }, [CHROME_ID_GLOBAL] = { "global", LEVEL_ID2 },
	[CHROME_ARG_NAME] = { "name", LEVEL_ARGS }, [CHROME_ARG_LABELS] = { "labels", LEVEL_ARGS },
	[CHROME_CORRELATION] = { "correlation", LEVEL_ARGS },
	[CHROME_CORRELATION_ID] = { "correlation_id", LEVEL_ARGS },
	[CHROME_DEVICE] = { "device", LEVEL_ARGS }, [CHROME_STREAM] = { "stream", LEVEL_ARGS },
	[CHROME_BYTES] = { "bytes", LEVEL_ARGS }, [CHROME_STEP_NUM] = { "step_num", LEVEL_ARGS },
	[CHROME_TF_OP] = { "tf_op", LEVEL_ARGS },
	[CHROME_KERNEL_DETAILS] = { "kernel_details", LEVEL_ARGS },
	[CHROME_MEMCPY_DETAILS] = { "memcpy_details", LEVEL_ARGS },
	[CHROME_OP] = { "op", LEVEL_ARGS }, [CHROME_ADDRESS] = { "Addr", LEVEL_ARGS },
	[CHROME_SIZE] = { "Bytes", LEVEL_ARGS }, [CHROME_DEVICE_ID] = { "Device Id", LEVEL_ARGS },
	[CHROME_DEVICE_TYPE] = { "Device Type", LEVEL_ARGS },
	[CHROME_ALLOCATED] = { "Total Allocated", LEVEL_ARGS },
	[CHROME_TYPE] = { "type", LEVEL_ARGS }, [CHROME_FRAMEWORK] = { "framework", LEVEL_ARGS },
	[CHROME_NUMBER] = { "number", LEVEL_ARGS }, [CHROME_DOMAIN] = { "domain", LEVEL_ARGS },
};

/* Other files that begin with an object: a key of it that no other format has, and what it is. */
static const struct { const char *key, *what; } others[] = {
	{ "rocprofiler-sdk-tool", "the results of rocprofv3 as JSON" },
	{ "finish_ts", "an execution trace of PyTorch" },
};

enum list { LIST_NONE, LIST_GRID, LIST_BLOCK };

struct chrome_parser {
	struct chrome_import chrome;
	yajl_handle yajl;
	unsigned int depth;		/* number of enclosing maps and arrays */
	unsigned int events_depth;	/* depth of the elements of traceEvents; 0: outside */
	unsigned int event_depth, args_depth, id2_depth;	/* 0: outside */
	bool top_is_list, has_events;
	bool in_other;			/* in "otherData" */
	const char *other;		/* what the file is instead, if it has no events */
	char key[64];			/* the last key */
	enum list list;
	bool too_deep;
	uint64_t fed, told;		/* in bytes; fed when the parser last reported something */
};

/* ---- one event ---- */

static void event_reset(struct chrome_event *event)
{
	for (int i = 0; i < CHROME_TEXTS; i++) {
		if (event->there[i])
			strbuf_reset(&event->text[i]);
		event->there[i] = false;
	}
	while (event->n_counters)
		free(event->counters[--event->n_counters].name);
	event->n_grid = event->n_block = 0;
}

static void keep_counter(struct chrome_parser *p, const char *text, size_t size)
{
	struct chrome_event *event = &p->chrome.event;
	int64_t value;

	if (event->n_counters >= CHROME_COUNTERS || !details_time(text, size, 1, &value))
		return;
	event->counters[event->n_counters].name = xstrdup(p->key);
	event->counters[event->n_counters++].value = value;
}

static void keep_number(uint64_t *values, unsigned int *n, const char *text)
{
	if (*n < 3)
		values[(*n)++] = strtoull(text, NULL, 10);
}

/* What stands at this depth. */
static enum level level_of(const struct chrome_parser *p)
{
	return !p->event_depth ? LEVEL_OTHER : p->depth == p->event_depth ? LEVEL_EVENT :
	       p->args_depth && p->depth == p->args_depth ? LEVEL_ARGS :
	       p->id2_depth && p->depth == p->id2_depth ? LEVEL_ID2 : LEVEL_OTHER;
}

/* Keeps a number, a text or a truth value. */
static int chrome_keep_value(struct chrome_parser *p, const char *text, size_t size, bool number)
{
	struct chrome_event *event = &p->chrome.event;
	enum level level = level_of(p);

	p->told = p->fed;
	if (p->in_other && p->depth == 2 && !strcmp(p->key, "source"))
		p->chrome.own = size > 6 && !memcmp(text, "tftop ", 6);
	if (p->list != LIST_NONE && number) {
		char digits[24];

		snprintf(digits, sizeof(digits), "%.*s", (int)(size < 20 ? size : 20), text);
		if (p->list == LIST_GRID)
			keep_number(event->grid, &event->n_grid, digits);
		else
			keep_number(event->block, &event->n_block, digits);
		return 1;
	}
	if (level == LEVEL_OTHER)
		return 1;
	for (int i = 0; i < CHROME_TEXTS; i++) {
		if (keys[i].level != level || strcmp(keys[i].key, p->key))
			continue;
		strbuf_reset(&event->text[i]);
		strbuf_add(&event->text[i], text, size < TEXT_BYTES ? size : TEXT_BYTES);
		event->there[i] = true;
		break;
	}
	if (level == LEVEL_ARGS && number)
		keep_counter(p, text, size);
	return 1;
}

/* ---- callbacks of the parser ---- */

static int on_null(void *arg)
{
	struct chrome_parser *p = arg;

	p->told = p->fed;
	return 1;
}

static int on_boolean(void *arg, int value)
{
	return chrome_keep_value(arg, value ? "true" : "false", value ? 4 : 5, false);
}

static int on_number(void *arg, const char *text, size_t size)
{
	return chrome_keep_value(arg, text, size, true);
}

static int on_string(void *arg, const unsigned char *text, size_t size)
{
	return chrome_keep_value(arg, (const char *)text, size, false);
}

static int on_key(void *arg, const unsigned char *text, size_t size)
{
	struct chrome_parser *p = arg;

	p->told = p->fed;
	snprintf(p->key, sizeof(p->key), "%.*s", (int)(size < 63 ? size : 63), (const char *)text);
	if (p->depth == 1 && !p->top_is_list) {
		p->in_other = !strcmp(p->key, "otherData");
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			if (!strcmp(p->key, others[i].key))
				p->other = others[i].what;
	}
	return 1;
}

static int deeper(struct chrome_parser *p)
{
	p->told = p->fed;
	p->too_deep = ++p->depth > DEPTH_MAX;
	return !p->too_deep;
}

static int on_map(void *arg)
{
	struct chrome_parser *p = arg;

	if (p->events_depth && p->depth == p->events_depth) {
		p->event_depth = p->depth + 1;
		event_reset(&p->chrome.event);
	} else if (p->event_depth && p->depth == p->event_depth && !strcmp(p->key, "args")) {
		p->args_depth = p->depth + 1;
	} else if (p->event_depth && p->depth == p->event_depth && !strcmp(p->key, "id2")) {
		p->id2_depth = p->depth + 1;
	}
	return deeper(p);
}

static int on_map_end(void *arg)
{
	struct chrome_parser *p = arg;

	p->told = p->fed;
	if (p->args_depth == p->depth)
		p->args_depth = 0;
	if (p->id2_depth == p->depth)
		p->id2_depth = 0;
	if (p->event_depth == p->depth) {
		p->event_depth = 0;
		p->chrome.events++;
		chrome_event_take(&p->chrome);
	}
	p->depth--;
	return !build_stopped(p->chrome.build);
}

static int on_list(void *arg)
{
	struct chrome_parser *p = arg;

	if (!p->depth || (p->depth == 1 && !p->top_is_list && !strcmp(p->key, "traceEvents"))) {
		p->top_is_list |= !p->depth;
		p->events_depth = p->depth + 1;
		p->has_events = true;
	} else if (p->args_depth && p->depth == p->args_depth) {
		p->list = !strcmp(p->key, "grid") ? LIST_GRID :
			  !strcmp(p->key, "block") ? LIST_BLOCK : LIST_NONE;
	}
	return deeper(p);
}

static int on_list_end(void *arg)
{
	struct chrome_parser *p = arg;

	p->told = p->fed;
	p->list = LIST_NONE;
	if (p->events_depth == p->depth)
		p->events_depth = 0;
	p->depth--;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null, .yajl_boolean = on_boolean, .yajl_number = on_number,
	.yajl_string = on_string, .yajl_start_map = on_map, .yajl_map_key = on_key,
	.yajl_end_map = on_map_end, .yajl_start_array = on_list, .yajl_end_array = on_list_end,
};

/* ---- the stream ---- */

static uint64_t lines_in(const unsigned char *data, size_t size)
{
	uint64_t n = 0;

	for (const unsigned char *at = data; (at = memchr(at, '\n', size - (size_t)(at - data)));
	     at++)
		n++;
	return n;
}

/* Reports why the parser stopped. */
static void tell_end(struct chrome_parser *p, uint64_t offset, const unsigned char *data,
		     size_t size)
{
	size_t at = yajl_get_bytes_consumed(p->yajl);
	unsigned char *text;
	char *end;

	if (build_stopped(p->chrome.build))
		return;
	if (p->too_deep) {
		build_cut(p->chrome.build, "lists or objects nested too deeply", "line",
			  p->chrome.line + lines_in(data, at < size ? at : size));
		return;
	}
	text = yajl_get_error(p->yajl, 0, data, size);
	end = strchr((char *)text, '\n');
	if (end)
		*end = '\0';
	p->chrome.line += lines_in(data, at < size ? at : size);
	build_say(p->chrome.build, 1, "the JSON is damaged at line %" PRIu64 ", byte %" PRIu64 ": "
		  "%s",
		  p->chrome.line, offset + at, (char *)text);
	build_cut(p->chrome.build, "the rest is not read", "byte", offset + at);
	yajl_free_error(p->yajl, text);
}

/* Reports that the file is no trace, and what it is, if that is known. */
static void tell_other(struct chrome_parser *p)
{
	p->chrome.build->other = true;
	if (p->other)
		build_say(p->chrome.build, 2, "'%s' is %s, which tftop does not read",
			  p->chrome.file, p->other);
	else
		build_say(p->chrome.build, 2, "'%s' is JSON, but not a trace: it has no list "
			  "'traceEvents'", p->chrome.file);
}

/* Reports whether the trace is complete, cut off, or no trace at all. */
static void tell_whole(struct chrome_parser *p, struct bytes *source, const char *error)
{
	if (build_stopped(p->chrome.build))
		return;
	p->chrome.build->part = *error;
	if (*error)
		build_say(p->chrome.build, 1, "%s", error);
	else if (p->depth && !(p->top_is_list && p->depth == 1))	/* the ] may be missing */
		build_cut(p->chrome.build, "the JSON is cut off", "byte", bytes_offset(source));
	else if (!p->has_events)
		tell_other(p);
}

static void chrome_parse(struct chrome_parser *p, struct bytes *source)
{
	unsigned char *data = xmalloc(CHUNK);
	char error[IMPORT_ERROR_MAX] = "";
	bool good = true;
	size_t size, skip;

	p->chrome.line = 1;
	while (good && !build_stopped(p->chrome.build) &&
	       (size = bytes_read(source, data, CHUNK, error))) {
		skip = !p->fed && size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
		p->fed += size;
		good = yajl_parse(p->yajl, data + skip, size - skip) == yajl_status_ok;
		if (!good)
			tell_end(p, p->fed - size + skip, data + skip, size - skip);
		else if (p->fed - p->told > VALUE_MAX)
			build_cut(p->chrome.build, "a value of more than 16 MiB", "byte", p->told);
		good = good && p->fed - p->told <= VALUE_MAX;
		p->chrome.line += lines_in(data, size);
		atomic_store(p->chrome.build->progress, bytes_progress(source) / 2);
	}
	if (good)
		tell_whole(p, source, error);
	free(data);
}

void chrome_read(struct import_build *build, struct bytes *source, const char *name)
{
	struct chrome_parser p = { .chrome = {
		.build = build, .file = name, .scale = 1000, .free_open = UINT32_MAX,
		.later = spool_new(),
	} };

	strbuf_init(&p.chrome.key);
	for (int i = 0; i < CHROME_TEXTS; i++)
		strbuf_init(&p.chrome.event.text[i]);
	p.yajl = yajl_alloc(&callbacks, NULL, &p);
	if (!p.yajl) {
		build_cut(build, "out of memory while reading JSON", "byte", 0);
	} else {
		yajl_config(p.yajl, yajl_dont_validate_strings, 1);
		yajl_config(p.yajl, yajl_allow_partial_values, 1);
		chrome_parse(&p, source);
		yajl_free(p.yajl);
	}
	chrome_join(&p.chrome);
	chrome_place_rows(&p.chrome);
	chrome_tell_hidden(&p.chrome);
	event_reset(&p.chrome.event);
	for (int i = 0; i < CHROME_TEXTS; i++)
		strbuf_release(&p.chrome.event.text[i]);
	chrome_release_rows(&p.chrome);
}
