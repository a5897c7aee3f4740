/* SPDX-License-Identifier: MIT */
/*
 * What the files of the OpenMP probe share: omp.c is the probe, regions.c has the functions that
 * are called instead of the OpenMP runtime's, names.c finds the name of a region's function in the
 * symbols of its file.
 */
#ifndef PROBES_OMP_PROBE_H
#define PROBES_OMP_PROBE_H

#include <stddef.h>

#include "probes/start/libraries.h"

/* The name of the function at this address or, if it has none, of its file with the offset in it.
 * Takes some milliseconds in a large library. */
void omp_function_name(const void *function, char *text, size_t size);

/* The function of the probe that replaces this one; NULL: no more replacements are left, or the
 * function already is one. */
void *omp_region(const struct tft_import *import);

#endif
