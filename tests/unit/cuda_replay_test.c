/* SPDX-License-Identifier: MIT */
/* Buffers that were recorded (probes/cuda/record.h), decoded as if they came now: our table
 * of sizes steps as the library did, and what a record says can be true. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/cuda/record.h"
#include "tests/unit/test.h"

#define SECOND 1000000000ull
#define RECORDED "tests/data/cupti"

static void look_at(const struct cuda_record *r, const char *file, size_t offset)
{
	/* a zero is marked, it is no time */
	if (r->what >= CUDA_KERNEL && !(r->flags & CUDA_NO_TIME) &&
	    r->end - r->start > 3600 * SECOND)
		test_fail(__FILE__, __LINE__, "%s: at %zu a time of an hour", file, offset);
	if (r->what == CUDA_KERNEL && (!r->kernel.grid[0] || !r->kernel.block[0] ||
				       r->kernel.block[0] > 1024 || r->kernel.registers > 255))
		test_fail(__FILE__, __LINE__, "%s: at %zu a kernel of no or many threads", file,
			  offset);
	if ((r->what == CUDA_COPY || r->what == CUDA_FILL) && r->bytes > 1ull << 44)
		test_fail(__FILE__, __LINE__, "%s: at %zu a copy of no memory there is", file,
			  offset);
}

/* The bytes of a block after its head; the number of records. */
static size_t replay(const struct cuda_block *head, uint8_t *data, const char *file)
{
	uint8_t *at = data + head->valid, *end = data + head->bytes;
	struct cuda_record record;
	struct cuda_step step;
	struct cuda_walk walk;
	size_t n = 0;

	cuda_walk_begin(&walk, data, head->valid, head->release, NULL, NULL);
	for (; cuda_walk_next(&walk, &record); n++) {
		size_t offset = (size_t)((uint8_t *)walk.record - data);

		if (n >= head->steps || end - at < (ptrdiff_t)sizeof(step))
			test_fail(__FILE__, __LINE__, "%s: more records than the library saw",
				  file);
		memcpy(&step, at, sizeof(step));
		at += sizeof(step) + step.length;
		if (step.offset != offset || at > end)
			test_fail(__FILE__, __LINE__, "%s: a record at %zu, the library's is at %u",
				  file, offset, step.offset);
		look_at(&record, file, offset);
	}
	CHECK_INT(n, head->steps);
	CHECK_INT(walk.unknown + walk.short_ + walk.odd, 0);
	CHECK_INT(cuda_walk_left(&walk), 0);
	return n;
}

static size_t replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct cuda_block head;
	size_t n = 0;

	CHECK(f);
	while (fread(&head, sizeof(head), 1, f) == 1) {
		uint8_t *data;

		CHECK_INT(head.magic, CUDA_BLOCK_MAGIC);
		CHECK(head.valid <= head.bytes && head.bytes <= CUDA_RECORD_MOST);
		data = xmalloc(head.bytes + 1);
		CHECK_INT(fread(data, 1, head.bytes, f), head.bytes);
		n += replay(&head, data, path);
		free(data);
	}
	CHECK(feof(f));
	fclose(f);
	return n;
}

/* Files in the folder; what else is there is none of ours. */
static size_t replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	size_t n = 0;

	while (dir && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length < 4 || strcmp(entry->d_name + length - 4, ".buf") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!replay_file(path))
			test_fail(__FILE__, __LINE__, "%s: not a record in it", path);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* TFTOP_TEST_BUFFERS: another folder, of buffers that were just recorded. */
TEST(cuda_replay_recorded)
{
	const char *fresh = getenv("TFTOP_TEST_BUFFERS");

	replay_folder(RECORDED);
	if (fresh)
		CHECK(replay_folder(fresh) > 0);
}

/* Made up, written, read again. */
TEST(cuda_replay_block)
{
	struct cupti_kernel kernel = {
		.kind = CUPTI_KIND_CONCURRENT_KERNEL, .start = 5, .end = 9, .grid = { 1, 1, 1 },
		.block = { 32, 1, 1 }, .name = "_Z3addPf",
	};
	struct cupti_copy copy = {
		.kind = CUPTI_KIND_COPY, .way = CUPTI_COPY_H2D, .bytes = 10, .start = 9, .end = 12,
	};
	size_t first = cupti_record_size(kernel.kind, CUPTI_RELEASE(12, 6));
	size_t second = cupti_record_size(copy.kind, CUPTI_RELEASE(12, 6)), size;
	uint8_t buffer[512], block[2048];
	struct cuda_block head;
	struct cuda_walk walk;

	memcpy(buffer, &kernel, first);
	memcpy(buffer + first, &copy, second);
	cuda_walk_begin(&walk, buffer, first + second, CUPTI_RELEASE(12, 6), NULL, NULL);
	size = cuda_block_make(block, sizeof(block), &walk);
	memcpy(&head, block, sizeof(head));
	CHECK_INT(head.steps, 2);
	CHECK_INT(size, sizeof(head) + first + second + 2 * sizeof(struct cuda_step) + 8);
	CHECK_INT(head.bytes, size - sizeof(head));
	CHECK_INT(replay(&head, block + sizeof(head), "made up"), 2);
	/* no room: nothing rather than half of it */
	for (size_t room = 0; room < size; room++) {
		cuda_walk_begin(&walk, buffer, first + second, CUPTI_RELEASE(12, 6), NULL, NULL);
		CHECK(cuda_block_make(block, room, &walk) < size);
	}
}
