/* SPDX-License-Identifier: MIT */
/*
 * Questions about the program's memory: per allocator and device what is
 * allocated, what the peak was and who held it, how it went over time and
 * whether it grows from step to step. The rules of query.h apply.
 *
 * Exact for the whole run whatever the order of arrival, as long as an event is
 * not later than its source said it would be (settled); counts of what cannot
 * be right stand beside. Bytes; times in ns of host 0.
 *
 * A process that ended has given everything back: it is in no level over time
 * any more, but what it had not freed stays in live_bytes.
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
	uint32_t device;		/* model-wide, UINT32_MAX: none, or several */
	uint32_t account;		/* for model_memory_columns() */
	bool host;			/* the host's memory, in no device's total */
	uint64_t live_bytes, peak_bytes, allocated_bytes;
	uint64_t allocations, frees;
	int64_t peak_ns;		/* when the peak was reached; 0: never anything */
	uint64_t unknown_frees;		/* of what was not known to be allocated; in frees */
	uint64_t missed_frees;		/* allocated again without having been freed */
	uint64_t late;			/* came after their time was final */
	/* Who held most at the peak, and holds most now: ops, most first. */
	size_t n_peak_ops, n_ops;
	const char *peak_ops[MEMORY_HOLDERS], *ops[MEMORY_HOLDERS];
	uint64_t peak_op_bytes[MEMORY_HOLDERS], op_bytes[MEMORY_HOLDERS];
	uint64_t peak_no_op_bytes, no_op_bytes;	/* allocated outside of ops */
	/* 0: it does not grow from step to step (or there are no steps). */
	uint64_t growth_bytes_per_step;
};

/* By peak. *out owned by the caller. [locked] */
size_t model_memory(struct model *model, struct memory_row **out);

/*
 * An allocator that hands out pieces (chunks) of regions it got once, as
 * TensorFlow's BFCAllocator: what of the regions is in no chunk is free, and a free
 * chunk ends where the next one begins. Bins are that allocator's: bin i has chunks
 * of 256 << i bytes and more, the last all larger ones.
 */
#define MEMORY_BINS 21u

struct memory_bin { uint64_t used, used_bytes, free, free_bytes; };	/* chunks */

struct memory_chunks {
	bool known;			/* false: not all of its regions or chunks were seen */
	uint64_t regions, reserved_bytes, used, used_bytes, free, free_bytes;
	uint64_t largest_free_bytes;
	/* Of what is free, not in the largest free chunk (of each process), 1/1000. */
	uint32_t fragmentation;
	struct memory_bin bins[MEMORY_BINS];
};

/* As of now, or as the processes ended. false: not such an allocator. [locked] */
bool model_memory_chunks(struct model *model, uint32_t account, struct memory_chunks *out);

/* Steps whose ends the growth was taken from. [locked] */
uint64_t model_memory_steps(struct model *model);

struct memory_column {
	uint64_t min, mean, max;
	bool known;			/* false: after the live edge */
	bool approx;			/* min and max are those of a wider time */
};

/* Live bytes over [t0, t1) in n columns. Unknown account: all zero. [locked] */
void model_memory_columns(struct model *model, uint32_t account, int64_t t0, int64_t t1,
			  size_t n, struct memory_column *out);

#endif
