/* SPDX-License-Identifier: MIT */
/*
 * decode.h - a buffer of CUPTI's records, whatever release wrote them, as records of one
 * shape.
 *
 * Always true: nothing here allocates, locks, prints, calls the library except for the
 * function a walk is given, or keeps a pointer; any bytes are an answer or an end, never
 * a read outside of the buffer. A field that the record's release does not have is 0 (an
 * id: CUPTI_ID_NONE). Names are passed on as the pointers they are: who reads the text
 * must know that the buffer is the library's. Any thread, no state but the walk's.
 *
 * Bounds rule: a record ends where the next begins (or the buffer does). Of it is read
 * what that length has, and of a release in the table not more than that release wrote:
 * so a newer library's longer records are read as far as they are known, and an older
 * one's shorter ones as far as they go.
 */
#ifndef TFTOP_PROBES_CUDA_DECODE_H
#define TFTOP_PROBES_CUDA_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/cupti.h"

enum cuda_what {
	CUDA_NOTHING, /* a kind that is known and has nothing for us (calls, markers, attributes) */
	CUDA_UNKNOWN, /* a kind that is not known */
	CUDA_SHORT, /* shorter than the oldest layout of its kind: not read */
	CUDA_KERNEL,
	CUDA_COPY, /* between devices too: peer is set then */
	CUDA_FILL,
	CUDA_MEMORY,
	CUDA_POOL,
	CUDA_OVERHEAD,
	CUDA_GRAPH, /* one launch of a whole graph */
	CUDA_CONTEXT,
	CUDA_DEVICE,
	CUDA_STREAM,
	CUDA_JIT,
	CUDA_DECOMPRESS,
};

enum {
	CUDA_FROM_DEVICE = 1, /* launched by the device itself */
	CUDA_NO_TIME = 2, /* start or end is 0, or end before start: both are told as given */
};

struct cuda_record {
	enum cuda_what what;
	uint32_t flags; /* CUDA_FROM_DEVICE ... */
	uint32_t kind; /* CUPTI_KIND_*, as found */
	uint32_t device, context, stream; /* CUPTI_ID_NONE: not known */
	uint32_t correlation; /* 0: none */
	uint32_t graph; /* 0: none */
	uint64_t node; /* of the graph; 0: none */
	uint64_t start, end; /* ns of the library's clock; one time alone is in both */
	uint64_t bytes;
	union {
		struct {
			const char *name; /* mangled, may be NULL */
			uint32_t grid[3], block[3];
			uint32_t registers; /* per thread */
			uint32_t shared_static, shared_dynamic; /* bytes */
			uint64_t queued, submitted; /* 0 unless latency was asked for */
		} kernel;
		struct {
			uint8_t way, from, to; /* CUPTI_COPY_*, CUPTI_MEM_* */
			bool peer;
			uint32_t src_device, dst_device; /* of a peer copy */
		} copy;
		struct {
			bool release; /* else an allocation */
			uint8_t memory; /* CUPTI_MEM_* */
			uint64_t address;
			uint64_t pool, pool_size, pool_used; /* pool: its address, 0 of none */
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
		} made_context; /* of CUDA_CONTEXT; its id is the record's context */
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
		} of_device; /* of CUDA_DEVICE; its id is the record's device */
		struct {
			int32_t priority;
		} made_stream; /* of CUDA_STREAM */
		struct {
			uint32_t entry, operation; /* CUPTI_JIT_* */
		} jit;
	};
};

/*
 * cuda_decode() - one record of size bytes, written by release (CUPTI_RELEASE; 0: not
 * known, then only its length says which fields it has). True when out->what is one of
 * CUDA_KERNEL and after; else it says why not.
 */
bool cuda_decode(const void *record, size_t size, uint32_t release, struct cuda_record *out);

/* Bytes of a record of that kind as release writes it; 0 when the table has none. A
 * release after the last known writes what that one does, or more. */
size_t cupti_record_size(uint32_t kind, uint32_t release);

/* The first release that has the kind, 0 when it is not known. */
uint32_t cupti_kind_since(uint32_t kind);

/*
 * A walk over one buffer. next steps as cuptiActivityGetNextRecord does (*record NULL:
 * the first) and gives a cupti_result; NULL: the table of sizes steps, for buffers whose
 * library is not at hand.
 */
struct cuda_walk {
	int (*next)(void *user, uint8_t *buffer, size_t valid, void **record);
	void *user;
	uint8_t *buffer;
	size_t valid;
	uint32_t release;

	/* set by the walk */
	void *record, *ahead; /* this one, the one after */
	int result; /* why there is no further one: CUPTI_MAX_LIMIT is the end */
	uint32_t unknown, short_, odd; /* records not known, too short; of another length
	                                * than the release's */
};

void cuda_walk_begin(struct cuda_walk *walk, uint8_t *buffer, size_t valid, uint32_t release,
		     int (*next)(void *, uint8_t *, size_t, void **), void *user);

/* The next record that is known, with true; false at the end, with walk->result. What is
 * not known is counted and passed over. */
bool cuda_walk_next(struct cuda_walk *walk, struct cuda_record *out);

/* Bytes that were not read after an error, the last record's among them; 0 at the end. */
size_t cuda_walk_left(const struct cuda_walk *walk);

#endif
