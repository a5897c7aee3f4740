/* SPDX-License-Identifier: MIT */
#include "tui/pages/range_take.h"

#include "model/query/query.h"

#define SLICE 10000u	/* spans that are read while the lock is held once: half a millisecond */

static bool rest(const struct range_ask *ask, const struct range_state *state)
{
	uint64_t done = state->spans * 1000 / ask->expected;

	return !ask->turns || turns_rest(ask->turns, done < 1000 ? (unsigned)done : 1000);
}

size_t range_take(const struct range_ask *ask, struct range_part **parts,
		  struct range_state *state)
{
	struct range_walk *walk;
	bool more, wanted;
	size_t n = 0;

	*parts = NULL;
	model_lock(ask->model);
	walk = range_walk_new(ask->model, ask->t0, ask->t1);
	if (ask->only_copies)
		range_walk_only(walk, RANGE_COPY);
	do {
		more = range_walk_step(walk, SLICE);
		range_walk_state(walk, state);
		model_unlock(ask->model);
		wanted = rest(ask, state);
		model_lock(ask->model);
	} while (more && wanted && state->spans < ask->most);
	if (wanted)
		n = range_walk_parts(walk, parts);
	range_walk_free(walk);
	model_unlock(ask->model);
	return range_fold(*parts, n, ask->by);
}
