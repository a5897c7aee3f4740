/* SPDX-License-Identifier: MIT */
/*
 * What the files of the NVTX probe share: nvtx.c has the functions, and the connection at launch;
 * late.c attaches to a program that is already running.
 */
#ifndef PROBES_NVTX_PROBE_H
#define PROBES_NVTX_PROBE_H

#include "probes/nvtx/abi.h"
#include "probes/runtime/runtime.h"

#define NVTX_API __attribute__((visibility("default")))

extern struct rt_probe nvtx_probe;

enum nvtx_took {
	NVTX_TOOK_NOTHING,	/* there are no functions to take */
	NVTX_TOOK,
	NVTX_TAKEN,		/* late: they are another tool's */
};

/* Puts the probe's functions into a module's slots; `late`: into those that are empty. */
enum nvtx_took nvtx_take(const struct nvtx_callbacks *callbacks, bool late);
/* Handles made before are NULL: they are called unknown from here on. */
void nvtx_handles_unknown(void);
/* Of a module that has not begun yet, lets it begin. */
void nvtx_begin(const struct nvtx_callbacks *callbacks);
/* Looks at what was loaded since. Runtime's thread. */
void nvtx_late_tick(int64_t now_ns);

#endif
