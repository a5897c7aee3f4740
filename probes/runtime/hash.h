/* SPDX-License-Identifier: MIT */
/* Of bytes: eight a round; quality is enough for a table, speed is what counts. */
#ifndef PROBES_RUNTIME_HASH_H
#define PROBES_RUNTIME_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t rt_hash_bytes(const char *p, size_t n, uint64_t h)
{
	uint64_t w;

	h ^= n * 0x9e3779b97f4a7c15u;
	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, p, n);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

#endif
