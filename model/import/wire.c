/* SPDX-License-Identifier: MIT */
/* The wire format of protobuf, and an arena for protobuf-c. */
#include "model/import/wire.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define BLOCK_BYTES (64u << 10)

static bool read_varint(struct import_wire *wire, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 70 && wire->at < wire->end; shift += 7) {
		uint8_t byte = *wire->at++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool read_fixed(struct import_wire *wire, size_t size)
{
	if ((size_t)(wire->end - wire->at) < size)
		return false;
	wire->value = 0;
	for (size_t i = 0; i < size; i++)	/* little endian */
		wire->value |= (uint64_t)wire->at[i] << 8 * i;
	wire->at += size;
	return true;
}

static bool read_bytes(struct import_wire *wire)
{
	uint64_t size;

	if (!read_varint(wire, &size))
		return false;
	if (size > (uint64_t)(wire->end - wire->at)) {
		size = (uint64_t)(wire->end - wire->at);
		wire->cut = wire->damaged = true;
	}
	wire->data = wire->at;
	wire->size = (size_t)size;
	wire->at += size;
	return true;
}

bool wire_next(struct import_wire *wire)
{
	const uint8_t *begin = wire->at;
	uint64_t key = 0;
	bool good;

	if (wire->at >= wire->end || wire->damaged)
		return false;
	wire->value = 0;
	wire->data = NULL;
	wire->size = 0;
	good = read_varint(wire, &key) && key >> 3 && key >> 3 < 1u << 29;
	wire->field = (uint32_t)(key >> 3);
	wire->type = key & 7;
	if (good && wire->type == WIRE_VARINT)
		good = read_varint(wire, &wire->value);
	else if (good && wire->type == WIRE_FIXED64)
		good = read_fixed(wire, 8);
	else if (good && wire->type == WIRE_FIXED32)
		good = read_fixed(wire, 4);
	else
		good = good && wire->type == WIRE_BYTES && read_bytes(wire);
	if (!good) {
		wire->damaged = true;
		wire->at = begin;
	}
	return good;
}

/* ---- the arena ---- */

static void *arena_alloc(void *data, size_t size)
{
	struct arena *arena = data;
	void *memory = arena->block + arena->used;

	size = (size + 15) / 16 * 16;
	if (size <= BLOCK_BYTES - arena->used) {
		arena->used += size;
		return memory;
	}
	grow(&arena->more, &arena->cap_more, arena->n_more, sizeof(*arena->more));
	/* Each may be as large as the file, otherwise protobuf-c refuses the message. */
	memory = malloc(size);
	if (memory)
		arena->more[arena->n_more++] = memory;
	return memory;
}

static void arena_free(void *data, void *memory)
{
	(void)data;
	(void)memory;
}

void arena_init(struct arena *arena)
{
	memset(arena, 0, sizeof(*arena));
	arena->allocator = (ProtobufCAllocator) {
		.alloc = arena_alloc, .free = arena_free, .allocator_data = arena,
	};
	arena->block = xmalloc(BLOCK_BYTES);
}

void arena_reset(struct arena *arena)
{
	arena->used = 0;
	while (arena->n_more)
		free(arena->more[--arena->n_more]);
}

void arena_release(struct arena *arena)
{
	arena_reset(arena);
	free(arena->more);
	free(arena->block);
	memset(arena, 0, sizeof(*arena));
}
