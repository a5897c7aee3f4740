/* SPDX-License-Identifier: MIT */
/*
 * Where the time of a step goes.
 *
 * Definition: each instant of a step belongs to one class, the first of enum step_class that
 * applies. What the devices of the step's process do comes before what its host does, because
 * only time in which no device works is a cost of the host. The host is the step's workers
 * (sweep.h). Work that is being handed over, or that was handed over and takes its moment to
 * begin, is launch; if it takes longer, other. Waiting while nothing is queued, or for a
 * blocking copy to begin, is sync. Fetching a batch is input, also when no worker does anything
 * known and other threads make batches. So the classes add up to the step, and removing the
 * cause of a class saves at most that class.
 *
 * Where no device but the processor works, a batch that is being fetched comes first, then ops
 * and kernels, which are compute; the rest is the host's.
 *
 * Steps after the warm-up are added up; single rows are kept for the last KEPT_MAX. The time
 * between two steps is added up, too, unless it is longer than BETWEEN steps with the usual time
 * between them (the median so far), such as a validation, and is not spent waiting for input.
 *
 * Source: XProf's step breakdown (event_span.cc), which orders the host's calls differently.
 */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

#define KEPT_MAX 16384u
#define HOST_MAX 16384u
#define BETWEEN 2

void breakdown_release(struct breakdown *breakdown)
{
	for (int i = 0; i < CALLS_COUNT; i++)
		hist_release(&breakdown->calls[i]);
	hist_release(&breakdown->gaps);
	own_release(&breakdown->own);
	host_time_release(&breakdown->host);
	free(breakdown->rows);
}

size_t breakdown_bytes(const struct breakdown *breakdown)
{
	size_t bytes = breakdown->cap * sizeof(*breakdown->rows) + own_bytes(&breakdown->own) +
		       host_time_bytes(&breakdown->host);

	for (int i = 0; i < CALLS_COUNT; i++)
		bytes += (size_t)breakdown->calls[i].n * sizeof(uint64_t);
	return bytes;
}

static void count_acts(struct slice_sweep *sweep)
{
	struct breakdown *b = &sweep->breakdown;
	const struct slice *slice = sweep->slice;
	bool averaged = !slice_partial(slice) && !slice->warm_up;
	struct hist *calls = &b->calls[slice->bare ? CALLS_BARE : slice->step ? CALLS_STEP :
				       CALLS_TIME];

	for (size_t i = 0; i < slice->n_launches; i++) {
		const struct act *act = &slice->acts[slice->launches[i]];

		if (!act_counts(slice, act) || !sweep_has(sweep, act))
			continue;
		b->now_launches++;
		if (averaged && !(act->flags & ACT_BLOCKING))
			hist_add(calls, act->end_ns - act->start_ns);
	}
	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];

		if (!act->amount || !act_counts(slice, act) || !sweep_has(sweep, act))
			continue;
		*(act->direction == DIR_H2D ? &b->now.h2d_bytes : act->direction == DIR_D2H ?
		  &b->now.d2h_bytes : &b->now.d2d_bytes) += act->amount;
	}
}

void breakdown_begin(struct model *model, struct slice_sweep *sweep)
{
	struct breakdown *b = &sweep->breakdown;
	const struct slice *slice = sweep->slice;

	if (!b->open || !slice->cut || slice->t0 != b->now.start_ns + b->now.dur_ns) {
		memset(&b->now, 0, sizeof(b->now));
		b->now.number = slice->number;
		b->now.start_ns = slice->t0;
		b->now_launches = 0;
		host_time_drop(&b->host);
	}
	b->now.warm_up = slice->warm_up;
	b->now.lost += slice->lost;
	b->now.paused |= slice->paused;
	b->now.bare |= slice->bare;
	count_acts(sweep);
}

