/* SPDX-License-Identifier: MIT */
/* Reads the bytes of a file and unpacks them. */
#include "model/import/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "model/base/util.h"

#define BUFFER (256u << 10)
#define IN_MEMORY (UINT64_C(64) << 20)	/* larger files are copied to an unnamed file */

struct bytes {
	int fd;				/* -1: the bytes are in memory */
	const uint8_t *memory;		/* borrowed */
	uint64_t size, at;		/* size of the file or memory; how much was read */
	uint64_t given;			/* how many unpacked bytes were given out */
	bool packed, inflating;
	bool between;			/* between two members of gzip */
	z_stream z;
	uint8_t *buffer;		/* owned; packed bytes */
	uint8_t *map;			/* mapped; or NULL */
	size_t map_size;
};

/* Reads up to size raw bytes; -1: errno. */
static ssize_t read_raw(struct bytes *source, void *to, size_t size)
{
	ssize_t n;

	if (source->fd < 0) {
		n = (ssize_t)(size < source->size - source->at ? size : source->size - source->at);
		memcpy(to, source->memory + source->at, (size_t)n);
	} else {
		do
			n = pread(source->fd, to, size, (off_t)source->at);
		while (n < 0 && errno == EINTR);
	}
	if (n > 0)
		source->at += (uint64_t)n;
	return n;
}

/* Whether the end of the file has moved since it was opened, which is then reported. */
static bool tell_raw(const struct bytes *source, ssize_t n, char *error)
{
	if (n < 0)
		snprintf(error, IMPORT_ERROR_MAX, "cannot read beyond byte %" PRIu64 ": "
			 "%s", source->at,
			 strerror(errno));
	else if (n == 0 && source->at < source->size)
		snprintf(error, IMPORT_ERROR_MAX, "the file became shorter while it was read: it "
			 "had "
			 "%" PRIu64 " bytes and ends at byte %" PRIu64, source->size, source->at);
	else
		return false;
	return true;
}

static bool bytes_open_file(struct bytes *source, const char *path, char *error)
{
	struct stat st;

	source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 || fstat(source->fd, &st)) {
		snprintf(error, IMPORT_ERROR_MAX, "cannot open '%s': %s", path, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(error, IMPORT_ERROR_MAX, "'%s' is not a regular file", path);
		return false;
	}
	source->size = (uint64_t)st.st_size;
	return true;
}

struct bytes *bytes_open(const char *path, const void *data, size_t size,
			   char error[IMPORT_ERROR_MAX])
{
	struct bytes *source = xcalloc(1, sizeof(*source));
	uint8_t magic[3] = { 0 };

	source->fd = -1;
	source->memory = data;
	source->size = size;
	if (!data && !bytes_open_file(source, path, error)) {
		bytes_free(source);
		return NULL;
	}
	source->packed = read_raw(source, magic, 3) == 3 && magic[0] == 0x1f && magic[1] == 0x8b &&
			 magic[2] == 8;
	source->at = 0;
	return source;
}

void bytes_rewind(struct bytes *source)
{
	if (source->inflating)
		inflateEnd(&source->z);
	source->inflating = source->between = false;
	source->at = source->given = 0;
}

void bytes_unrange(struct bytes *source)
{
	if (source->map)
		munmap(source->map, source->map_size);
	source->map = NULL;
}

void bytes_free(struct bytes *source)
{
	if (!source)
		return;
	bytes_rewind(source);
	bytes_unrange(source);
	if (source->fd >= 0)
		close(source->fd);
	free(source->buffer);
	free(source);
}

uint64_t bytes_offset(const struct bytes *source)
{
	return source->given;
}

int bytes_progress(const struct bytes *source)
{
	return source->size ? (int)(source->at * 1000 / source->size) : 1000;
}

/* ---- gzip ---- */

static bool begin_inflate(struct bytes *source, char *error)
{
	if (source->inflating)
		return true;
	memset(&source->z, 0, sizeof(source->z));
	if (inflateInit2(&source->z, 15 + 16) != Z_OK) {
		snprintf(error, IMPORT_ERROR_MAX, "out of memory while decompressing");
		return false;
	}
	if (!source->buffer)
		source->buffer = xmalloc(BUFFER);
	source->inflating = true;
	return true;
}

static bool bytes_refill(struct bytes *source, char *error)
{
	ssize_t n;

	if (source->z.avail_in)
		return true;
	n = read_raw(source, source->buffer, BUFFER);
	if (!tell_raw(source, n, error) && n == 0 && !source->between)
		snprintf(error, IMPORT_ERROR_MAX, "the gzip file is cut off at byte %" PRIu64,
			 source->at);
	source->z.next_in = source->buffer;
	source->z.avail_in = n > 0 ? (unsigned int)n : 0;
	return n > 0;
}

