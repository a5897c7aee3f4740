/* SPDX-License-Identifier: MIT */
/*
 * --synth SEED: the made-up program of model/synth/synth.h as the source of a
 * screen, for golden tests and for looking at panes without a program.
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
#define SYNTH_END_NS INT64_C(60000000000)	/* it ends so long after */

struct program_output;
struct synth;

/* with: ",counters", ",processor" (the other program), ",gpu" (the third, two devices),
 * ",gpus" (eight with 16 streams each), ",names" (all that has a
 * name has one that no terminal should get as it is), or "". */
struct synth *synth_new(uint64_t seed, const char *with, struct model *model);
void synth_free(struct synth *synth);
/* Applies what happened until then (ns since the start) and prints its output. */
void synth_advance(struct synth *synth, int64_t until_ns, struct program_output *output);

#endif
