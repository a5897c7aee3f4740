/* SPDX-License-Identifier: MIT */
#include "probes/pytorch/interval.h"

#include <string.h>

/* Shell sort: libc's qsort() may allocate, and there are few values. */
static void interval_sort(int64_t *values, size_t n)
{
	static const size_t gaps[] = { 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
		for (size_t i = gaps[g]; i < n; i++) {
			int64_t value = values[i];
			size_t at = i;

			for (; at >= gaps[g] && values[at - gaps[g]] > value; at -= gaps[g])
				values[at] = values[at - gaps[g]];
			values[at] = value;
		}
	}
}

static int64_t middle(const int64_t *sorted, size_t n)
{
	int64_t low = sorted[(n - 1) / 2], high = sorted[n / 2];

	return low + (high - low) / 2;
}

int64_t interval_median(int64_t *values, size_t n)
{
	if (!n)
		return 0;
	interval_sort(values, n);
	return middle(values, n);
}

/* How many values on either side are outside of the interval: the largest k for which fewer than
 * k of n tosses of a coin show heads with a probability of at most 2.5 %. */
static size_t interval_outside(size_t n)
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

bool interval_of(int64_t *values, size_t n, struct interval *out)
{
	size_t k;

	if (n < INTERVAL_LEAST || n > INTERVAL_MOST)
		return false;
	interval_sort(values, n);
	k = interval_outside(n);
	*out = (struct interval){ middle(values, n), values[k - 1], values[n - k] };
	return true;
}
