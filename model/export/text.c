/* SPDX-License-Identifier: MIT */
/* Strings as formats want them. */
#include <inttypes.h>
#include <string.h>

#include "model/export/formats.h"

/* RFC 3629: no overlong forms, no surrogates, up to U+10FFFF. */
size_t utf8_valid(const char *text, size_t left)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
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
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

void put_utf8(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_valid(text + i, length - i);
		if (n)
			fwrite(text + i, 1, n, out);
		else
			fputs("\xef\xbf\xbd", out);
		n += !n;
	}
}

void put_json(FILE *out, const char *text, size_t length)
{
	size_t from = 0, i = 0;

	putc('"', out);
	while (i < length) {
		unsigned char c = (unsigned char)text[i];
		size_t n = c < 0x80 ? 1 : utf8_valid(text + i, length - i);

		if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f && n) {
			i += n;
			continue;
		}
		fwrite(text + from, 1, i - from, out);
		if (!n)
			fputs("\\ufffd", out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else
			fprintf(out, "\\u%04x", c);
		from = ++i;
	}
	fwrite(text + from, 1, i - from, out);
	putc('"', out);
}

void put_micros(FILE *out, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(out, "%s%" PRIu64, ns < 0 ? "-" : "", size / 1000);
	if (size % 1000)
		fprintf(out, ".%03" PRIu64, size % 1000);
}
