/* SPDX-License-Identifier: MIT */
/*
 * A made-up training program, for screens without one: golden tests, looking
 * at panes, bug reports. One process that trains in steps on one device with a
 * compute queue and a copy queue, an input thread, allocations and messages.
 *
 * Always true: the same seed and the same times give the same events,
 * independent of how the time is cut. Threads: one.
 */
#ifndef TUI_SYNTH_H
#define TUI_SYNTH_H

#include <stdint.h>

#include "model/query.h"

struct output;
struct synth;

struct synth *synth_new(uint64_t seed, struct model *model);
void synth_free(struct synth *synth);
/* Applies what happened until then (ns since the start) and prints its output. */
void synth_advance(struct synth *synth, int64_t until_ns, struct output *output);

#define SYNTH_BASE_NS INT64_C(100000000000)	/* host time of its start */
#define SYNTH_END_NS INT64_C(60000000000)	/* it ends so long after */

#endif
