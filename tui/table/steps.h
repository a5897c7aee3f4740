/* SPDX-License-Identifier: MIT */
/*
 * Questions about the steps of the run that panes, pages, the timeline and the report share.
 * They ask only what they are given. Threads: any.
 */
#ifndef TUI_STEPS_H
#define TUI_STEPS_H

#include "model/query/query.h"

/* Whether the op is one of the steps: "step 12", where steps come from ranges "step #". *all is
 * then the name that stands for all of them, "step #": the model's string. */
bool steps_name(const struct step_stats *stats, const char *name, const char **all);
/* Makes one row of all rows that are steps, which have a table of their own. Returns how many
 * rows are left. */
size_t steps_merge(const struct step_stats *stats, struct op_row *rows, size_t count);

/* Index of the first step that begins at or after t_ns; count: none. */
size_t steps_from(const struct step_list *steps, int64_t t_ns);

#endif