static void breakdown_note_holder(struct slice_sweep *sweep, enum host_state state, int64_t ns)
{
	uint32_t name = 0, index = state == HOST_INPUT ? sweep->input_thread :
			state == HOST_SYNC ? sweep->wait_thread : sweep->code_thread;
	const struct sweep_thread *thread;

	if (index != NONE && ns > 0) {
		uint32_t depth;

		sweep->breakdown.holder[state] = index + 1;
		thread = sweep_thread_at(sweep, index);
		depth = thread->ops < SWEEP_STACK ? thread->ops : SWEEP_STACK;
		if (state == HOST_SYNC)
			name = thread->wait_name;
		else if (state == HOST_CODE)
			name = depth ? thread->stack[depth - 1] : 0;
		else
			while (depth-- > 0 && !name)
				name = thread->input_at[depth] ? thread->stack[depth] : 0;
	}
	if (!name && state == HOST_INPUT && sweep->fetches)
		name = sweep->fetch_name;
	if (name)
		holders_add(&sweep->breakdown.now_held[state], name, ns);
}

/* The class of what the host does, if no work is on its way. */
static enum step_class host_class(const struct slice_sweep *sweep)
{
	/* A wait for a device that another process keeps busy is not a wait without work. */
	if (sweep->workers[HOST_SYNC])
		return sweep->foreign ? STEP_OTHER : STEP_SYNC;
	if (sweep->workers[HOST_INPUT] ||
	    (sweep_waits_for_others(sweep) && !sweep->workers[HOST_CODE]))
		return STEP_INPUT;
	return sweep->workers[HOST_CODE] ? STEP_HOST : STEP_OTHER;
}

/* Where only the processor works and no op or kernel runs: the thread that all else waits for. That
 * one may wait for another thread's kernels: then it is that thread, within its op; NONE: what is
 * waited for has not begun, or is done. */
static uint32_t processor_thread(struct slice_sweep *sweep)
{
	uint32_t asking = sweep->asking_thread, ran = sweep->ran_thread;

	if (asking == NONE || sweep_state(sweep_thread_at(sweep, asking)) != HOST_SYNC)
		return asking;
	return ran != NONE && ran != asking && sweep_thread_at(sweep, ran)->ops ? ran : NONE;
}

/* The same where only the processor works. An op that fetches a batch delays the ops after it. */
static enum step_class processor_class(struct slice_sweep *sweep)
{
	if (sweep->step_thread == NONE ? sweep->inputs > 0 :
	    sweep->workers[HOST_INPUT] || sweep->fetches)
		return STEP_INPUT;
	if (sweep->compute || sweep->comm || sweep->compiles)
		return sweep->compute ? STEP_COMPUTE : sweep->comm ? STEP_COMM : STEP_COMPILE;
	return sweep->asking_thread == NONE || processor_thread(sweep) != NONE ? STEP_HOST :
	       STEP_SYNC;
}

/* What the thread did that the class is about: while it is only known that no worker does anything,
 * the one that goes through the steps. */
static void breakdown_divide(struct slice_sweep *sweep, enum step_class class, int64_t dur_ns)
{
	struct breakdown *b = &sweep->breakdown;
	int64_t end_ns = sweep->now_ns + dur_ns;
	uint32_t thread = class == STEP_INPUT ? sweep->input_thread : class != STEP_HOST ? NONE :
			  sweep->host_only ? processor_thread(sweep) : sweep->code_thread;
	struct host_input input = { .asking = sweep->asking_thread, .start_ns = sweep->now_ns,
				    .end_ns = end_ns };

	input.thread = thread = thread == NONE ? sweep->asking_thread : thread;
	if (class == STEP_INPUT)
		host_input_extend(sweep->model, &b->host, HOST_MAX, STEP_INPUT, &b->input, &input);
	else if (class == STEP_HOST || class == STEP_OTHER)
		host_time_count(sweep->model, &b->host, HOST_MAX, (uint8_t)class,
				thread, sweep->now_ns, end_ns);
}

