/* SPDX-License-Identifier: MIT */
/*
 * Made-up memory of a program with Python, in the form of each version, for the readers of
 * probes/host.
 */
#ifndef TESTS_UNIT_HOST_WORLD_H
#define TESTS_UNIT_HOST_WORLD_H

#include "probes/host/frames.h"
#include "tests/unit/python_said.h"

#define WORLD 16384u
#define WORLD_AT 0x10000u	/* the address that it has for the reader */
#define FRAMES_AT 0x400u	/* offsets in it */
#define CODES_AT 0x800u
#define STRINGS_AT 0x1000u
#define TABLES_AT 0x1800u
#define COPIES_AT 0x1a00u
#define FUNCTIONS 3u
#define TID 4711u
#define SELF 0x7f0000001700u	/* what pthread_self() is in that thread */
#define CODE_TYPE 0x5000u
#define STR_TYPE 0x5100u
#define BYTES_TYPE 0x5200u
#define FRAME_TYPE 0x5300u
#define RUNS 0			/* whose a frame is, or whether it runs */
#define SUSPENDED 1
#define SHIM 3

#define VERSIONS 9u
#define OBJECTS 3u		/* so many of them, the first ones, have frames on the heap */
static const unsigned long versions[VERSIONS] = {
	0x030812f0, 0x030912f0, 0x030a0df0, 0x030b02f0, 0x030c01f0, PYTHON_3_13,
	PYTHON_3_14, PYTHON_3_14T, PYTHON_3_15,
};

extern unsigned world_mutations;	/* how many bytes change with each read; only of frames */
/* The four frames lie as on a stack, each behind its caller; or else the other way round. */
extern bool world_stack;

/* As host_python.read. */
bool world_read(const struct iovec *to, const struct iovec *from, size_t n);
/* Writes so many bytes of a value at an address. */
void world_put(uintptr_t at, int offset, uint64_t value, size_t bytes);

/* Addresses of code objects, of frames, and of arrays of a code's copies. */
uintptr_t world_code(uint32_t i);
uintptr_t world_frame(uint32_t i);
uintptr_t world_copies(uint32_t i);
/* Where a function's bytecode is: its copy 0, which is in its code, or copy 2; copy 1 is unused. */
uintptr_t world_bytecode(const struct py_layout *layout, uint32_t code, int32_t copy);

void world_put_str(const struct py_layout *layout, uintptr_t at, const char *text);
void world_put_code(const struct py_layout *layout, uint32_t i, const char *file,
		    const char *function, int32_t first_line);
/* instr: in bytes from the first instruction; -2: before it */
void world_put_frame(const struct py_layout *layout, uint32_t i, uint32_t code, int instr,
		     uintptr_t previous, uint8_t owner);
/* The frame that called the second one: a frame of C where there are such. */
uintptr_t world_outer(const struct py_layout *layout);

/* Two thread states, of which the second is ours: in json of Python's library, called by load() of
 * the user, which main() called; between the last two is a frame of C where there are such. */
void world_make(struct host_python *py, const struct py_layout *layout);

#endif
