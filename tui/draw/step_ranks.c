/* SPDX-License-Identifier: MIT */
#include "tui/draw/step_ranks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/query.h"

struct length { int64_t dur_ns; size_t i; };

static bool shorter(struct length a, struct length b)
{
	return a.dur_ns != b.dur_ns ? a.dur_ns < b.dur_ns : a.i < b.i;
}

static void swap(struct length *a, struct length *b)
{
	struct length c = *a;

	*a = *b;
	*b = c;
}

/* Hoare's quickselect: the element that would be at `at` if the list were sorted. Steps are often
 * nearly sorted already, so the pivot is taken from the middle. */
static struct length step_ranks_pick(struct length *list, size_t n, size_t at)
{
	size_t from = 0, to = n;

	while (to - from > 1) {
		size_t less = from + 1;

		swap(&list[from], &list[from + (to - from) / 2]);
		for (size_t i = from + 1; i < to; i++)
			if (shorter(list[i], list[from]))
				swap(&list[i], &list[less++]);
		swap(&list[from], &list[less - 1]);
		if (less - 1 == at)
			break;
		if (at < less - 1)
			to = less - 1;
		else
			from = less;
	}
	return list[at];
}

struct step_ranks step_ranks(const struct step_row *rows, size_t n)
{
	struct length *list = xcalloc(n, sizeof(*list)), slowest, fastest;
	struct step_ranks ranks;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (!rows[i].warm_up)
			list[k++] = (struct length){rows[i].dur_ns, i};
	for (size_t i = 0, none = !k; i < n && none; i++)
		list[k++] = (struct length){rows[i].dur_ns, i};
	slowest = fastest = list[0];
	for (size_t i = 1; i < k; i++) {
		if (shorter(slowest, list[i]))
			slowest = list[i];
		if (shorter(list[i], fastest))
			fastest = list[i];
	}
	ranks = (struct step_ranks){slowest.i, step_ranks_pick(list, k, k / 2).i, fastest.i};
	free(list);
	return ranks;
}
