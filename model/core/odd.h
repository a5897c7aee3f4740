/* SPDX-License-Identifier: MIT */
/* Events that cannot be right, counted by kind; a part of model-internal.h. */
#ifndef MODEL_ODD_H
#define MODEL_ODD_H

#include <stdint.h>

struct model;

/* What is wrong with an event; each kind is one message, with how often. */
enum bad_kind {
	BAD_END,			/* before its start */
	BAD_FAR,			/* a time that cannot be */
	BAD_ID,				/* none, or not one of its kind */
	BAD_REUSED,			/* an id that stands for something else */
	BAD_TWICE,			/* the same once more */
	BAD_UNKNOWN,			/* used and never defined; it is taken in all the same */
	BAD_KIND,			/* no such kind, or a value that cannot be */
	BAD_FULL,			/* more than there is room for */
	BAD_COUNT
};

struct bad {
	uint64_t count;
	int64_t first_ns;		/* when it was first seen */
	char text[96];			/* of its message, made when asked */
};

/* Counted, and ignored. */
void model_bad(struct model *model, enum bad_kind kind);
/* The same, but it is taken in. */
void model_odd(struct model *model, enum bad_kind kind);
static inline enum bad_kind bad_time(int64_t dur_ns)
{
	return dur_ns < 0 ? BAD_END : BAD_FAR;
}

#endif
