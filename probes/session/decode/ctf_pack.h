/* SPDX-License-Identifier: MIT */
/*
 * Describes adjacent small integers to babeltrace as one wide integer.
 *
 * babeltrace's time for an event depends on the number of its fields, not on their bytes. So the
 * metadata that it is given describes the fields of tftop's own events, and their context, more
 * coarsely than the recording's metadata does: "_seq" and "_tid" of 32 bits each become
 * "_u32_seq__u32_tid" of 64 bits, and the decoder splits them again. The bytes of the trace are not
 * changed. docs/architecture.md has measurements of what this saves.
 *
 * Always true: only little-endian traces are changed, only structures of plain integers, arrays of
 * fixed length and strings, and in them only byte-aligned fields without gaps; everything else
 * stays the same word for word. Complexity: linear. Threads: any.
 */
#ifndef PROBES_SESSION_CTF_PACK_H
#define PROBES_SESSION_CTF_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* The packed metadata as text, NUL-terminated, owned by the caller; NULL: there is nothing to
 * pack, or no memory. */
char *ctf_pack(const char *text, size_t size, size_t *packed_size);

/* Part of a packed integer. */
struct ctf_part {
	unsigned int shift, bits;	/* shift is counted from the lowest bit */
	bool is_signed;
};

/* Finds `field` in the integer called `packed` (as babeltrace calls it, without the first '_').
 * false: it has no such part. */
bool ctf_pack_find(const char *packed, const char *field, struct ctf_part *part);

#endif
