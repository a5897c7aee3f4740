/* SPDX-License-Identifier: MIT */
/*
 * Forward and backward passes: which op is the gradient of which, by the names that frameworks
 * and people give. passes.c has one table of patterns; a name that fits none belongs to no pass.
 *
 * Both passes of an op have the same base: "conv1" for "conv1/forward" and "conv1/backward",
 * "addmm" for "aten::addmm" and "AddmmBackward0". The question is model_passes() in
 * query/flows.h.
 */
#ifndef MODEL_PASSES_H
#define MODEL_PASSES_H

#include <stddef.h>

enum pass { PASS_NONE, PASS_FORWARD, PASS_BACKWARD };

#define PASS_BASE_MAX 200

/* Writes the base into `base` (size bytes), "" for PASS_NONE. Pure. */
enum pass pass_of(const char *name, char *base, size_t size);

#endif
