/* SPDX-License-Identifier: MIT */
/*
 * Which steps are slowest, median and fastest, for commands and pages: among those after the
 * warm-up, or among all if there are no others.
 *
 * Complexity: O(steps), expected; fast enough to query 10^5 steps at each key. Thread: any.
 */
#ifndef TUI_STEP_RANKS_H
#define TUI_STEP_RANKS_H

#include <stddef.h>

struct step_row;

/* Indices of rows; of equally long steps the later one counts as slower. */
struct step_ranks { size_t slowest, median, fastest; };

struct step_ranks step_ranks(const struct step_row *rows, size_t n);	/* n must be > 0 */

#endif
