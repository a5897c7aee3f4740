/* SPDX-License-Identifier: MIT */
/* Copies as tables show them: one row for each direction, device and queue. */
#ifndef MODEL_COLUMNS_COPIES_H
#define MODEL_COLUMNS_COPIES_H

#include "model/columns/columns.h"
#include "model/query/query.h"

struct copy_line {
	struct copy_row row;
	/* Set by who knows the devices and queues; "" and NULL unknown. */
	char device[16], peer[16];	/* labels; peer: the other device of p2p copies */
	char queue[64], number[12];	/* label, and the number within its process */
	const char *device_name;	/* borrowed */
	uint64_t best_bytes_per_s;	/* that the rate is compared with; 0 unknown */
	const char *memory;		/* "pinned", "pageable", "mixed"; NULL: not of the host */
	const char *op;			/* that most of them belong to, borrowed; lists only */
};

/* Labels, best rate and op are left empty. */
void copy_line_init(struct copy_line *line, const struct copy_row *row);
/* What the row takes of the total, in ns. */
uint64_t copy_line_part(const void *row);

extern const struct table_columns copy_columns;		/* of struct copy_line */

#endif
