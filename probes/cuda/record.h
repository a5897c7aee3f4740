/* SPDX-License-Identifier: MIT */
/*
 * record.h - writes CUPTI's buffers unchanged into a file: what a real library wrote on a real
 * device, for tests without a device (tests/data/cupti, docs/gpu.md).
 *
 * Nothing is written unless TFTOP_CUDA_RECORD names a file when the probe starts, and never more
 * than CUDA_RECORD_MOST bytes by a process. Blocks are appended, one for each buffer in one write,
 * so processes may share the file. In the byte order of the machine:
 *
 *	struct cuda_block
 *	uint8_t data[valid]		the buffer; pointers in it mean nothing any more
 *	struct cuda_step + text		`steps` times: where a known record lies, found by the
 *					library's own function, and its name
 *
 * Called on the flusher's thread, except cuda_block_make(), which any thread may call.
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
	uint32_t steps, bytes;		/* of all that follows */
};

struct cuda_step {
	uint32_t offset;		/* in data */
	uint32_t length;		/* of the name that follows; 0: none */
};

/*
 * A block of the buffer as walk has it before its first step, into room bytes of out.
 * Returns its size, 0 when there is no room; what does not fit of names is cut.
 */
size_t cuda_block_make(uint8_t *out, size_t room, struct cuda_walk *walk);

/* Opens what the variable names. false: it cannot be, errno says why, nothing is recorded. */
bool record_start(void);
/* Appends the buffer that walk begins with; the walk is the caller's copy. */
void record_buffer(struct cuda_walk walk);

#endif
