/* SPDX-License-Identifier: MIT */
/* Allocators as tables show them: one row for each, and for each device. */
#ifndef MODEL_COLUMNS_MEMORY_H
#define MODEL_COLUMNS_MEMORY_H

#include "model/columns/columns.h"
#include "model/query/memory.h"
#include "model/query/query.h"

#define MEMORY_TREND 16

struct memory_line {
	struct memory_row row;
	char device[16];		/* label, "" unknown: set by who knows the devices */
	bool steps;			/* there are some, so the growth is known */
	int64_t base_ns;		/* start of the run, which `peak-at` counts from */
	uint64_t trend[MEMORY_TREND];	/* live bytes over the run, the most at a time */
};

extern const struct table_columns allocator_columns;	/* of struct memory_line */

#endif
