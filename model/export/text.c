/* SPDX-License-Identifier: MIT */
/* Writes strings as the formats need them. */
#include <inttypes.h>
#include <string.h>

#include "model/base/utf8.h"
#include "model/export/formats.h"

void put_utf8(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n) {
		n = utf8_length(text + i, length - i);
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
		size_t n = c < 0x80 ? 1 : utf8_length(text + i, length - i);

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
