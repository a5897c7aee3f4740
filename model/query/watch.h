/* SPDX-License-Identifier: MIT */
/*
 * Finished events as they become known, each once: for who waits for one of a certain sort.
 * The rules of query.h apply.
 *
 * Idea: as an event finds its place, one look at its name (asked once each) and one at its
 * length decide whether it may be wanted; what may be is noted, and all about it is told to
 * who asks. Nothing is noted and nothing costs anything while nobody watches.
 *
 * Always true: what comes in after model_watch() is told or counted as missed (more than
 * WATCH_NOTES between two questions). What lies under the memory limit is gone by then, and is
 * counted too.
 */
#ifndef MODEL_QUERY_WATCH_H
#define MODEL_QUERY_WATCH_H

#include "model/query/query.h"

#define WATCH_NOTES 65536u

struct watch_sort {
	/* Whether any event of that name may be wanted; short, and raw as it came. Asked once
	 * for each name, by the thread that feeds: no questions from here, arg must be
	 * constant. */
	bool (*name)(void *arg, enum row_kind row, const char *name, const char *raw);
	/* Whether one of that length may be. Likewise. */
	bool (*time)(void *arg, int64_t start_ns, int64_t dur_ns);
	void *arg;			/* borrowed until the watch ends */
};

/* NULL: it ends. [locked] */
void model_watch(struct model *model, const struct watch_sort *sort);

/* The next `most` that may be wanted, in the order they became known; ends early when `take`
 * says so, the rest waits. Returns whether it did. *missed: so many in all were not told.
 * O(most * log events). [locked] */
bool model_watched(struct model *model, size_t most, bool (*take)(void *arg,
								  const struct span *span),
								  void *arg, uint64_t *missed);

#endif
