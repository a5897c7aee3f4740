/* SPDX-License-Identifier: MIT */
/*
 * Gaps of a row: times between two of its events in which nothing ran in any of its lanes (or in
 * the rows below it). The rules of query.h apply.
 *
 * Always true: a gap lies between two moments at which something ran, and is never only a part of
 * a longer gap. Gaps are exact; no gap starts before the end of folded detail, of which nothing
 * is known. Open events run up to the live edge.
 *
 * Complexity: chunks without a gap of the wanted duration are skipped: O(lanes * (log chunks +
 * 512)) for each gap, and once O(chunks).
 */
#ifndef MODEL_QUERY_GAPS_H
#define MODEL_QUERY_GAPS_H

#include "model/query/query.h"

struct row_gap {
	int64_t start_ns, end_ns;
};

/* The first gap that starts after after_ns, and the last gap that starts before before_ns, of at
 * least least_ns (1 or more). false: there is none, or the row shows values. [locked] */
bool model_gap_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_ns,
		    int64_t least_ns, struct row_gap *out);
bool model_gap_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_ns,
		    int64_t least_ns, struct row_gap *out);
/* The longest gaps that start in [t0, t1), at most max, longest first; of equally long gaps, the
 * earliest first. *more: there are more gaps than fit. Returns how many were written. [locked] */
size_t model_gaps_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			  size_t max, struct row_gap *out, bool *more);

#endif
