/* SPDX-License-Identifier: MIT */
#include "keymap/utf8.h"

int utf8_decode(const char *data, size_t size, uint32_t *ch)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)data;
	int length, i;

	if (!size)
		return 0;
	length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
		 p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	if (!length || (size_t)length > size)
		return 0;
	*ch = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*ch = *ch << 6 | (p[i] & 0x3f);
	}
	if (*ch < least[length] || *ch > 0x10ffff || (*ch >= 0xd800 && *ch <= 0xdfff))
		return 0;
	return length;
}

int utf8_encode(uint32_t ch, char *out)
{
	int length = ch < 0x80 ? 1 : ch < 0x800 ? 2 : ch < 0x10000 ? 3 : 4, i;

	for (i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (ch & 0x3f));
		ch >>= 6;
	}
	out[0] = (char)(length == 1 ? ch : (0xf00u >> length & 0xff) | ch);
	return length;
}
