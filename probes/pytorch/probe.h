/* SPDX-License-Identifier: MIT */
/*
 * What the files of the PyTorch probe share.
 *
 * PyTorch calls back around each op (at::RecordFunction): calibrate.c finds out
 * where its object has what, ops.c makes ops of the calls, memory.c tells blocks
 * of memory. Sources: ATen/record_function.h, c10/core/Allocator.h.
 *
 * Callbacks run on the program's threads, most without the GIL. Nothing here takes a
 * lock around a call of the program or keeps a reference to an object of it.
 */
#ifndef PROBES_PYTORCH_PROBE_H
#define PROBES_PYTORCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/pytorch/symbols.h"
#include "probes/runtime/runtime.h"

/* ---- pytorch.c ---- */

extern const struct tft_interposed *torch_lib;	/* set before anything else is called */

/* Something cannot be seen: a message, and a part of what the probe says of
 * itself. `text` is a literal, one clause. */
void torch_blind(const char *text);

/* ---- calibrate.c ---- */

/* at::RecordFunctionCallback, by value: 40 bytes in 1.13 to 2.13. */
struct torch_callback {
	void *(*start)(void **context, const void *rf);
	void (*end)(const void *rf, void *context);
	double probability;
	uint8_t scopes[10], needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct torch_callback) == 40, "passed by value");

/* Offsets in at::RecordFunction in bytes, -1: not found, then do without. */
struct torch_layout {
	int scope;		/* uint8_t, enum torch_scope */
	int sequence;		/* int64_t, -1: none */
	int inputs;		/* IValue *, size_t */
	int forward_thread;	/* uint64_t, 0: none */
	int handle;		/* uint64_t, its own number */
	int is_schema;		/* uint8_t: 1, its name is that of an operator and stays */
	int schema;		/* const void *: that operator's; NULL never */
};
extern struct torch_layout torch_layout;

enum torch_scope {
	TORCH_FUNCTION = 0, TORCH_BACKWARD = 1, TORCH_SCRIPT = 2, TORCH_USER = 7,
};

/* PyTorch's own functions; all but the last two are there. */
struct torch_api {
	uint64_t (*add)(struct torch_callback callback);
	void (*remove)(uint64_t callback);
	const char *(*name)(const void *rf);
	uint64_t (*thread)(void);	/* its number of the calling thread, from 1 */
};
extern struct torch_api torch_api;

/* Finds both; false: this is no PyTorch whose ops can be seen. */
bool torch_calibrate(void);

/* ---- ops.c ---- */

/* Registers the callbacks, or takes them away. Runtime thread, or the one that loads
 * the probe. */
void torch_ops_level(enum tft_level level);
void torch_ops_tick(int64_t now_ns);
void torch_ops_fork_child(void);

/* ---- memory.c ---- */

struct torch_device {
	int8_t type, index;	/* c10::Device: 0 CPU, 1 CUDA, ... */
};
void *torch_alloc_cpu(size_t bytes);
void torch_free_cpu(void *block);
void torch_memory(void *block, int64_t bytes, size_t allocated, size_t reserved,
		  struct torch_device device);
void torch_memory_1(void *block, int64_t bytes, size_t allocated, size_t reserved,
		    struct torch_device device);

static inline uint64_t torch_u64(const void *object, int offset)
{
	uint64_t value;

	__builtin_memcpy(&value, (const char *)object + offset, sizeof(value));
	return value;
}

static inline uint8_t torch_u8(const void *object, int offset)
{
	return ((const uint8_t *)object)[offset];
}

#endif
