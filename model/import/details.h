/* SPDX-License-Identifier: MIT */
/*
 * What profilers write into names and texts: "name:Type", "MEMCPYHtoD 64 bytes (PAGEABLE to
 * DEVICE)", "regs:32 grid:1,2,3 block:64,1,1", "ProfilerStep#12". Nothing here fails: what is
 * not found is absent. No state.
 */
#ifndef MODEL_IMPORT_DETAILS_H
#define MODEL_IMPORT_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

/* "conv/Relu:_FusedConv2D": the op's name without its type; 0: no such name. */
size_t details_op(const char *text, size_t size);

/* The number after "key:" in a text of such words; false: not there. */
bool details_number(const char *text, const char *key, uint64_t *value);
/* "key:1,2,3" */
bool details_triple(const char *text, const char *key, uint64_t values[3]);

/* The direction of a copy by its name or its label; DIR_NONE: it is none. Also
 * "kind_src:pageable kind_dst:device". */
enum direction details_direction(const char *text);
/* "MEMCPYHtoD 123 bytes": 123. */
uint64_t details_bytes(const char *text);

/* What a stream's event is, by its name. */
enum command_kind details_kind(const char *name);

/* The decimal number in ns; scale: of its unit, 1000 for µs. false: no number,
 * or one that is no time. Exact to 1 ns. */
bool details_time(const char *text, size_t size, int64_t scale, int64_t *ns);

/* "ProfilerStep#12": 12; -1: not that. */
int64_t details_step(const char *name);

#endif
