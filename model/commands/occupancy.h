/* SPDX-License-Identifier: MIT */
/*
 * How many warps of a launch a multiprocessor can hold at once, what keeps it from holding
 * more, and how well the grid's blocks fill the device: the theoretical occupancy.
 *
 * By NVIDIA's rules: the CUDA C++ Programming Guide ("Hardware Multithreading", "Technical
 * Specifications per Compute Capability") and the Best Practices Guide ("Calculating
 * Occupancy"); how registers and shared memory are given out is that of its occupancy
 * calculator (Nsight Compute, cuda_occupancy.h), against which a test holds this:
 *  - registers are a warp's, in pieces of 256, from one of the 4 (6.0: 2) parts that the
 *    multiprocessor's registers are divided into;
 *  - shared memory is a block's, in pieces of 256 bytes, from 8.0 on 128; from 8.0 on the
 *    system takes 1 KiB of it for each block.
 *
 * Always true: nothing is guessed. What is not told or not known makes `unknown` a reason,
 * and the rest 0. The program's carve-out for the cache is not known here, the most shared
 * memory that a multiprocessor can have is assumed; nor are clusters and named barriers.
 *
 * occupancy_of() keeps no state and may be called by any thread; the sums over a kernel's
 * launches (launches.c) need the model's lock.
 */
#ifndef MODEL_OCCUPANCY_H
#define MODEL_OCCUPANCY_H

#include <stdint.h>

#include "model/query/launch.h"

struct model;
struct kernel_total;

/* How a launch fits; registers are per thread, shared is bytes per block, static and dynamic;
 * units: how many multiprocessors there are. */
struct occupancy occupancy_of(const struct device_limits *limits, uint32_t units,
			      uint64_t blocks, uint32_t block_threads, uint32_t registers,
			      uint64_t shared);

/* The launches of a kernel together: their occupancy, weighted by time, and the limits of
 * the launches that took most time. Starts as zeroes; takes all totals of one kernel. */
struct occupancy_sum {
	unsigned __int128 weighted;	/* milli * ns */
	int64_t ns, most_ns;
	unsigned limits;
};
void occupancy_add(struct model *model, struct occupancy_sum *sum,
		   const struct kernel_total *total);
/* The mean in thousandths; -1: it is not known of any launch. */
int occupancy_mean(const struct occupancy_sum *sum);

#endif
