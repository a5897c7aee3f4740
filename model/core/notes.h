/* SPDX-License-Identifier: MIT */
/* What the model knows in addition to the timeline: losses, messages, steps of clocks, and counts
 * of events that cannot be right, by kind. All of it is bounded. */
#ifndef MODEL_CORE_NOTES_H
#define MODEL_CORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model;

#define CLOCK_STEPS_MAX 256u

/* What is wrong with an event; for each kind there is one message with its count. */
enum bad_kind {
	BAD_END,			/* it ends before its start */
	BAD_FAR,			/* an impossible time */
	BAD_ID,				/* no id, or none of its kind */
	BAD_REUSED,			/* an id that already stands for something else */
	BAD_TWICE,			/* the same event again */
	/* a queue that was used and never defined; the event counts */
	BAD_UNKNOWN,
	BAD_KIND,			/* no such kind, or an impossible value */
	BAD_FULL,			/* more than there is room for */
	BAD_COUNT
};

struct bad {
	uint64_t count;
	int64_t first_ns;		/* when the first such event arrived */
	char text[96];			/* its message, made when the messages are asked for */
};

/* Counts an event that is ignored. */
void model_bad(struct model *model, enum bad_kind kind);
/* Counts an event that is odd but still applied. */
void model_odd(struct model *model, enum bad_kind kind);
static inline enum bad_kind bad_time(int64_t dur_ns)
{
	return dur_ns < 0 ? BAD_END : BAD_FAR;
}

size_t notes_warnings(const struct model *model);
/* Notes a loss; returns whether its time is possible. pid, tid: of the event, 0: none. */
bool note_lost(struct model *model, const struct event_lost *lost, uint32_t pid, uint32_t tid);
/* Each text is noted once. */
void note_message(struct model *model, int64_t time_ns, int level, const char *text);
void note_clock_step(struct model *model, int64_t time_ns);

#endif
