/* SPDX-License-Identifier: MIT */
/*
 * A column of numbers that do not change, in as few bits as their spread needs: value i is base +
 * slope * i + (width bits stored for it), modulo 2^64. A column that is constant, or counts up
 * evenly, takes no bits at all. The bits of PACKED_GROUP values are whole words, and groups are
 * `stride` bytes apart, so that the groups of columns that are read together can be interleaved.
 *
 * Always true: what is read is what was written, whatever the numbers (signed numbers as two's
 * complement); a value is read without reading others. The bits start `offset` bytes into a store
 * that the caller owns and that ends PACKED_SLACK bytes after the last column, because a value is
 * read as 8 bytes.
 * Threads: no state.
 */
#ifndef MODEL_PACKED_H
#define MODEL_PACKED_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PACKED_SLACK 8u
#define PACKED_GROUP 64u

struct packed {
	uint64_t base, slope, mask;
	uint32_t offset;
	uint16_t stride;
	uint8_t width;			/* 0 ... 57 or 64 bits */
};

static inline size_t packed_groups(size_t n)
{
	return (n + PACKED_GROUP - 1) / PACKED_GROUP;
}
/* The bytes of a whole group. */
static inline uint16_t packed_group_bytes(const struct packed *packed)
{
	return (uint16_t)(packed->width * (PACKED_GROUP / 8));
}

/* Plans the narrowest form of n > 0 values, with groups one behind the other; the caller sets
 * `offset`, and may change `stride`. Returns the bytes. */
size_t packed_plan(struct packed *packed, const uint64_t *values, size_t n);
void packed_write(const struct packed *packed, void *store, const uint64_t *values, size_t n);
/* Reads the values first ... first + n - 1. */
void packed_read(const struct packed *packed, const void *store, size_t first, size_t n,
		 uint64_t *out);

static inline uint64_t packed_get(const struct packed *packed, const void *store, size_t i)
{
	size_t bit = i % PACKED_GROUP * packed->width;
	uint64_t word;

	memcpy(&word, (const char *)store + packed->offset + i / PACKED_GROUP * packed->stride +
	       bit / 8, sizeof(word));
	return packed->base + packed->slope * i + ((le64toh(word) >> bit % 8) & packed->mask);
}

#endif
