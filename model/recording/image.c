/* SPDX-License-Identifier: MIT */
#include "model/image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/base/heap.h"
#include "model/model-internal.h"
#include "model/base/util.h"

#define VERSION 1u
#define SECTION ((size_t)1 << 20)	/* has one checksum */
#define SECTIONS_MAX (HEAP_ROOM / SECTION)
#define HEADER_ALIGN ((size_t)65536)
#define CHECKERS 2u

static const char magic[16] = "tftop cache\n\032\n\r";

/* The file's beginning; then a checksum for each section, zeros up to
 * header_bytes, and the heap. */
struct image_header {
	char magic[16];
	uint64_t checksum;		/* of the header with this 0 */
	uint64_t version, header_bytes, heap_bytes, file_bytes;
	uint64_t program, key;
	uint64_t base;
};

/* ---- checksums: the lanes of xxHash64 (Collet), one changed word shows ---- */

#define PRIME1 0x9e3779b185ebca87ull
#define PRIME2 0xc2b2ae3d27d4eb4full

static uint64_t turn(uint64_t value, unsigned int bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t word(const char *from)
{
	uint64_t value;

	memcpy(&value, from, 8);
	return value;
}

uint64_t image_hash(uint64_t hash, const void *data, size_t size)
{
	uint64_t lanes[4] = { hash + PRIME1, hash ^ PRIME2, hash, hash - PRIME1 };
	const char *at = data;
	size_t left = size;
	uint64_t sum;

	for (; left >= 32; at += 32, left -= 32)
		for (unsigned int i = 0; i < 4; i++)
			lanes[i] = turn(lanes[i] + word(at + 8 * i) * PRIME2, 31) * PRIME1;
	sum = turn(lanes[0], 1) + turn(lanes[1], 7) + turn(lanes[2], 12) + turn(lanes[3], 18) + size;
	for (; left >= 8; at += 8, left -= 8)
		sum = turn(sum ^ word(at) * PRIME2, 27) * PRIME1;
	for (; left; at++, left--)
		sum = turn(sum ^ (uint8_t)*at * PRIME1, 11) * PRIME2;
	sum = (sum ^ sum >> 33) * PRIME2;
	return sum ^ sum >> 29;
}

/* ---- which program ---- */

/* Hash of this executable's file; 0: not known. */
static uint64_t program_hash(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t hash = 0;
	struct stat st;
	void *data;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			hash = image_hash(1, data, (size_t)st.st_size);
			munmap(data, (size_t)st.st_size);
		}
	}
	close(fd);
	return hash;
}

static size_t section_count(size_t bytes)
{
	return (bytes + SECTION - 1) / SECTION;
}

static size_t header_size(size_t heap_bytes)
{
	size_t bytes = sizeof(struct image_header) + section_count(heap_bytes) * sizeof(uint64_t);

	return (bytes + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
}

static size_t section_size(size_t heap_bytes, size_t i)
{
	size_t left = heap_bytes - i * SECTION;

	return left < SECTION ? left : SECTION;
}

bool image_prepare(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return false;			/* it sees more where memory is the C library's */
#else
	return program_hash() && heap_new();
#endif
}

/* ---- writing ---- */

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t done = write(fd, at, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		size -= (size_t)done;
	}
	return true;
}

static bool write_file(int fd, struct image_header *header)
{
	uint64_t *sums = (uint64_t *)(header + 1);

	for (size_t i = 0; i < section_count(header->heap_bytes); i++)
		sums[i] = image_hash(i, HEAP_BASE + i * SECTION,
				     section_size(header->heap_bytes, i));
	header->checksum = image_hash(0, header, header->header_bytes);
	return write_all(fd, header, header->header_bytes) &&
	       write_all(fd, HEAP_BASE, header->heap_bytes);
}

/* The name at last, when it is whole. */
static bool give_name(int fd, const char *path)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	unlink(path);
	return !linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* In the child: only what a child of a program with threads may do. A file
 * without a name goes with its writer; not all file systems have them. */
static int write_image(const char *dir, const char *path, const char *beside,
		       struct image_header *header)
{
	int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0)
		return !(write_file(fd, header) && give_name(fd, path));
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return 1;
	if (write_file(fd, header) && !close(fd) && !rename(beside, path))
		return 0;
	unlink(beside);
	return 1;
}

