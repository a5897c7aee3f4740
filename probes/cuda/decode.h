/* SPDX-License-Identifier: MIT */
/*
 * Decodes a buffer of CUPTI's records, whatever release wrote them, into records of one form.
 *
 * Always true: nothing here allocates, locks, prints, keeps a pointer, or calls the library, except
 * for the function that a walk is given. Any bytes lead to a record or to an end, never to a read
 * outside of the buffer. A field that the record's release does not have is 0 (an id:
 * CUPTI_ID_NONE). Names are passed on as the pointers that they are: whoever reads the text must
 * know that the buffer comes from the library. Any thread; the only state is that of the walk.
 *
 * Bounds: a record ends where the next one starts, or where the buffer ends. Only what fits this
 * length is read and, for a release in the table, no more than that release wrote. So longer
 * records of a newer library are read as far as they are known, and shorter ones of an older
 * library as far as they go.
 */
#ifndef TFTOP_PROBES_CUDA_DECODE_H
#define TFTOP_PROBES_CUDA_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"

enum cuda_what {
	CUDA_NOTHING, /* known and has nothing of interest (calls, markers, attributes) */
	CUDA_UNKNOWN, /* the kind is unknown */
	CUDA_SHORT, /* shorter than the oldest layout of its kind, so it was not read */
	CUDA_KERNEL,
	CUDA_COPY, /* also between devices; then `peer` is set */
	CUDA_FILL,
	CUDA_MEMORY,
	CUDA_POOL,
	CUDA_OVERHEAD,
	CUDA_GRAPH, /* one launch of a whole graph */
	CUDA_CONTEXT,
	CUDA_DEVICE,
	CUDA_STREAM,
	CUDA_JIT,
};

enum {
	CUDA_FROM_DEVICE = 1, /* launched by the device itself */
	CUDA_NO_TIME = 2, /* start or end is 0, or end before start: both as recorded */
};

struct cuda_record {
	enum cuda_what what;
	uint32_t flags; /* CUDA_FROM_DEVICE ... */
	uint32_t kind; /* CUPTI_KIND_*, as in the record */
	uint32_t device, context, stream; /* CUPTI_ID_NONE: unknown */
	uint32_t correlation; /* 0: none */
	uint32_t graph; /* 0: none */
	uint64_t node; /* node of the graph; 0: none */
	uint64_t start, end; /* ns of the library's clock; a single time is in both */
	uint64_t bytes;
	union {
		struct {
			const char *name; /* mangled; may be NULL */
			uint32_t grid[3], block[3];
			uint32_t registers; /* per thread */
			uint32_t shared_static, shared_dynamic; /* bytes */
			uint64_t queued, submitted; /* 0 unless latency timestamps were requested */
		} kernel;
		struct {
			uint8_t way, from, to; /* CUPTI_COPY_*, CUPTI_MEM_* */
			bool peer;
			uint32_t src_device, dst_device; /* for copies between devices */
		} copy;
		struct {
			bool release; /* true: a release, false: an allocation */
			uint8_t memory; /* CUPTI_MEM_* */
			uint64_t address;
			uint64_t pool, pool_size, pool_used; /* pool: its address, 0: none */
			uint8_t pool_type; /* CUPTI_POOL_LOCAL, _IMPORTED */
		} memory;
		struct {
			uint8_t type; /* CUPTI_POOL_LOCAL, _IMPORTED */
			uint64_t address, size, used;
		} pool;
		struct {
			uint32_t what; /* CUPTI_OVERHEAD_* */
		} overhead;
		struct {
			uint32_t null_stream;
			bool green;
		} made_context; /* for CUDA_CONTEXT; its id is the record's context */
		struct {
			uint64_t bandwidth; /* bytes per second */
			uint64_t memory; /* bytes */
			uint32_t clock; /* kHz */
			uint32_t capability; /* 10 * major + minor */
			uint32_t units;
			uint32_t threads_per_unit, blocks_per_unit, registers_per_unit,
				shared_per_unit, registers_per_block, shared_per_block;
			uint8_t uuid[16], mig_uuid[16];
			bool mig;
			const char *name;
		} of_device; /* for CUDA_DEVICE; its id is the record's device */
		struct {
			int32_t priority;
		} made_stream; /* for CUDA_STREAM */
		struct {
			uint32_t entry, operation; /* CUPTI_JIT_* */
		} jit;
	};
};

/*
 * Decodes one record of size bytes that was written by `release` (CUPTI_RELEASE; 0: unknown, then
 * only the record's length says which fields it has). Returns true if out->what is CUDA_KERNEL or
 * one of the values after it; otherwise out->what says why the record was not decoded.
 */
bool cuda_decode(const void *record, size_t size, uint32_t release, struct cuda_record *out);

/* The size of a record of that kind as `release` writes it; 0: it is not in the table. A release
 * after the last known one writes what that one does, or more. */
size_t cupti_record_size(uint32_t kind, uint32_t release);

/* The first release that has the kind; 0: unknown. */
uint32_t cupti_kind_since(uint32_t kind);

/*
 * A walk over one buffer. next() steps as cuptiActivityGetNextRecord does (*record NULL: the first
 * record) and returns a cupti_result. next NULL: the walk steps by the table of sizes, for buffers
 * whose library is not present.
 */
struct cuda_walk {
	int (*next)(void *user, uint8_t *buffer, size_t valid, void **record);
	void *user;
	uint8_t *buffer;
	size_t valid;
	uint32_t release;

	/* set by the walk */
	void *record, *ahead; /* the current record, and the one after it */
	int result; /* why there are no more records: CUPTI_MAX_LIMIT is the end */
	/* how many records had an unknown kind; were too short; had another length than their
	 * release's */
	uint32_t unknown, short_, odd;
};

void cuda_walk_begin(struct cuda_walk *walk, uint8_t *buffer, size_t valid, uint32_t release,
		     int (*next)(void *, uint8_t *, size_t, void **), void *user);

/* The next record whose kind is known, with true; false at the end, with walk->result. Unknown
 * records are counted and skipped. */
bool cuda_walk_next(struct cuda_walk *walk, struct cuda_record *out);

/* How many bytes were not read because of an error, including those of the last record; 0: none. */
size_t cuda_walk_left(const struct cuda_walk *walk);

#endif
