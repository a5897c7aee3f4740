/* SPDX-License-Identifier: MIT */
/* The interval of a median, against the tables of the binomial distribution and by trial. */
#include "probes/pytorch/interval.h"
#include "tests/unit/test.h"

/* Values 1 ... n in an order that is not sorted. */
static void shuffled(int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		values[i] = (int64_t)i + 1;
	for (size_t i = n; i > 1; i--) {
		size_t at = test_below((uint32_t)i);
		int64_t value = values[i - 1];

		values[i - 1] = values[at];
		values[at] = value;
	}
}

/* The ranks that textbooks print for 95 %. */
TEST(interval_ranks)
{
	static const struct { size_t n, low, high; } known[] = {
		{ 6, 1, 6 }, { 7, 1, 7 }, { 9, 2, 8 }, { 10, 2, 9 }, { 20, 6, 15 }, { 25, 8, 18 },
		{ 50, 18, 33 }, { 100, 40, 61 },
	};
	int64_t values[128];
	struct interval interval;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		shuffled(values, known[i].n);
		CHECK(interval_of(values, known[i].n, &interval));
		CHECK_INT(interval.low, known[i].low);
		CHECK_INT(interval.high, known[i].high);
		CHECK_INT(interval.median, (known[i].n + 1) / 2);
	}
}

TEST(interval_too_few)
{
	int64_t values[INTERVAL_MOST + 1] = { 5, 1, 4, 2, 3 };
	struct interval interval;

	CHECK(!interval_of(values, 0, &interval));
	CHECK(!interval_of(values, INTERVAL_LEAST - 1, &interval));
	CHECK(!interval_of(values, INTERVAL_MOST + 1, &interval));
	CHECK(interval_of(values, INTERVAL_MOST, &interval));
	CHECK_INT(interval_median(values, 0), 0);
	values[0] = 7;
	CHECK_INT(interval_median(values, 1), 7);
}

/* A few steps that the system disturbed change nothing. */
TEST(interval_outliers)
{
	int64_t values[40];
	struct interval interval;

	for (size_t i = 0; i < 40; i++)
		values[i] = i % 8 ? 100 + (int64_t)i : 1000000000;
	CHECK(interval_of(values, 40, &interval));
	CHECK(interval.low >= 100 && interval.high < 140);
	CHECK(interval.low <= interval.median && interval.median <= interval.high);
}

/* Of a lopsided distribution (a square of what is even) too, it holds the median in 95 of 100. */
TEST(interval_holds)
{
	int64_t values[31];
	struct interval interval;
	int held = 0;

	for (int trial = 0; trial < 2000; trial++) {
		for (size_t i = 0; i < 31; i++) {
			int64_t even = test_below(1001);

			values[i] = even * even;
		}
		interval_of(values, 31, &interval);
		held += interval.low <= 500 * 500 && interval.high >= 500 * 500;
	}
	CHECK(held >= 1880);
	CHECK(held < 1990);
}