void breakdown_piece(struct slice_sweep *sweep, int64_t dur_ns)
{
	int64_t *ns = sweep->breakdown.now.ns, moment_ns;
	enum step_class class = sweep->compute ? STEP_COMPUTE : sweep->comm ? STEP_COMM :
				sweep->h2d ? STEP_H2D : sweep->d2h ? STEP_D2H :
				sweep->d2d ? STEP_D2D : sweep->workers[HOST_COMPILE] ?
				STEP_COMPILE : STEP_LAUNCH;

	if (sweep->host_only) {
		class = processor_class(sweep);
		ns[class] += dur_ns;
		breakdown_divide(sweep, class, dur_ns);
		sweep->wait_thread = sweep->asking_thread;
		if (class == STEP_INPUT || class == STEP_SYNC)
			breakdown_note_holder(sweep, class == STEP_SYNC ? HOST_SYNC : HOST_INPUT,
					      dur_ns);
		return;
	}
	if (class != STEP_LAUNCH || sweep->workers[HOST_LAUNCH]) {
		ns[class] += dur_ns;
		if (class != STEP_COMPILE)
			sweep->handed_ns = sweep->now_ns + dur_ns;
	} else if (sweep->queued) {
		moment_ns = sweep_moment(sweep, sweep->handed_ns, sweep->now_ns,
					 sweep->now_ns + dur_ns);
		ns[STEP_LAUNCH] += moment_ns;
		ns[STEP_OTHER] += dur_ns - moment_ns;
	} else {
		class = host_class(sweep);
		ns[class] += dur_ns;
		breakdown_divide(sweep, class, dur_ns);
		if (class == STEP_SYNC || class == STEP_INPUT || class == STEP_HOST)
			breakdown_note_holder(sweep,
					      class == STEP_SYNC ? HOST_SYNC : class == STEP_INPUT ?
			     HOST_INPUT : HOST_CODE, dur_ns);
	}
}

static void add_input(struct input_thread *list, uint32_t *n, uint32_t thread, int64_t busy_ns)
{
	for (uint32_t i = 0; i < *n; i++)
		if (list[i].thread == thread) {
			add_ns(&list[i].busy_ns, busy_ns);
			return;
		}
	if (*n < INPUT_THREADS && busy_ns > 0)
		list[(*n)++] = (struct input_thread) { thread, busy_ns };
}

void breakdown_input(struct slice_sweep *sweep, uint32_t thread, int64_t busy_ns)
{
	add_input(sweep->breakdown.now_inputs, &sweep->breakdown.n_now_inputs, thread, busy_ns);
}

static void add_sums(struct step_sums *sums, const struct step_breakdown *now)
{
	struct step_breakdown *sum = &sums->sum;

	sums->n++;
	sum->number = now->number;
	add_ns(&sum->dur_ns, now->dur_ns);
	add_ns(&sum->copy_ns, now->copy_ns);
	add_ns(&sum->copy_hidden_ns, now->copy_hidden_ns);
	add_ns(&sum->comm_ns, now->comm_ns);
	add_ns(&sum->comm_hidden_ns, now->comm_hidden_ns);
	sum->h2d_bytes += now->h2d_bytes;
	sum->d2h_bytes += now->d2h_bytes;
	sum->d2d_bytes += now->d2d_bytes;
	for (int c = 0; c < STEP_CLASS_COUNT; c++) {
		add_ns(&sum->ns[c], now->ns[c]);
		if (now->ns[c] > sums->worst_ns[c]) {
			sums->worst_ns[c] = now->ns[c];
			sums->worst_t0[c] = now->start_ns;
			sums->worst_t1[c] = now->start_ns + now->dur_ns;
		}
	}
}

/* Takes over who made batches and held time in the slice, if the slice counts in the means. */
static void take_held(struct breakdown *b)
{
	for (uint32_t i = 0; i < b->n_now_inputs; i++)
		add_input(b->inputs, &b->n_inputs, b->now_inputs[i].thread,
			  b->now_inputs[i].busy_ns);
	for (int i = 0; i < b->now_made.n; i++)
		holders_take(&b->made, &b->now_made.list[i]);
	for (int state = 0; state < HOST_STATES; state++)
		for (int i = 0; i < b->now_held[state].n; i++)
			holders_take(&b->held[state], &b->now_held[state].list[i]);
}

static void keep_row(struct breakdown *b)
{
	if (b->n == KEPT_MAX) {
		b->n /= 2;
		memmove(b->rows, b->rows + (KEPT_MAX - b->n), b->n * sizeof(*b->rows));
	}
	if (b->n == b->cap)
		grow(&b->rows, &b->cap, b->n, sizeof(*b->rows));
	b->rows[b->n++] = b->now;
	b->kept++;
}

