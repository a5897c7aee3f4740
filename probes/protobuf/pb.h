/* SPDX-License-Identifier: MIT */
/*
 * Reads the protobuf wire format from memory, one field at a time; no schema, no allocation, no
 * recursion. Bytes are not trusted: a field that reaches past the end, a group, or a field number
 * of 0 ends the message there, as if it were complete.
 *
 * Complexity: each byte is read once per level of nesting that is entered.
 * Source: protobuf.dev/programming-guides/encoding.
 */
#ifndef PROBES_PROTOBUF_PB_H
#define PROBES_PROTOBUF_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message, or a string; *borrowed*. */
struct pb {
	const uint8_t *at, *end;
};

enum pb_type { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	uint32_t number;
	enum pb_type type;
	uint64_t value;		/* for all types except PB_BYTES */
	struct pb bytes;	/* for PB_BYTES */
};

static inline struct pb pb_of(const void *data, size_t size)
{
	return (struct pb){ data, (const uint8_t *)data + size };
}

static inline size_t pb_left(const struct pb *w)
{
	return (size_t)(w->end - w->at);
}

/* The next field; false: there is none, and w is at its end. */
bool pb_next(struct pb *w, struct pb_field *field);

/* Reads a varint, for packed numbers; false: there is none. */
bool pb_varint(struct pb *w, uint64_t *value);

/* Copies a string to buf, cut if necessary, NUL-terminated, without a NUL inside; returns buf. */
const char *pb_text(char *buf, size_t size, struct pb text);

static inline bool pb_bytes(const struct pb_field *field, uint32_t number)
{
	return field->number == number && field->type == PB_BYTES;
}

static inline bool pb_is(const struct pb_field *field, uint32_t number)
{
	return field->number == number && field->type != PB_BYTES;
}

#endif