pid_t image_write(struct model *model, const char *path, uint64_t key)
{
	struct image_header *header;
	char *beside, *dir;
	size_t bytes;
	pid_t child;

	if (heap_root() != model) {
		errno = ENOTSUP;
		return -1;
	}
	model_lock(model);
	heap_hold();
	bytes = heap_bytes();
	heap_release();
	model_unlock(model);
	bytes += bytes / 16 + SECTION;	/* until the fork */
	header = xcalloc(1, header_size(bytes));
	beside = xasprintf("%s.%d", path, (int)getpid());
	dir = xasprintf("%.*s", (int)(strrchr(path, '/') ? strrchr(path, '/') - path : 0), path);
	memcpy(header->magic, magic, sizeof(magic));
	header->version = VERSION;
	header->program = program_hash();
	header->key = key;
	header->base = (uint64_t)(uintptr_t)HEAP_BASE;
	model_lock(model);
	heap_hold();
	header->heap_bytes = heap_bytes();
	header->header_bytes = header_size(header->heap_bytes);
	header->file_bytes = header->header_bytes + header->heap_bytes;
	child = header->heap_bytes <= bytes ? fork() : -1;
	if (child == 0)
		_exit(write_image(dir[0] ? dir : ".", path, beside, header));
	heap_release();
	model_unlock(model);
	free(header);
	free(beside);
	free(dir);
	return child;
}

/* ---- opening ---- */

struct checker {
	const struct image_header *header;
	size_t first, step;
	bool good;
};

static void *check_sections(void *arg)
{
	struct checker *checker = arg;
	const struct image_header *header = checker->header;
	const uint64_t *sums = (const uint64_t *)(header + 1);
	size_t count = section_count(header->heap_bytes);

	checker->good = true;
	for (size_t i = checker->first; checker->good && i < count; i += checker->step)
		checker->good = sums[i] == image_hash(i, HEAP_BASE + i * SECTION,
						      section_size(header->heap_bytes, i));
	return NULL;
}

/* All sections, on two cores when there is something to do. */
static bool check_all(const struct image_header *header)
{
	size_t threads = header->heap_bytes > 8 * SECTION ? CHECKERS : 1;
	struct checker checkers[CHECKERS];
	pthread_t other;
	bool joined = false;

	for (size_t i = 0; i < threads; i++)
		checkers[i] = (struct checker){ header, i, threads, false };
	if (threads > 1)
		joined = !pthread_create(&other, NULL, check_sections, &checkers[1]);
	check_sections(&checkers[0]);
	if (joined)
		pthread_join(other, NULL);
	else if (threads > 1)
		check_sections(&checkers[1]);
	return checkers[0].good && (threads == 1 || checkers[1].good);
}

/* The header whose file is of that size; NULL: damaged or stale. Owned. */
static struct image_header *read_header(int fd, uint64_t file_bytes, uint64_t key,
					enum image_problem *problem)
{
	struct image_header first, *header;
	uint64_t sum;

	*problem = IMAGE_DAMAGED;
	if (pread(fd, &first, sizeof(first), 0) != (ssize_t)sizeof(first) ||
	    memcmp(first.magic, magic, sizeof(magic)))
		return NULL;
	if (first.version != VERSION || first.base != (uint64_t)(uintptr_t)HEAP_BASE) {
		*problem = IMAGE_STALE;
		return NULL;
	}
	if (first.heap_bytes > HEAP_ROOM || first.header_bytes != header_size(first.heap_bytes) ||
	    first.file_bytes != file_bytes ||
	    file_bytes != first.header_bytes + first.heap_bytes)
		return NULL;
	header = xmalloc(first.header_bytes);
	if (pread(fd, header, first.header_bytes, 0) != (ssize_t)first.header_bytes)
		goto bad;
	sum = header->checksum;
	header->checksum = 0;
	if (sum != image_hash(0, header, first.header_bytes))
		goto bad;
	if (header->key == key && header->program == program_hash() && header->program)
		return header;
	*problem = IMAGE_STALE;
bad:
	free(header);
	return NULL;
}

static struct model *open_file(int fd, uint64_t key, enum image_problem *problem)
{
	struct image_header *header;
	struct model *model = NULL;
	struct stat st;

	*problem = IMAGE_FOREIGN;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_nlink != 1)
		return NULL;
	header = read_header(fd, (uint64_t)st.st_size, key, problem);
	if (!header)
		return NULL;
	*problem = IMAGE_NO_ROOM;
	if (heap_map(fd, header->header_bytes, header->heap_bytes)) {
		*problem = IMAGE_DAMAGED;
		if (check_all(header) && heap_adopt(header->heap_bytes)) {
			*problem = IMAGE_GOOD;
			model = heap_root();
			model_revive(model);
		} else {
			heap_free_all();
		}
	}
	free(header);
	return model;
}

struct model *image_open(const char *path, uint64_t key, enum image_problem *problem)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct model *model;

	*problem = errno == ENOENT ? IMAGE_NONE : IMAGE_FOREIGN;
	if (fd < 0)
		return NULL;
	model = open_file(fd, key, problem);
	close(fd);
	return model;
}
