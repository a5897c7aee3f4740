/* SPDX-License-Identifier: MIT */
/*
 * Steps where nothing marks them: the period of what a process runs.
 *
 * Idea: training does the same work over and over. Between two runs of a kernel of the loop
 * there is always the same work, so the sum of a hash over the names of all runs in between is
 * always the same number, however much the times jitter. A name, taken every k-th time, is an
 * anchor if three quarters of its stretches have the same such content. The smallest k counts,
 * so that a kernel that runs in each layer does not make each layer a step. Of several names
 * with k = 1 and the same content, the one before which the process rested longest begins the
 * step, because a step begins after a wait.
 *
 * The same is done with the outermost ops of each thread, for programs whose kernels all have one
 * name; their period counts only where that of the devices was not found.
 *
 * What ran while the process compiled, or between the attempts of an autotuner, is forgotten: such
 * work repeats, and is not the loop. Periods within a range of the program are not steps either
 * (steps/steps.c).
 *
 * At least PERIODS stretches of two runs or more are needed. The time between two anchors that
 * are more than LONG periods apart is not a step (an evaluation, a pause); a process that does
 * something else for longer is examined again. Each loop that is found is a series of its own;
 * one with the same content is the same loop.
 *
 * Complexity: O(1) per run or op; while nothing is found, O(names * k * HISTORY) every LOOK runs.
 * Memory: NAMES_MAX names of HISTORY runs for each of a few processes. Source: HTA and XProf
 * know steps by their marks only; content hashes are those of rolling-hash search.
 */
#ifndef MODEL_PERIOD_H
#define MODEL_PERIOD_H

#include "model/acts/act.h"

struct period;

struct period *period_new(void);
void period_free(struct period *period);
size_t period_bytes(const struct period *period);
/* One run or op, in order of start. May add steps to the model's series. */
void period_act(struct model *model, struct period *period, const struct act *act);

#endif
