/* SPDX-License-Identifier: MIT */
/*
 * What is kept per step starts again when other steps are shown: means over the steps of an
 * autotuner would say nothing about those of the training that follows.
 *
 * Slices that were handed out cannot be cut again, so the means begin with the change. What is
 * counted over the whole run, whatever its steps, is kept.
 */
#include "model/analyses/analyses.h"

#include <string.h>

#include "model/core/model.h"
#include "model/steps/steps.h"

void analysis_start(struct model *model, const struct analysis *analysis, void *state)
{
	memset(state, 0, analysis->size);
	if (analysis->init)
		analysis->init(model, state);
}

bool series_changes(const struct model *model, const struct steps *steps, size_t *series)
{
	size_t now = steps ? (size_t)(steps - model->steps) + 1 : *series, before = *series;

	*series = now;
	return before && now != before;
}

static void restart_one(struct model *model, const struct analysis *analysis, void *state)
{
	if (analysis->restart)
		analysis->restart(state);
	if (!analysis->per_step)
		return;
	if (analysis->release)
		analysis->release(state);
	analysis_start(model, analysis, state);
}

void analyses_restart(struct model *model, const struct analysis *const *list, void **state)
{
	for (; *list; list++, state++)
		restart_one(model, *list, *state);
}
