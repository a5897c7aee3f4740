/* SPDX-License-Identifier: MIT */
/* The state of the model as a whole: counts, times, memory. */
#include "model/analyses/analyses.h"
#include "model/commands/join.h"
#include "model/core/model.h"
#include "model/steps/steps.h"

void model_status(struct model *model, struct model_status *out)
{
	const struct steps *steps = steps_best(model);

	*out = (struct model_status) {
		.first_ns = model->first_ns, .last_ns = model->last_ns,
		.live_ns = model->live_ns, .settled_ns = model_settle(model),
		.finished = model->finished, .partial = model->partial,
		.events = model->events, .lost_events = model->lost_events,
		.lost_packets = model->lost_packets, .bad = model->bad,
		.kernels = model->n_kernels, .unmet = model->join->unmet,
		.device_ns = model->device_ns, .launched_ns = model->launched_ns,
		.op_ns = model->op_ns, .memory_bytes = model->memory_bytes,
		.folded_ns = model->folded_ns, .late = analyses_stats(model).late,
		.last_step_number = -1,
	};
	for (int i = 0; i < HOW_COUNT; i++)
		out->how[i] = model->how[i];
	out->warnings = notes_warnings(model);
	for (uint32_t i = 0; i < model->queues.n; i++)
		out->in_flight += queue_at(model, i)->in_flight;
	for (uint32_t i = 0; i < model->processes.n; i++) {
		const struct process *process = process_at(model, i);

		out->calls += process->beat_calls > process->counted_calls ?
			      process->beat_calls : process->counted_calls;
		add_ns(&out->own_ns, process->own_ns);
		out->dropped += process->dropped;
		out->killed += process->exit_signal > 0 && process->n_probes &&
			       !process->said_exit;
		if (process->own_ns && process->seen_ns > process->start_ns &&
		    process->start_ns > 0)
			add_ns(&out->program_ns, process->seen_ns - process->start_ns);
	}
	if (steps && steps->n) {
		out->steps = steps->n;
		out->passes = steps_are_passes(model);
		out->last_step_number = steps->list[steps->n - 1].number >= 0 ?
					steps->list[steps->n - 1].number : (int64_t)steps->n - 1;
		out->last_step_ns = steps->list[steps->n - 1].dur_ns;
	}
}
