/* SPDX-License-Identifier: MIT */
/*
 * The functions by which a compiler starts a parallel region of OpenMP: those of GNU, whose first
 * arguments are the region's function and data. libtftop-start.so looks for them among the
 * functions that a library calls. Those of LLVM and Intel are recognised by name, so that a message
 * can say that they are not recorded.
 */
#ifndef PROBES_OMP_SYMBOLS_H
#define PROBES_OMP_SYMBOLS_H

#include <stdbool.h>
#include <string.h>

#define TFT_OMP_ENV "TFTOP_OMP"
#define TFT_OMP_ENTRY "tft_omp_start"

static inline bool omp_is_region(const char *name)
{
	return !strncmp(name, "GOMP_parallel", 13) &&
	       (!name[13] || !strncmp(name + 13, "_loop_", 6) || !strcmp(name + 13, "_sections") ||
		!strcmp(name + 13, "_reductions"));
}

static inline bool omp_is_other(const char *name)
{
	return !strcmp(name, "__kmpc_fork_call");
}

static inline bool omp_is_name(const char *name)
{
	return omp_is_region(name) || omp_is_other(name);
}

#endif
