/* SPDX-License-Identifier: MIT */
/*
 * The columns of pane 1, whose rows are struct op_line (tui/panes/ops_tree.h). The
 * same keys in each of the kinds, so that what was chosen and sorted by stays.
 * Thread: the loop's.
 */
#ifndef TUI_OPS_COLUMNS_H
#define TUI_OPS_COLUMNS_H

#include "tui/table/table.h"

enum ops_shape { OPS_LIST, OPS_CALLS, OPS_SCOPES, OPS_SHAPES };	/* flat, two sorts of trees */

/* devices: by what the devices worked, else by the ops' own time. */
const struct table_kind *ops_kind(bool devices, enum ops_shape shape);
/* What an op costs: device time, where there is no device its own. */
uint64_t ops_cost(const void *row, bool devices);

#endif
