/* SPDX-License-Identifier: MIT */
/* PROGRAM's output: any bytes become valid lines, however they are split. */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tui/draw/grid.h"
#include "tui/terminal/output.h"

static void check_line(const char *line)
{
	size_t length = strlen(line), at = 0;

	FUZZ_CHECK(length < OUTPUT_LINE_MAX);
	while (at < length) {
		uint32_t ch;
		int used = text_decode(line + at, length - at, &ch);

		FUZZ_CHECK(used > 0);
		FUZZ_CHECK(ch >= 0x20 && !(ch >= 0x7f && ch < 0xa0));
		/* it was in the input, and is no replacement for broken bytes */
		FUZZ_CHECK(ch != 0xfffd || used == 3);
		at += (size_t)used;
	}
}

static void run(const uint8_t *data, size_t size)
{
	struct program_output *whole = output_new(), *cut = output_new();
	size_t i, at = 0, count;

	output_feed(whole, data, size);
	while (at < size) {
		size_t piece = 1 + data[at] % 7;

		if (piece > size - at)
			piece = size - at;
		output_feed(cut, data + at, piece);
		at += piece;
	}
	count = output_count(whole);
	FUZZ_CHECK(count == output_count(cut));
	for (i = 0; i < count; i++) {
		FUZZ_CHECK(strcmp(output_line(whole, i), output_line(cut, i)) == 0);
		check_line(output_line(whole, i));
	}
	check_line(output_last(whole));
	output_free(whole);
	output_free(cut);
}

FUZZ_TARGET("output", run);
