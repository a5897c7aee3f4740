/* SPDX-License-Identifier: MIT */
/*
 * The cache of a recording: a header and a table of checksums that are not those
 * that were written, also when the header's own checksum is right and the file
 * as long as it says, are not believed; what is believed is the model it was.
 *
 * The input: a byte of flags, then edits: two bytes of place, one to XOR. Where
 * models cannot be kept (sanitizers), the image is made by hand, of zeros.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/recording/image.h"
#include "model/synth/synth.h"
#include "tests/fuzz/fuzz.h"

#define PATH "./image.fuzz"
#define KEY 77
#define HEADER 65536u
#define EDITED 512u			/* size of the header, its checksums and zeros */
#define START_NS INT64_C(100000000000)

enum { CHECKSUM_RIGHT = 1, LENGTH_AS_TOLD = 2 };

/* The fields of the header, as in image.c. */
struct fields {
	char magic[16];
	uint64_t checksum, version, header_bytes, heap_bytes, file_bytes, program, key, base;
	uint64_t seal[4];
	uint64_t sums[];
};

static uint8_t *image;			/* the whole file, as it was written */
static size_t image_bytes;
static uint64_t sum;			/* checksum of its model; 0 if the image was made by hand */

static void feed(void *arg, const struct event *events, size_t count)
{
	model_apply(arg, events, count);
}

static uint64_t sum_of(struct model *model)
{
	struct model_status status;
	struct model_row *rows;
	size_t count;
	uint64_t hash = 1;

	model_lock(model);
	model_status(model, &status);
	count = model_rows(model, &rows);
	for (size_t i = 0; i < count; i++)
		hash = image_hash(hash, rows[i].label, strlen(rows[i].label));
	model_unlock(model);
	free(rows);
	hash = image_hash(hash, &status.kernels, sizeof(status.kernels));
	return image_hash(hash, &status.events, sizeof(status.events)) | 1;
}

/* Returns false if no heap is available that can hold a model. */
static bool write_model(void)
{
	struct model_options options = { .keepable = true };
	bool can = image_prepare();
	struct model *model = model_new(&options);
	struct model_synth *synth = model_synth_new(3, &model_synth_default, START_NS);
	int status = -1;
	pid_t child;

	model_synth_advance(synth, START_NS + 20000000, feed, model);
	model_synth_end(synth, feed, model);
	model_synth_free(synth);
	model_finish(model, false);
	sum = sum_of(model);
	child = image_write(model, PATH, KEY);
	FUZZ_CHECK(can == (child > 0));
	if (can)
		FUZZ_CHECK(waitpid(child, &status, 0) == child && !status);
	model_free(model);
	return can;
}

static void write_by_hand(void)
{
	struct fields *fields;
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *program;

	sum = 0;
	image_bytes = HEADER + ((size_t)1 << 20);
	image = calloc(1, image_bytes);
	FUZZ_CHECK(image && exe >= 0 && !fstat(exe, &st));
	program = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, exe, 0);
	FUZZ_CHECK(program != MAP_FAILED);
	fields = (struct fields *)image;
	*fields = (struct fields) {
		.magic = "tftop cache\n\032\n\r", .version = 1, .header_bytes = HEADER,
		.heap_bytes = (uint64_t)1 << 20, .file_bytes = image_bytes, .key = KEY,
		.program = image_hash(1, program, (size_t)st.st_size),
		.base = UINT64_C(0x200000000000),
	};
	fields->sums[0] = image_hash(0, image + HEADER, (size_t)1 << 20);
	fields->checksum = image_hash(0, image, HEADER);
	munmap(program, (size_t)st.st_size);
	close(exe);
}

static int make(void)
{
	struct stat st;
	int fd;

	unlink(PATH);
	if (!write_model())
		write_by_hand();
	fd = open(PATH, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	FUZZ_CHECK(fd >= 0 && !fstat(fd, &st));
	if (!image) {
		image_bytes = (size_t)st.st_size;
		image = malloc(image_bytes);
		FUZZ_CHECK(image && pread(fd, image, image_bytes, 0) == (ssize_t)image_bytes);
	} else {
		FUZZ_CHECK(pwrite(fd, image, image_bytes, 0) == (ssize_t)image_bytes);
	}
	return fd;
}

static void check(const struct fields *now)
{
	enum image_problem problem;
	struct model *model = image_open(PATH, KEY, true, &problem);

	FUZZ_CHECK(!model == (problem != IMAGE_GOOD));
	FUZZ_CHECK(problem != IMAGE_NONE && problem != IMAGE_FOREIGN);
	if (!memcmp(now, image, EDITED))
		FUZZ_CHECK(!model == !sum);
	if (!model)
		return;
	/* Only fields that are not checked differ. */
	FUZZ_CHECK(!memcmp(&now->version, &((struct fields *)image)->version,
			   offsetof(struct fields, seal) - offsetof(struct fields, version)));
	FUZZ_CHECK(sum_of(model) == sum);
	model_free(model);
}

static void run(const uint8_t *data, size_t size)
{
	static struct { union { struct fields fields; uint8_t bytes[HEADER]; } u; } now;
	static int fd = -1;
	size_t length = image_bytes;
	uint8_t flags = size ? data[0] : 0;

	if (fd < 0)
		fd = make();
	length = image_bytes;
	memcpy(now.u.bytes, image, HEADER);
	for (size_t i = 1; i + 3 <= size; i += 3)
		now.u.bytes[(data[i] | data[i + 1] << 8) % EDITED] ^= data[i + 2];
	if (flags & CHECKSUM_RIGHT) {
		now.u.fields.checksum = 0;
		now.u.fields.checksum = image_hash(0, now.u.bytes, HEADER);
	}
	if (flags & LENGTH_AS_TOLD && now.u.fields.file_bytes <= 2 * image_bytes)
		length = now.u.fields.file_bytes;
	FUZZ_CHECK(pwrite(fd, now.u.bytes, HEADER, 0) == HEADER && !ftruncate(fd, (off_t)length));
	check(&now.u.fields);
	if (length < image_bytes)
		FUZZ_CHECK(pwrite(fd, image, image_bytes, 0) == (ssize_t)image_bytes);
}

FUZZ_TARGET("image", run);
