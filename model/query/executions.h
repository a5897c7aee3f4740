/* SPDX-License-Identifier: MIT */
/*
 * Single executions out of all that are there: the longest, the shortest, the first, the
 * last, those that moved most; of certain kinds, rows, names, lengths, times. Beside query.h.
 *
 * Idea: at most `most` are kept, and what cannot come among them is not looked at: chunks by
 * their summaries (longest, first, names), then blocks of 64 by what tells most, and only what
 * is left is looked at in full.
 *
 * Always true: exact among what was kept in detail; what was folded away is counted, not
 * looked at. What comes in meanwhile may be among them or not.
 *
 * Complexity: O(chunks) where the names are in few of them or durations differ, else
 * O(spans of the rows); of those that begin within start_ns alone.
 * Lock: model_executions() takes it itself, and gives it back each millisecond.
 */
#ifndef MODEL_QUERY_EXECUTIONS_H
#define MODEL_QUERY_EXECUTIONS_H

#include "model/query/query.h"
#include "model/query/search.h"

enum execution_kind {
	EXECUTION_KERNEL = 1, EXECUTION_COPY = 2, EXECUTION_FILL = 4, EXECUTION_OP = 8,
	EXECUTION_RANGE = 16, EXECUTION_COMPILE = 32, EXECUTION_GRAPH = 64,
	EXECUTION_OTHER = 128,		/* native, marked only as work */
	EXECUTION_ALL = 255,
};
enum execution_kind execution_kind(const struct span *span);
const char *execution_kind_name(enum execution_kind kind);	/* "kernel", ... */

enum execution_order { EXECUTIONS_BY_DURATION, EXECUTIONS_BY_START, EXECUTIONS_BY_BYTES };

/* Both ends belong to it. */
struct execution_bounds {
	int64_t least, most;
};
#define EXECUTION_ANY { INT64_MIN, INT64_MAX }

#define EXECUTIONS_MAX 10000u

struct execution_want {
	unsigned kinds;			/* enum execution_kind, or-ed */
	/* By its own name; by the name of the op that launched it, or its own. Both are asked;
	 * borrowed, NULL: all. */
	struct search *name, *op;
	struct execution_bounds dur_ns, start_ns;
	struct execution_bounds bytes;	/* what moves none is not within any but EXECUTION_ANY */
	/* What else is wanted; called with the lock held, no questions from there. NULL: all. */
	bool (*row)(void *arg, const struct model_row *row);
	bool (*span)(void *arg, const struct span *span);
	/* Each millisecond, without the lock; permille: of what is to be looked at. false: it is to
	 * end. NULL: it goes on. */
	bool (*rest)(void *arg, unsigned permille);
	void *arg;
	enum execution_order order;
	bool rising;			/* the shortest, the first, those that moved least */
	size_t most;			/* up to EXECUTIONS_MAX */
};

struct executions {
	struct span *spans;		/* owned by the caller; in order */
	size_t n;
	uint64_t events;		/* in the rows looked at, folded ones too */
	uint64_t folded;		/* of them, let go of */
	bool stopped;			/* by rest(): others may be missing */
	bool more;			/* others match that come behind these */
};

void model_executions(struct model *model, const struct execution_want *want,
		      struct executions *out);

#endif
