/* SPDX-License-Identifier: MIT */
/*
 * The steps of the run as the screen uses them: header, marks in the timeline,
 * pane 4. All steps are taken when there are new ones; when there are very
 * many, at most twice a second.
 *
 * steps_snapshot_refresh() needs the model's lock. Owns its rows. Thread: the loop's.
 */
#ifndef TUI_PANE_STEPS_H
#define TUI_PANE_STEPS_H

#include "model/query.h"

struct steps_snapshot {
	struct step_row *rows;		/* owned, by start */
	size_t count;
	struct step_stats stats;
	uint64_t seen;			/* status.steps when they were taken */
	int64_t taken_ns;		/* clock when they were taken */
};

void steps_snapshot_release(struct steps_snapshot *steps);
/* clock_ns: any clock that goes on; true: something changed. */
bool steps_snapshot_refresh(struct steps_snapshot *steps, struct model *model,
		   const struct model_status *status, int64_t clock_ns);

/* Is this op one of the steps ("step 12" of a source "range step #")? Then
 * *all is what stands for all of them ("step #"), the model's string. */
bool steps_name(const struct step_stats *stats, const char *name, const char **all);
/* One row stands for all steps, as they have a table of their own. Returns how
 * many rows there are then. */
size_t steps_merge(const struct step_stats *stats, struct op_row *rows, size_t count);

/* Index of the first step that begins at or after t_ns; count: none. */
size_t steps_from(const struct steps_snapshot *steps, int64_t t_ns);

#endif