/* Counts who made batches: ops of threads that are not workers. */
static void count_made(struct slice_sweep *sweep)
{
	const struct slice *slice = sweep->slice;

	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];

		if (act->kind == ACT_OP && act->work == WORK_INPUT &&
		    (act->start_ns >= slice->t0 || act->flags & ACT_LATE) &&
		    act->thread < sweep->n_threads &&
		    !sweep_thread_at(sweep, act->thread)->worker)
			holders_add(&sweep->breakdown.now_made, act->name,
				    act->end_ns - act->start_ns);
	}
}

/* A batch that is fetched between two steps belongs to the second one. */
static bool before_averaged(struct model *model, const struct steps *steps, int64_t t_ns)
{
	size_t next = FIRST_FROM(steps->list, steps->n, t_ns);

	return next < steps->n && (int64_t)next >= model_threshold(model, THRESHOLD_WARM_UP);
}

/* Starts again when another series of steps is shown: the longest series at the start (such as
 * three runs of a function that initialises weights) has no steps in common with a later one. */
static void breakdown_take_series(struct breakdown *b, size_t series)
{
	if (b->series && b->series != series + 1) {
		b->steps = b->between = b->outside = (struct step_sums) { .n = 0 };
		b->first_ns = 0;
		b->launches = 0;
		b->n = b->on_processor = b->on_device = 0;
		hist_release(&b->calls[CALLS_STEP]);
		hist_release(&b->calls[CALLS_BARE]);
		hist_release(&b->gaps);
		own_release(&b->own);
		memset(b->held, 0, sizeof(b->held));
		b->host.total.n = b->between_host.n = b->outside_host.n = 0;
	}
	b->series = series + 1;
}

/* Whether the time between two steps, which has ended now, is no longer than others of this run,
 * or a wait for a batch. */
static bool is_usual(struct breakdown *b, const struct steps *steps)
{
	hist_add(&b->gaps, b->now.dur_ns);
	return b->now.dur_ns <= BETWEEN * (steps->sum_ns / (int64_t)steps->n +
					   hist_percentile(&b->gaps, 500)) ||
	       b->now.ns[STEP_INPUT] > b->now.dur_ns / 2;
}

static void count_workers(struct breakdown *b, const struct slice_sweep *sweep)
{
	if (sweep->host_only) {
		b->on_processor++;
		b->through = sweep->first_thread + 1;	/* NONE becomes 0 */
	} else if (slice_has_device_work(sweep->slice))
		b->on_device++;
}

bool sweep_on_processor(const struct slice_sweep *sweep)
{
	return sweep->breakdown.on_processor > sweep->breakdown.on_device;
}

void breakdown_end(struct model *model, struct slice_sweep *sweep)
{
	struct breakdown *b = &sweep->breakdown;
	const struct slice *slice = sweep->slice;
	const struct steps *steps = steps_best(model);
	bool averaged = !b->now.lost && !b->now.paused && !b->now.bare &&
			!b->now.warm_up;

	b->now.dur_ns += slice->t1 - slice->t0;
	count_made(sweep);
	b->open = slice->cut && slice->t1 != slice->whole_t1;
	if (b->open)
		return;
	host_input_add(model, &b->host, HOST_MAX, STEP_INPUT, &b->input);
	if (slice->step) {
		if (steps)
			breakdown_take_series(b, (size_t)(steps - model->steps));
		keep_row(b);
		own_step(sweep);
		if (averaged) {
			if (!b->first_ns)
				b->first_ns = b->now.start_ns;
			add_sums(&b->steps, &b->now);
			count_workers(b, sweep);
			b->launches += b->now_launches;
			take_held(b);
			host_time_commit(&b->host);
		}
	} else if (averaged && steps && steps->n && before_averaged(model, steps, slice->t1)) {
		if (is_usual(b, steps)) {
			add_sums(&b->between, &b->now);
			take_held(b);
			host_parts_add(&b->between_host, &b->host.now);
		} else if (b->first_ns && b->now.start_ns >= b->first_ns) {
			add_sums(&b->outside, &b->now);
			host_parts_add(&b->outside_host, &b->host.now);
		}
	} else if (!steps || !steps->n) {
		add_sums(&b->seconds, &b->now);
		count_workers(b, sweep);
		b->launches += b->now_launches;
		take_held(b);
	}
	host_time_drop(&b->host);
	memset(b->now_held, 0, sizeof(b->now_held));
	b->now_made.n = 0;
	b->n_now_inputs = 0;
}

