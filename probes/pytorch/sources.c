/* SPDX-License-Identifier: MIT */
/*
 * A fingerprint of the bytes that a copy of a tensor reads, by which the same data is recognised
 * when it is copied again, from whatever memory.
 *
 * Idea: the place of the storage in a tensor, and of the bytes in the storage, is determined once
 * from a tensor of our own over memory of our own, which PyTorch's stable C interface makes. No
 * function of a tensor is called, because a tensor without data (torch.compile's) would warn the
 * user. If there are more than READ bytes, STRETCHES of them are read, spread evenly. Data on
 * another device is not read.
 *
 * The same tensor shows where sizes lie, by which shapes that were already sent are recognised.
 *
 * Limit: data that differs only where it is not read has the same fingerprint.
 */
#include <string.h>

#include "probes/pytorch/probe.h"
#include "probes/runtime/hash.h"

#define BYTES_MIN 4096		/* smaller copies cost nothing */
#define READ 65536
#define STRETCH 256
#define STRETCHES (READ / STRETCH)
#define ROWS 3	/* sizes of the probe's own tensor: numbers that no other field has */
#define COLUMNS 7
#define OFFSET 211
#define FLOAT32 6		/* c10::ScalarType */
#define IMAGE_WORDS 32
#define INLINE_MAX 5		/* dimensions for which c10::TensorImpl itself has room */

/* From a stable C interface; the address of an IValue is the handle of a tensor. */
static int32_t (*type_of)(const void *tensor, int32_t *out);
static int32_t (*device_of)(const void *tensor, int32_t *out);

static struct {
	int storage, offset, numel;	/* in c10::TensorImpl; -1: not found */
	int dimensions;			/* the sizes come after it */
	int data, bytes;		/* in c10::StorageImpl */
} layout = { -1, -1, -1, -1, -1, -1 };

/* Indexed by c10::ScalarType. */
static const uint8_t type_bytes[] = {
	1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 4, 8,
};

typedef int32_t create_tensor(void *data, int64_t dimensions, const int64_t *sizes,
			      const int64_t *strides, int64_t offset, int32_t type,
			      int32_t device, int32_t index, void **out);

/* The only word with that value; -1: there is none, or there are two. */
static int find_word(const uint64_t *words, size_t n, uint64_t value)
{
	int found = -1;

	for (size_t i = 0; i < n; i++) {
		if (words[i] != value)
			continue;
		if (found >= 0)
			return -1;
		found = (int)(i * sizeof(*words));
	}
	return found;
}

/* Finds the number of dimensions, their sizes, room for more, their strides. */
static int find_dimensions(const uint64_t *words, size_t n)
{
	for (size_t i = 0; i + 1 + 2 * INLINE_MAX <= n; i++)
		if (words[i] == 2 && words[i + 1] == ROWS && words[i + 2] == COLUMNS &&
		    words[i + 1 + INLINE_MAX] == COLUMNS && words[i + 2 + INLINE_MAX] == 1)
			return (int)(i * sizeof(*words));
	return -1;
}

static void sources_find_fields(const void *tensor, const void *memory)
{
	uint64_t words[IMAGE_WORDS], inner[IMAGE_WORDS / 2];
	size_t n = rt_peek(words, tensor, sizeof(words)) / sizeof(*words), m;

	layout.offset = find_word(words, n, OFFSET);
	layout.numel = find_word(words, n, ROWS * COLUMNS);
	layout.dimensions = find_dimensions(words, n);
	for (size_t i = 1; i < n && layout.storage < 0; i++) {
		m = rt_peek(inner, (const void *)(uintptr_t)words[i],
			    sizeof(inner)) / sizeof(*inner);
		for (size_t k = 0; k < m && layout.data < 0; k++)
			if (inner[k] == (uintptr_t)memory)
				layout.data = (int)(k * sizeof(*inner));
		if (layout.data < 0)
			continue;
		layout.bytes = find_word(inner, m, (OFFSET + ROWS * COLUMNS) * sizeof(float));
		layout.storage = (int)(i * sizeof(*words));
	}
	if (layout.offset < 0 || layout.numel < 0 || layout.bytes < 0)
		layout.storage = -1;
}

void torch_sources_calibrate(void)
{
	static float memory[OFFSET + ROWS * COLUMNS];
	static const int64_t sizes[] = { ROWS, COLUMNS }, strides[] = { COLUMNS, 1 };
	create_tensor *create;
	int32_t (*delete)(void *);
	void *tensor = NULL;

	*(void **)&create = torch_lib->find("aoti_torch_create_tensor_from_blob");
	*(void **)&delete = torch_lib->find("aoti_torch_delete_tensor_object");
	*(void **)&type_of = torch_lib->find("aoti_torch_get_dtype");
	*(void **)&device_of = torch_lib->find("aoti_torch_get_device_type");
	if (!create || !delete || !type_of || !device_of || !torch_api.tensor ||
	    !torch_api.inputs ||
	    create(memory, 2, sizes, strides, OFFSET, FLOAT32, 0, 0, &tensor) || !tensor)
		return;
	sources_find_fields(*(void **)tensor, memory);
	delete(tensor);
}

