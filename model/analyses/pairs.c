/* SPDX-License-Identifier: MIT */
#include "model/analyses/pairs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

static void pairs_push(struct step_pairs *pairs, struct paired_step last)
{
	const struct paired_step *one = &pairs->before[0], *two = &pairs->before[1];
	int64_t ns = (one->ns + last.ns) / 2 - two->ns;

	if (one->known && two->known && last.known && one->bare == last.bare &&
	    one->bare != two->bare) {
		if (!pairs->added_ns)
			pairs->added_ns = xreallocarray(NULL, PAIRS_KEPT, sizeof(int64_t));
		pairs->added_ns[pairs->n++ % PAIRS_KEPT] = two->bare ? ns : -ns;
	}
	pairs->before[0] = pairs->before[1];
	pairs->before[1] = last;
}

void pairs_step(struct step_pairs *pairs, bool bare, int64_t ns)
{
	pairs_push(pairs, (struct paired_step) { ns, true, bare });
}

void pairs_release(struct step_pairs *pairs)
{
	free(pairs->added_ns);
	*pairs = (struct step_pairs) { .n = 0 };
}

void pairs_break(struct step_pairs *pairs)
{
	pairs_push(pairs, (struct paired_step) { .known = false });
}

static int pairs_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* The sign test: the largest k for which fewer than k of n tosses of a coin show heads with a
 * probability of at most 2.5 %. The k-th smallest value is the interval's lower end. */
static size_t pairs_outside(size_t n)
{
	double chance = 1, sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		chance /= 2;
	for (; k < n; k++) {
		sum += chance;
		if (sum > 0.025)
			break;
		chance = chance * (double)(n - k) / (double)(k + 1);
	}
	return k;
}

int64_t pairs_added_ns(const struct step_pairs *pairs)
{
	size_t n = pairs->n < PAIRS_KEPT ? (size_t)pairs->n : PAIRS_KEPT;
	int64_t sorted[PAIRS_KEPT];

	if (n < PAIRS_LEAST)
		return 0;
	memcpy(sorted, pairs->added_ns, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), pairs_compare);
	return sorted[pairs_outside(n) - 1] > 0 ? sorted[n / 2] : 0;
}
