/* SPDX-License-Identifier: MIT */
/*
 * --synth SEED: the synthetic program of model/synth/synth.h as the source of a screen, for golden
 * tests and for looking at panes without a program.
 *
 * Always true: the same seed and the same times give the same screens.
 * Threads: one.
 */
#ifndef TUI_SYNTH_H
#define TUI_SYNTH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/query/query.h"

#define SYNTH_BASE_NS INT64_C(100000000000)	/* host time of its start */
#define SYNTH_END_NS INT64_C(60000000000)	/* how long after its start it ends */

struct program_output;
struct synth;

/* with: ",counters", ",processor" (the program of synth_cpu.c), ",gpu" (that of synth_gpu.c, with
 * two devices), ",gpus" (eight devices with 16 streams each), ",generate" (that of
 * synth_generate.c), ",names" (everything that has a name has one that must not reach a terminal
 * unchanged), or "". */
struct synth *synth_new(uint64_t seed, const char *with, struct model *model);
void synth_free(struct synth *synth);
/* Applies what happens up to that time (ns since the start) and prints its output. */
void synth_advance(struct synth *synth, int64_t until_ns, struct program_output *output);

#endif
