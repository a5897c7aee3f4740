/* SPDX-License-Identifier: MIT */
/*
 * Compares two steps: computes which time of the other step is drawn below which column of the
 * window, so that both steps start at the same column. No state; any thread. Times within ±2^61.
 */
#ifndef TUI_COMPARE_H
#define TUI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

struct step_row;	/* model/query/query.h */

struct compare_place {
	int64_t t0_ns;	/* the time of the other step below the first column of the window */
	size_t begin, end;	/* the columns that it covers */
};

/* Aligns the starts of both steps; here_ns: start of the upper one. A column belongs to the step if
 * its middle does; a step shorter than that gets the column that it is in. w_ns > 0. */
struct compare_place compare_place(int64_t here_ns, const struct step_row *other, int64_t t0_ns,
				   int64_t w_ns, size_t columns);

/* The step that t_ns is in, else the last one before it, else the first; n: there is none. */
size_t compare_step_at(const struct step_row *rows, size_t n, int64_t t_ns);

#endif
