/* SPDX-License-Identifier: MIT */
/* The heap at its own address, and a model that goes into a file and comes back. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/base/heap.h"
#include "model/recording/image.h"
#include "model/synth/synth.h"
#include "model/base/util.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define START_NS (100000 * MS)
#define BLOCKS 500u
#define KEY 77

static char path[TEST_PATH_MAX];

static void need_heap(void)
{
	if (!heap_new())
		test_skip("a heap of its own (sanitizers have none)");
}

/* Blocks against what was written into them. */
TEST(heap_blocks)
{
	struct { unsigned char *at; size_t size; unsigned char fill; } blocks[BLOCKS] = { { 0 } };
	void *outside;

	need_heap();
	CHECK(!heap_new());
	for (unsigned int n = 0; n < 200000; n++) {
		unsigned int i = (unsigned int)(test_random() % BLOCKS);
		size_t size = (size_t)1 << test_random() % 16;

		size += test_random() % size;
		for (size_t k = 0; k < blocks[i].size; k += 97)
			CHECK(blocks[i].at[k] == blocks[i].fill);
		heap_enter();
		if (!blocks[i].at) {
			blocks[i].at = n % 2 ? xcalloc(1, size) : xmalloc(size);
			CHECK(!(n % 2) || (!blocks[i].at[0] && !blocks[i].at[size - 1]));
		} else if (n % 3) {
			blocks[i].at = xrealloc(blocks[i].at, size);
			for (size_t k = 0; k < blocks[i].size && k < size; k += 97)
				CHECK(blocks[i].at[k] == blocks[i].fill);
		} else {
			free(blocks[i].at);
			blocks[i].at = NULL;
			size = 0;
		}
		heap_leave(false);
		blocks[i].size = size;
		blocks[i].fill = (unsigned char)n;
		if (size) {
			CHECK(heap_has(blocks[i].at) && !((uintptr_t)blocks[i].at % 16));
			memset(blocks[i].at, blocks[i].fill, size);
		}
	}
	for (unsigned int i = 0; i < BLOCKS; i++)
		free(blocks[i].at);
	outside = xmalloc(10);			/* of enter and leave */
	CHECK(!heap_has(outside));
	free(outside);
	heap_free_all();
}

/* A model of some steps, in the heap. */
static struct model *make(void)
{
	struct model_options options = { .keepable = true };
	struct model *model = model_new(&options);
	struct model_synth *synth = model_synth_new(3, &model_synth_default, START_NS);

	model_synth_advance(synth, START_NS + 500 * MS, feed_model, model);
	model_synth_end(synth, feed_model, model);
	model_synth_free(synth);
	model_finish(model, false);
	return model;
}

static void write_image(struct model *model)
{
	int status = -1;
	pid_t child;

	snprintf(path, sizeof(path), "%s/image", test_folder());
	child = image_write(model, path, KEY);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
}

static uint64_t sum_columns(struct model *model)
{
	struct model_status status;
	struct column columns[64];
	struct model_row *rows;
	uint64_t sum = 0;
	size_t count;

	model_lock(model);
	model_status(model, &status);
	count = model_rows(model, &rows);
	for (size_t i = 0; i < count; i++) {
		model_columns(model, rows[i].id, LANE_ALL, status.first_ns, status.last_ns, 64,
			      columns);
		for (size_t k = 0; k < 64; k++)
			sum = sum * 31 + (uint64_t)columns[k].busy_ns + columns[k].count;
		sum += strlen(rows[i].label);
	}
	model_unlock(model);
	free(rows);
	return sum + status.events + status.kernels * 7 + status.steps * 11;
}

TEST(image_comes_back)
{
	enum image_problem problem;
	struct model *model;
	uint64_t sum;

	need_heap();
	model = make();
	sum = sum_columns(model);
	write_image(model);
	CHECK(!image_open(path, KEY, true, &problem) && problem == IMAGE_NO_ROOM); /* it is here */
	model_free(model);
	CHECK(!image_open(path, KEY + 1, true, &problem));
	CHECK_INT(problem, IMAGE_STALE);
	model = image_open(path, KEY, true, &problem);
	CHECK_INT(problem, IMAGE_GOOD);
	CHECK(sum_columns(model) == sum);
	/* It is a model like any other. */
	model_message(model, 1, "a message");
	CHECK(sum_columns(model) == sum);
	model_free(model);
	CHECK_INT(chmod(path, 0620), 0);
	CHECK(!image_open(path, KEY, true, &problem));
	CHECK_INT(problem, IMAGE_FOREIGN);
	CHECK_INT(unlink(path), 0);
	CHECK(!image_open(path, KEY, true, &problem));
	CHECK_INT(problem, IMAGE_NONE);
}

