/* SPDX-License-Identifier: MIT */
/*
 * How an event of the timeline looks to filters. Thread: the loop's, or any where stated.
 */
#ifndef TUI_FILTERS_SPAN_H
#define TUI_FILTERS_SPAN_H

#include "model/filter/filter.h"
#include "model/query/query.h"

/* base_ns: the time from which times are counted (places_base_ns()). */
bool filters_span(const struct filter *filter, const struct span *span, int64_t base_ns);

/* Whether the filter may match an event of that name in such a row, whatever its other fields are;
 * any thread. */
bool filters_may_name(const struct filter *filter, enum row_kind row, const char *name,
		      const char *raw);
/* The same for a finished event of that duration; any thread. */
bool filters_may_time(const struct filter *filter, int64_t dur_ns);

#endif
