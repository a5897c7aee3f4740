/* SPDX-License-Identifier: MIT */
/*
 * Gives out the timeline as events, for `save`: a model that is fed with them shows the same. The
 * rules of query/query.h apply.
 *
 * Idea: first come the definitions (names before their first use), then everything that has a place
 * in time, merged from the lanes and the journal in the order of the ends, then the open spans, and
 * the totals that no event carries.
 *
 * Always true:
 *  - time_ns never goes back. Device times are given as host times, with a clock that is the
 *    host's: as they were drawn, with the device's own durations.
 *  - Ids of names are new; those of devices, queues, shapes and instances are the process's own;
 *    correlations and sequence numbers are left out.
 *  - With a window (from_ns), only the events that touch it are given, without totals.
 *  - Discarded detail cannot be given; model_export_gap() says from when.
 *
 * The model stands still during an export: the feeding thread waits in model_apply(), while queries
 * are answered. So one thread makes the export, reads it and frees it, and no thread that feeds the
 * model may wait for that thread.
 *
 * Complexity: O(log lanes) for an event; memory for what is open at a time. Each
 * model_export_next() holds the lock for at most about 1 ms. Ownership: strings are the model's and
 * valid as long as it lives.
 */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model;
struct model_export;

struct model_export_gap {
	int64_t spans_ns;	/* detail before this time was discarded; INT64_MIN: none was */
	int64_t calls_ns;	/* the same for calls, waits, compilations and allocations */
	uint64_t spans;			/* spans given out so far */
};

/* from_ns INT64_MIN: exports the whole run. */
struct model_export *model_export_new(struct model *model, int64_t from_ns);
/* Gives out spans and steps by their start, outer before inner, instead of by their end: for
 * formats other than a recording. To be called before the first model_export_next(). */
void model_export_by_start(struct model_export *export);
/* Gives out up to max events (max must be at least 64); 0: there are no more. */
size_t model_export_next(struct model_export *export, struct event *out, size_t max);
void model_export_gap(const struct model_export *export, struct model_export_gap *out);
void model_export_free(struct model_export *export);

#endif
