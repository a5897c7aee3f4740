/* SPDX-License-Identifier: MIT */
/*
 * The report that a stream of events should give, computed from plain sums over single events, as a
 * second opinion on the model. It handles one process, commands as one event or as a launch and a
 * run with one id, whole ops (their names may come later), and devices with one pair of clocks, or
 * with none if clocks do not matter.
 *
 * Always true: a number is exact or absent. Percentiles are absent, and so is everything that
 * depends on a drifting clock (unions of device times).
 *
 * Cost: a few plain arrays by id; the device's spans are kept (24 bytes each). Threads: one.
 */
#ifndef TESTS_GEN_TRUTH_H
#define TESTS_GEN_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/event.h"

struct truth;

/* drifts: leave out everything that depends on the clock. */
struct truth *truth_new(bool drifts);
void truth_add(struct truth *truth, const struct event *events, size_t count);
/* The report in JSON, with the members that docs/report.md lists. */
void truth_write(struct truth *truth, FILE *out);
void truth_free(struct truth *truth);

#endif
