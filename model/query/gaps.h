/* SPDX-License-Identifier: MIT */
/*
 * Where a row has nothing: times between two of its events in which none of its lanes (or of
 * what stands below it) ran. The rules of query.h apply.
 *
 * Always true: a gap lies between two moments at which something ran, and is the widest there;
 * it is never a part of one. Exact; nothing is known of what was folded, so no gap begins
 * before the end of that. What is open runs up to the live edge.
 *
 * Complexity: chunks without a gap that long are passed by: O(lanes * (log chunks + 512)) for
 * each gap, and once O(chunks).
 */
#ifndef MODEL_QUERY_GAPS_H
#define MODEL_QUERY_GAPS_H

#include "model/query/query.h"

struct row_gap {
	int64_t start_ns, end_ns;
};

/* The first that begins after after_ns, the last that begins before before_ns, of those of
 * least_ns and more (at least 1). false: none, or a row of values. [locked] */
bool model_gap_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_ns,
		    int64_t least_ns, struct row_gap *out);
bool model_gap_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_ns,
		    int64_t least_ns, struct row_gap *out);
/* The longest that begin in [t0, t1), at most max, longest first; of equal ones the first.
 * *more: there are others. Returns how many. [locked] */
size_t model_gaps_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			  size_t max, struct row_gap *out, bool *more);

#endif
