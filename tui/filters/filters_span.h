/* SPDX-License-Identifier: MIT */
/*
 * What an event of the timeline is for filters. Thread: any, where said; else the loop's.
 */
#ifndef TUI_FILTERS_SPAN_H
#define TUI_FILTERS_SPAN_H

#include "model/filter/filter.h"
#include "model/query/query.h"

/* base_ns: times are counted from then (places_base_ns()). */
bool filters_span(const struct filter *filter, const struct span *span, int64_t base_ns);

/* Whether the filter may want an event of that name in such a row, whatever else it is; any
 * thread. */
bool filters_may_name(const struct filter *filter, enum row_kind row, const char *name,
		      const char *raw);
/* The same of a finished one of that length; any thread. */
bool filters_may_time(const struct filter *filter, int64_t dur_ns);

#endif
