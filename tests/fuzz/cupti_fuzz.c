/* SPDX-License-Identifier: MIT */
/*
 * Buffers of CUPTI's records. The first byte chooses the release, the second one how to step: even,
 * by the table of sizes; odd, by a library that steps as the input says. Everything that is read
 * lies inside of the buffer and of its record, and a record decodes the same alone as in its
 * buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/cuda/decode.h"
#include "tests/fuzz/fuzz.h"

static const uint32_t releases[] = {
	0, CUPTI_RELEASE(11, 4), CUPTI_RELEASE(11, 8), CUPTI_RELEASE(12, 0),
	CUPTI_RELEASE(12, 4), CUPTI_RELEASE(12, 6), CUPTI_RELEASE(12, 8), CUPTI_RELEASE(13, 0),
	CUPTI_RELEASE(13, 1), CUPTI_RELEASE(13, 3), CUPTI_RELEASE(13, 5), CUPTI_RELEASE(15, 9),
};

/* A step of any kind: forward, none, backward, out of the buffer; with any result. */
static int next(void *user, uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *at = *record ? *record : buffer;
	uint32_t steps[2] = { 0, 0 };

	(void)user;
	if (!*record) {
		*record = buffer;
		return CUPTI_OK;
	}
	memcpy(steps, at, valid - (size_t)(at - buffer) < 8 ? 4 : 8);
	if (steps[1] % 16 == 0)
		return (int)(steps[1] % 1000);
	*record = at + (int8_t)steps[1] * 8;
	return CUPTI_OK;
}

/* Decodes the record alone in its memory, so that a sanitizer detects each byte read beyond it. */
static void check_alone(const struct cuda_walk *walk, const struct cuda_record *r)
{
	uint8_t *end = walk->ahead ? (uint8_t *)walk->ahead : walk->buffer + walk->valid;
	size_t size = (size_t)(end - (uint8_t *)walk->record);
	uint8_t *alone = xmalloc(size);
	struct cuda_record again;

	memcpy(alone, walk->record, size);
	FUZZ_CHECK(cuda_decode(alone, size, walk->release, &again));
	FUZZ_CHECK(!memcmp(r, &again, sizeof(again)));
	free(alone);
}

static void check_record(const struct cuda_record *r)
{
	FUZZ_CHECK(r->what >= CUDA_KERNEL && r->what <= CUDA_JIT);
	FUZZ_CHECK(cupti_kind_since(r->kind));
	if (r->what == CUDA_KERNEL || r->what == CUDA_COPY || r->what == CUDA_FILL)
		FUZZ_CHECK(r->flags & CUDA_NO_TIME || (r->start && r->start <= r->end));
	if (r->what == CUDA_MEMORY)
		FUZZ_CHECK(r->memory.pool_type || !r->memory.pool);
}

static void run(const uint8_t *data, size_t size)
{
	size_t valid = size > 2 ? size - 2 : 0;
	uint8_t *buffer, *last = NULL;
	struct cuda_walk walk;
	struct cuda_record r;
	size_t n = 0;

	if (size < 2)
		return;
	buffer = xmalloc(valid ? valid : 1);
	memcpy(buffer, data + 2, valid);
	cuda_walk_begin(&walk, buffer, valid,
			releases[data[0] % (sizeof(releases) / sizeof(releases[0]))],
			data[1] % 2 ? next : NULL, NULL);
	while (cuda_walk_next(&walk, &r)) {
		uint8_t *at = walk.record;

		FUZZ_CHECK(at >= buffer && at < buffer + valid && (!last || at > last));
		last = at;
		check_record(&r);
		check_alone(&walk, &r);
		n++;
	}
	FUZZ_CHECK(!cuda_walk_next(&walk, &r));
	FUZZ_CHECK(walk.result != CUPTI_OK);
	FUZZ_CHECK(cuda_walk_left(&walk) <= valid);
	FUZZ_CHECK(n <= valid / 16);
	FUZZ_CHECK(data[1] % 2 || walk.result != CUPTI_MAX_LIMIT || !walk.odd);
	free(buffer);
}

FUZZ_TARGET("cupti", run);
