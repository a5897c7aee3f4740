/* SPDX-License-Identifier: MIT */
/*
 * A hash of bytes for tables: fast, and good enough for that. It takes eight bytes a round. For
 * long texts, such as names of kernels, it computes four such chains side by side, because a round
 * waits for its own product only.
 */
#ifndef PROBES_RUNTIME_HASH_H
#define PROBES_RUNTIME_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t rt_hash_round(uint64_t h, const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	h = (h ^ w) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

static inline uint64_t rt_hash_bytes(const char *p, size_t n, uint64_t h)
{
	uint64_t w = 0;

	h ^= n * 0x9e3779b97f4a7c15u;
	if (n >= 64) {
		uint64_t b = h + 0xa0761d6478bd642fu, c = h ^ 0xe7037ed1a0b428dbu, d = ~h;

		for (; n >= 32; p += 32, n -= 32) {
			h = rt_hash_round(h, p);
			b = rt_hash_round(b, p + 8);
			c = rt_hash_round(c, p + 16);
			d = rt_hash_round(d, p + 24);
		}
		h = rt_hash_round(h, (const char *)&b);
		h = rt_hash_round(h, (const char *)&c);
		h = rt_hash_round(h, (const char *)&d);
	}
	for (; n >= 8; p += 8, n -= 8)
		h = rt_hash_round(h, p);
	memcpy(&w, p, n);
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

#endif
