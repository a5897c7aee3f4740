/* SPDX-License-Identifier: MIT */
/*
 * Launches and runs without ids: by the order of their queue. The rules are in
 * model/commands/join.h.
 *
 * On a queue that is not in order, runs are guessed by name. A wait drops the launches that found
 * no run, or they would shift all that follow.
 */
#include "model/commands/join.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/clocks/clock.h"
#include "model/core/model.h"

#define BAR_NS 2000			/* slack in addition to the clock's error bar */

/* ---- what is reported ---- */

static struct join_fifo *fifo_get(struct model *model, uint32_t index)
{
	struct queue *queue = queue_at(model, index);

	if (!queue->fifo)
		queue->fifo = xcalloc(1, sizeof(*queue->fifo));
	if (!queue->fifo->begun) {
		queue->fifo->begun = true;
		queue->fifo->astray = queue->flags & QUEUE_FOUND;
	}
	return queue->fifo;
}

static void make_room(struct model *model, uint32_t queue)
{
	if (model->join->n >= JOIN_MAX)
		join_fifo_settle(model, queue, model->live_ns, true);
}

void join_fifo_launch(struct model *model, uint32_t queue, const struct join_launch *launch)
{
	struct join_fifo *fifo = fifo_get(model, queue);
	size_t at;

	make_room(model, queue);
	grow(&fifo->launches, &fifo->cap_launches, fifo->n_launches, sizeof(*launch));
	for (at = fifo->n_launches; at > 0 &&
	     fifo->launches[at - 1].launch.call_ns > launch->launch.call_ns; at--)
		fifo->launches[at] = fifo->launches[at - 1];
	fifo->launches[at] = *launch;
	fifo->n_launches++;
	model->join->n++;
}

void join_fifo_run(struct model *model, uint32_t queue, const struct join_run *run)
{
	struct join_fifo *fifo = fifo_get(model, queue);
	size_t at;

	make_room(model, queue);
	grow(&fifo->runs, &fifo->cap_runs, fifo->n_runs, sizeof(*run));
	for (at = fifo->n_runs; at > 0 &&
	     fifo->runs[at - 1].run.start_ticks > run->run.start_ticks; at--)
		fifo->runs[at] = fifo->runs[at - 1];
	fifo->runs[at] = *run;
	fifo->n_runs++;
	model->join->n++;
}

static void drop_wait(struct join_fifo *fifo)
{
	memmove(fifo->waits, fifo->waits + 1, --fifo->n_waits * sizeof(fifo->waits[0]));
}

void join_wait(struct model *model, const struct arrival *in)
{
	const struct event_wait *wait = &in->event->u.wait;
	uint32_t queue = wait->queue && !wait->result ?
			 process_queue_get(model, in->process, wait->queue) : NONE, at;
	struct join_fifo *fifo = queue == NONE ? NULL : queue_at(model, queue)->fifo;
	int64_t end_ns = wait->start_ns + wait->dur_ns;

	if (!fifo || !fifo->begun)
		return;
	if (fifo->n_waits == JOIN_WAITS)
		drop_wait(fifo);
	for (at = fifo->n_waits; at > 0 && fifo->waits[at - 1].end_ns > end_ns; at--)
		fifo->waits[at] = fifo->waits[at - 1];
	fifo->waits[at] = (struct join_wait) { wait->start_ns, end_ns, in->event->tid };
	fifo->n_waits++;
}

/* ---- one queue ---- */

/* The first n launches and m runs have been handled. */
struct fifo_work {
	struct model *model;
	struct join_fifo *fifo;
	const struct clock *clock;	/* NULL: unknown */
	struct process *process;
	size_t n, m;
	bool ordered;			/* the queue is in order */
	bool lost;			/* something was lost since the epoch began */
};

static const struct clock *clock_of(const struct model *model, const struct queue *queue)
{
	const struct clock *clock = queue->view == NONE ? NULL :
				    &view_at(model, queue->view)->clock;

	return clock && clock_has(clock) ? clock : NULL;
}

/* The host time of ticks and its error; false: unknown. */
static bool host_time(const struct fifo_work *work, const struct event_run *run, uint64_t ticks,
		      int64_t *ns, int64_t *bar)
{
	uint8_t segment;

	if (run->flags & CMD_APPROX) {
		*ns = (int64_t)ticks;
		*bar = BAR_NS;
		return true;
	}
	if (!work->clock || !ticks)
		return false;
	*ns = clock_map(work->clock, ticks, &segment);
	*bar = clock_error_at(work->clock, ticks);
	*bar = *bar > TIME_MAX - BAR_NS ? TIME_MAX : *bar + BAR_NS;
	return true;
}

int64_t join_start_ns(const struct model *model, uint32_t queue, const struct join_run *run)
{
	struct fifo_work work = {
		.clock = queue < model->queues.n ? clock_of(model, queue_at(model, queue)) : NULL,
	};
	int64_t ns, bar;

	return host_time(&work, &run->run, run->run.start_ticks, &ns, &bar) ? ns : run->time_ns;
}

