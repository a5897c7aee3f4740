/* SPDX-License-Identifier: MIT */
/* Of names of nodes and functions, for tables whose keys are nothing but hashes. */
#ifndef PROBES_TENSORFLOW_HASH_H
#define PROBES_TENSORFLOW_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t tf_mix(uint64_t h)
{
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* Never 0, which is a free place. */
static inline uint64_t tf_hash_name(uint64_t h, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return tf_mix(h) | 1;
}

#endif
