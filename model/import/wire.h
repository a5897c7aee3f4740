/* SPDX-License-Identifier: MIT */
/*
 * Walks the wire format of protobuf in place, one field after the other, without copying. Small
 * messages are passed to protobuf-c, which unpacks them into an arena that is emptied for the next
 * one.
 *
 * Always true: all data that is given out lies within the bytes that were given. A field whose
 * length reaches beyond them is given as far as it is there, with `cut` and `damaged` set. After
 * that, and after anything that is not a field, wire_next() returns false.
 * Complexity: O(1) for a field. Source: protobuf.dev, encoding.
 */
#ifndef MODEL_IMPORT_WIRE_H
#define MODEL_IMPORT_WIRE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_wire {
	const uint8_t *at, *end;
	bool damaged, cut;
	/* The field that was read last: */
	uint32_t field;
	uint8_t type;			/* WIRE_* */
	uint64_t value;			/* for numbers */
	const uint8_t *data;		/* for WIRE_BYTES */
	size_t size;
};

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

static inline struct import_wire wire_of(const uint8_t *data, size_t size)
{
	return (struct import_wire) { .at = data, .end = data + size };
}

/* Reads the next field; false: the end, or damage (then `at` is the damaged place). */
bool wire_next(struct import_wire *wire);

/* Memory for the unpacked form of one message at a time. */
struct arena {
	ProtobufCAllocator allocator;
	char *block;			/* owned */
	size_t used;
	void **more;			/* owned; allocations for which the block had no room */
	size_t n_more, cap_more;
};

void arena_init(struct arena *arena);
void arena_reset(struct arena *arena);
void arena_release(struct arena *arena);

#endif
