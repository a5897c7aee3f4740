/* SPDX-License-Identifier: MIT */
/*
 * The steps that commands and pages call slowest, median and fastest: of those
 * after the warm-up, or of all where there are no others.
 *
 * Complexity: O(steps), expected; 10^5 steps are asked for in a key's time.
 * Thread: any.
 */
#ifndef TUI_STEP_RANKS_H
#define TUI_STEP_RANKS_H

#include <stddef.h>

struct step_row;

/* Places in the rows; of equally long ones the later is the slower. */
struct step_ranks { size_t slowest, median, fastest; };

struct step_ranks step_ranks(const struct step_row *rows, size_t n);	/* n > 0 */

#endif
