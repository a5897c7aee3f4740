/* SPDX-License-Identifier: MIT */
#include "model/base/utf8.h"

size_t utf8_length(const char *text, size_t left)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;		/* bounds of the second byte */
	size_t length;

	if (!left)
		return 0;
	if (c[0] < 0x80)
		return 1;
	if (c[0] < 0xc2 || c[0] > 0xf4)
		return 0;
	length = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
	if (c[0] == 0xe0)
		low = 0xa0;
	else if (c[0] == 0xed)
		high = 0x9f;
	else if (c[0] == 0xf0)
		low = 0x90;
	else if (c[0] == 0xf4)
		high = 0x8f;
	if (left < length || c[1] < low || c[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if (!utf8_continues(text[i]))
			return 0;
	return length;
}
