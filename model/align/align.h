/* SPDX-License-Identifier: MIT */
/*
 * The devices' clocks: pairs and causality in, moved spans out.
 *
 * Idea: every finished command was queued (or, not told, started) after its
 * call began; a command that somebody waited for ended before the wait
 * returned. Both bound the clock of the command's device as its process sees
 * it (model/clocks/clock.h), and when the map changes, the spans it concerns move.
 *
 * Always true:
 *  - A command is asked once, and only with device times of its own.
 *  - A wait bounds a command only if that was enqueued before the wait began:
 *    a queue's last command, read after clFinish() returned, may be another
 *    thread's, newer, and not waited for.
 *  - Command and wait meet by correlation in a ring of METS per process; what
 *    never meets is overwritten and bounds nothing.
 *
 * Complexity: O(1) a command or wait; a change of the map O(rows + spans that
 * it may move), see CLOCK_REACH_TICKS.
 */
#ifndef MODEL_ALIGN_H
#define MODEL_ALIGN_H

#include <stdint.h>

#include "model/event.h"

struct arrival;
struct model;
struct process;

/* A command and the wait for it, whichever came first. */
#define METS 1024u
struct met {
	uint32_t correlation, view;	/* view NONE: not finished yet */
	uint64_t end_ticks;
	int64_t call_ns;
	int64_t wait_ns, return_ns;	/* return_ns 0: nobody waited yet */
};

/* Called when a view's clock has a map, again and again: what waited for it comes in. */
typedef void clock_known_fn(struct model *model, uint32_t view);

/* A pair of times of a device's clock and of the host's. */
void apply_clock(struct model *model, const struct arrival *in, clock_known_fn *known);
/* What a finished command and a wait say about a device's clock. */
void align_command(struct model *model, struct process *process, uint32_t view,
		   const struct event_command *command, clock_known_fn *known);
void align_wait(struct model *model, const struct arrival *in, clock_known_fn *known);

#endif
