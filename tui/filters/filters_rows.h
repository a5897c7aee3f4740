/* SPDX-License-Identifier: MIT */
/*
 * How the model's rows look to filters, if a table or a list does not define that itself. Thread:
 * any.
 */
#ifndef TUI_FILTERS_ROWS_H
#define TUI_FILTERS_ROWS_H

#include "model/filter/filter.h"
#include "model/query/range.h"
#include "model/query/query.h"

/* Copies of one op; whole_ns: time of all copies. Provides all fields except device and queue. */
enum filter_known filters_copy_part(const struct range_part *part, int64_t whole_ns,
				    enum filter_field field, struct filter_value *value);

#endif