/* ---- queries ---- */

bool model_step_breakdown(struct model *model, int64_t start_ns, struct step_breakdown *out)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;
	size_t i = FIRST_FROM(b->rows, b->n, start_ns);

	if (i == b->n || b->rows[i].start_ns != start_ns)
		return false;
	*out = b->rows[i];
	return true;
}

uint64_t model_step_breakdowns(struct model *model)
{
	return sweep_of(model)->breakdown.kept;
}

/* Adds to out how much of sums a step has, of n. */
static void add_mean(struct step_breakdown *out, const struct step_sums *sums, uint64_t n)
{
	const struct step_breakdown *sum = &sums->sum;

	out->dur_ns += sum->dur_ns / (int64_t)n;
	out->copy_ns += sum->copy_ns / (int64_t)n;
	out->copy_hidden_ns += sum->copy_hidden_ns / (int64_t)n;
	out->comm_ns += sum->comm_ns / (int64_t)n;
	out->comm_hidden_ns += sum->comm_hidden_ns / (int64_t)n;
	out->h2d_bytes += sum->h2d_bytes / n;
	out->d2h_bytes += sum->d2h_bytes / n;
	out->d2d_bytes += sum->d2d_bytes / n;
	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		out->ns[c] += sum->ns[c] / (int64_t)n;
}

uint64_t model_step_breakdown_mean(struct model *model, struct step_breakdown *out)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;

	*out = (struct step_breakdown) {
		.number = b->steps.sum.number, .start_ns = b->first_ns,
	};
	if (b->steps.n)
		add_mean(out, &b->steps, b->steps.n);
	return b->steps.n;
}

uint64_t model_step_between(struct model *model, struct step_breakdown *out,
			    struct host_time_row **rows, size_t *n_rows)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;
	struct host_parts parts = b->between_host;
	uint64_t n = b->between.n || b->outside.n ? b->steps.n : 0;

	*out = (struct step_breakdown) { .start_ns = b->first_ns };
	if (n) {
		add_mean(out, &b->between, n);
		add_mean(out, &b->outside, n);
	}
	host_parts_add(&parts, &b->outside_host);
	*n_rows = host_time_rows(model, &parts, out->ns, STEP_CLASS_COUNT, n ? n : 1, rows);
	return n;
}

uint64_t breakdown_whole(struct model *model, struct step_breakdown *out,
			 struct host_time_row **rows, size_t *n_rows)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;
	struct host_parts parts = b->host.total;
	uint64_t n = model_step_breakdown_mean(model, out);

	if (n)
		add_mean(out, &b->between, n);
	host_parts_add(&parts, &b->between_host);
	*n_rows = host_time_rows(model, &parts, out->ns, STEP_CLASS_COUNT, n ? n : 1, rows);
	return n;
}

size_t model_step_host(struct model *model, const struct step_breakdown *step,
		       struct host_time_row **rows)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;
	struct host_parts parts = { .n = 0 };

	host_time_within(&b->host, step->start_ns, step->start_ns + step->dur_ns, &parts);
	return host_time_rows(model, &parts, step->ns, STEP_CLASS_COUNT, 1, rows);
}

size_t model_step_host_mean(struct model *model, struct host_time_row **rows)
{
	const struct breakdown *b = &sweep_of(model)->breakdown;
	struct step_breakdown mean;
	uint64_t n = model_step_breakdown_mean(model, &mean);

	return host_time_rows(model, &b->host.total, mean.ns, STEP_CLASS_COUNT, n, rows);
}

const char *step_class_name(enum step_class class)
{
	static const char *const names[STEP_CLASS_COUNT] = {
		"compute", "comm", "h2d", "d2h", "d2d", "compile", "launch", "sync", "input",
		"host", "other",
	};

	return (unsigned)class < STEP_CLASS_COUNT ? names[class] : "";
}
