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
	NVTX_TOOK_NOTHING,	/* there are no functions to replace */
	NVTX_TOOK,
	NVTX_TAKEN,		/* late: another tool has replaced them */
};

/* Puts the probe's functions into a module's slots; `late`: into those that are empty. */
enum nvtx_took nvtx_take(const struct nvtx_callbacks *callbacks, bool late);
/* From now on, handles that are NULL are taken as unknown ones, because they may have been made
 * before. */
void nvtx_handles_unknown(void);
/* Initialises a module that has not been initialised yet. */
void nvtx_begin(const struct nvtx_callbacks *callbacks);
/* Looks at the libraries that have been loaded since. Runtime's thread. */
void nvtx_late_tick(int64_t now_ns);

#endif
