/* SPDX-License-Identifier: MIT */
/*
 * How many warps of a launch a multiprocessor can hold at once, what keeps it from holding more,
 * and how well the grid's blocks fill the device: the theoretical occupancy.
 *
 * The rules are NVIDIA's: the CUDA C++ Programming Guide ("Hardware Multithreading", "Technical
 * Specifications per Compute Capability") and the Best Practices Guide ("Calculating Occupancy").
 * Registers and shared memory are allocated as in its occupancy calculator (Nsight Compute,
 * cuda_occupancy.h), with which a test compares the results:
 *  - registers are allocated per warp, in units of 256, from one of the 4 (6.0: 2) parts of the
 *    multiprocessor's register file;
 *  - shared memory is allocated per block, in units of 256 bytes (128 from 8.0 on); from 8.0 on
 *    the system reserves 1 KiB of it for each block.
 *
 * Always true: nothing is guessed. When something is unknown, `unknown` names the reason and all
 * other fields are 0. Not considered: the program's carve-out for the cache (the largest shared
 * memory of a multiprocessor is assumed), clusters and named barriers.
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

/* The occupancy of a launch; registers: per thread; shared: bytes per block, static and dynamic;
 * units: number of multiprocessors. */
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
/* The mean in thousandths; -1: it is unknown for all launches. */
int occupancy_mean(const struct occupancy_sum *sum);

#endif
