/* SPDX-License-Identifier: MIT */
/*
 * Writes CUPTI's buffers unchanged to a file: what a real library wrote on a real device, for tests
 * without a device (tests/data/cupti, docs/gpu.md).
 *
 * Nothing is written unless TFTOP_CUDA_RECORD names a file when the probe starts, and a process
 * never writes more than CUDA_RECORD_MOST bytes. Each buffer is appended as a block with a single
 * write, so that processes may share the file. In the byte order of the machine:
 *
 * 	struct cuda_block
 * 	uint8_t data[valid]		the buffer; pointers in it have no meaning any more
 * 	struct cuda_step + text		`steps` times: where a known record is, found by the
 * 					library's own function, and its name
 *
 * All functions are called on the flusher's thread, except for cuda_block_make(), which any thread
 * may call.
 */
#ifndef TFTOP_PROBES_CUDA_RECORD_H
#define TFTOP_PROBES_CUDA_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "probes/cuda/decode.h"

#define TFT_CUDA_RECORD_ENV "TFTOP_CUDA_RECORD"
#define CUDA_RECORD_MOST (16u << 20)
#define CUDA_BLOCK_MAGIC 0x31425043u	/* "CPB1" */

struct cuda_block {
	uint32_t magic, release;	/* CUPTI_RELEASE of the library */
	uint64_t valid;
	uint32_t steps, bytes;		/* size of everything that follows */
};

struct cuda_step {
	uint32_t offset;		/* offset of the record in data */
	uint32_t length;		/* length of the name that follows; 0: none */
};

/*
 * Makes a block of the buffer that walk describes before its first step, in `room` bytes at out.
 * Returns its size; 0: there is no room. Names that do not fit are cut.
 */
size_t cuda_block_make(uint8_t *out, size_t room, struct cuda_walk *walk);

/* Opens the file that the variable names. false: that is impossible, errno says why, and nothing is
 * recorded. */
bool record_start(void);
/* Appends the buffer at which walk starts; the walk is a copy of the caller's. */
void record_buffer(struct cuda_walk walk);

#endif
