/* SPDX-License-Identifier: MIT */
/*
 * Forward and backward: which op is whose gradient, by the names that
 * frameworks and people give. One table of patterns (passes.c); a name that
 * fits none is of no pass.
 *
 * Both passes of an op have one base: "conv1/forward" and "conv1/backward" have
 * "conv1", "aten::addmm" and "AddmmBackward0" have "addmm". The question is
 * model_passes() of query/flows.h.
 */
#ifndef MODEL_PASSES_H
#define MODEL_PASSES_H

#include <stddef.h>

enum pass { PASS_NONE, PASS_FORWARD, PASS_BACKWARD };

#define PASS_BASE_MAX 200

/* The base goes into `base` (size bytes); "" for PASS_NONE. Pure. */
enum pass pass_of(const char *name, char *base, size_t size);

#endif
