/* SPDX-License-Identifier: MIT */
/* Batches of decoded events and the strings they point to. */
#include <stdlib.h>
#include <string.h>

#include "probes/session/decode/decode.h"

/* Longest text that is copied; the schema cuts at TFT_TEXT_MAX already. */
#define TEXT_MAX 65536
#define CHUNK_BYTES 65536

struct decode_chunk {
	struct decode_chunk *next;	/* owned */
	size_t used, size;
	char data[];
};

struct decode_batch *decode_batch_new(size_t room)
{
	size_t events = room + DECODE_BATCH_SLACK;
	struct decode_batch *batch = malloc(sizeof(*batch) + events * sizeof(batch->events[0]));

	if (!batch)
		return NULL;
	batch->next = NULL;
	batch->count = 0;
	batch->room = room;
	batch->capacity = events;
	batch->chunks = NULL;
	return batch;
}

static void free_chunks(struct decode_chunk *chunk)
{
	while (chunk) {
		struct decode_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
}

void decode_batch_free(struct decode_batch *batch)
{
	if (!batch)
		return;
	free_chunks(batch->chunks);
	free(batch);
}

void decode_batch_reset(struct decode_batch *batch)
{
	batch->count = 0;
	if (batch->chunks) {
		/* The last chunk in the list is the oldest; keep the newest. */
		free_chunks(batch->chunks->next);
		batch->chunks->next = NULL;
		batch->chunks->used = 0;
	}
}

const char *decode_batch_keep(struct decode_batch *batch, const char *text, size_t length)
{
	struct decode_chunk *chunk = batch->chunks;
	char *copy;

	if (length > TEXT_MAX)
		length = TEXT_MAX;
	if (!length)
		return "";
	if (!chunk || chunk->size - chunk->used < length + 1) {
		size_t size = length + 1 > CHUNK_BYTES ? length + 1 : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return "";
		chunk->next = batch->chunks;
		chunk->used = 0;
		chunk->size = size;
		batch->chunks = chunk;
	}
	copy = chunk->data + chunk->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	chunk->used += length + 1;
	return copy;
}
