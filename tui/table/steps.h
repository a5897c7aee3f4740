/* SPDX-License-Identifier: MIT */
/*
 * Queries about the steps of the run that panes, pages, the timeline and the report share. They
 * look only at their arguments. Threads: any.
 */
#ifndef TUI_STEPS_H
#define TUI_STEPS_H

#include "model/query/query.h"

/* Whether the op is one of the steps: "step 12", if steps come from ranges "step #". *all is then
 * the name that stands for all of them, "step #": a string of the model. */
bool steps_name(const struct step_stats *stats, const char *name, const char **all);
/* Merges all rows that are steps into one, because steps have a table of their own. Returns how
 * many rows are left. */
size_t steps_merge(const struct step_stats *stats, struct op_row *rows, size_t count);

/* Index of the first step that starts at or after t_ns; count: there is none. */
size_t steps_from(const struct step_list *steps, int64_t t_ns);

#endif
