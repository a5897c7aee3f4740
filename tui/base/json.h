/* SPDX-License-Identifier: MIT */
/*
 * A small JSON writer whose output is always valid JSON.
 *
 * Always true: the writer takes care of commas, nesting, escapes and numbers. A call that would
 * break the grammar (a value without a key in an object, a key in an array, too many ends, two
 * roots) is a mistake of the caller and ends the program with an assertion, also in release builds.
 * Strings may contain any bytes: what is not UTF-8 becomes U+FFFD, and control characters are
 * escaped.
 *
 * Layout: one member per line in the two outermost levels; deeper levels are on one line.
 *
 * Threads: none of its own; a writer belongs to one thread. Errors: those of the stream.
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
	bool has_key;			/* a key has been written and its value has not */
	struct {
		bool object;
		bool empty;
	} level[JSON_DEPTH_MAX];
};

void json_init(struct json *json, FILE *out);
/* Checks that everything that was opened has been closed, and ends the text with a newline. */
void json_finish(struct json *json);

void json_object(struct json *json);
void json_array(struct json *json);
void json_end(struct json *json);

void json_key(struct json *json, const char *key);
void json_string(struct json *json, const char *text);	/* NULL: writes null */
void json_bytes(struct json *json, const char *text, size_t size);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
/* part / whole with four decimals, rounded down; 0.0 if whole is 0. */
void json_share(struct json *json, uint64_t part, uint64_t whole);

/* Writes a key with its value. */
void json_key_string(struct json *json, const char *key, const char *text);
void json_key_int(struct json *json, const char *key, int64_t value);
void json_key_uint(struct json *json, const char *key, uint64_t value);
void json_key_bool(struct json *json, const char *key, bool value);
void json_key_object(struct json *json, const char *key);
void json_key_array(struct json *json, const char *key);
/* The same, but nothing is written if the value was not observed: no text or an empty one, 0, or a
 * negative time. */
void json_text_if(struct json *json, const char *key, const char *text);
void json_uint_if(struct json *json, const char *key, uint64_t value);
void json_time_if(struct json *json, const char *key, int64_t ns);

#endif
