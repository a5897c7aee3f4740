/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON: a text into a tree of nodes, for tftop's own small files.
 *
 * Always true: any bytes are accepted without harm; a text that is not JSON
 * (RFC 8259) gives NULL. Numbers that are not integers of 64 bits are kept as
 * JSON_OTHER. Depth is limited to 64, a repeated key keeps its first value.
 *
 * Ownership: the tree is the caller's, freed as a whole. Threads: no state.
 */
#ifndef TUI_JSON_READ_H
#define TUI_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type {
	JSON_OTHER = 0,
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json_node {
	enum json_type type;
	char *key;			/* owned; NULL if it is not a member of an object */
	int64_t number;			/* JSON_INT; JSON_BOOL: 0 or 1 */
	char *text;			/* owned; for JSON_TEXT: UTF-8, ends at the first NUL */
	struct json_node *child;	/* owned: first member or element */
	struct json_node *next;		/* owned: next member or element of the same parent */
};

struct json_node *json_read(const char *text, size_t size);
void json_free(struct json_node *node);

/* The member of an object with this name; NULL: there is none, or node is not an object (it may be
 * NULL). */
const struct json_node *json_get(const struct json_node *node, const char *key);
/* The same with a default, for values that are absent or of another type. */
int64_t json_get_int(const struct json_node *node, const char *key, int64_t otherwise);
const char *json_get_text(const struct json_node *node, const char *key, const char *otherwise);

#endif
