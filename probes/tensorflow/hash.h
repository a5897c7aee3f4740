/* SPDX-License-Identifier: MIT */
/* Hashes of the names of nodes and functions, for tables that keep hashes alone as their keys. */
#ifndef PROBES_TENSORFLOW_HASH_H
#define PROBES_TENSORFLOW_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "probes/runtime/hash.h"

static inline uint64_t tf_mix(uint64_t h)
{
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

/* Never 0, because 0 marks a free place. */
static inline uint64_t tf_hash_name(uint64_t h, const char *text, size_t length)
{
	return tf_mix(rt_hash_bytes(text, length, h)) | 1;
}

#endif
