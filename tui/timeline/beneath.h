/* SPDX-License-Identifier: MIT */
/*
 * A step laid beneath another: which of its time stands under which column. Pure, any thread.
 * Times within ±2^61.
 */
#ifndef TUI_BENEATH_H
#define TUI_BENEATH_H

#include <stddef.h>
#include <stdint.h>

struct step_row;	/* model/query/query.h */

struct beneath_place {
	int64_t t0_ns;		/* of the step beneath, under the window's first column */
	size_t begin, end;	/* the columns that it fills */
};

/* The starts of both steps coincide; here_ns: of the one above. A column is the step's when its
 * middle is; a step shorter than that has the one it is in. w_ns > 0. */
struct beneath_place beneath_place(int64_t here_ns, const struct step_row *beneath, int64_t t0_ns,
				   int64_t w_ns, size_t columns);

/* The step that t_ns is in, else the last one before it, else the first; n: there is none. */
size_t beneath_step_at(const struct step_row *rows, size_t n, int64_t t_ns);

#endif
