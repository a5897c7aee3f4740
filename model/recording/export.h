/* SPDX-License-Identifier: MIT */
/*
 * The timeline given back as events, for `save`: a model that is fed with them shows the same.
 * The rules of query/query.h apply.
 *
 * Idea: first come the definitions (names before their first use), then everything that has a
 * place in time, merged from the lanes and the journal in the order of the ends, then what is
 * open, and the totals that nothing else carries.
 *
 * Always true:
 *  - time_ns never goes back. Device times are given as host times, with a clock that is the
 *    host's: as they were drawn, with the device's own durations.
 *  - Ids of names are new; those of devices, queues, shapes and instances are the process's
 *    own; correlations and sequence numbers are left out.
 *  - With a window (from_ns), the events are those that touch it, without totals.
 *  - What was discarded cannot be given; model_export_gap() says so.
 *
 * The model stands still during an export: whoever feeds it waits in model_apply(), while
 * questions are answered. So one thread makes the export, asks it and frees it, and no thread
 * that feeds the model may wait for that thread.
 *
 * Complexity: O(log lanes) for an event; memory for what is open at a time. Each
 * model_export_next() holds the lock for at most about 1 ms. Ownership: strings are the model's
 * and valid as long as it lives.
 */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model;
struct model_export;

struct model_export_gap {
	int64_t spans_ns;		/* details before this were discarded, INT64_MIN: none */
	int64_t calls_ns;		/* the same for calls, waits, builds, allocations */
	uint64_t spans;			/* given so far */
};

/* from_ns INT64_MIN: everything. */
struct model_export *model_export_new(struct model *model, int64_t from_ns);
/* Spans and steps come by their start, outer before inner, and not by their end: for formats
 * other than a recording. Call it before the first model_export_next(). */
void model_export_by_start(struct model_export *export);
/* Gives up to max events (max is 64 or more); 0: there are no more. */
size_t model_export_next(struct model_export *export, struct event *out, size_t max);
void model_export_gap(const struct model_export *export, struct model_export_gap *out);
void model_export_free(struct model_export *export);

#endif
