/* SPDX-License-Identifier: MIT */
/*
 * Tracks the numbers that threads give their events: whether events are missing, where, and whether
 * that was reported before.
 *
 * Always true: a loss is counted once, whether the tracer reports it first or a gap in the numbers
 * shows it first. Events must be given in the order of time. Threads: one at a time. If memory is
 * short, gaps are not noticed.
 *
 * A loss at the end of a thread shows no gap, because nothing follows. The beats of its process
 * reveal it: they say how many events it has written, which is compared with how many arrived.
 */
#ifndef PROBES_SESSION_SEQS_H
#define PROBES_SESSION_SEQS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

struct seqs;

/* NULL: memory is short. */
struct seqs *seqs_new(void);
void seqs_free(struct seqs *seqs);

enum seqs_state {
	SEQS_NEXT,
	SEQS_AGAIN,			/* the event was given before and must be skipped */
	SEQS_GAP,			/* events before it are missing, see *loss */
};

/* Adds a numbered event. loss->count: how many lost events had not been reported before. */
enum seqs_state seqs_take(struct seqs *seqs, const struct event *event, struct event_lost *loss);

/* Adds an event if it is its thread's next one; false: it was not added. */
bool seqs_follows(struct seqs *seqs, const struct event *event);

/* Counts an event that arrived, numbered or not, and that is not given out twice. */
void seqs_came(struct seqs *seqs, const struct event *event);

/* The process has written that many events for this tftop; returns how many of them were lost
 * without having been reported. That may include a few that are just being written. */
uint64_t seqs_written(struct seqs *seqs, uint32_t pid, uint64_t written);

/* The tracer reports `count` lost events; returns how many of them are new. */
uint64_t seqs_report(struct seqs *seqs, uint64_t count);

#endif
