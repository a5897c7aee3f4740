/* SPDX-License-Identifier: MIT */
/*
 * Steps where nothing marks them: the period of what a process runs.
 *
 * Idea: training does the same over and over. Between two runs of a kernel
 * that belongs to the loop lies always the same work, so the sum of a hash over
 * the names of all runs in between is always the same number, however much the
 * times jitter. A name, taken every k-th time, is an anchor when three quarters
 * of its stretches have one such content; the smallest k counts, so that a
 * kernel that runs in each layer does not make each layer a step. Of several
 * names with k = 1 and the same content that one begins the step before which
 * the process rested longest, as a step begins after a wait.
 *
 * Needs PERIODS stretches, of at least two runs each. What lies between two
 * anchors further apart than LONG periods is no step (an evaluation, a pause);
 * a process that does something else for longer is looked at anew. Each loop that is
 * found so is a series of its own; one with the same content is the same loop.
 *
 * Complexity: O(1) per run; every LOOK runs, while nothing is found, O(names *
 * k * HISTORY). Memory: NAMES_MAX names of HISTORY runs for each of few
 * processes. Source: HTA and XProf know steps by their marks only; content
 * hashes are those of rolling-hash search.
 */
#ifndef MODEL_PERIOD_H
#define MODEL_PERIOD_H

#include "model/acts/act.h"

struct period;

struct period *period_new(void);
void period_free(struct period *period);
size_t period_bytes(const struct period *period);
/* One run, in order of start. May add steps to the model's series. */
void period_run(struct model *model, struct period *period, const struct act *act);

#endif
