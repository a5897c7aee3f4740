/* SPDX-License-Identifier: MIT */
#include "probes/tensorflow/graphdef.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIST_SHOWN 8

/* ---- nodes ---- */

bool graphdef_next(struct graphdef_walk *walk, struct pb *node)
{
	struct pb_field f;

	for (;;) {
		while (pb_next(&walk->graph, &f))
			if (pb_bytes(&f, 1)) {	/* GraphDef.node */
				*node = f.bytes;
				return true;
			}
		if (!pb_next(&walk->message, &f))
			return false;
		if (walk->kind == GRAPHDEF_FUNCTION && pb_bytes(&f, 3)) {	/* node_def */
			*node = f.bytes;
			return true;
		}
		if (walk->kind == GRAPHDEF_METADATA && pb_bytes(&f, 3))	/* partition_graphs */
			walk->graph = f.bytes;
	}
}

const char *graphdef_function_name(struct pb message, char *buf, size_t size)
{
	struct pb_field f, g;

	buf[0] = '\0';
	while (pb_next(&message, &f))
		if (pb_bytes(&f, 1))			/* signature */
			while (pb_next(&f.bytes, &g))
				if (pb_bytes(&g, 1))
					return pb_text(buf, size, g.bytes);
	return buf;
}

/* ---- attributes ---- */

struct text {
	char *at;
	size_t left;		/* with the NUL */
	bool full;
};

static void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	if (t->full)
		return;
	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= t->left) {
		t->full = true;
		return;
	}
	t->at += n;
	t->left -= (size_t)n;
}

static const char *type_name(uint64_t type, char buf[24])
{
	static const char *const names[] = {
		"invalid", "float32", "float64", "int32", "uint8", "int16", "int8", "string",
		"complex64", "int64", "bool", "qint8", "quint8", "qint32", "bfloat16", "qint16",
		"quint16", "uint16", "complex128", "float16", "resource", "variant", "uint32",
		"uint64", "float8_e5m2", "float8_e4m3fn", "", "", "", "int4", "uint4",
	};
	bool ref = type > 100;

	if (ref)
		type -= 100;
	if (type < sizeof(names) / sizeof(names[0]) && *names[type])
		snprintf(buf, 24, "%s%s", names[type], ref ? "_ref" : "");
	else
		snprintf(buf, 24, "type %u", (unsigned int)type);
	return buf;
}

/* "[32,28,28,1]", "[?,10]", "?" */
static void add_shape(struct text *t, struct pb shape)
{
	struct pb_field f, d;
	struct pb look = shape;
	unsigned int n = 0;

	while (pb_next(&look, &f))
		if (pb_is(&f, 3) && f.value) {
			add(t, "?");
			return;
		}
	add(t, "[");
	while (pb_next(&shape, &f)) {
		int64_t size = 0;

		if (!pb_bytes(&f, 2))
			continue;
		while (pb_next(&f.bytes, &d))
			if (pb_is(&d, 1))
				size = (int64_t)d.value;
		add(t, n++ ? "," : "");
		if (size < 0)
			add(t, "?");
		else
			add(t, "%lld", (long long)size);
	}
	add(t, "]");
}

static void add_tensor(struct text *t, struct pb tensor)
{
	struct pb look = tensor;
	struct pb_field f;
	char buf[24];

	while (pb_next(&look, &f))
		if (pb_is(&f, 1))
			add(t, "%s", type_name(f.value, buf));
	while (pb_next(&tensor, &f))
		if (pb_bytes(&f, 2))
			add_shape(t, f.bytes);
}

static void add_string(struct text *t, struct pb s)
{
	char buf[80];

	pb_text(buf, sizeof(buf), s);
	for (char *p = buf; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	add(t, "%s%s", buf, pb_left(&s) >= sizeof(buf) ? "..." : "");
}

/* A value of AttrValue, or an element of its list: the numbers are the same. */
static bool add_value(struct text *t, const struct pb_field *f)
{
	struct pb_field g;
	struct pb function;
	uint32_t bits = (uint32_t)f->value;
	char buf[24];
	float real;

	if (pb_bytes(f, 2)) {
		add_string(t, f->bytes);
	} else if (pb_is(f, 3)) {
		add(t, "%lld", (long long)f->value);
	} else if (pb_is(f, 4)) {
		memcpy(&real, &bits, sizeof(real));
		add(t, "%g", (double)real);
	} else if (pb_is(f, 5)) {
		add(t, f->value ? "true" : "false");
	} else if (pb_is(f, 6)) {
		add(t, "%s", type_name(f->value, buf));
	} else if (pb_bytes(f, 7)) {
		add_shape(t, f->bytes);
	} else if (pb_bytes(f, 8)) {
		add_tensor(t, f->bytes);
	} else if (pb_bytes(f, 10)) {
		function = f->bytes;
		while (pb_next(&function, &g))
			if (pb_bytes(&g, 1))
				add_string(t, g.bytes);
	} else {
		return false;
	}
	return true;
}

/* Numbers of a list come packed. */
static unsigned int add_packed(struct text *t, const struct pb_field *f, unsigned int n)
{
	struct pb_field one = { .number = f->number, .type = PB_VARINT };
	struct pb packed = f->bytes;
	uint64_t bits;

	if (f->number == 4) {
		while (pb_left(&packed) >= 4 && n < LIST_SHOWN) {
			one.value = packed.at[0] | (uint64_t)packed.at[1] << 8 |
				    (uint64_t)packed.at[2] << 16 | (uint64_t)packed.at[3] << 24;
			packed.at += 4;
			add(t, n++ ? "," : "");
			add_value(t, &one);
		}
		return n;
	}
	while (n < LIST_SHOWN && pb_varint(&packed, &bits)) {
		one.value = bits;
		add(t, n++ ? "," : "");
		add_value(t, &one);
	}
	return n;
}

static void add_list(struct text *t, struct pb list)
{
	struct pb_field f;
	unsigned int n = 0;

	add(t, "[");
	while (n < LIST_SHOWN && pb_next(&list, &f)) {
		if (f.type == PB_BYTES && f.number >= 3 && f.number <= 6) {
			n = add_packed(t, &f, n);
			continue;
		}
		add(t, n++ ? "," : "");
		add_value(t, &f);
	}
	add(t, pb_left(&list) ? ",...]" : "]");
}

/* Those that the runtime added for itself say nothing to a person. */
static bool is_wanted(const char *key)
{
	static const char *const inner[] = { "_output_shapes", "_kernel" };

	if (key[0] != '_')
		return key[0] != '\0';
	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++)
		if (!strcmp(key, inner[i]))
			return true;
	return false;
}

