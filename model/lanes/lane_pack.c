/* SPDX-License-Identifier: MIT */
/* The two forms of a chunk: plain arrays and packed columns, see lane.h. */
#include "model/lanes/lane_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

static size_t plain_bytes(const struct lane *lane, uint32_t cap)
{
	return (size_t)cap * (2 * sizeof(int64_t) + 2 * sizeof(uint32_t) + 2 + lane->layout.size);
}

static void free_plain(struct lane *lane, struct chunk *chunk)
{
	size_t bytes = chunk->start ? plain_bytes(lane, chunk->cap) : 0;

	lane->bytes -= bytes;
	lane->open_bytes -= bytes;
	free(chunk->start);
	chunk->start = chunk->dur = NULL;
	chunk->name = chunk->id = NULL;
	chunk->work = chunk->flag = NULL;
	chunk->cold = NULL;
	chunk->cap = 0;
}

static void free_sealed(struct lane *lane, struct chunk *chunk)
{
	lane->bytes -= chunk->sealed_bytes;
	free(chunk->sealed);
	chunk->sealed = NULL;
	chunk->sealed_bytes = 0;
}

static void blocks_free(struct lane *lane, struct chunk *chunk)
{
	if (chunk->blocks && !chunk->sealed) {
		lane->bytes -= lane_blocks_bytes(lane);
		free(chunk->blocks);
	}
	chunk->blocks = NULL;
}

static void chunk_drop_data(struct lane *lane, struct chunk *chunk)
{
	blocks_free(lane, chunk);
	free_plain(lane, chunk);
	free_sealed(lane, chunk);
}

/* ---- where chunks lie ---- */

#define SLAB_MAX 64u

struct chunk_slab {
	struct chunk_slab *next;
	uint32_t n;
	struct chunk chunks[];
};

/* The first slabs are small because many lanes never have more than one chunk. */
static void slab_new(struct lane *lane)
{
	uint32_t n = lane->slabs ? lane->slabs->n * 4 : 1;
	struct chunk_slab *slab;
	size_t bytes;

	n = n < SLAB_MAX ? n : SLAB_MAX;
	bytes = sizeof(*slab) + n * sizeof(slab->chunks[0]);
	slab = xcalloc(1, bytes);
	slab->next = lane->slabs;
	slab->n = n;
	lane->slabs = slab;
	lane->bytes += bytes;
	while (n-- > 0) {
		slab->chunks[n].next_free = lane->free_chunks;
		lane->free_chunks = &slab->chunks[n];
	}
}

struct chunk *chunk_alloc(struct lane *lane)
{
	struct chunk *chunk;

	if (!lane->free_chunks)
		slab_new(lane);
	chunk = lane->free_chunks;
	lane->free_chunks = chunk->next_free;
	chunk->next_free = NULL;
	return chunk;
}

static void lane_forget_open(struct lane *lane, const struct chunk *chunk)
{
	for (uint32_t i = 0; i < LANE_OPEN; i++)
		if (lane->open[i] == chunk)
			lane->open[i] = NULL;
}

void chunk_free(struct lane *lane, struct chunk *chunk)
{
	chunk_drop_data(lane, chunk);
	lane_forget_open(lane, chunk);
	memset(chunk, 0, sizeof(*chunk));
	chunk->next_free = lane->free_chunks;
	lane->free_chunks = chunk;
}

void chunk_free_all(struct lane *lane)
{
	struct chunk_slab *next;

	for (size_t i = 0; i < lane->n; i++)
		chunk_drop_data(lane, lane->chunks[i]);
	for (struct chunk_slab *slab = lane->slabs; slab; slab = next) {
		next = slab->next;
		lane->bytes -= sizeof(*slab) + slab->n * sizeof(slab->chunks[0]);
		free(slab);
	}
	free(lane->chunks);
	free(lane->heads);
	free(lane->ghosts);
}

