/* SPDX-License-Identifier: MIT */
/*
 * What NVIDIA's own calculator (cuda_occupancy.h, a header of plain functions) says of random
 * launches, against model/commands/occupancy.h. occupancy_vendor [SEED]: compares 200000, one
 * line for each that differs; occupancy_vendor print N: N lines for tests/data/occupancy.txt.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_occupancy.h>

#include "model/commands/occupancy.h"

#define KIB 1024u
#define COMPARED 200000

/* Compute capability, threads and registers of a multiprocessor, its shared memory, and the opt-in
 * limit. */
static const struct unit {
	int capability, threads;
	unsigned shared, optin;
} units[] = {
	{ 50, 2048, 64 * KIB, 48 * KIB }, { 52, 2048, 96 * KIB, 48 * KIB },
	{ 60, 2048, 64 * KIB, 48 * KIB }, { 61, 2048, 96 * KIB, 48 * KIB },
	{ 70, 2048, 96 * KIB, 96 * KIB }, { 75, 1024, 64 * KIB, 64 * KIB },
	{ 80, 2048, 164 * KIB, 163 * KIB }, { 86, 1536, 100 * KIB, 99 * KIB },
	{ 87, 1536, 164 * KIB, 163 * KIB }, { 89, 1536, 100 * KIB, 99 * KIB },
	{ 90, 2048, 228 * KIB, 227 * KIB }, { 100, 2048, 228 * KIB, 227 * KIB },
	{ 103, 2048, 228 * KIB, 227 * KIB }, { 120, 1536, 100 * KIB, 99 * KIB },
	{ 121, 1536, 100 * KIB, 99 * KIB },
};

struct launch { const struct unit *unit; int threads, registers; unsigned fixed, dynamic; };

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((state >> 33) % n);
}

static struct launch any_launch(void)
{
	const struct unit *unit = &units[below(sizeof(units) / sizeof(units[0]))];
	struct launch l = { .unit = unit, .threads = 1 + (int)below(1024),
			    .registers = 1 + (int)below(255) };

	if (below(2))
		l.threads = 32 * (1 + (int)below(32));
	if (below(3))
		l.fixed = below(48 * KIB);
	if (!below(3))
		l.dynamic = below(unit->optin - l.fixed);
	return l;
}

/* Returns false if such a launch fails. */
static bool ask_vendor(const struct launch *l, int *blocks, cudaOccResult *result)
{
	cudaOccDeviceProp device = {
		.computeMajor = l->unit->capability / 10, .computeMinor = l->unit->capability % 10,
		.maxThreadsPerBlock = 1024, .maxThreadsPerMultiprocessor = l->unit->threads,
		.regsPerBlock = l->unit->capability == 52 ? 32768 : 65536,
		.regsPerMultiprocessor = 65536, .warpSize = 32, .sharedMemPerBlock = 48 * KIB,
		.sharedMemPerMultiprocessor = l->unit->shared, .numSms = 100,
		.sharedMemPerBlockOptin = l->unit->optin,
		.reservedSharedMemPerBlock = l->unit->capability >= 80 ? KIB : 0,
	};
	cudaOccFuncAttributes function = {
		.maxThreadsPerBlock = 1024, .numRegs = l->registers, .sharedSizeBytes = l->fixed,
		.partitionedGCConfig = PARTITIONED_GC_OFF,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN, .maxDynamicSharedSizeBytes = l->dynamic,
		.numBlockBarriers = 1,
	};
	cudaOccDeviceState none = { .cacheConfig = CACHE_PREFER_NONE,
				    .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT };

	cudaOccMaxBlocksPerMultiprocessor(blocks, &device);
	return !cudaOccMaxActiveBlocksPerMultiprocessor(result, &device, &function, &none,
							l->threads, l->dynamic) &&
	       result->activeBlocksPerMultiprocessor > 0;
}

static unsigned our_bits(unsigned factors)
{
	return (factors & OCC_LIMIT_WARPS ? OCCUPANCY_WARPS : 0) |
	       (factors & OCC_LIMIT_BLOCKS ? OCCUPANCY_BLOCKS : 0) |
	       (factors & OCC_LIMIT_REGISTERS ? OCCUPANCY_REGISTERS : 0) |
	       (factors & OCC_LIMIT_SHARED_MEMORY ? OCCUPANCY_SHARED : 0);
}

int main(int argc, char **argv)
{
	bool print = argc > 2 && !strcmp(argv[1], "print");
	int wanted = print ? atoi(argv[2]) : COMPARED, differ = 0;

	state = argc == 2 ? strtoull(argv[1], NULL, 0) : 1;
	for (int done = 0; done < wanted; ) {
		struct launch l = any_launch();
		struct device_limits limits = {
			.capability = (uint32_t)l.unit->capability,
			.threads = (uint32_t)l.unit->threads, .registers = 65536,
			.shared = l.unit->shared,
		};
		cudaOccResult result;
		struct occupancy o;
		int blocks = 0;

		if (!ask_vendor(&l, &blocks, &result))
			continue;
		done++;
		limits.blocks = (uint32_t)blocks;
		o = occupancy_of(&limits, 100, 1000, (uint32_t)l.threads, (uint32_t)l.registers,
				 l.fixed + l.dynamic);
		if (print)
			printf("%d %d %d %u  %d %d %u  %d %u\n", l.unit->capability,
			       l.unit->threads, blocks, l.unit->shared, l.threads, l.registers,
			       l.fixed + l.dynamic, result.activeBlocksPerMultiprocessor,
			       our_bits(result.limitingFactors));
		if (!o.unknown && (int)o.resident == result.activeBlocksPerMultiprocessor &&
		    o.limits == our_bits(result.limitingFactors))
			continue;
		if (!differ++)
			fprintf(stderr,
				"%d.%d, %d threads, %d registers, %u bytes: %s %u blocks by %x, "
				"not %d by %x\n",
				l.unit->capability / 10, l.unit->capability % 10, l.threads,
				l.registers, l.fixed + l.dynamic, o.unknown ? o.unknown : "",
				o.resident, o.limits, result.activeBlocksPerMultiprocessor,
				our_bits(result.limitingFactors));
	}
	if (!print)
		printf("%d differ\n", differ);
	return differ > 0;
}
