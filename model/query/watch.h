/* SPDX-License-Identifier: MIT */
/*
 * Reports finished events as they become known, each once, to a caller that waits for a certain
 * kind of event. The rules of query.h apply.
 *
 * Idea: when an event finds its place, its name (checked once for each name) and its duration
 * decide whether it may be wanted. If so it is noted, and the caller gets all its fields with the
 * next question. Without a watch nothing is noted and nothing costs time.
 *
 * Always true: every event that arrives after model_watch() is reported or counted as missed (if
 * more than WATCH_NOTES come between two questions, or if its detail was discarded by then).
 */
#ifndef MODEL_QUERY_WATCH_H
#define MODEL_QUERY_WATCH_H

#include "model/query/query.h"

#define WATCH_NOTES 65536u

struct watch_sort {
	/* Whether any event with this name may be wanted; `raw` is the name as the source gave it.
	 * Called once for each name by the thread that feeds the model: it must not query the
	 * model, and arg must not change. */
	bool (*name)(void *arg, enum row_kind row, const char *name, const char *raw);
	/* Whether an event with this duration may be wanted. The same restrictions apply. */
	bool (*time)(void *arg, int64_t start_ns, int64_t dur_ns);
	void *arg;			/* borrowed until the watch ends */
};

/* Starts a watch; NULL ends it. [locked] */
void model_watch(struct model *model, const struct watch_sort *sort);

/* Hands over at most `most` noted events, in the order in which they became known. Stops early when
 * `take` says so; the remaining ones stay noted. Returns whether `take` stopped it. *missed: how
 * many events have been missed in total. O(most * log events). [locked] */
bool model_watched(struct model *model, size_t most, bool (*take)(void *arg,
								  const struct span *span),
								  void *arg, uint64_t *missed);

#endif
