/* SPDX-License-Identifier: MIT */
/*
 * A small JSON writer that cannot write anything but JSON.
 *
 * Always true: commas, nesting, escapes and numbers are the writer's; a call
 * that would break the grammar (a value without a key in an object, a key in
 * an array, too many ends, two roots) is a mistake of the caller and ends the
 * program with an assertion, also in release builds. Strings may be any bytes:
 * what is not UTF-8 becomes U+FFFD, control characters are escaped.
 *
 * Layout: one member a line down to two levels, deeper ones on one line.
 *
 * Threads: none of its own; one writer, one thread. Errors: the stream's.
 */
#ifndef TUI_JSON_H
#define TUI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	FILE *out;			/* borrowed */
	unsigned int depth;
	bool root_done;
	bool has_key;			/* a key waits for its value */
	struct {
		bool object;
		bool empty;
	} level[JSON_DEPTH_MAX];
};

void json_init(struct json *json, FILE *out);
/* Everything opened was closed; ends the text with a newline. */
void json_finish(struct json *json);

void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_string(struct json *json, const char *text);	/* NULL: null */
void json_bytes(struct json *json, const char *text, size_t size);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
/* part / whole with four decimals, rounded down; 0.0 when whole is 0. */
void json_share(struct json *json, uint64_t part, uint64_t whole);

/* A key with its value. */
void json_key_string(struct json *json, const char *key, const char *text);
void json_key_int(struct json *json, const char *key, int64_t value);
void json_key_uint(struct json *json, const char *key, uint64_t value);
void json_key_bool(struct json *json, const char *key, bool value);
void json_key_object(struct json *json, const char *key);
void json_key_array(struct json *json, const char *key);
/* The same, and nothing at all for what was not observed: no text or an empty
 * one, 0, a negative time. */
void json_text_if(struct json *json, const char *key, const char *text);
void json_uint_if(struct json *json, const char *key, uint64_t value);
void json_time_if(struct json *json, const char *key, int64_t ns);

#endif
