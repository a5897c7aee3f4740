/* SPDX-License-Identifier: MIT */
/*
 * Single executions among all that are kept: the longest, the shortest, the first, the last,
 * those that moved most bytes; of certain kinds, rows, names, durations and times. The rules of
 * query.h apply.
 *
 * Idea: at most `most` candidates are kept, and whatever cannot be among them is skipped: chunks
 * by their summaries (longest, first, names), then blocks of 64 spans by the most selective
 * field. Only the remaining spans are read in full.
 *
 * Always true: the answer is exact among the spans kept in detail; folded spans are counted but
 * not searched. Events that arrive meanwhile may or may not be included.
 *
 * Complexity: O(chunks) where the names are in few chunks or durations differ, else O(spans of
 * the rows); only spans that start within start_ns count.
 * Lock: model_executions() takes it itself, and gives it back each millisecond.
 */
#ifndef MODEL_QUERY_EXECUTIONS_H
#define MODEL_QUERY_EXECUTIONS_H

#include "model/query/query.h"
#include "model/query/search.h"

enum execution_kind {
	EXECUTION_KERNEL = 1, EXECUTION_COPY = 2, EXECUTION_FILL = 4, EXECUTION_OP = 8,
	EXECUTION_RANGE = 16, EXECUTION_COMPILE = 32, EXECUTION_GRAPH = 64,
	EXECUTION_OTHER = 128,		/* native commands, seen only as work */
	EXECUTION_ALL = 255,
};
enum execution_kind execution_kind(const struct span *span);
const char *execution_kind_name(enum execution_kind kind);	/* "kernel", ... */

enum execution_order { EXECUTIONS_BY_DURATION, EXECUTIONS_BY_START, EXECUTIONS_BY_BYTES };

/* Bounds; both values are included. */
struct execution_bounds {
	int64_t least, most;
};
#define EXECUTION_ANY { INT64_MIN, INT64_MAX }

#define EXECUTIONS_MAX 10000u

struct execution_want {
	unsigned kinds;			/* enum execution_kind, or-ed */
	/* name: by its own name; op: by the name of the op that launched it, else its own. Both
	 * must match; borrowed, NULL: all. */
	struct search *name, *op;
	struct execution_bounds dur_ns, start_ns;
	/* an execution that moves no bytes only matches EXECUTION_ANY */
	struct execution_bounds bytes;
	/* Further conditions, called with the lock held; they must not ask the model. NULL: all. */
	bool (*row)(void *arg, const struct model_row *row);
	bool (*span)(void *arg, const struct span *span);
	/* Called each millisecond, without the lock, with the progress in permille; returns false
	 * to stop. NULL: never stops. */
	bool (*rest)(void *arg, unsigned permille);
	void *arg;
	enum execution_order order;
	/* ascending: the shortest, the first, or those that moved fewest bytes */
	bool rising;
	size_t most;			/* up to EXECUTIONS_MAX */
};

struct executions {
	struct span *spans;		/* sorted, owned by the caller */
	size_t n;
	uint64_t events;		/* events in the searched rows, including folded ones */
	uint64_t folded;		/* how many of these are folded */
	bool stopped;			/* rest() stopped the search: executions may be missing */
	bool more;			/* more executions match than fit */
};

void model_executions(struct model *model, const struct execution_want *want,
		      struct executions *out);

#endif
