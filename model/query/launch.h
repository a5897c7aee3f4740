/* SPDX-License-Identifier: MIT */
/*
 * How kernels are launched on a GPU: grids, blocks, the resources of a block, and how many blocks
 * fit. As in query.h, functions marked [locked] need the model's lock; arrays given out are
 * snapshots, owned by the caller, freed with free().
 */
#ifndef MODEL_QUERY_LAUNCH_H
#define MODEL_QUERY_LAUNCH_H

#include "model/query/query.h"

/* What keeps a multiprocessor from holding more blocks; several limits may apply at once. */
enum occupancy_limit {
	OCCUPANCY_WARPS = 1, OCCUPANCY_BLOCKS = 2, OCCUPANCY_REGISTERS = 4, OCCUPANCY_SHARED = 8,
};

struct occupancy {
	const char *unknown;		/* why the occupancy is unknown; NULL: it is known */
	uint32_t resident;		/* how many blocks one multiprocessor can hold at once */
	/* warps of these blocks, and the maximum of the multiprocessor */
	uint32_t warps, warps_max;
	unsigned limits;		/* enum occupancy_limit */
	uint64_t slots;			/* how many blocks the whole device can hold at once */
	/* How many times the device is filled until all blocks have run, in thousandths; and how
	 * many thousandths of all slots stay empty in the last of these waves. */
	uint64_t waves_milli;
	uint32_t tail_milli;
};

/* The occupancy in thousandths; 0: unknown. */
static inline uint32_t occupancy_milli(const struct occupancy *o)
{
	return o->warps_max ? (uint32_t)((uint64_t)o->warps * 1000 / o->warps_max) : 0;
}

/* One geometry with which a kernel was launched, and its runs. */
struct kernel_launch {
	uint32_t device;		/* model-wide, UINT32_MAX: unknown */
	uint32_t dims;			/* 0: no geometry is known */
	uint64_t grid[3];		/* in blocks */
	uint32_t block[3];		/* in threads (work items); 0: chosen by the driver */
	/* per thread; 0: not reported; the same holds for the next two members */
	uint32_t registers;
	uint32_t shared_static, shared_dynamic;	/* bytes per block */
	uint64_t count, timed;
	int64_t total_ns;
	struct occupancy occupancy;
};

/* The launches of the kernels with this name (kernel_row.raw_name) on a device (UINT32_MAX: on any
 * device), those with most time first. [locked] */
size_t model_kernel_launches(struct model *model, const char *raw_name, uint32_t device,
			     struct kernel_launch **out);

/* Writes the names of the limits ("registers", "warps and blocks", ...) to out, and returns out. */
char *occupancy_limits(char *out, size_t size, unsigned limits);

#endif
