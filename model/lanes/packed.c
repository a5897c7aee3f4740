/* SPDX-License-Identifier: MIT */
#include "model/lanes/packed.h"

/* The smallest and the largest value after subtracting a slope. */
struct packed_range {
	int64_t low, high;
};

static struct packed_range range_of(const uint64_t *values, size_t n, uint64_t slope)
{
	struct packed_range range = { INT64_MAX, INT64_MIN };
	uint64_t line = 0;

	for (size_t i = 0; i < n; i++, line += slope) {
		int64_t value = (int64_t)(values[i] - line);

		range.low = value < range.low ? value : range.low;
		range.high = value > range.high ? value : range.high;
	}
	return range;
}

size_t packed_plan(struct packed *packed, const uint64_t *values, size_t n)
{
	int64_t climb = (int64_t)(values[n - 1] - values[0]);
	uint64_t slope = n > 1 ? (uint64_t)(climb / (int64_t)(n - 1)) : 0;
	struct packed_range range = range_of(values, n, 0);
	uint64_t spread = (uint64_t)range.high - (uint64_t)range.low;

	*packed = (struct packed) { .base = (uint64_t)range.low };
	if (slope && spread) {
		range = range_of(values, n, slope);
		if ((uint64_t)range.high - (uint64_t)range.low < spread) {
			spread = (uint64_t)range.high - (uint64_t)range.low;
			packed->base = (uint64_t)range.low;
			packed->slope = slope;
		}
	}
	if (spread)
		packed->width = (uint8_t)(64 - __builtin_clzll(spread));
	/* With more bits, a value could reach into a ninth byte. */
	if (packed->width > 57)
		packed->width = 64;
	packed->mask = packed->width == 64 ? UINT64_MAX : (UINT64_C(1) << packed->width) - 1;
	packed->stride = packed_group_bytes(packed);
	return packed_groups(n) * packed->stride;
}

static uint64_t write_group(char *at, uint32_t width, uint64_t slope, uint64_t line,
			    const uint64_t *values, size_t n)
{
	uint64_t word = 0, whole;
	uint32_t used = 0;

	for (size_t i = 0; i < n; i++, line += slope) {
		uint64_t value = values[i] - line;

		word |= value << used;
		used += width;
		if (used < 64)
			continue;
		whole = htole64(word);
		memcpy(at, &whole, sizeof(whole));
		at += sizeof(whole);
		used -= 64;
		/* The bits that did not fit; used is 0 when width is 64. */
		word = used ? value >> (width - used) : 0;
	}
	whole = htole64(word);
	if (used)
		memcpy(at, &whole, sizeof(whole));
	return line;
}

void packed_write(const struct packed *packed, void *store, const uint64_t *values, size_t n)
{
	char *at = (char *)store + packed->offset;
	uint64_t line = packed->base;

	for (size_t i = 0; packed->width && i < n; i += PACKED_GROUP, at += packed->stride)
		line = write_group(at, packed->width, packed->slope, line, values + i,
				   n - i < PACKED_GROUP ? n - i : PACKED_GROUP);
}

void packed_read(const struct packed *packed, const void *store, size_t first, size_t n,
		 uint64_t *out)
{
	const char *group = (const char *)store + packed->offset +
			    first / PACKED_GROUP * packed->stride;
	const uint64_t slope = packed->slope, mask = packed->mask;
	const size_t width = packed->width;
	uint64_t line = packed->base + slope * first, word;
	size_t at = first % PACKED_GROUP;

	while (n) {
		size_t count = n < PACKED_GROUP - at ? n : PACKED_GROUP - at, bit = at * width;

		for (size_t i = 0; i < count; i++, line += slope, bit += width) {
			memcpy(&word, group + bit / 8, sizeof(word));
			out[i] = line + ((le64toh(word) >> bit % 8) & mask);
		}
		out += count;
		n -= count;
		at = 0;
		group += packed->stride;
	}
}
