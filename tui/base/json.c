/* SPDX-License-Identifier: MIT */
/*
 * A JSON writer: RFC 8259, UTF-8.
 */
#include <inttypes.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "tui/base/json.h"
#include "model/base/utf8.h"

#define BROKEN_LINES 2			/* number of levels whose members have lines of their own */

/* Not assert(): in no build may tftop write a report that is not JSON. */
static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "tftop: internal error: JSON writer: %s\n", what);
	abort();
}

void json_init(struct json *json, FILE *out)
{
	memset(json, 0, sizeof(*json));
	json->out = out;
	/* There is only one writer, and a report can have 10^8 characters: taking the lock for each
	 * of them is avoided. */
	__fsetlocking(out, FSETLOCKING_BYCALLER);
}

static void line(struct json *json, unsigned int depth)
{
	fputc('\n', json->out);
	for (unsigned int i = 0; i < depth; i++)
		fputs("  ", json->out);
}

/* Writes what separates a member from the one before: comma, newline, indent. */
static void separate(struct json *json)
{
	bool first = json->level[json->depth - 1].empty;

	json->level[json->depth - 1].empty = false;
	if (!first)
		fputc(',', json->out);
	if (json->depth <= BROKEN_LINES)
		line(json, json->depth);
	else if (!first)
		fputc(' ', json->out);
}

static void before_value(struct json *json)
{
	if (!json->depth) {
		must(!json->root_done, "two values at the root");
		json->root_done = true;
		return;
	}
	if (json->level[json->depth - 1].object) {
		must(json->has_key, "a value without a key in an object");
		json->has_key = false;
		return;
	}
	separate(json);
}

static void open_level(struct json *json, bool object)
{
	before_value(json);
	must(json->depth < JSON_DEPTH_MAX, "nested too deep");
	json->level[json->depth].object = object;
	json->level[json->depth].empty = true;
	json->depth++;
	fputc(object ? '{' : '[', json->out);
}

void json_object(struct json *json)
{
	open_level(json, true);
}

void json_array(struct json *json)
{
	open_level(json, false);
}

void json_end(struct json *json)
{
	bool object, empty;

	must(json->depth > 0, "an end without a beginning");
	must(!json->has_key, "a key without a value");
	json->depth--;
	object = json->level[json->depth].object;
	empty = json->level[json->depth].empty;
	if (!empty && json->depth < BROKEN_LINES)
		line(json, json->depth);
	fputc(object ? '}' : ']', json->out);
}

void json_finish(struct json *json)
{
	must(!json->depth && json->root_done, "not everything was closed");
	fputc('\n', json->out);
}

/* ---- strings ---- */

static void write_char(FILE *out, unsigned char c)
{
	switch (c) {
	case '"': fputs("\\\"", out); break;
	case '\\': fputs("\\\\", out); break;
	case '\n': fputs("\\n", out); break;
	case '\r': fputs("\\r", out); break;
	case '\t': fputs("\\t", out); break;
	default:
		if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
}

static void json_write_text(FILE *out, const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (size) {
		size_t length = utf8_length((const char *)at, size);

		if (length == 1)
			write_char(out, *at);
		else if (length == 2 && at[0] == 0xc2 && at[1] < 0xa0)
			/* C1 control characters; terminals obey these too */
			fprintf(out, "\\u%04x", at[1]);
		else if (length)
			fwrite(at, 1, length, out);
		else
			fputs("\xef\xbf\xbd", out);
		at += length ? length : 1;
		size -= length ? length : 1;
	}
	fputc('"', out);
}

void json_key(struct json *json, const char *key)
{
	must(json->depth && json->level[json->depth - 1].object, "a key outside an object");
	must(!json->has_key, "two keys without a value between them");
	separate(json);
	json_write_text(json->out, key, strlen(key));
	fputs(": ", json->out);
	json->has_key = true;
}

/* ---- values ---- */

void json_bytes(struct json *json, const char *text, size_t size)
{
	before_value(json);
	json_write_text(json->out, text, size);
}

void json_string(struct json *json, const char *text)
{
	before_value(json);
	if (text)
		json_write_text(json->out, text, strlen(text));
	else
		fputs("null", json->out);
}

void json_int(struct json *json, int64_t value)
{
	before_value(json);
	fprintf(json->out, "%" PRId64, value);
}

void json_uint(struct json *json, uint64_t value)
{
	before_value(json);
	fprintf(json->out, "%" PRIu64, value);
}

static void json_bool(struct json *json, bool value)
{
	before_value(json);
	fputs(value ? "true" : "false", json->out);
}

void json_share(struct json *json, uint64_t part, uint64_t whole)
{
	unsigned __int128 scaled = whole ? (unsigned __int128)part * 10000 / whole : 0;
	uint64_t parts = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;

	before_value(json);
	fprintf(json->out, "%" PRIu64 ".%04" PRIu64, parts / 10000, parts % 10000);
}

void json_key_string(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_string(json, text);
}

void json_key_int(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	json_int(json, value);
}

void json_key_uint(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_uint(json, value);
}

void json_key_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_key_object(struct json *json, const char *key)
{
	json_key(json, key);
	json_object(json);
}

void json_key_array(struct json *json, const char *key)
{
	json_key(json, key);
	json_array(json);
}

void json_text_if(struct json *json, const char *key, const char *text)
{
	if (text && *text)
		json_key_string(json, key, text);
}

void json_uint_if(struct json *json, const char *key, uint64_t value)
{
	if (value)
		json_key_uint(json, key, value);
}

void json_time_if(struct json *json, const char *key, int64_t ns)
{
	if (ns >= 0)
		json_key_int(json, key, ns);
}
