/* SPDX-License-Identifier: MIT */
/*
 * Questions about the program's memory, by allocator and device: what is allocated, the peak and
 * its holders, the level over time, and growth from step to step. The rules of query.h apply.
 *
 * Exact for the whole run, whatever the order of arrival, as long as an event is not later than
 * its source promised (settled); impossible events are counted. Sizes are in bytes, times in ns
 * of host 0.
 *
 * A process that ended has freed everything: it does not count in the level over time any more,
 * but what it had not freed itself stays in live_bytes.
 */
#ifndef MODEL_QUERY_MEMORY_H
#define MODEL_QUERY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define MEMORY_HOLDERS 8

struct memory_row {
	const char *allocator;
	uint32_t device;		/* model-wide; UINT32_MAX: no device, or several */
	uint32_t account;		/* index for model_memory_columns() */
	bool host;			/* host memory, which counts in no device's total */
	uint64_t live_bytes, peak_bytes, allocated_bytes;
	uint64_t allocations, frees;
	int64_t peak_ns;		/* when the peak was reached; 0: nothing was allocated */
	uint64_t unknown_frees;		/* frees of unknown allocations; included in frees */
	uint64_t missed_frees;		/* addresses allocated again without a free */
	uint64_t late;			/* arrived after their time was final */
	/* The ops that held most memory at the peak, and those that hold most now, in that
	 * order. */
	size_t n_peak_ops, n_ops;
	const char *peak_ops[MEMORY_HOLDERS], *ops[MEMORY_HOLDERS];
	uint64_t peak_op_bytes[MEMORY_HOLDERS], op_bytes[MEMORY_HOLDERS];
	uint64_t peak_no_op_bytes, no_op_bytes;	/* allocated outside of ops */
	/* 0: no growth from step to step, or there are no steps. */
	uint64_t growth_bytes_per_step;
};

/* All accounts, by peak. The caller owns *out. [locked] */
size_t model_memory(struct model *model, struct memory_row **out);

/*
 * An allocator that hands out pieces (chunks) of regions, like TensorFlow's BFCAllocator: the
 * parts of regions outside chunks are free, and a free chunk ends where the next chunk begins.
 * Bins are as in that allocator: bin i has chunks of 256 << i bytes and more, the last all larger
 * ones.
 */
#define MEMORY_BINS 21u

struct memory_bin { uint64_t used, used_bytes, free, free_bytes; };	/* chunks */

struct memory_chunks {
	bool known;			/* false: some of the regions or chunks were not seen */
	uint64_t regions, reserved_bytes, used, used_bytes, free, free_bytes;
	uint64_t largest_free_bytes;
	/* The share of free memory outside the largest free chunk (of each process), in
	 * thousandths. */
	uint32_t fragmentation;
	struct memory_bin bins[MEMORY_BINS];
};

/* The chunks as they are now, or as they were when the processes ended. false: the allocator does
 * not report chunks. [locked] */
bool model_memory_chunks(struct model *model, uint32_t account, struct memory_chunks *out);

/* How many steps the growth was measured over. [locked] */
uint64_t model_memory_steps(struct model *model);

struct memory_column {
	uint64_t min, mean, max;
	bool known;			/* false: the column is after the live edge */
	bool approx;			/* min and max cover a longer time than the column */
};

/* Live bytes over [t0, t1) in n columns; for an unknown account all are zero. [locked] */
void model_memory_columns(struct model *model, uint32_t account, int64_t t0, int64_t t1,
			  size_t n, struct memory_column *out);

#endif
