/* SPDX-License-Identifier: MIT */
#include "probes/cuda/record.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/runtime/runtime.h"

#define ROOM (4u << 20)		/* room for a buffer, and for a name for each of its records */
#define NAME_MAX_BYTES 1024u

static int file = -1;
static uint8_t *room;
static size_t written;

static const char *name_of(const struct cuda_record *record)
{
	switch (record->what) {
	case CUDA_KERNEL:
		return record->kernel.name;
	case CUDA_DEVICE:
		return record->of_device.name;
	default:
		return NULL;
	}
}

size_t cuda_block_make(uint8_t *out, size_t space, struct cuda_walk *walk)
{
	struct cuda_block head = {
		.magic = CUDA_BLOCK_MAGIC, .release = walk->release, .valid = walk->valid,
	};
	size_t used = sizeof(head);
	struct cuda_record record;

	if (space < sizeof(head) || space - sizeof(head) < walk->valid || space > UINT32_MAX)
		return 0;
	memcpy(out + used, walk->buffer, walk->valid);
	used += walk->valid;
	while (cuda_walk_next(walk, &record)) {
		const char *name = name_of(&record);
		struct cuda_step step = {
			.offset = (uint32_t)((uint8_t *)walk->record - walk->buffer),
			.length = name ? (uint32_t)strnlen(name, NAME_MAX_BYTES) : 0,
		};

		if (space - used < sizeof(step))
			return 0;
		if (space - used - sizeof(step) < step.length)
			step.length = 0;
		memcpy(out + used, &step, sizeof(step));
		used += sizeof(step);
		if (step.length)
			memcpy(out + used, name, step.length);
		used += step.length;
		head.steps++;
	}
	head.bytes = (uint32_t)(used - sizeof(head));
	memcpy(out, &head, sizeof(head));
	return used;
}

bool record_start(void)
{
	char value[PATH_MAX];
	const char *path = rt_env(TFT_CUDA_RECORD_ENV, value, sizeof(value));
	void *p;

	if (!path || !*path)
		return true;
	/* without waiting for a reader if it is a pipe */
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
	if (file < 0)
		return false;
	p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		close(file);
		file = -1;
		return false;
	}
	room = p;
	return true;
}

void record_buffer(struct cuda_walk walk)
{
	size_t size;

	if (file < 0)
		return;
	size = cuda_block_make(room, ROOM, &walk);
	if (!size || written + size > CUDA_RECORD_MOST)
		return;
	written += size;
	/* half a block makes the rest of the file unreadable, so there is no second try */
	if (write(file, room, size) != (ssize_t)size)
		written = CUDA_RECORD_MOST;
}
