/* SPDX-License-Identifier: MIT */
/* What PROGRAM prints, as lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/output.h"

/* Feeds the text and compares all lines, joined by |. */
static bool becomes(const char *text, const char *want)
{
	struct output *output = output_new();
	char have[1024] = "";
	size_t i, length;
	bool same;

	output_feed(output, text, strlen(text));
	for (i = 0; i < output_count(output); i++) {
		length = strlen(have);
		snprintf(have + length, sizeof(have) - length, "%s%s", i ? "|" : "",
			 output_line(output, i));
	}
	output_free(output);
	same = strcmp(have, want) == 0;
	if (!same)
		fprintf(stderr, "want '%s', have '%s'\n", want, have);
	return same;
}

TEST(output_lines)
{
	CHECK(becomes("", ""));
	CHECK(becomes("a\r\nb\r\n", "a|b"));
	CHECK(becomes("a\n\nb", "a||b"));
	CHECK(becomes("é日\xf0\x9f\x98\x80", "é日\xf0\x9f\x98\x80"));
}

TEST(output_progress_bars_stay_one_line)
{
	CHECK(becomes("10%|#  |\r20%|## |\r100%|###|", "100%|###|"));
	CHECK(becomes("long text\rab", "abng text"));
	CHECK(becomes("long text\rab\033[K", "ab"));
	CHECK(becomes("long text\033[2K\rab", "ab"));
	CHECK(becomes("abc\b\bX", "aXc"));
	CHECK(becomes("abcdef\033[3D\033[1P", "abcef"));
	CHECK(becomes("x\033[10Gy", "x        y"));
	CHECK(becomes("a\tb", "a       b"));
}

TEST(output_sequences_are_taken_out)
{
	CHECK(becomes("\033[1;31mred\033[0m", "red"));
	CHECK(becomes("\033]0;title\007a\033]8;;http://x\033\\link\033]8;;\033\\", "alink"));
	CHECK(becomes("\033(Ba\033=b\033>c", "abc"));
	CHECK(becomes("\033[?25lhidden\033[?25h", "hidden"));
	CHECK(becomes("\033P1$r0m\033\\x", "x"));
	CHECK(becomes("a\033", "a"));
	CHECK(becomes("a\033[12", "a"));
	CHECK(becomes("a\033[3\030b", "ab"));
	CHECK(becomes("\033]never ends\nb", "|b"));
	CHECK(becomes("a\a\v\0b", "a"));
}

TEST(output_bytes_that_are_no_text)
{
	CHECK(becomes("a\xff" "b", "a\xef\xbf\xbd" "b"));
	CHECK(becomes("\xe6\x97\nx", "\xef\xbf\xbd|x"));
	CHECK(becomes("\xc2\x9b" "31mx", "31mx"));
}

TEST(output_is_bounded)
{
	struct output *output = output_new();
	char line[64];
	size_t bytes = 0, i;
	int n;

	for (n = 0; n < OUTPUT_LINES_MAX + 1000; n++) {
		snprintf(line, sizeof(line), "line %d\n", n);
		output_feed(output, line, strlen(line));
	}
	CHECK(output_count(output) == OUTPUT_LINES_MAX);
	CHECK(output_first(output) == 1000);
	CHECK_STR(output_line(output, 0), "line 1000");
	snprintf(line, sizeof(line), "line %d", n - 1);
	CHECK_STR(output_line(output, OUTPUT_LINES_MAX - 1), line);
	CHECK_STR(output_last(output), line);
	CHECK_STR(output_line(output, OUTPUT_LINES_MAX), "");
	/* long lines go by bytes, and a line without end is cut */
	for (n = 0; n < 9 << 20; n += 63)
		output_feed(output, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 63);
	for (i = 0; i < output_count(output); i++) {
		size_t length = strlen(output_line(output, i));

		CHECK(length < OUTPUT_LINE_MAX);
		bytes += length + 1;
	}
	CHECK(bytes <= OUTPUT_BYTES_MAX + OUTPUT_LINE_MAX);
	output_free(output);
}

TEST(output_last_line_that_says_something)
{
	struct output *output = output_new();

	CHECK_STR(output_last(output), "");
	output_feed(output, "epoch 2\n\n   \n", 13);
	CHECK_STR(output_last(output), "epoch 2");
	output_feed(output, "loss", 4);
	CHECK_STR(output_last(output), "loss");
	output_free(output);
}

static bool sends(const char *name, const char *want)
{
	char error[KEY_ERROR_MAX], bytes[17];
	struct key key;
	size_t size;

	if (keys_parse(name, &key, 1, error, sizeof(error)) != 1)
		return false;
	size = output_key_bytes(key, bytes);
	return size == strlen(want) && !memcmp(bytes, want, size);
}

TEST(output_keys_as_a_terminal_sends_them)
{
	struct key nul = {' ', MOD_CTRL};
	char bytes[16];

	CHECK(sends("a", "a"));
	CHECK(sends("é", "é"));
	CHECK(sends("<C-c>", "\003"));
	CHECK(sends("<C-]>", "\035"));
	CHECK(sends("<Enter>", "\r"));
	CHECK(sends("<Backspace>", "\177"));
	CHECK(sends("<Up>", "\033[A"));
	CHECK(sends("<A-x>", "\033x"));
	CHECK(sends("<S-Tab>", "\033[Z"));
	CHECK(sends("<F5>", "\033[15~"));
	CHECK(sends("<Delete>", "\033[3~"));
	CHECK(output_key_bytes(nul, bytes) == 1 && bytes[0] == '\0');
}
