/* SPDX-License-Identifier: MIT */
/* The tables of lines of Python's functions, in the form of each version. */
#include "model/base/util.h"
#include "probes/python/known.h"
#include "tests/unit/test.h"

/* line_at FORM TABLE FIRST OFFSET: of a table that is an array */
#define line_at(form, table, first, offset) \
	py_line_at(PY_LINES_##form, table, sizeof(table), first, offset)

/* 3.11 and later: steps backwards, stretches without a line, and any bytes. */
TEST(host_lines_locations)
{
	static const uint8_t back[] = {
		0x80 | 13 << 3 | 3, 0x40 | 21, 3,	/* svarint 21 + (3 << 6) = -106 */
		0x80 | 15 << 3 | 0,			/* no line */
		0x80 | 2 << 3 | 1, 0x34,		/* short form: the same line */
		0x80 | 12 << 3 | 0, 0, 9,		/* two lines on */
	};

	CHECK_INT(line_at(LOCATIONS, back, 200, 0), 94);
	CHECK_INT(line_at(LOCATIONS, back, 200, 7), 94);
	CHECK_INT(line_at(LOCATIONS, back, 200, 8), 0);
	CHECK_INT(line_at(LOCATIONS, back, 200, 10), 94);
	CHECK_INT(line_at(LOCATIONS, back, 200, 14), 96);
	CHECK_INT(line_at(LOCATIONS, back, 200, 16), 0);	/* behind its end */
	CHECK_INT(line_at(LOCATIONS, back, 100, 0), 0);		/* before line 1 */
	/* cut in a number */
	CHECK_INT(py_line_at(PY_LINES_LOCATIONS, back, 2, 200, 0), 0);
	for (int i = 0; i < 200000; i++) {
		uint8_t table[24];
		size_t n = (size_t)test_below(sizeof(table) + 1);
		enum py_lines form = (enum py_lines)test_below(3);

		for (size_t k = 0; k < n; k++)
			table[k] = (uint8_t)test_below(256);
		CHECK(py_line_at(form, table, n, (int32_t)test_below(1000),
				   test_below(100)) >= 0);
	}
	CHECK_INT(py_line_at(PY_LINES_LOCATIONS, NULL, 0, 1, 0), 0);
	CHECK_INT(py_line_at(PY_LINES_RANGES, NULL, 0, 1, 0), 0);
	CHECK_INT(py_line_at(PY_LINES_STEPS, NULL, 0, 1, 0), 1);
}

/* 3.10: what has no line, and steps that are longer than a byte. */
TEST(host_lines_ranges)
{
	static const uint8_t table[] = {
		6, 2,
		4, 0x80,			/* no line */
		254, (uint8_t)-7, 2, 0,		/* 256 bytes of one line */
		0, 127, 0, 127, 8, 46,		/* 300 lines on */
		2, (uint8_t)-127,
	};

	CHECK_INT(line_at(RANGES, table, 10, 0), 12);
	CHECK_INT(line_at(RANGES, table, 10, 4), 12);
	CHECK_INT(line_at(RANGES, table, 10, 6), 0);
	CHECK_INT(line_at(RANGES, table, 10, 8), 0);
	CHECK_INT(line_at(RANGES, table, 10, 10), 5);
	CHECK_INT(line_at(RANGES, table, 10, 264), 5);
	CHECK_INT(line_at(RANGES, table, 10, 266), 305);
	CHECK_INT(line_at(RANGES, table, 10, 274), 178);
	CHECK_INT(line_at(RANGES, table, 10, 276), 0);			/* behind its end */
	CHECK_INT(py_line_at(PY_LINES_RANGES, table, 5, 10, 10), 0);	/* cut in a pair */
	CHECK_INT(line_at(RANGES, table, 4, 10), 0);			/* before line 1 */
}

/* 3.8 and 3.9: each pair begins a line, and the last one goes on to the end. */
TEST(host_lines_steps)
{
	static const uint8_t table[] = {
		0, 1, 6, (uint8_t)-3,
		255, 0, 45, 127, 0, 73,		/* 300 bytes on, 200 lines on */
		2, (uint8_t)-128,
	};

	CHECK_INT(line_at(STEPS, table, 10, 0), 11);
	CHECK_INT(line_at(STEPS, table, 10, 4), 11);
	CHECK_INT(line_at(STEPS, table, 10, 6), 8);
	CHECK_INT(line_at(STEPS, table, 10, 304), 8);
	CHECK_INT(line_at(STEPS, table, 10, 306), 208);
	CHECK_INT(line_at(STEPS, table, 10, 308), 80);
	CHECK_INT(line_at(STEPS, table, 10, 9999), 80);
	CHECK_INT(py_line_at(PY_LINES_STEPS, table, 3, 10, 9999), 11);	/* cut in a pair */
	CHECK_INT(line_at(STEPS, table, 1, 6), 0);				/* before line 1 */
}
