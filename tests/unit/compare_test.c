/* SPDX-License-Identifier: MIT */
/* Two steps, one below the other: columns against the time they stand for, one by one. */
#include "model/query/query.h"
#include "tests/unit/test.h"
#include "tui/timeline/compare.h"

#define MS INT64_C(1000000)
#define START (INT64_C(1234567) * 1000 * MS)

/* A column is the step's when its middle is. */
static void check_place(int64_t here, const struct step_row *step, int64_t t0, int64_t w, size_t n)
{
	struct compare_place place = compare_place(here, step, t0, w, n);
	size_t inside = 0;

	CHECK(place.begin <= place.end && place.end <= n);
	/* Starts coincide. */
	CHECK(place.t0_ns - step->start_ns == t0 - here);
	for (size_t i = 0; i < n; i++) {
		int64_t middle = place.t0_ns + (int64_t)i * w + w / 2;
		bool is_in = middle >= step->start_ns && middle < step->start_ns + step->dur_ns;

		inside += is_in;
		if (is_in)
			CHECK(i >= place.begin && i < place.end);
	}
	if (inside)
		CHECK(place.end - place.begin == inside);
	else
		CHECK(place.end - place.begin <= 1);
}

TEST(compare_columns_are_those_of_the_step)
{
	static const int64_t widths[] = { 1, 2, 3, 7, 1000, 999983, 40 * MS, 3600 * 1000 * MS };
	static const int64_t durations[] = { 0, 1, 2, 10, 999, 80 * MS, 81 * MS + 1, 3000 * MS };

	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
		for (size_t k = 0; k < sizeof(durations) / sizeof(*durations); k++)
			for (int64_t at = -70; at <= 70; at += 3) {
				struct step_row step = { .start_ns = START + 977 * MS,
							 .dur_ns = durations[k] };
				int64_t w = widths[i];

				check_place(START, &step, START + at * w + at % w, w, 60);
				check_place(START, &step, START + at * w, w, 1);
			}
}

/* Shorter than half a column: it is seen all the same, where it is. */
TEST(compare_a_short_step_has_a_column)
{
	struct step_row step = { .start_ns = START, .dur_ns = 10 };
	struct compare_place place;

	for (int64_t at = 0; at < 10; at++) {
		place = compare_place(START + at * 1000 + 900, &step, START, 1000, 10);
		CHECK(place.begin == (size_t)at && place.end == (size_t)at + 1);
	}
	place = compare_place(START - 1, &step, START, 1000, 10);
	CHECK(place.begin == place.end);
	place = compare_place(START + 10000, &step, START, 1000, 10);
	CHECK(place.begin == place.end);
}

TEST(compare_step_at_a_time)
{
	struct step_row rows[50] = { { .number = 0 } };

	CHECK(compare_step_at(rows, 0, START) == 0);
	for (size_t i = 0; i < 50; i++)
		rows[i] = (struct step_row) { .start_ns = START + (int64_t)(i * i) * MS,
					      .dur_ns = MS };
	for (size_t n = 1; n <= 50; n++)
		for (int64_t t = START - 2 * MS; t < START + 2600 * MS; t += MS / 2) {
			size_t last = 0;

			for (size_t i = 0; i < n; i++)
				if (rows[i].start_ns <= t)
					last = i;
			CHECK(compare_step_at(rows, n, t) == last);
		}
}
