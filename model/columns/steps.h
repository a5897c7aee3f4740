/* SPDX-License-Identifier: MIT */
/* Steps as tables show them: one row for each. */
#ifndef MODEL_COLUMNS_STEPS_H
#define MODEL_COLUMNS_STEPS_H

#include "model/columns/columns.h"
#include "model/query/query.h"
#include "model/query/time.h"

struct step_line {
	struct step_row row;
	int64_t base_ns;		/* start of the run, which `start` counts from */
	int64_t typical_ns;		/* the median duration (p50) */
	bool known;			/* what its time went to: ns[] */
	bool settling;			/* will be known soon */
	int64_t ns[STEP_CLASS_COUNT];	/* add up to the duration */
};

extern const struct table_columns step_columns;		/* of struct step_line */

#endif
