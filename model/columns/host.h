/* SPDX-License-Identifier: MIT */
/* What threads did by line as tables show it: one row for each state, line and process. */
#ifndef MODEL_COLUMNS_HOST_H
#define MODEL_COLUMNS_HOST_H

#include "model/columns/columns.h"
#include "model/query/host.h"

struct host_line {
	struct host_line_row row;	/* file, function, what: NULL unknown */
	bool waits;			/* any device has waited for any line */
};

/* The lines of all rows, in their order; the caller's to free. NULL: there are none. */
struct host_line *host_lines_of(const struct host_line_row *rows, size_t count);
/* What the row takes of the total, in ns: of all waited time, or of all time while nothing has
 * waited. */
uint64_t host_line_part(const void *row);

extern const struct table_columns host_columns;		/* of struct host_line */

#endif
