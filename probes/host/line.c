/* SPDX-License-Identifier: MIT */
/* The table of lines of a function: for each stretch of its code how the line changes. */
#include "probes/host/frames.h"

static bool take_varint(const uint8_t *table, size_t size, size_t *at, uint32_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 32; shift += 6) {
		uint8_t byte;

		if (*at >= size)
			return false;
		byte = table[(*at)++];
		*value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			return true;
	}
	return false;
}

int32_t host_line_at(const uint8_t *table, size_t size, int32_t first_line, size_t offset)
{
	int64_t line = first_line;
	size_t at = 0, end = 0;

	while (at < size) {
		uint8_t head = table[at++], code = head >> 3 & 15;
		uint32_t value;

		if (!(head & 128))
			return 0;
		end += ((size_t)(head & 7) + 1) * 2;
		if (code == 13 || code == 14) {
			if (!take_varint(table, size, &at, &value))
				return 0;
			line += value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
		} else if (code >= 10 && code <= 12) {
			line += code - 10;
		}
		if (offset < end)
			return code == 15 || line <= 0 || line > INT32_MAX ? 0 : (int32_t)line;
		while (at < size && !(table[at] & 128))	/* columns */
			at++;
	}
	return 0;
}
