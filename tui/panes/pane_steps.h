/* SPDX-License-Identifier: MIT */
/*
 * The steps of the run as the screen uses them: header, marks in the timeline,
 * pane 4. Who shows them keeps a step_list. Thread: the loop's.
 */
#ifndef TUI_PANE_STEPS_H
#define TUI_PANE_STEPS_H

#include "model/query/query.h"


/* Is this op one of the steps ("step 12" of a source "range step #")? Then
 * *all is what stands for all of them ("step #"), the model's string. */
bool steps_name(const struct step_stats *stats, const char *name, const char **all);
/* One row stands for all steps, as they have a table of their own. Returns how
 * many rows there are then. */
size_t steps_merge(const struct step_stats *stats, struct op_row *rows, size_t count);

/* Index of the first step that begins at or after t_ns; count: none. */
size_t steps_from(const struct step_list *steps, int64_t t_ns);

#endif
