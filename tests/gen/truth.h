/* SPDX-License-Identifier: MIT */
/*
 * The report that a stream of events should give, made of plain sums over single events: a
 * second opinion beside the model. It covers one process, commands whole or as a launch and a
 * run with one id, whole ops (their names may come later), and devices with one pair of clocks
 * or none that matters.
 *
 * Always true: a number is exact or absent. Absent are percentiles, and what a drifting clock
 * decides (unions of device times).
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

/* drifts: leave out what depends on the clock. */
struct truth *truth_new(bool drifts);
void truth_add(struct truth *truth, const struct event *events, size_t count);
/* The report in JSON, with the members that docs/report.md lists. */
void truth_write(struct truth *truth, FILE *out);
void truth_free(struct truth *truth);

#endif
