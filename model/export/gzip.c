/* SPDX-License-Identifier: MIT */
/* Writes a file, with gzip or without. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "model/base/util.h"
#include "model/export/foreign.h"

#ifdef HAVE_ZLIB

static ssize_t deflate_some(void *cookie, const char *data, size_t size)
{
	gzFile gz = cookie;
	unsigned n = size > 1u << 20 ? 1u << 20 : (unsigned)size;

	errno = 0;
	if (n && gzwrite(gz, data, n) != (int)n) {
		errno = errno ? errno : EIO;
		return 0;
	}
	return (ssize_t)n;
}

static int deflate_end(void *cookie)
{
	int code;

	errno = 0;
	code = gzclose(cookie);
	if (code == Z_OK)
		return 0;
	errno = errno ? errno : EIO;
	return -1;
}

FILE *foreign_deflating(FILE *to)
{
	static const cookie_io_functions_t io = { .write = deflate_some, .close = deflate_end };
	int fd = dup(fileno(to));
	gzFile gz = fd < 0 ? NULL : gzdopen(fd, "wb6");
	FILE *out;

	if (!gz) {
		if (fd >= 0)
			close(fd);
		errno = errno ? errno : ENOMEM;
		return NULL;
	}
	out = fopencookie(gz, "w", io);
	if (!out)
		gzclose(gz);
	return out;
}

#else

FILE *foreign_deflating(FILE *to)
{
	errno = ENOTSUP;
	return NULL;
}

#endif

void *foreign_read(const char *path, size_t most, size_t *size)
{
	struct strbuf all;
	char data[65536];
	long n = 0;
#ifdef HAVE_ZLIB
	gzFile file = gzopen(path, "rbe");
#else
	FILE *file = fopen(path, "rbe");
#endif

	if (!file)
		return NULL;
	strbuf_init(&all);
#ifdef HAVE_ZLIB
	while (all.length < most && (n = gzread(file, data, sizeof(data))) > 0)
		strbuf_add(&all, data, (size_t)n);
	gzclose(file);
#else
	while (all.length < most &&
	       (n = (long)fread(data, 1, sizeof(data), file)) > 0)
		strbuf_add(&all, data, (size_t)n);
	fclose(file);
#endif
	*size = all.length;
	if (!n)
		return strbuf_detach(&all);
	strbuf_release(&all);
	return NULL;
}
