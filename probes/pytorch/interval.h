/* SPDX-License-Identifier: MIT */
/*
 * The median of a sample and a confidence interval for it that assumes no distribution: the k-th
 * smallest and the k-th largest value hold the median between them with a probability that is
 * binomial (M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3rd edition,
 * section 3.6: the interval of the sign test). A step that the system disturbed moves it by one
 * place, however long that step took.
 *
 * Pure functions; any thread.
 */
#ifndef PROBES_PYTORCH_INTERVAL_H
#define PROBES_PYTORCH_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_LEAST 6u	/* with fewer values no interval holds 95 % */
#define INTERVAL_MOST 512u

struct interval {
	int64_t median, low, high;	/* low and high hold it between them with at least 95 % */
};

/* Sorts the values. */
int64_t interval_median(int64_t *values, size_t n);
/* Sorts the values. false: there are fewer than INTERVAL_LEAST or more than INTERVAL_MOST. */
bool interval_of(int64_t *values, size_t n, struct interval *out);

#endif
