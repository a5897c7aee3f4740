/* SPDX-License-Identifier: MIT */
/*
 * Columns that were asked for in earlier frames. While following, the window
 * stands still and what is settled stays what it is: only the columns near the
 * live edge are asked for again, which keeps the model's lock short however
 * long the run is.
 *
 * Always true: a column is kept only while it lies before the settled line and
 * nothing open reaches into it. A device's clock may be known better later and
 * move what was settled: while the program runs each line is asked for anew
 * once in a while (16 frames, or as many as there are lines), one in a frame.
 *
 * Ownership: the cache owns the columns; what column_cache_get() returns is
 * borrowed until the next column_cache_frame(). Needs the model's lock. Thread:
 * the loop's.
 */
#ifndef TUI_COLUMN_CACHE_H
#define TUI_COLUMN_CACHE_H

#include "model/query/query.h"

struct cached_columns {
	uint32_t row, lane;
	int64_t t0_ns, w_ns;
	size_t n, known;		/* the first `known` are final */
	struct column *columns;		/* owned, n */
	struct column_name *names;	/* owned, n_names */
	size_t n_names;
	uint64_t used;			/* frame */
};

struct column_cache {
	struct cached_columns **list;	/* owned, and what they point to */
	size_t count, cap;
	uint64_t frame;
	bool finished;
	int64_t settled_ns,
		late_ns; /* late_ns: set before a question, of a row that settles later */
};

void column_cache_release(struct column_cache *cache);
/* Once per frame, before the questions. */
void column_cache_frame(struct column_cache *cache, const struct model_status *status);
/* As model_columns(), n > 0 columns of w_ns > 0 from t0_ns on. */
const struct column *column_cache_get(struct column_cache *cache, struct model *model,
				      uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
				      size_t n);

/* As model_column_names(), of what column_cache_get() gave for the same line last. */
const struct column_name *column_cache_names(struct column_cache *cache, struct model *model,
					     uint32_t row, uint32_t lane);

#endif
