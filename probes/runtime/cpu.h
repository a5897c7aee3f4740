/* SPDX-License-Identifier: MIT */
/*
 * The CPU as a device: kernels that a library ran on the thread that called it. A queue holds the
 * kernels of one library on one thread, in order; its clock is the host's. A kernel that waited for
 * nothing has no launch: call_ns is 0.
 *
 * There are two ways to report a kernel, and both may report the same one:
 *  - rt_cpu_begin() and rt_cpu_end() around the kernel, with no more than its kind;
 *  - rt_cpu_ran() at or near its end, with all details: then rt_cpu_end() adds nothing.
 * What begins and ends on a thread that has no op open is a part of another thread's kernel
 * ("convolution, part"). Its op is that kernel's, if only one kernel of that kind is running.
 *
 * As everywhere here: nothing happens at level off, and errno is preserved.
 */
#ifndef PROBES_RUNTIME_CPU_H
#define PROBES_RUNTIME_CPU_H

#include "probes/runtime/runtime.h"

enum rt_library { RT_LIBRARY_ONEDNN, RT_LIBRARY_EIGEN, RT_LIBRARY_XLA, RT_LIBRARY_XLA_ASYNC,
		  RT_LIBRARY_BLAS, RT_LIBRARY_OPENMP, RT_LIBRARY_COUNT };

/* The device's id, also for allocations. Sends the definition of the device at the first call. */
RT_API uint32_t rt_cpu_device(void);

/* A kernel that ran on the calling thread, in the op on top of its stack. start_ns 0: it started
 * when rt_cpu_begin() was called, or else dur_ns ago. */
struct rt_cpu_kernel {
	uint32_t name, shape;		/* name id; shape id, 0: none */
	int64_t start_ns, dur_ns;
	uint64_t op;			/* the op it ran in; 0: the one on top */
	uint32_t op_name;
};
RT_API void rt_cpu_ran(enum rt_library library, const struct rt_cpu_kernel *kernel);

/* A copy that the library made, on the calling thread's queue of that library. */
struct rt_cpu_copy {
	uint32_t name, place;		/* as tft_command.shape; 0: unknown */
	uint32_t op_name;
	uint8_t direction;		/* enum tft_direction */
	uint64_t bytes, op;		/* op 0: none */
	int64_t start_ns, dur_ns;
};
RT_API void rt_cpu_copied(enum rt_library library, const struct rt_cpu_copy *copy);

/* kind: a name id; text: that name. Every rt_cpu_begin() needs an rt_cpu_end(). */
RT_API void rt_cpu_begin(enum rt_library library, uint32_t kind, const char *text);
RT_API void rt_cpu_end(enum rt_library library);

/* State of the calling thread, for libraries that call each other; NULL: the level is off, or
 * memory is short. */
struct rt_cpu_thread {
	uint32_t told;		/* kernels recorded so far */
	bool within;		/* inside a call of BLAS that will be recorded */
	int depth;		/* kernels that have begun: rt_cpu_begin() */
	uint32_t generation, epoch;	/* used by cpu.c only */
};
RT_API struct rt_cpu_thread *rt_cpu_thread(void);

#endif