static bool fifo_fits(const struct fifo_work *work, const struct event_launch *launch,
		      const struct join_run *given)
{
	const struct event_run *run = &given->run;
	int64_t start_ns, bar;

	if (time_ok(given->time_ns) && given->time_ns < launch->call_ns)
		return false;
	if (launch->kind != run->kind && run->kind && launch->kind != COMMAND_OTHER &&
	    run->kind != COMMAND_OTHER)
		return false;
	if (launch->bytes && run->bytes && launch->bytes != run->bytes)
		return false;
	if (launch->name && run->name && launch->name != run->name)
		return false;
	return !host_time(work, run, run->start_ticks, &start_ns, &bar) ||
	       start_ns >= launch->call_ns - bar;
}

/* Whether another thread's call was going on at the same time: then the order of the two is
 * unknown. */
static bool fifo_contested(const struct join_fifo *fifo, size_t at)
{
	const struct event_launch *launch = &fifo->launches[at].launch, *other;

	if (at > 0) {
		other = &fifo->launches[at - 1].launch;
		if (other->tid != launch->tid &&
		    other->call_ns + other->call_dur_ns > launch->call_ns)
			return true;
	}
	if (at + 1 == fifo->n_launches)
		return false;
	other = &fifo->launches[at + 1].launch;
	return other->tid != launch->tid &&
	       launch->call_ns + launch->call_dur_ns > other->call_ns;
}

static void pair(struct fifo_work *work, enum how how)
{
	struct join_fifo *fifo = work->fifo;

	if (fifo_contested(fifo, work->n))
		how = HOW_GUESS;
	join_hand_on(work->model, work->process, &fifo->launches[work->n].launch,
		     &fifo->runs[work->m], how);
	work->n++;
	work->m++;
}

static void skip_launch(struct fifo_work *work)
{
	work->model->join->unmet++;
	work->n++;
}

static void skip_run(struct fifo_work *work)
{
	join_hand_on(work->model, work->process, NULL, &work->fifo->runs[work->m++], HOW_NONE);
}

/*
 * Guesses pairs of the launches before n and the runs before m: in order while they fit, otherwise
 * skips as few of both as possible until they fit again.
 */
static void fifo_guess(struct fifo_work *work, size_t n, size_t m)
{
	struct join_fifo *fifo = work->fifo;

	while (work->m < m) {
		size_t skip, launches = 0;
		bool found = false;

		for (skip = 0; skip <= JOIN_SKIP && !found; skip++)
			for (launches = 0; launches <= skip && !found; launches++) {
				size_t i = work->n + launches, j = work->m + skip - launches;

				found = i < n && j < m &&
					fifo_fits(work, &fifo->launches[i].launch, &fifo->runs[j]);
			}
		if (!found) {
			skip_run(work);
			continue;
		}
		skip--;			/* the loops went one step too far */
		launches--;
		for (size_t runs = skip - launches; runs > 0; runs--)
			skip_run(work);
		while (launches-- > 0)
			skip_launch(work);
		pair(work, HOW_GUESS);
		model_breathe(work->model);
	}
}

/* On a queue out of order, joins the runs before m by name, to the earliest launch before n
 * first. */
static void guess_by_name(struct fifo_work *work, size_t n, size_t m)
{
	struct join_fifo *fifo = work->fifo;

	for (; work->m < m; work->m++) {
		const struct join_run *run = &fifo->runs[work->m];
		size_t end = n - work->n > 32 * JOIN_SKIP ? work->n + 32 * JOIN_SKIP : n;
		size_t i = work->n;
		struct join_launch launch;

		while (i < end && !fifo_fits(work, &fifo->launches[i].launch, run))
			i++;
		if (i == end) {
			join_hand_on(work->model, work->process, NULL, run, HOW_NONE);
			continue;
		}
		/* The remaining launches move up. */
		launch = fifo->launches[i];
		memmove(fifo->launches + work->n + 1, fifo->launches + work->n,
			(i - work->n) * sizeof(launch));
		work->n++;
		join_hand_on(work->model, work->process, &launch.launch, run, HOW_GUESS);
	}
}

/* Whether there are as many launches as runs, nothing was lost, and all pairs fit. */
static bool in_step(const struct fifo_work *work, size_t n, size_t m)
{
	const struct join_fifo *fifo = work->fifo;

	if (fifo->astray || work->lost || n - work->n != m - work->m)
		return false;
	for (size_t i = 0; work->n + i < n; i++)
		if (!fifo_fits(work, &fifo->launches[work->n + i].launch, &fifo->runs[work->m + i]))
			return false;
	return true;
}

/* ---- epochs ---- */

/*
 * Finds n and m such that, when this wait returned and the queue was empty, the launches before n
 * and the runs before m were done and all others came later. false: that cannot be determined.
 */
