/* SPDX-License-Identifier: MIT */
/*
 * How the time of each op changed over the run, for the tables: what it took of a step on the
 * host and on the devices. No finding is made of it.
 *
 * Idea: the run so far is divided into bins of equally many steps (seconds where there are no
 * steps); when all bins are full, every two become one. What runs in every step is there from
 * the first steps on, so ranges with a number in their name can take no more entries than what
 * is left.
 *
 * Complexity: O(1) for an act; the bins are merged each time the run has doubled. Memory:
 * OPS_KEPT ops of BINS bins, ranges among the first RANGES_KEPT of them only; later ops have no
 * trend.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/work.h"
#include "model/core/model.h"

#define BINS (2 * TREND_POINTS)
#define OPS_KEPT 1024u
/* ranges may take only the first places, because many have a number in their name */
#define RANGES_KEPT 128u

struct spent { int64_t op_ns, device_ns; };

struct trend {
	uint32_t name;
	struct spent bins[BINS];
};

struct trends {
	struct basis basis;
	enum scope scope;		/* which slices the bins are about */
	struct trend *list;		/* owned */
	size_t n, cap;
	struct act_slots at;		/* by name, 1 + the index in list */
	uint32_t slices[BINS];		/* number of slices in each bin */
	uint32_t width;			/* number of slices in a full bin */
	size_t n_bins;			/* number of bins, of which the last one is being filled */
};

static void release(void *state)
{
	struct trends *trends = state;

	free(trends->list);
	free(trends->at.of);
}

static size_t bytes(const void *state)
{
	const struct trends *trends = state;

	return trends->cap * sizeof(*trends->list) + trends->at.n * sizeof(*trends->at.of);
}

static void op_trend_merge_bins(struct trends *trends)
{
	for (size_t i = 0; i < BINS / 2; i++)
		trends->slices[i] = trends->slices[2 * i] + trends->slices[2 * i + 1];
	memset(trends->slices + BINS / 2, 0, sizeof(*trends->slices) * (BINS / 2));
	for (size_t k = 0; k < trends->n; k++) {
		struct spent *bins = trends->list[k].bins;

		for (size_t i = 0; i < BINS / 2; i++) {
			bins[i].op_ns = bins[2 * i].op_ns + bins[2 * i + 1].op_ns;
			bins[i].device_ns = bins[2 * i].device_ns + bins[2 * i + 1].device_ns;
		}
		memset(bins + BINS / 2, 0, sizeof(*bins) * (BINS / 2));
	}
	trends->n_bins = BINS / 2;
	trends->width *= 2;
}

/* Adds a slice to the last bin, or to a new one; returns the bin. */
static size_t next_bin(struct trends *trends)
{
	if (!trends->width)
		trends->width = 1;
	if (trends->n_bins == BINS && trends->slices[BINS - 1] >= trends->width)
		op_trend_merge_bins(trends);
	if (!trends->n_bins || trends->slices[trends->n_bins - 1] >= trends->width)
		trends->n_bins++;
	trends->slices[trends->n_bins - 1]++;
	return trends->n_bins - 1;
}

/* The entry of a name; makes one while there are fewer than `most`, otherwise NULL. */
static struct trend *trend_of(struct trends *trends, uint32_t name, size_t most)
{
	uint32_t *at;

	if (name == NONE)
		return NULL;
	at = slot_of(&trends->at, name);
	if (*at)
		return &trends->list[*at - 1];
	if (trends->n >= most)
		return NULL;
	grow(&trends->list, &trends->cap, trends->n, sizeof(*trends->list));
	trends->list[trends->n] = (struct trend){ .name = name };
	*at = (uint32_t)++trends->n;
	return &trends->list[trends->n - 1];
}

static void op_trend_slice(struct model *model, void *state, const struct slice *slice)
{
	struct trends *trends = state;
	enum scope scope;
	struct trend *one;
	size_t bin, i;

	(void)model;
	if (!basis_add(&trends->basis, slice, &scope) || scope != basis_scope(&trends->basis))
		return;
	if (scope != trends->scope) {	/* steps were found, so start again */
		trends->n = trends->n_bins = 0;
		free(trends->at.of);
		trends->at = (struct act_slots){ .of = NULL };
		memset(trends->slices, 0, sizeof(trends->slices));
		trends->width = 0;
		trends->scope = scope;
	}
	bin = next_bin(trends);
	for (i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (act->kind != ACT_OP || !act_counts(slice, act))
			continue;
		one = trend_of(trends, act->name,
			       act->flags & ACT_RANGE ? RANGES_KEPT : OPS_KEPT);
		if (one)
			one->bins[bin].op_ns += act->end_ns - act->start_ns;
	}
	for (i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];

		one = act_counts(slice, act) ? trend_of(trends, act->op_name, 0) : NULL;
		if (one)
			one->bins[bin].device_ns += act->end_ns - act->start_ns;
	}
}

static void init(struct model *model, void *state)
{
	(void)model;
	((struct trends *)state)->scope = SCOPE_TIME;
}

const struct analysis analysis_op_trend = {
	.name = "op-trend", .size = sizeof(struct trends), .init = init, .release = release,
	.slice = op_trend_slice, .bytes = bytes,
	.needs_ops = true,
};

/* ---- queries ---- */

size_t op_trends(const void *state, struct names *names, struct op_trend **out)
{
	const struct trends *trends = state;
	size_t points = trends->n_bins < TREND_POINTS ? trends->n_bins : TREND_POINTS;

	*out = xcalloc(trends->n ? trends->n : 1, sizeof(**out));
	for (size_t k = 0; k < trends->n; k++) {
		struct op_trend *one = &(*out)[k];
		int64_t slices[TREND_POINTS] = {0};

		one->raw_name = names_raw(names, trends->list[k].name);
		one->n = (uint32_t)points;
		for (size_t i = 0; i < trends->n_bins; i++) {
			size_t point = i * points / trends->n_bins;

			slices[point] += trends->slices[i];
			one->op_ns[point] += trends->list[k].bins[i].op_ns;
			one->device_ns[point] += trends->list[k].bins[i].device_ns;
		}
		for (size_t i = 0; i < points; i++) {
			one->op_ns[i] /= slices[i] ? slices[i] : 1;
			one->device_ns[i] /= slices[i] ? slices[i] : 1;
		}
	}
	return trends->n;
}

size_t model_op_trends(struct model *model, struct op_trend **out)
{
	return op_trends(analysis_state(model, ANALYSIS_OP_TREND), &model->names, out);
}
