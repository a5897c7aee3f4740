/* SPDX-License-Identifier: MIT */
/*
 * Understands what profilers write into names and texts: "name:Type", "MEMCPYHtoD 64 bytes
 * (PAGEABLE to DEVICE)", "regs:32 grid:1,2,3 block:64,1,1", "ProfilerStep#12". Nothing here fails:
 * what is not found is absent. No state.
 */
#ifndef MODEL_IMPORT_DETAILS_H
#define MODEL_IMPORT_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

/* "conv/Relu:_FusedConv2D": length of the op's name without its type; 0: the text is not such a
 * name. */
size_t details_op(const char *text, size_t size);

/* The number after "key:" in a text that consists of such words; false: it is not there. */
bool details_number(const char *text, const char *key, uint64_t *value);
/* The same for three numbers, "key:1,2,3". */
bool details_triple(const char *text, const char *key, uint64_t values[3]);

/* The direction of a copy, from its name or its label, which may also have the form
 * "kind_src:pageable kind_dst:device"; DIR_NONE: it is not a copy. */
enum direction details_direction(const char *text);
/* The bytes of "MEMCPYHtoD 123 bytes": 123. */
uint64_t details_bytes(const char *text);

/* The kind of a stream's event, from its name. */
enum command_kind details_kind(const char *name);

/* A decimal number as ns, exact to 1 ns. scale: ns per unit, 1000 for µs. false: it is not a
 * number, or not a possible time. */
bool details_time(const char *text, size_t size, int64_t scale, int64_t *ns);

/* What a Python function is called, of Kineto's name for it: "_Graph.replay" of "<built-in method
 * replay of _Graph object at 0x7f00>", "train.py:12 forward" of "/home/me/train.py(12): forward".
 * false: the name has another form. */
bool details_python(const char *name, char *text, size_t size);

/* The number of "ProfilerStep#12": 12; -1: the name has another form. */
int64_t details_step(const char *name);

#endif
