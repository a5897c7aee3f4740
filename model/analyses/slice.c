/* SPDX-License-Identifier: MIT */
/* Data about a slice that several analyses need, made once. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/base/util.h"

void slice_index(struct slice *slice, struct slice_space *space)
{
	size_t n = slice->n, runs = 0, launches = 0, rest = 0;
	uint32_t *list[3];

	if (space->cap < n) {
		slice_space_release(space);
		space->cap = n + n / 2;
		space->ends = xreallocarray(NULL, space->cap, 2 * sizeof(*space->ends));
		space->kinds = xreallocarray(NULL, space->cap, 3 * sizeof(*space->kinds));
	}
	for (int i = 0; i < 3; i++)
		list[i] = space->kinds + (size_t)i * space->cap;
	/* Writes every time and advances only if the act counts: no branches. */
	for (size_t i = 0; i < n; i++) {
		const struct act *act = &slice->acts[i];

		space->ends[i] = (struct start_key) { act->end_ns, (uint32_t)i, act->kind };
		list[0][runs] = list[1][launches] = list[2][rest] = (uint32_t)i;
		runs += act->kind == ACT_RUN;
		launches += act->kind == ACT_LAUNCH;
		rest += act->kind != ACT_RUN && act->kind != ACT_LAUNCH;
	}
	start_keys_sort(space->ends, space->ends + n, n);
	slice->ends = space->ends;
	slice->runs = list[0];
	slice->launches = list[1];
	slice->rest = list[2];
	slice->n_runs = runs;
	slice->n_launches = launches;
	slice->n_rest = rest;
}

void slice_space_release(struct slice_space *space)
{
	free(space->ends);
	free(space->kinds);
	*space = (struct slice_space) { .cap = 0 };
}

size_t slice_space_bytes(const struct slice_space *space)
{
	return space->cap * (2 * sizeof(*space->ends) + 3 * sizeof(*space->kinds));
}

void slots_reach(struct act_slots *slots, uint32_t id)
{
	size_t n = id + 1 + (id + 1) / 2;

	slots->of = xreallocarray(slots->of, n, sizeof(*slots->of));
	memset(slots->of + slots->n, 0, (n - slots->n) * sizeof(*slots->of));
	slots->n = n;
}
