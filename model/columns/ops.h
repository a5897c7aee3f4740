/* SPDX-License-Identifier: MIT */
/*
 * Ops and ranges as tables show them: one row for each name, or in a tree one for each place
 * that an op is called from. The same keys in all shapes, so that what a user chose and sorted
 * by stays when the shape changes.
 */
#ifndef MODEL_COLUMNS_OPS_H
#define MODEL_COLUMNS_OPS_H

#include "model/columns/columns.h"
#include "model/query/query.h"
#include "model/query/work.h"

struct op_line {
	struct op_row op;		/* of a tree: device time and counts with all below */
	int64_t wait_ns;		/* trees only */
	uint64_t id;			/* of its path, 0: flat */
	uint32_t depth;
	bool branch, folded;		/* has children; they are hidden */
	bool is_scope;			/* no op */
	const struct op_trend *trend;	/* borrowed; NULL: unknown */
	/* Reports only: the op whose gradient it is, NULL: none; the links that say so. */
	const char *backward_of;
	uint64_t backward_links;
};

enum ops_shape {
	OPS_LIST,			/* flat */
	OPS_CALLS,			/* which op was called by which */
	OPS_SCOPES,			/* by the parts of their names */
	OPS_SHAPES
};

/* The columns of struct op_line. devices: ops cost device time, else their time on the host. */
const struct table_columns *op_columns(bool devices, enum ops_shape shape);
extern const struct table_columns op_list_columns;	/* op_columns(true, OPS_LIST) */
/* What an op costs: device time, where there is no device its own time on the host. */
uint64_t op_line_cost(const struct op_row *row, bool devices);

#endif
