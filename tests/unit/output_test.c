/* SPDX-License-Identifier: MIT */
/* What PROGRAM prints, as lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tui/terminal/output.h"

/* Feeds the text and compares all lines, joined by |. */
static bool becomes(const char *text, const char *want)
{
	struct program_output *output = output_new();
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
	struct program_output *output = output_new();
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
		output_feed(output,
			    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 63);
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
	struct program_output *output = output_new();

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

/* What PROGRAM gets of a press of the left button, or of a move with it held. */
static bool passes(struct program_output *output, const char *fed, enum mouse_what what, int y,
		 const char *want)
{
	struct mouse mouse = {.what = what, .button = 1, .x = 4, .y = y};
	char bytes[OUTPUT_MOUSE_MAX];
	size_t size;

	output_feed(output, fed, strlen(fed));
	size = output_mouse_bytes(output, &mouse, 10, bytes);
	if (size == strlen(want) && !memcmp(bytes, want, size))
		return true;
	fprintf(stderr, "want '%s', have '%.*s'\n", want + 1, (int)size - 1, bytes + 1);
	return false;
}

TEST(output_mouse_is_for_who_asked)
{
	struct program_output *output = output_new();

	CHECK(passes(output, "$ ", MOUSE_PRESS, 0, ""));
	CHECK(passes(output, "\033[?25;1000h", MOUSE_PRESS, 0, "\033[M %!"));
	CHECK(passes(output, "", MOUSE_RELEASE, 2, "\033[M#%#"));
	CHECK(passes(output, "", MOUSE_DRAG, 0, ""));
	CHECK(passes(output, "\033[?10", MOUSE_DRAG, 0, ""));	/* in pieces */
	CHECK(passes(output, "02;1006h", MOUSE_DRAG, 0, "\033[<32;5;1M"));
	CHECK(passes(output, "\033[1000l\033[?1000$l\033[>1002l", MOUSE_DRAG, 0, "\033[<32;5;1M"));
	CHECK(passes(output, "\033[?1002l", MOUSE_DRAG, 0, ""));
	CHECK(passes(output, "\033[?1003h", MOUSE_DRAG, 0, "\033[<32;5;1M"));
	CHECK(passes(output, "\033[?1;2;3;4;5;6;7;8;9;1003;1000l", MOUSE_PRESS, 3, "\033[<0;5;4M"));
	CHECK(passes(output, "\033[?1000;1003l", MOUSE_PRESS, 0, "") &&
	      !output_wants_mouse(output));
	CHECK(passes(output, "\033[?1003h\033(c", MOUSE_PRESS, 0, "\033[<0;5;1M"));
	CHECK(passes(output, "\033c", MOUSE_PRESS, 0, ""));
	output_free(output);
}

/* Its screen are the last lines, or those since it was cleared. */
TEST(output_mouse_is_at_its_lines)
{
	struct program_output *output = output_new();

	CHECK(passes(output, "\033[?1000;1006h1\n2\n3\n", MOUSE_PRESS, 2, "\033[<0;5;3M"));
	CHECK(passes(output, "", MOUSE_PRESS, 9, "\033[<0;5;10M"));
	CHECK(passes(output, "", MOUSE_PRESS, 10, ""));
	CHECK(passes(output, "4\n5\n6\n7\n8\n9\n", MOUSE_PRESS, 0, "\033[<0;5;1M"));
	CHECK(passes(output, "10\n11\n", MOUSE_PRESS, 1, ""));
	CHECK(passes(output, "", MOUSE_PRESS, 2, "\033[<0;5;1M"));
	CHECK(passes(output, "", MOUSE_PRESS, 11, "\033[<0;5;10M"));
	CHECK(passes(output, "\033[H\033[2J", MOUSE_PRESS, 10, ""));
	CHECK(passes(output, "", MOUSE_PRESS, 11, "\033[<0;5;1M"));
	CHECK(passes(output, "", MOUSE_PRESS, -1, ""));
	output_free(output);
}
