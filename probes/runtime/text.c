/* SPDX-License-Identifier: MIT */
/* See text.h. */
#include <stdint.h>

#include "probes/runtime/text.h"

static size_t rt_encode_utf8(char *to, uint32_t c)
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

const char *rt_text_from_wide(char *buf, size_t size, const wchar_t *text)
{
	size_t used = 0;

	if (!text)
		return NULL;
	for (; *text; text++) {
		char one[4];
		size_t n = rt_encode_utf8(one, (uint32_t)*text);

		if (used + n + 1 > size)
			break;
		for (size_t i = 0; i < n; i++)
			buf[used++] = one[i];
	}
	buf[used] = '\0';
	return buf;
}
