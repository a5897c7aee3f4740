/* SPDX-License-Identifier: MIT */
/*
 * Code points and their widths. The widths come from a table in this file and not from wcwidth():
 * they must be the same in every locale, in golden tests, and with the outdated tables of some C
 * libraries.
 */
#include "tui/base/text.h"

#include <stdbool.h>
#include <string.h>

#include "keymap/utf8.h"

struct range { uint32_t first, last; };

/* Combining marks take no column. They are left out, because a cell holds one code point. */
static const struct range zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
	{0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dc}, {0x093c, 0x093c},
	{0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
	{0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
	{0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20f0}, {0x302a, 0x302d},
	{0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
	{0xe0001, 0xe007f}, {0xe0100, 0xe01ef},
};

static const struct range two_wide[] = {
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec},
	{0x23f0, 0x23f0}, {0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615},
	{0x2648, 0x2653}, {0x267f, 0x267f}, {0x2693, 0x2693}, {0x26a1, 0x26a1},
	{0x26aa, 0x26ab}, {0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26ce, 0x26ce},
	{0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5},
	{0x26fa, 0x26fa}, {0x26fd, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b},
	{0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755},
	{0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x27bf, 0x27bf},
	{0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e},
	{0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
	{0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18aff},
	{0x1b000, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a}, {0x1f200, 0x1f265}, {0x1f300, 0x1f320}, {0x1f32d, 0x1f335},
	{0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3},
	{0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440},
	{0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567},
	{0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f},
	{0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7},
	{0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb},
	{0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
};

static bool in_ranges(const struct range *ranges, size_t count, uint32_t ch)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (ch > ranges[middle].last)
			low = middle + 1;
		else if (ch < ranges[middle].first)
			high = middle;
		else
			return true;
	}
	return false;
}

#define IN_RANGES(table, ch) in_ranges(table, sizeof(table) / sizeof(*(table)), ch)

int text_columns(uint32_t ch)
{
	if (ch < 0x300)
		return 1;
	if (IN_RANGES(zero_width, ch))
		return 0;
	return IN_RANGES(two_wide, ch) ? 2 : 1;
}

int text_decode(const char *data, size_t size, uint32_t *ch)
{
	return utf8_decode(data, size, ch);
}

int text_encode(uint32_t ch, char out[5])
{
	int length = utf8_encode(ch, out);

	out[length] = '\0';
	return length;
}

uint32_t text_next(const char **utf8)
{
	const char *p = *utf8;
	size_t size = 0;
	uint32_t ch;
	int used;

	while (size < 4 && p[size])
		size++;
	used = text_decode(p, size, &ch);
	if (used < 0)
		used = 1;
	*utf8 = p + used;
	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
		return size ? 0xfffd : 0;
	return ch;
}

int text_width(const char *utf8)
{
	int width = 0;

	while (*utf8)
		width += text_columns(text_next(&utf8));
	return width;
}

size_t text_break(const char *text, int width, const char **next)
{
	const char *at = text, *blank = NULL, *end = text;
	int used = 0, columns;

	while (*at) {
		const char *before = at;
		uint32_t ch = text_next(&at);

		columns = text_columns(ch);
		if (ch == '\n') {
			*next = at;
			return (size_t)(before - text);
		}
		if (columns < 0)
			columns = 1;
		if (used + columns > width)
			break;
		used += columns;
		end = at;
		if (ch == ' ' && used > width / 2)
			blank = before;
	}
	if (*end && blank)
		end = blank;
	*next = *end == ' ' ? end + 1 : end;
	return (size_t)(end - text);
}

/* Replacements for code points where only ASCII can be shown. */
static const struct { uint32_t ch; char ascii; } ascii_table[] = {
	{0x00a0, ' '}, {0x00b0, ' '}, {0x00b1, '~'}, {0x00b5, 'u'}, {0x00b7, '.'}, {0x00d7, 'x'},
	{0x03bc, 'u'}, {0x2013, '-'}, {0x2014, '-'}, {0x2018, '\''}, {0x2019, '\''},
	{0x201c, '"'}, {0x201d, '"'}, {0x2022, '*'}, {0x2026, '~'},
	{0x203a, '>'}, {0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'},
	{0x2194, '/'}, {0x2248, '~'}, {0x2264, '<'}, {0x2265, '>'},
	{0x2500, '-'}, {0x2502, '|'}, {0x2506, ':'}, {0x2508, '_'}, {0x250a, ':'}, {0x253c, '+'},
	{0x254c, ','},
	{0x2574, '-'}, {0x2575, '|'}, {0x2576, '-'}, {0x2577, '|'},
	{0x2581, '.'}, {0x2582, '.'}, {0x2583, ':'}, {0x2584, '-'},
	{0x2585, '-'}, {0x2586, '='}, {0x2587, '='}, {0x2588, '#'},
	{0x2589, '#'}, {0x258a, '#'}, {0x258b, '='}, {0x258c, '='}, {0x258d, '-'},
	{0x258e, '|'}, {0x258f, '|'}, {0x2590, '#'}, {0x2591, ':'}, {0x2592, '%'},
	{0x2593, '%'}, {0x2595, '|'}, {0x25b2, '^'}, {0x25b4, '^'}, {0x25b6, '>'},
	{0x25a0, '#'}, {0x25b8, '>'}, {0x25b9, '>'}, {0x25bc, 'v'}, {0x25be, 'v'},
	{0x25c0, '<'}, {0x25c2, '<'},
	{0x25c6, '*'}, {0x25cb, 'o'}, {0x25cf, '*'}, {0x2713, 'y'}, {0x2717, 'n'},
};

char text_ascii(uint32_t ch)
{
	size_t i;

	if (ch < 0x7f)
		return (char)ch;
	for (i = 0; i < sizeof(ascii_table) / sizeof(*ascii_table); i++)
		if (ascii_table[i].ch == ch)
			return ascii_table[i].ascii;
	return '?';
}

char *text_clean(char *out, size_t size, const char *text)
{
	size_t used = 0;

	while (*text) {
		uint32_t ch = text_next(&text);
		char bytes[5];
		int length;

		if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
			ch = '?';
		length = text_encode(ch, bytes);
		if (length <= 0 || used + (size_t)length + 1 > size)
			break;
		memcpy(out + used, bytes, (size_t)length);
		used += (size_t)length;
	}
	out[used] = '\0';
	return out;
}
