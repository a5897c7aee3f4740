/* SPDX-License-Identifier: MIT */
#include "keymap/utf8.h"

/* Length in bytes of the sequence that this first byte starts; 0 if it is no first byte. */
static int sequence_length(unsigned char c)
{
	if (c < 0x80)
		return 1;
	if (c >= 0xc2 && c <= 0xdf)
		return 2;
	if (c >= 0xe0 && c <= 0xef)
		return 3;
	if (c >= 0xf0 && c <= 0xf4)
		return 4;
	return 0;
}

int utf8_decode(const char *data, size_t size, uint32_t *ch)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)data;
	int length, i;
	uint32_t value;

	*ch = 0xfffd;
	if (size == 0)
		return 0;
	length = sequence_length(p[0]);
	if (length == 0)
		return 1;
	if (length == 1) {
		*ch = p[0];
		return 1;
	}
	value = p[0] & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((size_t)i >= size)
			return -length;		/* the sequence is cut off; more bytes may follow */
		if ((p[i] & 0xc0) != 0x80)
			return i;
		value = value << 6 | (p[i] & 0x3f);
	}
	if (value >= least[length] && value <= 0x10ffff &&
	    (value < 0xd800 || value > 0xdfff))
		*ch = value;
	return length;
}

int utf8_encode(uint32_t ch, char *out)
{
	int length = 0;

	if (ch > 0x10ffff || (ch >= 0xd800 && ch <= 0xdfff))
		ch = 0xfffd;
	if (ch < 0x80) {
		out[length++] = (char)ch;
	} else if (ch < 0x800) {
		out[length++] = (char)(0xc0 | ch >> 6);
	} else if (ch < 0x10000) {
		out[length++] = (char)(0xe0 | ch >> 12);
		out[length++] = (char)(0x80 | (ch >> 6 & 0x3f));
	} else {
		out[length++] = (char)(0xf0 | ch >> 18);
		out[length++] = (char)(0x80 | (ch >> 12 & 0x3f));
		out[length++] = (char)(0x80 | (ch >> 6 & 0x3f));
	}
	if (ch >= 0x80)
		out[length++] = (char)(0x80 | (ch & 0x3f));
	return length;
}