static bool is_bomb(const struct bytes *source, char *error)
{
	if (source->given < GZIP_FREE || source->given / GZIP_RATIO < source->at)
		return false;
	snprintf(error, IMPORT_ERROR_MAX, "%" PRIu64 " bytes of gzip decompress to more than "
		 "%" PRIu64
		 " bytes: no recording does", source->at, source->given);
	return true;
}

static size_t read_packed(struct bytes *source, void *buffer, size_t size, char *error)
{
	int status;

	if (!begin_inflate(source, error) || is_bomb(source, error))
		return 0;
	source->z.next_out = buffer;
	source->z.avail_out = (unsigned int)size;
	while (source->z.avail_out == size) {
		if (!bytes_refill(source, error))
			return 0;
		if (source->between && inflateReset(&source->z) != Z_OK)
			return 0;
		status = inflate(&source->z, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
			/* What follows the last member is ignored. */
			if (!source->between)
				snprintf(error, IMPORT_ERROR_MAX, "the gzip file is damaged before "
					 "byte "
					 "%" PRIu64, source->at - source->z.avail_in);
			break;
		}
		source->between = status == Z_STREAM_END;
	}
	return size - source->z.avail_out;
}

size_t bytes_read(struct bytes *source, void *buffer, size_t size, char error[IMPORT_ERROR_MAX])
{
	ssize_t n;

	error[0] = '\0';
	if (size > 1u << 30)
		size = 1u << 30;
	if (source->packed) {
		n = (ssize_t)read_packed(source, buffer, size, error);
	} else {
		n = read_raw(source, buffer, size);
		tell_raw(source, n, error);
	}
	if (n <= 0)
		return 0;
	source->given += (uint64_t)n;
	return (size_t)n;
}

/* ---- as one range ---- */

/* A hole of the file stays one in the copy: it may be larger than the disk. */
static void skip_hole(struct bytes *source, int to)
{
	off_t at = (off_t)source->at, next;
	struct stat st;

	if (source->packed || source->fd < 0)
		return;
	next = lseek(source->fd, at, SEEK_DATA);
	if (next < 0 && errno == ENXIO && !fstat(source->fd, &st) && st.st_size > at)
		next = st.st_size;
	if (next > at && lseek(to, next, SEEK_SET) == next)
		source->at = source->given = (uint64_t)next;
}

/* Writes the unpacked bytes to an unnamed file; -1: error. If the file is cut off, writes as much
 * as there is, with an error. */
static int bytes_unpack_file(struct bytes *source, const _Atomic bool *stop, char *error)
{
	const char *dir = getenv("TMPDIR");
	char *path = xasprintf("%s/tftop-XXXXXX", dir && *dir ? dir : "/var/tmp");
	int fd = mkostemp(path, O_CLOEXEC);
	char *buffer = xmalloc(BUFFER);
	size_t n = 1;

	if (fd >= 0)
		unlink(path);
	while (fd >= 0 && !*stop) {
		skip_hole(source, fd);
		n = bytes_read(source, buffer, BUFFER, error);
		if (!n || !write_all(fd, buffer, n))
			break;
	}
	if (fd < 0 || (n && !*stop) || ftruncate(fd, (off_t)source->given)) {
		snprintf(error, IMPORT_ERROR_MAX, "cannot write into '%s': "
			 "%s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	free(buffer);
	free(path);
	return fd;
}

/* Reads the next bytes into memory; what exceeds the file's original size is left out. */
static size_t read_memory(struct bytes *source, uint8_t *to, size_t size,
			  const _Atomic bool *stop, char *error)
{
	size_t used = 0, n;

	while (used < size && !*stop &&
	       (n = bytes_read(source, to + used, size - used < BUFFER ? size - used : BUFFER,
			       error)))
		used += n;
	return used;
}

const uint8_t *bytes_range(struct bytes *source, size_t *size, const _Atomic bool *stop,
			   bool *part, char error[IMPORT_ERROR_MAX])
{
	bool in_memory = !source->packed && source->size <= IN_MEMORY;
	int fd = -1;
	void *map;

	error[0] = '\0';
	*part = false;
	*size = (size_t)source->size;
	if (source->memory && !source->packed)
		return source->memory;
	if (!in_memory) {
		fd = bytes_unpack_file(source, stop, error);
		if (fd < 0)
			return NULL;
		*size = (size_t)source->given;
	}
	map = *size ? mmap(NULL, *size, in_memory ? PROT_READ | PROT_WRITE : PROT_READ,
			   MAP_PRIVATE | (in_memory ? MAP_ANONYMOUS : 0), fd, 0) : MAP_FAILED;
	if (map == MAP_FAILED && !error[0])
		snprintf(error, IMPORT_ERROR_MAX, *size ? "cannot allocate memory for the file: "
			 "%s" :
			 "the file is empty", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return NULL;
	source->map = map;
	source->map_size = *size;
	if (in_memory)
		*size = read_memory(source, map, *size, stop, error);
	*part = error[0] != '\0';
	return map;
}
