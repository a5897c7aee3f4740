/* SPDX-License-Identifier: MIT */
/*
 * Caches columns that earlier frames queried. While following, the window stands still and settled
 * data does not change: only the columns near the live edge are queried again, so that the model's
 * lock is held for a short time however long the run is.
 *
 * Always true: a column is kept only while it lies before the settled line and nothing open reaches
 * into it. Later knowledge about a device's clock may move what had settled: while the program
 * runs, each line is therefore queried again once in a while (after 16 frames, or as many as there
 * are lines), one per frame.
 *
 * Ownership: the cache owns the columns; the result of column_cache_get() is borrowed until the
 * next column_cache_frame(). Needs the model's lock. Thread: the loop's.
 */
#ifndef TUI_COLUMN_CACHE_H
#define TUI_COLUMN_CACHE_H

#include "model/query/query.h"

struct cached_columns {
	uint32_t row, lane;
	int64_t t0_ns, w_ns;
	size_t n, known;		/* the first `known` columns are final */
	struct column *columns;		/* owned, n */
	struct column_name *names;	/* owned, n_names */
	size_t n_names;
	uint64_t used;			/* the frame in which it was last used */
};

struct column_cache {
	struct cached_columns **list;	/* owned, with everything that they point to */
	size_t count, cap;
	uint64_t frame;
	bool finished;
	int64_t settled_ns,
		late_ns; /* to be set before a query about a row that settles later */
};

void column_cache_release(struct column_cache *cache);
/* To be called once per frame, before the queries. */
void column_cache_frame(struct column_cache *cache, const struct model_status *status);
/* The same as model_columns(), for n > 0 columns of w_ns > 0 from t0_ns on. */
const struct column *column_cache_get(struct column_cache *cache, struct model *model,
				      uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
				      size_t n);

/* The same as model_column_names(), for the last result of column_cache_get() about the same
 * line. */
const struct column_name *column_cache_names(struct column_cache *cache, struct model *model,
					     uint32_t row, uint32_t lane);

#endif
