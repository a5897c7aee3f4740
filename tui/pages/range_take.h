/* SPDX-License-Identifier: MIT */
/*
 * Collects what a range of time consists of, in turns: for the step's page, for comparisons, and
 * for the list of copies.
 *
 * Thread: the loop's, or that of a work in turns (turns.h). The model's lock is taken for a
 * millisecond at a time, and must not be held by the caller.
 */
#ifndef TUI_RANGE_TAKE_H
#define TUI_RANGE_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/range.h"
#include "tui/base/turns.h"

struct range_ask {
	struct model *model;
	int64_t t0, t1;			/* t0 < t1 */
	bool only_copies;
	uint64_t most;			/* how many spans are visited at most */
	uint64_t expected;		/* how many are expected, to report progress; not 0 */
	struct turns *turns;		/* NULL: does it at once */
	unsigned by;			/* fields by which the parts are merged (enum range_by) */
};

/* The caller owns *parts; returns how many; 0: there are none, or the answer is not wanted any
 * more. */
size_t range_take(const struct range_ask *ask, struct range_part **parts,
		  struct range_state *state);

#endif
