/* SPDX-License-Identifier: MIT */
/*
 * Reads x86-64 code as far as is needed to know where its jumps lead: whether the first bytes of a
 * function may be replaced, because none of its own jumps leads into the middle of them.
 *
 * Always true: what is not known for certain counts as a jump that could lead there. Those are
 * instructions that this file cannot measure, and jumps whose target is computed.
 *
 * Threads: any; nothing is kept.
 */
#ifndef PROBES_JAX_BRANCHES_H
#define PROBES_JAX_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether no jump of the function leads to the bytes from `code` + 1 up to `first` bytes. */
bool branches_avoid(const uint8_t *code, size_t size, size_t first);

#endif