static void add_attribute(struct text *t, struct pb entry)
{
	struct text before = *t;
	struct pb value = { NULL, NULL };
	struct pb_field f;
	char key[64] = "";
	bool known = false;

	while (pb_next(&entry, &f)) {
		if (pb_bytes(&f, 1))
			pb_text(key, sizeof(key), f.bytes);
		else if (pb_bytes(&f, 2))
			value = f.bytes;
	}
	if (!is_wanted(key))
		return;
	add(t, "%s=", key);
	while (pb_next(&value, &f)) {
		known = true;
		if (pb_bytes(&f, 1))
			add_list(t, f.bytes);
		else
			known = add_value(t, &f);
	}
	add(t, "\n");
	if (!known || t->full) {
		*t = before;
		*t->at = '\0';
	}
}

/* ---- a node ---- */

static void add_input(struct text *t, struct pb input)
{
	char buf[GRAPHDEF_NAME_BYTES];
	struct text before = *t;

	pb_text(buf, sizeof(buf), input);
	add(t, "%s%s", t->left == GRAPHDEF_INPUTS_BYTES ? "" : " ", buf);
	if (t->full)
		*before.at = '\0';
}

static void read_debug_info(struct pb info, struct graphdef_node *node)
{
	struct pb_field f;

	while (pb_next(&info, &f)) {
		if (pb_bytes(&f, 1) && !node->first_name[0])
			pb_text(node->first_name, sizeof(node->first_name), f.bytes);
		else if (pb_bytes(&f, 2) && !node->first_function[0])
			pb_text(node->first_function, sizeof(node->first_function), f.bytes);
	}
}

bool graphdef_node(struct pb message, struct graphdef_node *node)
{
	struct text inputs = { node->inputs, sizeof(node->inputs), false };
	struct text attributes = { node->attributes, sizeof(node->attributes), false };
	struct pb_field f;

	node->name[0] = node->type[0] = node->device[0] = '\0';
	node->inputs[0] = node->attributes[0] = '\0';
	node->first_name[0] = node->first_function[0] = '\0';
	while (pb_next(&message, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.number == 1)
			pb_text(node->name, sizeof(node->name), f.bytes);
		else if (f.number == 2)
			pb_text(node->type, sizeof(node->type), f.bytes);
		else if (f.number == 3)
			add_input(&inputs, f.bytes);
		else if (f.number == 4)
			pb_text(node->device, sizeof(node->device), f.bytes);
		else if (f.number == 5)
			add_attribute(&attributes, f.bytes);
		else if (f.number == 6)
			read_debug_info(f.bytes, node);
	}
	return node->name[0] != '\0';
}

/* ---- source lines ---- */

/*
 * Frames and traces have 64-bit ids of no order, and their definitions may come
 * after their use. So a first pass puts them into two tables of
 * places in the message; each trace is looked through once.
 *
 * scratch: files (offset, size), then frames and traces (id, offset and size),
 * open addressing, at most half full.
 */
struct lines {
	struct pb message;
	uint64_t *files, *frames, *traces;
	size_t n_files, files_max, mask;
	const uint8_t *base;
};

enum { INFO_FILES = 1, INFO_TRACES = 2, INFO_FRAMES_BY_ID = 4, INFO_NAMES = 5,
       INFO_TRACES_BY_ID = 6 };

/* Of each of the three kinds at most that many. */
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

/* A place of three words: id, offset + 1, size. */
static uint64_t *place_of(const struct lines *l, uint64_t *table, uint64_t id)
{
	uint64_t h = (id ^ id >> 32) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 20) & l->mask;

	while (table[3 * i + 1] && table[3 * i] != id)
		i = (i + 1) & l->mask;
	return &table[3 * i];
}

static void put(const struct lines *l, uint64_t *table, struct pb entry)
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

static struct pb get(const struct lines *l, uint64_t *table, uint64_t id)
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
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (has(file, places[i]))
			return true;
	return !pb_left(&file) || file.at[0] == '<';
}

/* FileLineCol; false: not the user's. */
static bool read_frame(const struct lines *l, struct pb frame, struct graphdef_line *line)
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

/* StackTrace, outermost frame first: the last one that is the user's. */
static bool read_trace(const struct lines *l, struct pb trace, struct graphdef_line *line)
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
static void read_name(const struct lines *l, struct pb entry, graphdef_take_line *take, void *arg)
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
	struct lines l = {
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
			put(&l, l.frames, f.bytes);
		} else if (f.number == INFO_TRACES_BY_ID) {
			put(&l, l.traces, f.bytes);
		}
	}
	for (struct pb w = message; pb_next(&w, &f);)
		if (pb_bytes(&f, INFO_NAMES) || pb_bytes(&f, INFO_TRACES))
			read_name(&l, f.bytes, take, arg);
}
