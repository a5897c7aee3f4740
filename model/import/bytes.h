/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file, unpacked if gzip packed it.
 *
 * Idea: text is read as a stream of any length. Protobufs are needed as one range of addresses:
 * in memory, or, if large or packed, copied to an unnamed file that is mapped. The file itself
 * is never mapped, because somebody who shortens it meanwhile would end tftop. gzip is
 * recognised by its first bytes; a file may contain several members.
 *
 * Always true: unpacking ends with a message when it gives more than GZIP_RATIO times what was
 * read (beyond GZIP_FREE bytes); no reasonable file does. A file that becomes shorter while it
 * is read is an error; one that grows is read to its new end, or (as a range) to its old one.
 * Errors: 0 or NULL; error says why and where.
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

/* data NULL: the file. */
struct bytes *bytes_open(const char *path, const void *data, size_t size,
			   char error[IMPORT_ERROR_MAX]);
void bytes_free(struct bytes *source);

/* Up to `size` next bytes; 0: the end, or an error (error is not empty then). */
size_t bytes_read(struct bytes *source, void *buffer, size_t size,
		   char error[IMPORT_ERROR_MAX]);
void bytes_rewind(struct bytes *source);
/* All as one range, borrowed until bytes_unrange(); NULL: error. *part: what
 * follows could not be read or unpacked, error says why. */
const uint8_t *bytes_range(struct bytes *source, size_t *size, const _Atomic bool *stop,
			   bool *part, char error[IMPORT_ERROR_MAX]);
void bytes_unrange(struct bytes *source);

uint64_t bytes_offset(const struct bytes *source);	/* of what was given out */
int bytes_progress(const struct bytes *source);	/* in thousandths, of what was read */

#endif