static bool fifo_divides(const struct fifo_work *work, const struct join_wait *wait,
			 int64_t settled_ns, size_t *n, size_t *m)
{
	const struct join_fifo *fifo = work->fifo;
	int64_t next_ns = settled_ns, ns, bar;

	for (*n = work->n; *n < fifo->n_launches; ++*n) {
		const struct event_launch *launch = &fifo->launches[*n].launch;

		if (launch->call_ns >= wait->end_ns) {
			next_ns = launch->call_ns;
			break;
		}
		/* A launch of another thread may not have been waited for. */
		if (launch->tid != wait->tid &&
		    launch->call_ns + launch->call_dur_ns > wait->begin_ns)
			return false;
	}
	for (*m = work->m; *m < fifo->n_runs; ++*m) {
		const struct event_run *run = &fifo->runs[*m].run;
		bool before, after;

		if (!host_time(work, run, run->end_ticks, &ns, &bar))
			return false;
		before = ns <= wait->end_ns + bar;
		if (!host_time(work, run, run->start_ticks, &ns, &bar))
			return false;
		after = ns >= next_ns - bar;
		if (before == after)
			return false;
		if (after)
			break;
	}
	return true;
}

static void close_epoch(struct fifo_work *work, const struct join_wait *wait, size_t n, size_t m)
{
	struct join_fifo *fifo = work->fifo;

	if (!work->ordered)
		guess_by_name(work, n, m);
	else if (!in_step(work, n, m))
		fifo_guess(work, n, m);
	else
		while (work->n < n)
			pair(work, HOW_FIFO);
	while (work->n < n)
		skip_launch(work);
	fifo->astray = false;
	fifo->since_ns = wait->end_ns;
}

static bool due(const struct fifo_work *work, const struct join_run *run, int64_t settled_ns)
{
	int64_t ns, bar;

	if (!host_time(work, &run->run, run->run.end_ticks, &ns, &bar))
		ns = run->time_ns;
	return ns < settled_ns - JOIN_WAIT_NS;
}

/* On an in-order queue: joins in order while launches and runs fit, else by guesses. */
static void pair_open(struct fifo_work *work, size_t n, size_t m, bool all)
{
	struct join_fifo *fifo = work->fifo;

	if (work->lost || (all && n - work->n != m - work->m))
		fifo->astray = true;
	while (!fifo->astray && work->n < n && work->m < m) {
		if (fifo_fits(work, &fifo->launches[work->n].launch, &fifo->runs[work->m]))
			pair(work, HOW_FIFO);
		else
			fifo->astray = true;
	}
	/* A run before all launches belongs to a launch that was not seen. */
	fifo->astray |= work->m < m;
	if (fifo->astray)
		fifo_guess(work, n, m);
}

/* If the program does not wait for this queue, whatever settled long ago is handed on. */
static void fifo_go_on(struct fifo_work *work, int64_t settled_ns, bool all)
{
	struct join_fifo *fifo = work->fifo;
	size_t n = work->n, m = work->m;

	while (m < fifo->n_runs && (all || due(work, &fifo->runs[m], settled_ns)))
		m++;
	while (n < fifo->n_launches &&
	       (all || fifo->launches[n].launch.call_ns < settled_ns))
		n++;
	if (work->ordered)
		pair_open(work, n, m, all);
	else
		guess_by_name(work, n, m);
	while (all && work->n < n)
		skip_launch(work);
}

static void done_with(struct fifo_work *work)
{
	struct join_fifo *fifo = work->fifo;

	fifo->n_launches -= work->n;
	fifo->n_runs -= work->m;
	if (work->n)
		memmove(fifo->launches, fifo->launches + work->n,
			fifo->n_launches * sizeof(fifo->launches[0]));
	if (work->m)
		memmove(fifo->runs, fifo->runs + work->m,
			fifo->n_runs * sizeof(fifo->runs[0]));
	work->model->join->n -= work->n + work->m;
}

static bool lost_since(const struct fifo_work *work)
{
	return work->process->ids.lost_ns > work->fifo->since_ns ||
	       work->model->join->lost_ns > work->fifo->since_ns;
}

void join_fifo_settle(struct model *model, uint32_t index, int64_t settled_ns, bool all)
{
	struct queue *queue = queue_at(model, index);
	struct join_fifo *fifo = queue->fifo;
	struct fifo_work work = {
		.model = model, .fifo = fifo, .clock = clock_of(model, queue),
		.process = process_at(model, queue->process),
			   .ordered = queue->flags & QUEUE_IN_ORDER,
	};
	size_t n, m;

	if (!fifo->n_launches && !fifo->n_runs && !fifo->n_waits)
		return;
	while (fifo->n_waits && (all || fifo->waits[0].end_ns < settled_ns)) {
		work.lost = lost_since(&work);
		if (fifo_divides(&work, &fifo->waits[0], settled_ns, &n, &m))
			close_epoch(&work, &fifo->waits[0], n, m);
		drop_wait(fifo);
	}
	work.lost = lost_since(&work);
	fifo_go_on(&work, settled_ns, all);
	done_with(&work);
}

void join_fifo_release(struct join_fifo *fifo)
{
	if (!fifo)
		return;
	free(fifo->launches);
	free(fifo->runs);
	free(fifo);
}

size_t join_fifo_bytes(const struct join_fifo *fifo)
{
	return !fifo ? 0 : sizeof(*fifo) + fifo->cap_launches * sizeof(*fifo->launches) +
			   fifo->cap_runs * sizeof(*fifo->runs);
}
