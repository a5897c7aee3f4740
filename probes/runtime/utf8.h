/* SPDX-License-Identifier: MIT */
/* Encodes a character as UTF-8, for wide strings of the program. */
#ifndef PROBES_RUNTIME_UTF8_H
#define PROBES_RUNTIME_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Writes 1 to 4 bytes without a NUL and returns how many; what is not a Unicode character becomes
 * U+FFFD. */
static inline size_t rt_put_utf8(char *to, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

#endif
