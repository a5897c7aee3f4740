/* SPDX-License-Identifier: MIT */
/* Source lines from GraphDebugInfo. */
#include "probes/tensorflow/graphdef.h"

#include <string.h>

/*
 * Frames and traces have 64-bit ids in no order, and their definitions may come after their use. So
 * a first pass enters them in two tables of places in the message; each trace is searched once.
 *
 * scratch: files (offset, size), then frames and traces (id, offset and size), as hash tables that
 * are at most half full.
 */
struct stack_lines {
	struct pb message;
	uint64_t *files, *frames, *traces;
	size_t n_files, files_max, mask;
	const uint8_t *base;
};

enum { INFO_FILES = 1, INFO_TRACES = 2, INFO_FRAMES_BY_ID = 4, INFO_NAMES = 5,
       INFO_TRACES_BY_ID = 6 };

/* The number of entries of each of the three kinds is at most this. */
static size_t count_of(struct pb message)
{
	struct pb_field f;
	size_t n = 0;

	while (pb_next(&message, &f))
		n += f.number <= INFO_TRACES_BY_ID;
	return n;
}

static size_t table_size(size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	return size;
}

size_t graphdef_scratch(struct pb message)
{
	size_t n = count_of(message);

	return 2 * n + 6 * table_size(n);
}

/* An entry of three words: id, offset + 1, size. */
static uint64_t *place_of(const struct stack_lines *l, uint64_t *table, uint64_t id)
{
	uint64_t h = (id ^ id >> 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 20) & l->mask;

	while (table[3 * i + 1] && table[3 * i] != id)
		i = (i + 1) & l->mask;
	return &table[3 * i];
}

static void graphdef_lines_put(const struct stack_lines *l, uint64_t *table, struct pb entry)
{
	struct pb_field f;
	uint64_t id = 0, *place;
	struct pb value = { NULL, NULL };

	while (pb_next(&entry, &f)) {
		if (pb_is(&f, 1))
			id = f.value;
		else if (pb_bytes(&f, 2))
			value = f.bytes;
	}
	if (!value.at)
		return;
	place = place_of(l, table, id);
	place[0] = id;
	place[1] = (uint64_t)(value.at - l->base) + 1;
	place[2] = pb_left(&value);
}

static struct pb get(const struct stack_lines *l, uint64_t *table, uint64_t id)
{
	const uint64_t *place = place_of(l, table, id);

	if (!place[1])
		return (struct pb){ l->base, l->base };
	return pb_of(l->base + place[1] - 1, (size_t)place[2]);
}

static bool has(struct pb text, const char *word)
{
	return pb_left(&text) && memmem(text.at, pb_left(&text), word, strlen(word)) != NULL;
}

bool graphdef_is_framework(struct pb file)
{
	static const char *const places[] = {
		"/tensorflow/python/", "-packages/tensorflow", "-packages/keras/",
		"-packages/tf_keras/", "/keras/src/", "-packages/tensorboard/",
		"-packages/wrapt/", "-packages/tensorflow_estimator/",
	};

	/* Python's own library */
	if (has(file, "/lib/python3.") && !has(file, "-packages/"))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (has(file, places[i]))
			return true;
	return !pb_left(&file) || file.at[0] == '<';
}

/* Reads FileLineCol; false: it is not in the user's code. */
static bool read_frame(const struct stack_lines *l, struct pb frame, struct graphdef_line *line)
{
	struct graphdef_line found = { .node = line->node };
	uint64_t file = 0;
	struct pb_field f;

	while (pb_next(&frame, &f)) {
		if (pb_is(&f, 1))
			file = f.value;
		else if (pb_is(&f, 2))
			found.line = (uint32_t)f.value;
		else if (pb_bytes(&f, 4))
			found.function = f.bytes;
	}
	if (file >= l->n_files || !found.line)
		return false;
	found.file = pb_of(l->base + l->files[2 * file], (size_t)l->files[2 * file + 1]);
	if (graphdef_is_framework(found.file))
		return false;
	*line = found;
	return true;
}

/* Reads StackTrace, outermost frame first: finds the last frame in the user's code. */
static bool read_trace(const struct stack_lines *l, struct pb trace, struct graphdef_line *line)
{
	bool found = false;
	struct pb_field f;
	uint64_t id;

	while (pb_next(&trace, &f)) {
		if (pb_bytes(&f, 1))
			found |= read_frame(l, f.bytes, line);
		else if (f.number == 2 && f.type == PB_FIXED64)
			found |= read_frame(l, get(l, l->frames, f.value), line);
		else if (pb_bytes(&f, 2))
			for (struct pb p = f.bytes; pb_left(&p) >= 8; p.at += 8) {
				id = 0;
				for (int i = 7; i >= 0; i--)
					id = id << 8 | p.at[i];
				found |= read_frame(l, get(l, l->frames, id), line);
			}
	}
	return found;
}

/* map<string, StackTrace>, or map<string, id of a trace>. */
static void read_name(const struct stack_lines *l, struct pb entry, graphdef_take_line *take,
		      void *arg)
{
	struct graphdef_line line = { .line = 0 };
	struct pb trace = { NULL, NULL };
	struct pb_field f;
	const uint8_t *at;

	while (pb_next(&entry, &f)) {
		if (pb_bytes(&f, 1))
			line.node = f.bytes;
		else if (pb_bytes(&f, 2))
			trace = f.bytes;
		else if (pb_is(&f, 2))
			trace = get(l, l->traces, f.value);
	}
	if (!pb_left(&line.node) || !trace.at)
		return;
	/* "node@function" */
	at = memchr(line.node.at, '@', pb_left(&line.node));
	if (at)
		line.node.end = at;
	if (read_trace(l, trace, &line))
		take(arg, &line);
}

void graphdef_lines(struct pb message, uint64_t *scratch, graphdef_take_line *take, void *arg)
{
	size_t n = count_of(message), size = table_size(n);
	struct stack_lines l = {
		.message = message, .files = scratch, .files_max = n, .mask = size - 1,
		.frames = scratch + 2 * n, .traces = scratch + 2 * n + 3 * size,
		.base = message.at,
	};
	struct pb_field f;

	for (struct pb w = message; pb_next(&w, &f);) {
		if (f.type != PB_BYTES)
			continue;
		if (f.number == INFO_FILES && l.n_files < l.files_max) {
			l.files[2 * l.n_files] = (uint64_t)(f.bytes.at - l.base);
			l.files[2 * l.n_files++ + 1] = pb_left(&f.bytes);
		} else if (f.number == INFO_FRAMES_BY_ID) {
			graphdef_lines_put(&l, l.frames, f.bytes);
		} else if (f.number == INFO_TRACES_BY_ID) {
			graphdef_lines_put(&l, l.traces, f.bytes);
		}
	}
	for (struct pb w = message; pb_next(&w, &f);)
		if (pb_bytes(&f, INFO_NAMES) || pb_bytes(&f, INFO_TRACES))
			read_name(&l, f.bytes, take, arg);
}
