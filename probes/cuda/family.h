/* SPDX-License-Identifier: MIT */
/*
 * family.h - the functions of a loaded libcupti, and CUPTI's two families of them (see library.h).
 * Used by library.c and family.c only.
 */
#ifndef TFTOP_PROBES_CUDA_FAMILY_H
#define TFTOP_PROBES_CUDA_FAMILY_H

#include "probes/cuda/decode.h"
#include "probes/cuda/library.h"

/* Sets every function of lib from the handle; NULL, or the name of one that is needed and
 * that it does not have. The one family there is until cupti_subscribe() chooses. */
const char *family_resolve(struct cupti_library *lib, void *handle);

/* Whether it has all of the second family. */
bool family_second(void);

#endif
