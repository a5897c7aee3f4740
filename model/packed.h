/* SPDX-License-Identifier: MIT */
/*
 * A column of numbers that do not change, in as few bits as their spread needs:
 * value i is base + slope * i + (width bits stored for it), modulo 2^64. A
 * column that is constant, or counts up evenly, takes no bits at all.
 *
 * Always true: what is read is what was written, whatever the numbers (signed
 * ones are their two's complement); a value is found without looking at others.
 * The bits lie `offset` bytes into a store that the caller owns and that ends
 * PACKED_SLACK bytes after the last column: a value is read as 8 bytes.
 * Threads: no state.
 */
#ifndef MODEL_PACKED_H
#define MODEL_PACKED_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PACKED_SLACK 8u

struct packed {
	uint64_t base, slope, mask;
	uint32_t offset;
	uint32_t width;			/* 0 ... 57 or 64 bits */
};

/* The narrowest form of n > 0 values; the caller sets `offset`. Returns the bytes. */
size_t packed_plan(struct packed *packed, const uint64_t *values, size_t n);
/* Up to PACKED_SLACK bytes behind its own are written to: columns go into a
 * store in the order of their offsets. */
void packed_write(const struct packed *packed, void *store, const uint64_t *values, size_t n);
/* Values first ... first + n - 1. */
void packed_read(const struct packed *packed, const void *store, size_t first, size_t n,
		 uint64_t *out);

static inline uint64_t packed_get(const struct packed *packed, const void *store, size_t i)
{
	size_t bit = i * packed->width;
	uint64_t word;

	memcpy(&word, (const char *)store + packed->offset + bit / 8, sizeof(word));
	return packed->base + packed->slope * i + ((le64toh(word) >> bit % 8) & packed->mask);
}

#endif
