/* SPDX-License-Identifier: MIT */
/* A kernel as tables show it: one row for each name and device. */
#ifndef MODEL_COLUMNS_KERNELS_H
#define MODEL_COLUMNS_KERNELS_H

#include "model/columns/columns.h"
#include "model/query/query.h"
#include "model/query/work.h"

struct kernel_line {
	struct kernel_row row;		/* its texts are the model's; queues, ops, shapes NULL */
	const char *op;			/* that launched most of it, NULL: none */
	enum how how;			/* how that is known */
	char device[16];		/* label, "" unknown: set by who knows the devices */
	const char *device_name;	/* borrowed; NULL unknown */
	uint32_t n_trend;		/* mean durations over the run, if they are shown */
	int64_t trend_ns[TREND_POINTS];
};

/* The row's arrays are read and not kept. Device and trend are left empty. */
void kernel_line_init(struct kernel_line *line, const struct kernel_row *row);
/* What the row takes of the total, in ns. */
uint64_t kernel_line_part(const void *row);

extern const struct table_columns kernel_columns;	/* of struct kernel_line */

#endif