extern const char __executable_start[], _end[];

/* The program may stand elsewhere the next time: nothing in the heap leads to
 * it, neither to its texts nor to its tables. */
TEST(image_leads_nowhere)
{
	const uint64_t *words = (const uint64_t *)HEAP_BASE;
	uint64_t from = (uint64_t)(uintptr_t)__executable_start;
	uint64_t to = (uint64_t)(uintptr_t)_end;
	struct model *model;

	if (from < UINT32_MAX)
		test_skip("a position-independent program (small numbers look like its addresses)");
	need_heap();
	model = make();
	for (size_t i = 0; i < heap_bytes() / 8; i++)
		if (words[i] >= from && words[i] < to)
			test_fail(__FILE__, __LINE__, "byte %zu: a pointer to %#llx of the program",
				  i * 8, (unsigned long long)(words[i] - from));
	model_free(model);
}

static void set_mtime(const struct timespec *mtime)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, *mtime };

	CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Unwritten since it was made it is believed at once, checked beside. */
TEST(image_sealed)
{
	const size_t size = (size_t)3 << 20;
	enum image_problem problem;
	struct model *model;
	struct stat st;
	uint64_t sum;
	off_t at;
	char *blob;
	int fd;

	need_heap();
	model = make();
	heap_enter();
	blob = xcalloc(1, size);
	heap_leave(false);
	write_image(model);
	CHECK(!stat(path, &st));
	at = st.st_size - (off_t)heap_bytes() + (blob - HEAP_BASE) + (off_t)size / 2;
	sum = sum_columns(model);
	model_free(model);
	model = image_open(path, KEY, false, &problem);
	CHECK_INT(problem, IMAGE_GOOD);
	CHECK(sum_columns(model) == sum);
	image_check_end();
	model_free(model);
	/* Somebody wrote: the seal is broken. */
	fd = open(path, O_RDWR);
	CHECK(fd >= 0 && pwrite(fd, "x", 1, at) == 1);
	CHECK(!image_open(path, KEY, false, &problem) && problem == IMAGE_DAMAGED);
	CHECK(!image_is_damaged());
	/* The disk lost a byte: believed at first, not for long. */
	set_mtime(&st.st_mtim);
	model = image_open(path, KEY, false, &problem);
	CHECK_INT(problem, IMAGE_GOOD);
	while (!image_is_damaged())
		sched_yield();		/* TEST_SECONDS at most */
	image_check_end();
	model_free(model);
	CHECK(!image_open(path, KEY, false, &problem) && problem == IMAGE_DAMAGED);
	close(fd);
}

/* Any byte that changes, any length that is not the file's. */
TEST(image_damaged)
{
	enum image_problem problem;
	struct model *model;
	struct stat st;
	int fd;

	need_heap();
	model = make();
	write_image(model);
	model_free(model);
	fd = open(path, O_RDWR);
	CHECK(fd >= 0 && !fstat(fd, &st));
	for (unsigned int n = 0; n < 400; n++) {
		off_t at = (off_t)(test_random() % (uint64_t)(n % 2 ? st.st_size : 70000));
		unsigned char byte, other;

		CHECK(pread(fd, &byte, 1, at) == 1);
		other = byte ^ (unsigned char)(1u << test_random() % 8);
		CHECK(pwrite(fd, &other, 1, at) == 1);
		CHECK(!image_open(path, KEY, true, &problem));
		CHECK(problem == IMAGE_DAMAGED || problem == IMAGE_STALE);
		CHECK(pwrite(fd, &byte, 1, at) == 1);
	}
	for (unsigned int n = 0; n < 50; n++) {
		CHECK(!ftruncate(fd,
				 st.st_size - 1 - (off_t)(test_random() % (uint64_t)st.st_size)));
		CHECK(!image_open(path, KEY, true, &problem));
		CHECK_INT(problem, IMAGE_DAMAGED);
	}
	close(fd);
}
