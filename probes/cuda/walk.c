/* SPDX-License-Identifier: MIT */
#include "probes/cuda/decode.h"

#include <string.h>

/* Steps as the library does, but by the table. */
static int walk_by_table(const struct cuda_walk *walk, void **record)
{
	size_t at = *record ? (size_t)((uint8_t *)*record - walk->buffer) : 0;
	uint32_t kind;

	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		at += cupti_record_size(kind, walk->release);
	}
	if (at >= walk->valid)
		return CUPTI_MAX_LIMIT;
	if (walk->valid - at < sizeof(kind))
		return CUPTI_INVALID_KIND;
	memcpy(&kind, walk->buffer + at, sizeof(kind));
	if (!cupti_record_size(kind, walk->release) ||
	    cupti_record_size(kind, walk->release) > walk->valid - at)
		return CUPTI_INVALID_KIND;
	*record = walk->buffer + at;
	return CUPTI_OK;
}

/* Advances by one record, only forward and inside the buffer, whatever next() returns. */
static void look_ahead(struct cuda_walk *walk)
{
	void *ahead = walk->record;
	uint8_t *end = walk->buffer + walk->valid;

	walk->result = walk->next ? walk->next(walk->user, walk->buffer, walk->valid, &ahead) :
				    walk_by_table(walk, &ahead);
	walk->ahead = NULL;
	if (walk->result)
		return;
	if ((uint8_t *)ahead < walk->buffer ||
	    end - (uint8_t *)ahead < (ptrdiff_t)sizeof(uint32_t) ||
	    (walk->record && (uint8_t *)ahead <= (uint8_t *)walk->record)) {
		walk->result = CUPTI_UNKNOWN;
		return;
	}
	walk->ahead = ahead;
}

void cuda_walk_begin(struct cuda_walk *walk, uint8_t *buffer, size_t valid, uint32_t release,
		     int (*next)(void *, uint8_t *, size_t, void **), void *user)
{
	*walk = (struct cuda_walk){
		.next = next, .user = user, .buffer = buffer, .valid = valid, .release = release,
	};
	if (valid)
		look_ahead(walk);
	else
		walk->result = CUPTI_MAX_LIMIT;
}

bool cuda_walk_next(struct cuda_walk *walk, struct cuda_record *out)
{
	while (walk->ahead) {
		uint8_t *end;
		size_t size, wrote;

		walk->record = walk->ahead;
		look_ahead(walk);
		end = walk->ahead ? (uint8_t *)walk->ahead : walk->buffer + walk->valid;
		size = (size_t)(end - (uint8_t *)walk->record);
		if (cuda_decode(walk->record, size, walk->release, out)) {
			wrote = cupti_record_size(out->kind, walk->release);
			/* before an error its end is unknown */
			if (walk->ahead || walk->result == CUPTI_MAX_LIMIT)
				walk->odd += wrote && wrote != size;
			return true;
		}
		walk->unknown += out->what == CUDA_UNKNOWN;
		walk->short_ += out->what == CUDA_SHORT;
	}
	return false;
}

size_t cuda_walk_left(const struct cuda_walk *walk)
{
	if (walk->result == CUPTI_MAX_LIMIT || !walk->valid)
		return 0;
	if (!walk->record)
		return walk->valid;
	return (size_t)(walk->buffer + walk->valid - (uint8_t *)walk->record);
}
