/* SPDX-License-Identifier: MIT */
/*
 * What a reader knows of the numbers that threads give their events: whether
 * something is missing, where, and whether it was reported before.
 *
 * Always true: a loss is counted once, whether the tracer reports it first or
 * a gap in the numbers shows it first. Events must be given in the order of
 * time. Threads: one at a time. Short of memory: gaps are not noticed.
 *
 * What a thread wrote last and was lost shows no gap, as nothing follows. The beats of its
 * process tell: how many it has written, against how many came.
 */
#ifndef PROBES_SESSION_SEQS_H
#define PROBES_SESSION_SEQS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

struct seqs;

/* Short of memory: NULL. */
struct seqs *seqs_new(void);
void seqs_free(struct seqs *seqs);

enum seqs_state {
	SEQS_NEXT,
	SEQS_AGAIN,			/* was given before: leave it out */
	SEQS_GAP,			/* *loss says what is missing before it */
};

/* Takes a numbered event. loss->count: what had not been reported before. */
enum seqs_state seqs_take(struct seqs *seqs, const struct event *event, struct event_lost *loss);

/* Takes it when it is its thread's next one; false: it has not been taken. */
bool seqs_follows(struct seqs *seqs, const struct event *event);

/* One came, numbered or not, that is not given out twice. */
void seqs_came(struct seqs *seqs, const struct event *event);

/* The process has written so many since this tftop is there, before this event; returns how
 * many are lost that nobody has told of. A few that were just being written may be among them. */
uint64_t seqs_written(struct seqs *seqs, uint32_t pid, uint64_t written);

/* The tracer reports `count` lost events; returns how many are news. */
uint64_t seqs_report(struct seqs *seqs, uint64_t count);

#endif
