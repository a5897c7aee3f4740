/* SPDX-License-Identifier: MIT */
/*
 * Comparing two steps: which time of the other step belongs below which column of the window, when
 * both begin at the same column. No state; any thread.
 * Times within ±2^61.
 */
#ifndef TUI_COMPARE_H
#define TUI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

struct step_row;	/* model/query/query.h */

struct compare_place {
	int64_t t0_ns;		/* of the other step, below the first column of the window */
	size_t begin, end;	/* the columns that it fills */
};

/* The starts of both steps coincide; here_ns: of the one above. A column is the step's when its
 * middle is; a step shorter than that has the one it is in. w_ns > 0. */
struct compare_place compare_place(int64_t here_ns, const struct step_row *other, int64_t t0_ns,
				   int64_t w_ns, size_t columns);

/* The step that t_ns is in, else the last one before it, else the first; n: there is none. */
size_t compare_step_at(const struct step_row *rows, size_t n, int64_t t_ns);

#endif
