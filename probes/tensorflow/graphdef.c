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
		/* partition_graphs */
		if (walk->kind == GRAPHDEF_METADATA && pb_bytes(&f, 3)) {
			walk->graph = f.bytes;
			walk->begun = f.bytes;
		}
	}
}

const char *graphdef_type(struct pb graph, char *buf, size_t size)
{
	static const char *const passing[] = {
		"_Arg", "_DeviceArg", "_Retval", "_DeviceRetval", "Const", "NoOp",
	};
	struct pb_field f, g;

	while (pb_next(&graph, &f)) {
		bool passes = false;

		buf[0] = '\0';
		while (pb_bytes(&f, 1) && pb_next(&f.bytes, &g))
			if (pb_bytes(&g, 2))
				pb_text(buf, size, g.bytes);
		for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
			passes |= !strcmp(buf, passing[i]);
		if (*buf && !passes)
			return buf;
	}
	buf[0] = '\0';
	return buf;
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

struct graphdef_text {
	char *at;
	size_t left;		/* with the NUL */
	bool full;
};

static void text_add(struct graphdef_text *t, const char *format,
		     ...) __attribute__((format(printf, 2, 3)));
static void text_add(struct graphdef_text *t, const char *format, ...)
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
static void text_add_shape(struct graphdef_text *t, struct pb shape)
{
	struct pb_field f, d;
	struct pb look = shape;
	unsigned int n = 0;

	while (pb_next(&look, &f))
		if (pb_is(&f, 3) && f.value) {
			text_add(t, "?");
			return;
		}
	text_add(t, "[");
	while (pb_next(&shape, &f)) {
		int64_t size = 0;

		if (!pb_bytes(&f, 2))
			continue;
		while (pb_next(&f.bytes, &d))
			if (pb_is(&d, 1))
				size = (int64_t)d.value;
		text_add(t, n++ ? "," : "");
		if (size < 0)
			text_add(t, "?");
		else
			text_add(t, "%lld", (long long)size);
	}
	text_add(t, "]");
}

static void add_tensor(struct graphdef_text *t, struct pb tensor)
{
	struct pb look = tensor;
	struct pb_field f;
	char buf[24];

	while (pb_next(&look, &f))
		if (pb_is(&f, 1))
			text_add(t, "%s", type_name(f.value, buf));
	while (pb_next(&tensor, &f))
		if (pb_bytes(&f, 2))
			text_add_shape(t, f.bytes);
}

/* Length of the valid and printable UTF-8 character at p; 0: it is not one. */
static size_t utf8_character(const char *p)
{
	unsigned char c = (unsigned char)*p, second = (unsigned char)p[1];
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	if (n == 1)
		return c >= ' ' && c != 0x7f;
	/* overlong forms, surrogates, beyond the last code point, C1 controls */
	if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) ||
	    (c == 0xf0 && second < 0x90) || (c == 0xf4 && second >= 0x90) ||
	    (c == 0xc2 && second < 0xa0))
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Some values are messages, which may contain any bytes. */
static const char *clean(char *text)
{
	size_t n;

	for (char *p = text; *p; p += n ? n : 1) {
		n = utf8_character(p);
		if (!n)
			*p = '?';
	}
	return text;
}

static void add_string(struct graphdef_text *t, struct pb s)
{
	char buf[80];

	pb_text(buf, sizeof(buf), s);
	clean(buf);
	text_add(t, "%s%s", buf, pb_left(&s) >= sizeof(buf) ? "..." : "");
}

