/* SPDX-License-Identifier: MIT */
/* The tables of lines of functions: for each stretch of the code how the line changes. */
#include "probes/python/known.h"

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

static int32_t one_line(int64_t line)
{
	return line <= 0 || line > INT32_MAX ? 0 : (int32_t)line;
}

/* Pairs: so many bytes of code on, so many lines on. */
static int32_t line_of_steps(const uint8_t *table, size_t size, int64_t line, size_t offset)
{
	size_t start = 0;

	for (size_t at = 0; at + 1 < size; at += 2) {
		start += table[at];
		if (start > offset)
			break;
		line += (int8_t)table[at + 1];
	}
	return one_line(line);
}

/* Pairs: a range of so many bytes of code, so many lines on; -128: the range has no line. */
static int32_t line_of_ranges(const uint8_t *table, size_t size, int64_t line, size_t offset)
{
	size_t end = 0;

	for (size_t at = 0; at + 1 < size; at += 2) {
		int8_t change = (int8_t)table[at + 1];

		end += table[at];
		line += change == -128 ? 0 : change;
		if (offset < end)
			return change == -128 ? 0 : one_line(line);
	}
	return 0;
}

/* Entries of a head, which has a form and a number of instructions, and what that form has. */
static int32_t line_of_locations(const uint8_t *table, size_t size, int64_t line, size_t offset)
{
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
			return code == 15 ? 0 : one_line(line);
		while (at < size && !(table[at] & 128))	/* columns */
			at++;
	}
	return 0;
}

int32_t py_line_at(enum py_lines form, const uint8_t *table, size_t size, int32_t first_line,
		   size_t offset)
{
	switch (form) {
	case PY_LINES_STEPS:
		return line_of_steps(table, size, first_line, offset);
	case PY_LINES_RANGES:
		return line_of_ranges(table, size, first_line, offset);
	case PY_LINES_LOCATIONS:
		return line_of_locations(table, size, first_line, offset);
	}
	return 0;
}
