/* SPDX-License-Identifier: MIT */
/*
 * Reads the bytes of a file and unpacks them if they were packed with gzip.
 *
 * Idea: text is read as a stream of any length. Protobufs are needed as one range of addresses: in
 * memory or, if large or packed, copied to an unnamed file that is mapped. The file itself is never
 * mapped, because a program that shortens it meanwhile would crash tftop. gzip is recognised by its
 * first bytes; a file may contain several members.
 *
 * Always true: unpacking ends with a message when the result is more than GZIP_RATIO times the size
 * of what was read (beyond GZIP_FREE bytes), which no reasonable file is. A file that becomes
 * shorter while it is read is an error; one that grows is read to its new end or, as a range, to
 * its old one. Errors: 0 or NULL; `error` says why and where.
 */
#ifndef MODEL_IMPORT_BYTES_H
#define MODEL_IMPORT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/import/import.h"

#define GZIP_RATIO 400u
#define GZIP_FREE (UINT64_C(256) << 20)

struct bytes;

/* data NULL: reads the file. */
struct bytes *bytes_open(const char *path, const void *data, size_t size,
			   char error[IMPORT_ERROR_MAX]);
void bytes_free(struct bytes *source);

/* Reads up to `size` further bytes; 0: the end, or an error (then `error` is not empty). */
size_t bytes_read(struct bytes *source, void *buffer, size_t size,
		   char error[IMPORT_ERROR_MAX]);
void bytes_rewind(struct bytes *source);
/* Everything as one range, borrowed until bytes_unrange(); NULL: error. *part: the rest could not
 * be read or unpacked, and `error` says why. */
const uint8_t *bytes_range(struct bytes *source, size_t *size, const _Atomic bool *stop,
			   bool *part, char error[IMPORT_ERROR_MAX]);
void bytes_unrange(struct bytes *source);

uint64_t bytes_offset(const struct bytes *source);	/* how many bytes have been given out */
/* how much of the file has been read, in thousandths */
int bytes_progress(const struct bytes *source);

#endif
