/* SPDX-License-Identifier: MIT */
/*
 * Aligns the devices' clocks with the host's: takes pairs of times and causality in, and moves
 * the spans that a better map concerns.
 *
 * Idea: every finished command was queued (or, where that is unknown, started) after its call
 * began, and a command that somebody waited for ended before the wait returned. Both facts bound
 * the clock of the command's device as its process sees it (model/clocks/clock.h). When the map
 * changes, the spans that it concerns are moved.
 *
 * Always true:
 *  - A command bounds the clock once, and only if it has device times of its own.
 *  - A wait bounds a command only if the command was enqueued before the wait began. A queue's
 *    last command, read after clFinish() returned, may come from another thread, be newer, and
 *    not have been waited for.
 *  - A command and its wait are matched by correlation in a ring of METS entries per process.
 *    Entries that find no match are overwritten and bound nothing.
 *
 * Complexity: O(1) for a command or wait; a change of the map takes O(rows + spans that it may
 * move), see CLOCK_REACH_TICKS.
 */
#ifndef MODEL_ALIGN_H
#define MODEL_ALIGN_H

#include <stdint.h>

#include "model/event.h"

struct arrival;
struct model;
struct process;

/* A command and the wait for it; whichever arrives first makes the entry. */
#define METS 1024u
struct met {
	uint32_t correlation, view;	/* view NONE: the command has not finished yet */
	uint64_t end_ticks;
	int64_t call_ns;
	int64_t wait_ns, return_ns;	/* return_ns 0: no wait was seen yet */
};

/* Called each time a view's clock has a map: commands that waited for the clock can be taken in. */
typedef void clock_known_fn(struct model *model, uint32_t view);

/* A pair of times of a device's clock and of the host's. */
void apply_clock(struct model *model, const struct arrival *in, clock_known_fn *known);
/* What a finished command, or a wait, says about a device's clock. */
void align_command(struct model *model, struct process *process, uint32_t view,
		   const struct event_command *command, clock_known_fn *known);
void align_wait(struct model *model, const struct arrival *in, clock_known_fn *known);

#endif
