/* SPDX-License-Identifier: MIT */
/* Launch geometries of kernels with what they take of a device. Under the model's lock. */
#ifndef MODEL_LAUNCHES_H
#define MODEL_LAUNCHES_H

#include <stdint.h>

#include "model/query/launch.h"

struct model;
struct kernel_total;

/* Over a kernel's launches: mean occupancy by time and its commonest limits. Begins as
 * zeroes; one for all the totals of a kernel. */
struct occupancy_sum {
	unsigned __int128 weighted;	/* milli * ns */
	int64_t ns, most_ns;
	unsigned limits;
};
void occupancy_add(struct model *model, struct occupancy_sum *sum,
		   const struct kernel_total *total);
/* -1: nothing is known. */
int occupancy_mean(const struct occupancy_sum *sum);

#endif