bool torch_is_copy(const char *name)
{
	return layout.storage >= 0 && !strcmp(name, "aten::_to_copy");
}

uint64_t torch_form(const struct torch_value *value, uint64_t before)
{
	const char *sizes = (const char *)value->payload + layout.dimensions + sizeof(uint64_t);
	uint64_t n, all = 1, size;
	int32_t type = -1;

	if (layout.dimensions < 0 || layout.numel < 0)
		return 0;
	n = torch_u64(value->payload, layout.dimensions);
	if (n > INLINE_MAX || type_of(value, &type))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		memcpy(&size, sizes + i * sizeof(size), sizeof(size));
		all *= size;
	}
	if (!all || all != torch_u64(value->payload, layout.numel))
		return 0;
	return rt_hash_bytes(sizes, n * sizeof(size), before ^ (uint64_t)(type + 1) << 56) | 1;
}

static uint64_t torch_mix_bytes(uint64_t hash, const unsigned char *at, size_t bytes)
{
	uint64_t lanes[4] = { hash, hash + 1, hash + 2, hash + 3 }, word;
	size_t i = 0;

	for (; i + sizeof(word) <= bytes; i += sizeof(word)) {
		uint64_t *lane = &lanes[i / sizeof(word) % 4];

		memcpy(&word, at + i, sizeof(word));
		*lane = (*lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		*lane ^= *lane >> 29;
	}
	for (; i < bytes; i++)
		lanes[0] = (lanes[0] ^ at[i]) * UINT64_C(0x100000001b3);
	for (int k = 1; k < 4; k++)
		lanes[0] = (lanes[0] ^ lanes[k]) * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)k;
	return lanes[0];
}

/* The first input if it is a plain tensor. Memory is read as if it might not be mapped, because the
 * place of an op's inputs was determined with an op that had none. */
static bool first_input(const void *rf, struct torch_value *first)
{
	const void *at, *table;

	if (torch_layout.inputs < 0 || !torch_api.inputs(rf))
		return false;
	at = (const void *)(uintptr_t)torch_u64(rf, torch_layout.inputs);
	return rt_peek(first, at, sizeof(*first)) == sizeof(*first) && first->tag == TORCH_TENSOR &&
	       rt_peek(&table, first->payload, sizeof(table)) == sizeof(table) &&
	       table == torch_api.tensor;
}

uint64_t torch_source(const void *rf)
{
	struct torch_value first;
	const void *tensor, *storage;
	const unsigned char *data;
	uint64_t hash, size, room;
	int32_t type = -1, device = -1;
	size_t bytes;

	if (!first_input(rf, &first))
		return 0;
	tensor = first.payload;
	storage = (const void *)(uintptr_t)torch_u64(tensor, layout.storage);
	data = storage ? (const void *)(uintptr_t)torch_u64(storage, layout.data) : NULL;
	if (!data || device_of(&first, &device) || device != 0 || type_of(&first, &type) ||
	    type < 0 || (size_t)type >= sizeof(type_bytes))
		return 0;
	size = torch_u64(tensor, layout.numel) * type_bytes[type];
	data += torch_u64(tensor, layout.offset) * type_bytes[type];
	room = torch_u64(storage, layout.bytes) - torch_u64(tensor,
							    layout.offset) * type_bytes[type];
	if (size < BYTES_MIN || room > INT64_MAX || size > room)
		return 0;
	hash = size << 8 | (uint64_t)type;
	bytes = size;
	if (bytes <= READ)
		return torch_mix_bytes(hash, data, bytes) | 1;
	for (size_t i = 0; i < STRETCHES; i++)
		hash = torch_mix_bytes(hash, data + (bytes - STRETCH) / (STRETCHES - 1) * i,
				       STRETCH);
	return hash | 1;
}

/* From PyTorch 2.10 on, Python's object holds the tensor itself; before that, after a flag. */
int64_t torch_sequences(const void *object)
{
	const void *tensor, *table;
	uint64_t n, size;

	if (layout.dimensions < 0 || !torch_api.tensor)
		return 0;
	for (int offset = 16; offset <= 24; offset += 8) {
		tensor = (const void *)(uintptr_t)torch_u64(object, offset);
		if (rt_peek(&table, tensor, sizeof(table)) != sizeof(table) ||
		    table != torch_api.tensor)
			continue;
		n = torch_u64(tensor, layout.dimensions);
		size = torch_u64(tensor, layout.dimensions + (int)sizeof(uint64_t));
		return n > INLINE_MAX || size > INT64_MAX ? 0 : n ? (int64_t)size : 1;
	}
	return 0;
}
