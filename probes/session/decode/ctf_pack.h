/* SPDX-License-Identifier: MIT */
/*
 * Small integers that lie side by side, told to babeltrace as one wide one.
 *
 * What babeltrace takes for an event goes by the number of its fields, not by
 * their bytes. So the metadata that it reads describes the fields of our own
 * events and their context coarser than the recording's: "_seq" and "_tid", 32
 * bits each, become "_u32_seq__u32_tid" of 64 bits, and the decoder takes them
 * apart again. The bytes stay as they are; a third of the decoding goes away.
 *
 * Always true: only little-endian traces are touched, only structures of
 * plain integers, arrays of fixed length and strings, and in them only whole,
 * byte-aligned bytes without gaps; all else stays word by word. Complexity:
 * linear. Threads: any.
 */
#ifndef PROBES_SESSION_CTF_PACK_H
#define PROBES_SESSION_CTF_PACK_H

#include <stdbool.h>
#include <stddef.h>

/* Metadata as text, NUL-terminated, owned by the caller; NULL: there is nothing
 * to pack, or no memory. */
char *ctf_pack(const char *text, size_t size, size_t *packed_size);

/* Part of a packed integer. */
struct ctf_part {
	unsigned int shift, bits;	/* from its lowest bit on */
	bool is_signed;
};

/* The part `field` of the integer called `packed` (babeltrace's name for it:
 * without the first '_'). false: it has none. */
bool ctf_pack_find(const char *packed, const char *field, struct ctf_part *part);

#endif
