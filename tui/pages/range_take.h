/* SPDX-License-Identifier: MIT */
/*
 * What a range of time is made of, looked at in turns: by the step's page, by what is held
 * side by side, by the list of copies.
 *
 * Thread: the loop's, or a work's in turns (turns.h); the model's lock is taken for a
 * millisecond at a time, and is not held by the caller.
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
	uint64_t most;			/* spans that are looked at */
	uint64_t expected;		/* for how much is done; not 0 */
	struct turns *turns;		/* NULL: at once */
	unsigned by;			/* what the parts are folded by (enum range_by) */
};

/* *parts owned by the caller, returns how many; 0: none, or it is not wanted any more. */
size_t range_take(const struct range_ask *ask, struct range_part **parts,
		  struct range_state *state);

#endif
