/* SPDX-License-Identifier: MIT */
#include "model/recording/image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/base/heap.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define VERSION 4u
#define SECTION ((size_t)1 << 20)	/* size of a section, which has one checksum */
#define HEADER_ALIGN ((size_t)65536)
#define CHECKERS 2u
/* age that the file must have, however coarse the times of its file system are */
#define SEALED_S 10
#define BESIDE_NICE 10

static const char magic[16] = "tftop cache\n\032\n\r";

/* The start of the file; it is followed by a checksum for each section, zeros up to header_bytes,
 * and the heap. */
struct image_header {
	char magic[16];
	uint64_t checksum;		/* checksum of the header with this member set to 0 */
	uint64_t version, header_bytes, heap_bytes, file_bytes;
	uint64_t program, key;
	uint64_t base;
	uint64_t boot, device, inode;	/* the seal: while the file still has these ... */
	int64_t mtime_s;		/* ... and this time, nobody has written to it */
};

/* ---- checksums: the lanes of xxHash64 (Collet), which detect a single changed word ---- */

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
	sum = turn(lanes[0], 1) + turn(lanes[1], 7) + turn(lanes[2], 12) + turn(lanes[3], 18) +
		size;
	for (; left >= 8; at += 8, left -= 8)
		sum = turn(sum ^ word(at) * PRIME2, 27) * PRIME1;
	for (; left; at++, left--)
		sum = turn(sum ^ (uint8_t)*at * PRIME1, 11) * PRIME2;
	sum = (sum ^ sum >> 33) * PRIME2;
	return sum ^ sum >> 29;
}

/* ---- which program ---- */

/* Hash of this executable's file; 0: unknown. First called by image_prepare() or image_open(),
 * before there are threads. */
