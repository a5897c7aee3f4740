/* SPDX-License-Identifier: MIT */
/*
 * The gate between reader and model: passes on the events that lie in the window of --from-step,
 * --steps and --for.
 *
 * How it works: until the window opens, events go into a scout, a second model that only has to
 * know when a step has ended; the real model gets only the definitions among them. When the step
 * before the window has ended, the real model also gets what began inside the window. Without a
 * window everything passes unchanged.
 *
 * Always true: gate_apply() is called by one thread at a time (the gate's lock ensures that); the
 * other functions may be called by any thread.
 * Ownership: the model is borrowed. Times: CLOCK_MONOTONIC nanoseconds.
 */
#ifndef TUI_GATE_H
#define TUI_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/query.h"

struct gate;

struct gate_window {
	int64_t from_step;		/* 1 or 0: from the start of the run */
	int64_t steps;			/* 0: no limit */
	int64_t for_ns;			/* 0: no limit */
	/* gate_begin() says from when for_ns counts; otherwise it counts from the first process
	 * that is reported */
	bool told;
};

struct gate *gate_new(struct model *model, const struct gate_window *window);
void gate_free(struct gate *gate);

void gate_apply(struct gate *gate, const struct event *events, size_t count);
/* PROGRAM runs, or tftop has attached to it: for_ns counts from now on, unless the gate waits for a
 * step. Events from before that time are in the window, too. */
void gate_begin(struct gate *gate, int64_t time_ns);
/* Tells the gate the time, which also passes without events. */
void gate_tick(struct gate *gate, int64_t now_ns);

/* Whether the window is over: only definitions reach the model from now on. */
bool gate_closed(struct gate *gate);

#endif