/* The widest arrays come first, so that all are aligned. */
void chunk_resize(struct lane *lane, struct chunk *chunk, uint32_t cap)
{
	struct chunk old = *chunk;
	char *data = xmalloc(plain_bytes(lane, cap));
	size_t n = chunk->n;

	lane->bytes += plain_bytes(lane, cap);
	lane->open_bytes += plain_bytes(lane, cap);
	chunk->start = (int64_t *)data;
	chunk->dur = chunk->start + cap;
	chunk->cold = (char *)(chunk->dur + cap);
	chunk->name = (uint32_t *)(chunk->cold + (size_t)cap * lane->layout.size);
	chunk->id = chunk->name + cap;
	chunk->work = (uint8_t *)(chunk->id + cap);
	chunk->flag = chunk->work + cap;
	chunk->cap = cap;
	if (!old.start)
		return;
	memcpy(chunk->start, old.start, n * sizeof(*chunk->start));
	memcpy(chunk->dur, old.dur, n * sizeof(*chunk->dur));
	memcpy(chunk->cold, old.cold, n * lane->layout.size);
	memcpy(chunk->name, old.name, n * sizeof(*chunk->name));
	memcpy(chunk->id, old.id, n * sizeof(*chunk->id));
	memcpy(chunk->work, old.work, n);
	memcpy(chunk->flag, old.flag, n);
	free_plain(lane, &old);
}

/* ---- integers of any size ---- */

