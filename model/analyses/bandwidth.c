/* SPDX-License-Identifier: MIT */
/*
 * How fast copies were, by device and direction.
 *
 * Definition: the mean rate is all bytes divided by the time in which at least one such copy
 * ran (copies that run at once share the bus, so their union counts). The best rate is that of
 * the fastest single copy of BEST_BYTES or more, because the time of a shorter one is mostly
 * its launch; where there is no such copy, all copies count. The bytes of a step are those of
 * the copies that began in it; their mean leaves out the warm-up. A copy that came too late for
 * the union is assumed to have run alone: the mean is then too low, and never above the best.
 *
 * Complexity: O(1) per copy. Memory: WAYS_MAX entries; further ones are not counted.
 */
#include <stdlib.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/time.h"

#define WAYS_MAX 256u
#define BEST_BYTES 65536u

struct bandwidth_way {
	uint32_t device;
	uint8_t direction;
	int64_t until_ns, busy_ns;
	uint64_t bytes, count, best, best_small, step_bytes;
};

struct bandwidth {
	struct basis basis;
	struct bandwidth_way ways[WAYS_MAX];
	uint32_t n;
};

static struct bandwidth_way *bandwidth_way(struct bandwidth *bandwidth, const struct act *act)
{
	struct bandwidth_way *way;

	for (uint32_t i = 0; i < bandwidth->n; i++) {
		way = &bandwidth->ways[i];
		if (way->device == act->device && way->direction == act->direction)
			return way;
	}
	if (bandwidth->n == WAYS_MAX)
		return NULL;
	way = &bandwidth->ways[bandwidth->n++];
	*way = (struct bandwidth_way) { .device = act->device, .direction = act->direction };
	way->until_ns = INT64_MIN;
	return way;
}

static void count_copy(struct bandwidth_way *way, const struct act *act, bool in_step)
{
	uint64_t rate = bytes_per_s(act->amount, act->end_ns - act->start_ns);
	uint64_t *best = act->amount >= BEST_BYTES ? &way->best : &way->best_small;

	way->bytes += act->amount;
	way->count++;
	if (in_step)
		way->step_bytes += act->amount;
	if (rate > *best)
		*best = rate;
}

static void bandwidth_slice(struct model *model, void *state, const struct slice *slice)
{
	struct bandwidth *bandwidth = state;
	enum scope scope;
	bool in_step = basis_add(&bandwidth->basis, slice, &scope) && slice->step;

	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];
		struct bandwidth_way *way;
		int64_t from, to;

		if (!act->amount || act->direction == DIR_NONE)
			continue;
		way = bandwidth_way(bandwidth, act);
		if (!way)
			continue;
		if (act_counts(slice, act))
			count_copy(way, act, in_step);
		if (act->flags & ACT_LATE)
			add_ns(&way->busy_ns, (act->end_ns < slice->t0 ? act->end_ns : slice->t0) -
			       act->start_ns);
		from = act_start(slice, act);
		to = act_end(slice, act);
		if (from < way->until_ns)
			from = way->until_ns;
		if (to <= from)
			continue;
		add_ns(&way->busy_ns, to - from);
		way->until_ns = to;
	}
}

size_t model_bandwidth(struct model *model, struct bandwidth_row **out)
{
	const struct bandwidth *bandwidth = analysis_state(model, ANALYSIS_BANDWIDTH);
	uint64_t steps = bandwidth->basis.steps;

	*out = xcalloc(bandwidth->n, sizeof(**out));
	for (uint32_t i = 0; i < bandwidth->n; i++) {
		const struct bandwidth_way *way = &bandwidth->ways[i];

		(*out)[i] = (struct bandwidth_row) {
			.device = way->device, .direction = (enum direction)way->direction,
			.bytes = way->bytes, .count = way->count, .busy_ns = way->busy_ns,
			.best_bytes_per_s = way->best ? way->best : way->best_small,
			.step_bytes = steps ? way->step_bytes / steps : 0,
			.mean_bytes_per_s = bytes_per_s(way->bytes, way->busy_ns),
		};
	}
	return bandwidth->n;
}

static void bandwidth_restart(void *state)
{
	struct bandwidth *bandwidth = state;

	bandwidth->basis = (struct basis) { .steps = 0 };
	for (uint32_t i = 0; i < bandwidth->n; i++)
		bandwidth->ways[i].step_bytes = 0;
}

const struct analysis analysis_bandwidth = {
	.name = "bandwidth", .size = sizeof(struct bandwidth), .slice = bandwidth_slice,
	.restart = bandwidth_restart,
};
