/* SPDX-License-Identifier: MIT */
/* See text.h. */
#include <stdint.h>

#include "probes/runtime/text.h"
#include "probes/runtime/utf8.h"

const char *rt_text_from_wide(char *buf, size_t size, const wchar_t *text)
{
	size_t used = 0;

	if (!text)
		return NULL;
	for (; *text; text++) {
		char one[4];
		size_t n = rt_put_utf8(one, (uint32_t)*text);

		if (used + n + 1 > size)
			break;
		for (size_t i = 0; i < n; i++)
			buf[used++] = one[i];
	}
	buf[used] = '\0';
	return buf;
}
