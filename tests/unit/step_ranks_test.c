/* SPDX-License-Identifier: MIT */
/* Slowest, median and fastest against sorting. */
#include <stdint.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/query.h"
#include "tests/unit/test.h"
#include "tui/draw/step_ranks.h"

static int in_order(const void *a, const void *b)
{
	const struct step_row *const *x = a, *const *y = b;

	if ((*x)->dur_ns != (*y)->dur_ns)
		return (*x)->dur_ns < (*y)->dur_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static void check(const struct step_row *rows, size_t n)
{
	const struct step_row **sorted = xcalloc(n, sizeof(*sorted));
	struct step_ranks ranks = step_ranks(rows, n);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (!rows[i].warm_up)
			sorted[k++] = &rows[i];
	for (size_t i = 0, none = !k; i < n && none; i++)
		sorted[k++] = &rows[i];
	qsort(sorted, k, sizeof(*sorted), in_order);
	CHECK(sorted[k - 1] == &rows[ranks.slowest]);
	CHECK(sorted[k / 2] == &rows[ranks.median]);
	CHECK(sorted[0] == &rows[ranks.fastest]);
	free(sorted);
}

TEST(step_ranks_are_those_of_the_sorted)
{
	for (int round = 0; round < 2000; round++) {
		size_t n = 1 + test_random() % 60, warm_up = test_random() % (n + 1);
		uint64_t range = 1 + test_random() % 100;
		struct step_row *rows = xcalloc(n, sizeof(*rows));

		for (size_t i = 0; i < n; i++) {
			rows[i].dur_ns = (int64_t)(test_random() % range);
			rows[i].warm_up = i < warm_up;
		}
		check(rows, n);
		free(rows);
	}
}

/* Neither takes the square of the number: with 10^5 that would be 10^10. */
TEST(step_ranks_of_many_in_order)
{
	enum { MANY = 100000 };
	struct step_row *rows = xcalloc(MANY, sizeof(*rows));

	for (int64_t i = 0; i < MANY; i++)
		rows[i].dur_ns = i;
	check(rows, MANY);
	for (int64_t i = 0; i < MANY; i++)
		rows[i].dur_ns = MANY - i;
	check(rows, MANY);
	free(rows);
}