/* Adds a value of AttrValue, or an element of its list: the field numbers are the same. */
static bool text_add_value(struct graphdef_text *t, const struct pb_field *f)
{
	struct pb_field g;
	struct pb function;
	uint32_t bits = (uint32_t)f->value;
	char buf[24];
	float real;

	if (pb_bytes(f, 2)) {
		add_string(t, f->bytes);
	} else if (pb_is(f, 3)) {
		text_add(t, "%lld", (long long)f->value);
	} else if (pb_is(f, 4)) {
		memcpy(&real, &bits, sizeof(real));
		text_add(t, "%g", (double)real);
	} else if (pb_is(f, 5)) {
		text_add(t, f->value ? "true" : "false");
	} else if (pb_is(f, 6)) {
		text_add(t, "%s", type_name(f->value, buf));
	} else if (pb_bytes(f, 7)) {
		text_add_shape(t, f->bytes);
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

/* Numbers of a list are packed. */
static unsigned int add_packed(struct graphdef_text *t, const struct pb_field *f, unsigned int n)
{
	struct pb_field one = { .number = f->number, .type = PB_VARINT };
	struct pb packed = f->bytes;
	uint64_t bits;

	if (f->number == 4) {
		while (pb_left(&packed) >= 4 && n < LIST_SHOWN) {
			one.value = packed.at[0] | (uint64_t)packed.at[1] << 8 |
				    (uint64_t)packed.at[2] << 16 | (uint64_t)packed.at[3] << 24;
			packed.at += 4;
			text_add(t, n++ ? "," : "");
			text_add_value(t, &one);
		}
		return n;
	}
	while (n < LIST_SHOWN && pb_varint(&packed, &bits)) {
		one.value = bits;
		text_add(t, n++ ? "," : "");
		text_add_value(t, &one);
	}
	return n;
}

static void text_add_list(struct graphdef_text *t, struct pb list)
{
	struct pb_field f;
	unsigned int n = 0;

	text_add(t, "[");
	while (n < LIST_SHOWN && pb_next(&list, &f)) {
		if (f.type == PB_BYTES && f.number >= 3 && f.number <= 6) {
			n = add_packed(t, &f, n);
			continue;
		}
		text_add(t, n++ ? "," : "");
		text_add_value(t, &f);
	}
	text_add(t, pb_left(&list) ? ",...]" : "]");
}

/* Attributes that the runtime added for itself are of no use to the user. */
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

static void text_add_attribute(struct graphdef_text *t, struct pb entry)
{
	struct graphdef_text before = *t;
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
	text_add(t, "%s=", clean(key));
	while (pb_next(&value, &f)) {
		known = true;
		if (pb_bytes(&f, 1))
			text_add_list(t, f.bytes);
		else
			known = text_add_value(t, &f);
	}
	text_add(t, "\n");
	if (!known || t->full) {
		*t = before;
		*t->at = '\0';
	}
}

/* ---- a node ---- */

static void add_input(struct graphdef_text *t, struct pb input)
{
	char buf[GRAPHDEF_NAME_BYTES];
	struct graphdef_text before = *t;

	pb_text(buf, sizeof(buf), input);
	text_add(t, "%s%s", t->left == GRAPHDEF_INPUTS_BYTES ? "" : " ", buf);
	if (t->full)
		*before.at = '\0';
}

static void clear(struct graphdef_node *node)
{
	node->name[0] = node->type[0] = node->device[0] = '\0';
	node->inputs[0] = node->attributes[0] = '\0';
	node->first_name[0] = node->first_function[0] = '\0';
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
	struct graphdef_text inputs = { node->inputs, sizeof(node->inputs), false };
	struct graphdef_text attributes = { node->attributes, sizeof(node->attributes), false };
	struct pb_field f;

	clear(node);
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
			text_add_attribute(&attributes, f.bytes);
		else if (f.number == 6)
			read_debug_info(f.bytes, node);
	}
	return node->name[0] != '\0';
}

/* ArgDef: name 1, type 3 */
static void read_argument(struct pb argument, struct graphdef_node *node)
{
	struct graphdef_text attributes = { node->attributes, sizeof(node->attributes), false };
	struct pb_field f;
	char type[24];

	snprintf(node->type, sizeof(node->type), "_Arg");
	while (pb_next(&argument, &f)) {
		if (pb_bytes(&f, 1))
			pb_text(node->name, sizeof(node->name), f.bytes);
		else if (pb_is(&f, 3))
			text_add(&attributes, "T=%s\n", type_name(f.value, type));
	}
}

/* map<string, string>: the result's name, and what it is */
static void read_result(struct pb entry, struct graphdef_node *node)
{
	char name[GRAPHDEF_NAME_BYTES - 16] = "";
	struct pb_field f;

	snprintf(node->type, sizeof(node->type), "_Retval");
	while (pb_next(&entry, &f)) {
		if (pb_bytes(&f, 1))
			pb_text(name, sizeof(name), f.bytes);
		else if (pb_bytes(&f, 2))
			pb_text(node->inputs, sizeof(node->inputs), f.bytes);
	}
	if (*name)
		snprintf(node->name, sizeof(node->name), "%s_RetVal", name);
}

bool graphdef_port(struct pb message, size_t which, struct graphdef_node *node)
{
	struct pb_field f, g;

	clear(node);
	while (pb_next(&message, &f)) {
		if (pb_bytes(&f, 4) && !which--) {	/* ret */
			read_result(f.bytes, node);
			return true;
		}
		while (pb_bytes(&f, 1) && pb_next(&f.bytes, &g))	/* signature */
			if (pb_bytes(&g, 2) && !which--) {	/* input_arg */
				read_argument(g.bytes, node);
				return true;
			}
	}
	return false;
}
