/* SPDX-License-Identifier: MIT */
/*
 * What the files of the NVTX probe share: nvtx.c has the functions, inject.c the connection
 * at launch; late.c attaches to a program that is already running; tsl.c reads the ranges of XLA.
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

/* ---- XLA's ranges: tag 0 is a range of anyone, others say what XLA's range stands for ---- */

/* A domain has been created: it may be XLA's. */
void tsl_domain(const char *text, uint32_t name);
bool tsl_is_domain(uint32_t name);
/* The name of a range of XLA's domain, and its tag. */
uint32_t tsl_name(const char *text, unsigned *tag);
/* Whether XLA's name of a device says only its number. */
bool tsl_is_number(const char *text);
/* Makes the args of a range those of what the tag says. */
void tsl_args(struct rt_op_args *args, unsigned tag);

#endif