static uint64_t program_hash(void)
{
	static uint64_t hash;
	struct stat st;
	void *data;
	int fd = hash ? -1 : open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return hash;
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

/* Hash of the kernel's id of this boot; 0: unknown. What was written before a crash of the machine
 * may not have reached the disk completely. */
static uint64_t boot_hash(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t length = fd >= 0 ? read(fd, text, sizeof(text)) : -1;

	if (fd >= 0)
		close(fd);
	return length > 0 ? image_hash(2, text, (size_t)length) : 0;
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

static bool image_write_file(int fd, struct image_header *header)
{
	uint64_t *sums = (uint64_t *)(header + 1);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct stat st;

	if (fstat(fd, &st))
		return false;
	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= SEALED_S;
	times[1].tv_nsec = 0;
	header->boot = boot_hash();
	header->device = st.st_dev;
	header->inode = st.st_ino;
	header->mtime_s = times[1].tv_sec;
	for (size_t i = 0; i < section_count(header->heap_bytes); i++)
		sums[i] = image_hash(i, HEAP_BASE + i * SECTION,
				     section_size(header->heap_bytes, i));
	header->checksum = image_hash(0, header, header->header_bytes);
	return write_all(fd, header, header->header_bytes) &&
	       write_all(fd, HEAP_BASE, header->heap_bytes) && !futimens(fd, times);
}

/* Gives the file its name, when it is complete. */
static bool give_name(int fd, const char *path)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	unlink(path);
	return !linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* Runs in the child, which may do only what a child of a program with threads may do. A file
 * without a name disappears with its writer, but not all file systems support such files. */
static int write_image(const char *dir, const char *path, const char *beside,
		       struct image_header *header)
{
	int fd = open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0)
		return !(image_write_file(fd, header) && give_name(fd, path));
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return 1;
	if (image_write_file(fd, header) && !close(fd) && !rename(beside, path))
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
	bytes += bytes / 16 + SECTION;	/* the model may grow until the fork */
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

/* ---- checking ---- */

static bool section_good(const struct image_header *header, const char *content, size_t i)
{
	const uint64_t *sums = (const uint64_t *)(header + 1);

	return sums[i] == image_hash(i, content + i * SECTION, section_size(header->heap_bytes, i));
}

struct checker {
	const struct image_header *header;
	size_t first, step;
	bool good;
};

static void *check_sections(void *arg)
{
	struct checker *checker = arg;
	size_t count = section_count(checker->header->heap_bytes);

	checker->good = true;
	for (size_t i = checker->first; checker->good && i < count; i += checker->step)
		checker->good = section_good(checker->header, HEAP_BASE, i);
	return NULL;
}

/* Checks all sections, on two cores if there are many. */
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

/* ---- checking in the background ---- */

/* The image that is being checked; the file is mapped a second time, because the heap changes. */
static struct {
	struct image_header *header;	/* owned; NULL: no check is under way */
	char *content;			/* owned; a mapping */
	pthread_t thread;
	atomic_bool stop;
} aside;
static atomic_bool damaged;

static void *check_beside(void *unused)
{
	setpriority(PRIO_PROCESS, 0, BESIDE_NICE);	/* applies to this thread only */
	for (size_t i = 0; i < section_count(aside.header->heap_bytes) && !aside.stop; i++)
		if (!section_good(aside.header, aside.content, i)) {
			atomic_store(&damaged, true);
			break;
		}
	return unused;
}

/* Takes over the header. false: the file must be checked at once. */
static bool start_beside(int fd, struct image_header *header)
{
	void *content = mmap(NULL, header->heap_bytes, PROT_READ, MAP_SHARED, fd,
			     (off_t)header->header_bytes);

	if (content == MAP_FAILED)
		return false;
	aside.header = header;
	aside.content = content;
	atomic_store(&aside.stop, false);
	if (!pthread_create(&aside.thread, NULL, check_beside, NULL))
		return true;
	aside.header = NULL;
	munmap(content, header->heap_bytes);
	return false;
}

void image_check_end(void)
{
	if (!aside.header)
		return;
	atomic_store(&aside.stop, true);
	pthread_join(aside.thread, NULL);
	munmap(aside.content, aside.header->heap_bytes);
	free(aside.header);
	aside.header = NULL;
}

bool image_is_damaged(void)
{
	return atomic_load(&damaged);
}

static bool is_sealed(const struct image_header *header, const struct stat *st)
{
	return !image_is_damaged() && header->boot && header->boot == boot_hash() &&
	       header->device == st->st_dev && header->inode == st->st_ino &&
	       header->mtime_s == st->st_mtim.tv_sec && !st->st_mtim.tv_nsec;
}

/* ---- opening ---- */

/* The header, which must fit the file's size; NULL: damaged or stale. Owned. */
static struct image_header *image_read_header(int fd, uint64_t file_bytes, uint64_t key,
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

static struct model *image_open_file(int fd, uint64_t key, bool whole, enum image_problem *problem)
{
	struct image_header *header;
	struct model *model;
	size_t heap_bytes;
	struct stat st;
	bool good;

	*problem = IMAGE_FOREIGN;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_nlink != 1)
		return NULL;
	header = image_read_header(fd, (uint64_t)st.st_size, key, problem);
	if (!header)
		return NULL;
	*problem = IMAGE_NO_ROOM;
	heap_bytes = header->heap_bytes;
	if (!heap_map(fd, header->header_bytes, heap_bytes)) {
		free(header);
		return NULL;
	}
	if (!whole && is_sealed(header, &st) && start_beside(fd, header)) {
		good = true;
	} else {
		good = check_all(header);
		free(header);
	}
	*problem = IMAGE_DAMAGED;
	if (!good || !heap_adopt(heap_bytes)) {
		image_check_end();
		heap_free_all();
		return NULL;
	}
	*problem = IMAGE_GOOD;
	model = heap_root();
	model_revive(model);
	return model;
}

struct model *image_open(const char *path, uint64_t key, bool whole,
			 enum image_problem *problem)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct model *model;

	*problem = errno == ENOENT ? IMAGE_NONE : IMAGE_FOREIGN;
	if (fd < 0)
		return NULL;
	model = image_open_file(fd, key, whole, problem);
	close(fd);
	return model;
}
