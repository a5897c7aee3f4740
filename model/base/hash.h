/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a of 64 bits, for tables whose keys come from the program that is watched. It is not
 * safe against keys chosen to collide; map_mix() (map.h) spreads the low bits further.
 *
 * Start with HASH_SEED, or with another value to hash several things into one. No state.
 */
#ifndef MODEL_HASH_H
#define MODEL_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_SEED UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* text NULL: as "". */
static inline uint64_t hash_string(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
