/* SPDX-License-Identifier: MIT */
/* Which threads the sweep of a slice is about. */
#include "model/analyses/sweep.h"

bool sweep_is_step(const struct slice_sweep *sweep, const struct act *act)
{
	const struct slice *slice = sweep->slice;

	if (!slice->step || act->kind != ACT_OP)
		return false;
	if (sweep->step_name && act->name == sweep->step_name)
		return act->start_ns >= slice->t0 && act->end_ns <= slice->t1;
	return act->start_ns == slice->t0 && act->end_ns == slice->t1;
}

static void add_worker(struct slice_sweep *sweep, uint32_t index)
{
	struct sweep_thread *thread;

	if (index == NONE)
		return;
	thread = sweep_thread_at(sweep, index);
	if (!thread->worker)
		sweep->workers[HOST_NOTHING]++;
	thread->worker = true;
}

static void find_workers(struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;
	bool kernels = false;

	add_worker(sweep, sweep->step_thread);
	for (size_t i = 0; i < slice->n_launches && !kernels; i++) {
		const struct act *act = &slice->acts[slice->launches[i]];

		kernels = !act->amount && sweep_has(sweep, act);
	}
	for (size_t i = 0; i < slice->n_launches; i++) {
		const struct act *act = &slice->acts[slice->launches[i]];

		if ((!kernels || !act->amount) && sweep_has(sweep, act))
			add_worker(sweep, act->thread);
	}
	for (size_t i = 0; i < slice->n_rest && slice->step; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (!sweep_is_step(sweep, act) || act->thread == NONE || !sweep_has(sweep, act))
			continue;
		add_worker(sweep, act->thread);
		sweep->step_thread = act->thread;
	}
}

static bool is_of_steps(const struct slice_sweep *sweep, uint32_t thread)
{
	return thread != NONE && (sweep->process == NONE ||
				  thread_at(sweep->model, thread)->process == sweep->process);
}

/* The thread that goes through the steps or, while that is unknown, the one that launches first;
 * where only the processor works, the one that runs the first op. If none does, it is that of the
 * slice before. */
static void find_first_thread(struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;
	uint32_t before = sweep->first_thread;

	sweep->first_thread = sweep->step_thread;
	for (size_t i = 0; i < slice->n_launches && sweep->first_thread == NONE; i++)
		if (sweep_has(sweep, &slice->acts[slice->launches[i]]))
			sweep->first_thread = slice->acts[slice->launches[i]].thread;
	for (size_t i = 0; i < slice->n_rest && sweep->first_thread == NONE; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (act->kind == ACT_OP && (act->flags & ACT_WORKS) && sweep_has(sweep, act))
			sweep->first_thread = act->thread;
	}
	if (sweep->first_thread == NONE && is_of_steps(sweep, before))
		sweep->first_thread = before;
}

/* The first thread of the steps' process, once it has run an op; NONE: it has not. */
static uint32_t find_main_thread(const struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;

	if (is_of_steps(sweep, sweep->main_thread))
		return sweep->main_thread;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		const struct thread *thread = act->kind == ACT_OP && act->thread != NONE ?
					      thread_at(sweep->model, act->thread) : NULL;

		if (thread && sweep_has(sweep, act) &&
		    thread->tid == process_at(sweep->model, thread->process)->pid)
			return act->thread;
	}
	return NONE;
}

/* The threads of a pool work on what is handed to them. So where a range does not say who goes
 * through the steps, that is the main thread if it runs ops. */
static void find_asking_thread(struct slice_sweep *sweep)
{
	uint32_t asking;

	sweep->main_thread = find_main_thread(sweep);
	asking = sweep_asking_pool(sweep);
	sweep->asking_thread = asking != NONE ? asking : sweep->first_thread;
}

void sweep_find_threads(struct slice_sweep *sweep)
{
	find_workers(sweep);
	find_first_thread(sweep);
	find_asking_thread(sweep);
}
