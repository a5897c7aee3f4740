/* SPDX-License-Identifier: MIT */
#include "model/core/times.h"

#include "model/core/model.h"

bool span_ok(int64_t start_ns, int64_t dur_ns, int64_t written_ns)
{
	if (!time_ok(start_ns) || dur_ns < 0 || dur_ns > DUR_MAX)
		return false;
	return !time_ok(written_ns) || start_ns + dur_ns <= written_ns + LATE_SLACK_NS;
}

void saw_time(struct model *model, int64_t start_ns, int64_t end_ns)
{
	if (start_ns < model->first_ns)
		model->first_ns = start_ns;
	if (end_ns > model->last_ns)
		model->last_ns = end_ns;
}

int64_t live_edge(const struct model *model)
{
	return model->live_ns > model->last_ns ? model->live_ns : model->last_ns;
}

/* ---- the settled line ---- */

/* A process at level off writes nothing; otherwise a living process writes a beat once a second. */
#define SILENT_NS 3000000000
#define SILENT_LAG_NS 1000000000

int64_t sources_settled(const struct model *model)
{
	int64_t settled = model->alive_ns;

	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);
		bool gone = process->exited && model->alive_ns >= process->exit_seen_ns;
		int64_t own = process->settled_ns;

		if (!own || gone || process->replaced)
			continue;
		if (model->alive_ns - process->seen_ns > SILENT_NS &&
		    own < model->alive_ns - SILENT_LAG_NS)
			own = model->alive_ns - SILENT_LAG_NS;
		if (own < settled)
			settled = own;
	}
	return settled;
}

int64_t model_settle(struct model *model)
{
	int64_t settled = sources_settled(model);

	/* Events that wait to be joined are not in the timeline yet. */
	if (model->hold_ns && model->hold_ns < settled)
		settled = model->hold_ns;
	if (model->finished && !model->partial) {
		settled = model->live_ns;
		if (model->last_ns > settled)
			settled = model->last_ns;
	}
	if (settled > model->settled_ns)
		model->settled_ns = settled;
	return model->settled_ns;
}
