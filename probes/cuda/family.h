/* SPDX-License-Identifier: MIT */
/*
 * The functions of a loaded libcupti, and CUPTI's two families of functions (see library.h). Used
 * by library.c and family.c only.
 */
#ifndef TFTOP_PROBES_CUDA_FAMILY_H
#define TFTOP_PROBES_CUDA_FAMILY_H

#include "probes/cuda/decode.h"
#include "probes/cuda/library.h"

/* Looks up every function of lib by the handle; returns NULL, or the name of a required function
 * that is missing. The functions are those of the first family until cupti_subscribe() chooses. */
const char *family_resolve(struct cupti_library *lib, void *handle);

/* Whether the library has all functions of the second family. */
bool family_second(void);

#endif