static uint64_t field_load(const void *at, uint8_t size, bool is_signed)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		memcpy(&u8, at, sizeof(u8));
		return is_signed ? (uint64_t)(int8_t)u8 : u8;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return is_signed ? (uint64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

static void field_store(void *at, uint8_t size, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	switch (size) {
	case 1:
		memcpy(at, &u8, sizeof(u8));
		return;
	case 2:
		memcpy(at, &u16, sizeof(u16));
		return;
	case 4:
		memcpy(at, &u32, sizeof(u32));
		return;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

/* ---- columns ---- */

/* Where a column's values are in an open chunk: `stride` bytes apart. */
struct array {
	char *at;
	size_t stride;
	uint8_t size;
	bool is_signed;
};

static struct array array_of(const struct lane *lane, const struct chunk *chunk, uint32_t column)
{
	const struct lane_field *field;

	switch (column) {
	case LANE_START:
		return (struct array) { (char *)chunk->start, 8, 8, true };
	case LANE_DUR:
		return (struct array) { (char *)chunk->dur, 8, 8, true };
	case LANE_NAME:
		return (struct array) { (char *)chunk->name, 4, 4, false };
	case LANE_ID:
		return (struct array) { (char *)chunk->id, 4, 4, false };
	case LANE_WORK:
		return (struct array) { (char *)chunk->work, 1, 1, false };
	case LANE_FLAG:
		return (struct array) { (char *)chunk->flag, 1, 1, false };
	default:
		field = &lane->layout.fields[column - LANE_COLD];
		return (struct array) { chunk->cold + field->offset, lane->layout.size,
					field->size, field->is_signed };
	}
}

static uint32_t n_columns(const struct lane *lane)
{
	return LANE_COLD + lane->layout.n_fields;
}

static void gather_column(const struct array *array, size_t n, uint64_t *values)
{
	const char *at = array->at;

	/* The most common sizes have a loop of their own. */
	if (array->size == 8)
		for (size_t i = 0; i < n; i++, at += array->stride)
			values[i] = field_load(at, 8, false);
	else if (array->size == 4 && !array->is_signed)
		for (size_t i = 0; i < n; i++, at += array->stride)
			values[i] = field_load(at, 4, false);
	else
		for (size_t i = 0; i < n; i++, at += array->stride)
			values[i] = field_load(at, array->size, array->is_signed);
}

/* The columns that every question about columns reads. */
static bool is_hot(const struct lane *lane, uint32_t column)
{
	return (column != LANE_NAME && column != LANE_ID && column < LANE_COLD) ||
	       (column == LANE_COLD && lane->layout.rates);
}

/* Places the groups of hot columns next to each other and the other columns behind them; returns
 * the bytes of all. */
static size_t lay_out_columns(const struct lane *lane, struct packed *columns, size_t at, size_t n)
{
	size_t stride = 0;

	for (uint32_t c = 0; c < n_columns(lane); c++)
		if (is_hot(lane, c)) {
			columns[c].offset = (uint32_t)(at + stride);
			stride += packed_group_bytes(&columns[c]);
		}
	at += stride * packed_groups(n);
	for (uint32_t c = 0; c < n_columns(lane); c++) {
		if (is_hot(lane, c)) {
			columns[c].stride = (uint16_t)stride;
			continue;
		}
		columns[c].offset = (uint32_t)at;
		at += packed_groups(n) * packed_group_bytes(&columns[c]);
	}
	return at;
}

void chunk_read(const struct lane *lane, const struct chunk *chunk, uint32_t column, uint32_t first,
		uint32_t n, uint64_t *values)
{
	struct array array;

	if (chunk->sealed) {
		packed_read(&chunk->sealed[column], chunk->sealed, first, n, values);
		return;
	}
	array = array_of(lane, chunk, column);
	array.at += first * array.stride;
	gather_column(&array, n, values);
}

void chunk_seal(struct lane *lane, struct chunk *chunk)
{
	struct packed columns[LANE_COLD + LANE_FIELDS_MAX];
	uint64_t values[LANE_CHUNK];
	size_t head = n_columns(lane) * sizeof(columns[0]), blocks, bytes;

	if (!chunk->start || !chunk->n)
		return;
	chunk_summarise(lane, chunk);
	for (uint32_t c = 0; c < n_columns(lane); c++) {
		struct array array = array_of(lane, chunk, c);

		gather_column(&array, chunk->n, values);
		packed_plan(&columns[c], values, chunk->n);
	}
	blocks = chunk->blocks ? lane_blocks_bytes(lane) : 0;
	bytes = lay_out_columns(lane, columns, head + blocks, chunk->n);
	chunk->sealed_bytes = bytes + PACKED_SLACK;
	chunk->sealed = xmalloc(chunk->sealed_bytes);
	memset((char *)chunk->sealed + bytes, 0, PACKED_SLACK);
	lane->bytes += chunk->sealed_bytes;
	memcpy(chunk->sealed, columns, head);
	if (blocks) {
		memcpy((char *)chunk->sealed + head, chunk->blocks, blocks);
		lane->bytes -= blocks;
		free(chunk->blocks);
		chunk->blocks = (struct span_block *)(void *)((char *)chunk->sealed + head);
	}
	for (uint32_t c = 0; c < n_columns(lane); c++) {
		struct array array = array_of(lane, chunk, c);

		if (!columns[c].width)
			continue;
		gather_column(&array, chunk->n, values);
		packed_write(&columns[c], chunk->sealed, values, chunk->n);
	}
	free_plain(lane, chunk);
}

void chunk_open(struct lane *lane, struct chunk *chunk)
{
	uint64_t values[LANE_CHUNK];

	if (!chunk->sealed)
		return;
	if (chunk->blocks) {
		struct span_block *blocks = xmalloc(lane_blocks_bytes(lane));

		memcpy(blocks, chunk->blocks, lane_blocks_bytes(lane));
		lane->bytes += lane_blocks_bytes(lane);
		chunk->blocks = blocks;
	}
	chunk_resize(lane, chunk, LANE_CHUNK);
	/* Padding between the fields gets a defined value, too. */
	memset(chunk->cold, 0, (size_t)chunk->n * lane->layout.size);
	for (uint32_t c = 0; c < n_columns(lane); c++) {
		struct array array = array_of(lane, chunk, c);
		char *at = array.at;

		packed_read(&chunk->sealed[c], chunk->sealed, 0, chunk->n, values);
		for (uint32_t i = 0; i < chunk->n; i++, at += array.stride)
			field_store(at, array.size, values[i]);
	}
	free_sealed(lane, chunk);
}

/* ---- which are open ---- */

void lane_keep_open(struct lane *lane, struct chunk *chunk)
{
	struct chunk **slot;

	for (uint32_t i = 0; i < LANE_OPEN; i++)
		if (lane->open[i] == chunk)
			return;
	slot = &lane->open[lane->next_open++ % LANE_OPEN];
	if (*slot && *slot != lane->chunks[lane->n - 1])
		chunk_seal(lane, *slot);
	*slot = chunk;
}

size_t lane_squeeze(struct lane *lane)
{
	size_t before = lane->bytes;

	for (size_t c = 0; c < lane->n; c++)
		chunk_seal(lane, lane->chunks[c]);
	memset(lane->open, 0, sizeof(lane->open));
	return before > lane->bytes ? before - lane->bytes : 0;
}

/* ---- single spans ---- */

struct lane_span lane_get(const struct lane *lane, struct lane_pos pos)
{
	const struct chunk *chunk = lane->chunks[pos.chunk];
	const struct packed *sealed = chunk->sealed;

	return (struct lane_span) {
		.start_ns = chunk_start(chunk, pos.i), .dur_ns = chunk_dur(chunk, pos.i),
		.name = chunk_name(chunk, pos.i), .id = chunk_id(chunk, pos.i),
		.work = sealed ? (uint8_t)packed_get(&sealed[LANE_WORK], sealed, pos.i) :
				 chunk->work[pos.i],
		.flags = sealed ? (uint8_t)packed_get(&sealed[LANE_FLAG], sealed, pos.i) :
				  chunk->flag[pos.i],
	};
}

uint64_t lane_cold_field(const struct lane *lane, struct lane_pos pos, uint32_t field)
{
	const struct chunk *chunk = lane->chunks[pos.chunk];
	struct array array;

	if (chunk->sealed)
		return packed_get(&chunk->sealed[LANE_COLD + field], chunk->sealed, pos.i);
	array = array_of(lane, chunk, LANE_COLD + field);
	return field_load(array.at + pos.i * array.stride, array.size, array.is_signed);
}

void lane_cold(const struct lane *lane, struct lane_pos pos, void *record)
{
	const struct chunk *chunk = lane->chunks[pos.chunk];

	if (!chunk->sealed) {
		memcpy(record, chunk->cold + (size_t)pos.i * lane->layout.size,
		       lane->layout.size);
		return;
	}
	memset(record, 0, lane->layout.size);
	for (uint32_t f = 0; f < lane->layout.n_fields; f++) {
		const struct lane_field *field = &lane->layout.fields[f];

		field_store((char *)record + field->offset, field->size,
			    packed_get(&chunk->sealed[LANE_COLD + f], chunk->sealed, pos.i));
	}
}

void *lane_edit(struct lane *lane, struct lane_pos pos)
{
	struct chunk *chunk = lane->chunks[pos.chunk];

	if (chunk->sealed) {
		chunk_open(lane, chunk);
		lane_keep_open(lane, chunk);
	}
	return chunk->cold + (size_t)pos.i * lane->layout.size;
}

void lane_reclassify(struct lane *lane, uint32_t name, uint8_t work)
{
	for (size_t c = 0; c < lane->n; c++) {
		struct chunk *chunk = lane->chunks[c];
		bool sealed = chunk->sealed != NULL;

		for (uint32_t i = 0; i < chunk->n; i++) {
			if (chunk_name(chunk, i) != name)
				continue;
			chunk_open(lane, chunk);
			chunk->work[i] = work;
			chunk->dirty = true;
			lane->heads[c].n = 0;
			lane->changes++;
		}
		if (sealed)
			chunk_seal(lane, chunk);
	}
}
