/* SPDX-License-Identifier: MIT */
#include "tui/timeline/compare.h"

#include "model/query/query.h"

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static size_t within(int64_t column, size_t columns)
{
	return column < 0 ? 0 : (uint64_t)column > columns ? columns : (size_t)column;
}

/* The first column whose middle is not earlier than `after_ns` behind the start of the window. */
static int64_t column_from(int64_t after_ns, int64_t w_ns)
{
	return floor_div(after_ns - w_ns / 2 + w_ns - 1, w_ns);
}

struct compare_place compare_place(int64_t here_ns, const struct step_row *other, int64_t t0_ns,
				   int64_t w_ns, size_t columns)
{
	int64_t after_ns = here_ns - t0_ns;
	int64_t begin = column_from(after_ns, w_ns);
	int64_t end = column_from(after_ns + other->dur_ns, w_ns);

	if (begin >= end) {
		begin = floor_div(after_ns, w_ns);
		end = begin + 1;
	}
	return (struct compare_place) {
		.t0_ns = other->start_ns - after_ns,
		.begin = within(begin, columns), .end = within(end, columns),
	};
}

size_t compare_step_at(const struct step_row *rows, size_t n, int64_t t_ns)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].start_ns <= t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}
