/* SPDX-License-Identifier: MIT */
/*
 * Reads the protobuf wire format, a field at a time, out of memory; no schema,
 * no allocation, no recursion. Bytes are hostile: a field that reaches past the
 * end, a group, a number of 0 end the message there, as if it were complete.
 *
 * Complexity: each byte is looked at once per level that is descended into.
 * Source: protobuf.dev/programming-guides/encoding.
 */
#ifndef PROBES_TENSORFLOW_PB_H
#define PROBES_TENSORFLOW_PB_H

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
	uint64_t value;		/* but of PB_BYTES */
	struct pb bytes;	/* of PB_BYTES */
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

/* A varint, for packed numbers; false: there is none. */
bool pb_varint(struct pb *w, uint64_t *value);

/* A string into buf, cut, NUL-terminated, no NUL inside; returns buf. */
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
