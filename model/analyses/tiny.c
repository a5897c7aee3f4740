/* SPDX-License-Identifier: MIT */
/*
 * Sequences of kernels that are about as short as their launches, and what fusing each sequence
 * into one kernel would save.
 *
 * Definitions, per queue:
 *  - cost of a launch: the longer of two medians over the run so far: the time from one launch
 *    to the next on the same thread, where kernels follow each other; and the pause of the
 *    device between two kernels of which the second was already launched. Only values of up to
 *    LAUNCH_MAX_NS count. Whichever of host and device pays more is the limit.
 *  - small: a kernel that ran for less time than SHORT launches (or than `small-kernel`).
 *  - sequence: small kernels of one queue with nothing between them and pauses of at most PAUSE
 *    times that cost, at least `small-kernel-run` of them in one op. Where ops have few kernels
 *    each, `small-kernel-run-ops` of them whatever their ops, because fusing across ops is more
 *    work.
 *  - saving: for every kernel of a sequence but the first, the longer of the pause before it
 *    and its launch call. That is lost on the device, or on the host if the host is slower. It
 *    is an upper bound: a fused kernel may not run faster, and time that is hidden behind other
 *    work is not lost. Kernels that one call launched (a graph) share that call: each has its
 *    part of it. All together is never more than the step.
 *  - tftop's own: what all stretches of small kernels would save, whatever their ops, is compared
 *    between bare steps and their neighbours (pairs.h); savings are told without the difference.
 *    Bare steps say what a launch costs as soon as they have LAUNCHES_SURE values.
 *
 * Worked example: 40 updates of 2 µs in one op, launched every 6 µs: the device pauses for 4 µs
 * before each; 39 × 4 µs could be saved, 66 % of their time.
 *
 * Complexity: O(n) for a slice. Memory: QUEUES_KEPT queues and SEQUENCES_KEPT sequences; a new
 * sequence takes the place of the one that saves least.
 *
 * Source: sequences and n-grams after HTA, get_frequent_cuda_kernel_sequences.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/pairs.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/cost.h"

#define QUEUES_KEPT 256u
#define SEQUENCES_KEPT 64u
#define PERIOD_MAX 4u
#define SEQUENCE_END 40u	/* bytes of what follows the names in a sequence's text */
/* in launches; large enough that slightly longer kernels do not interrupt a sequence */
#define SHORT 2
#define PAUSE 8
#define LAUNCHES_SURE 64u
#define LAUNCH_MAX_NS 20000	/* a longer interval contains something other than launching */

struct tiny_place {
	int64_t t0, t1, saving_ns;
	uint32_t row;
};

struct launch_costs { struct hist interval, pause; };	/* between launches; of the device */

struct small_queue {
	uint32_t queue;
	struct launch_costs costs[2];	/* [1]: of bare steps */
	struct {
		uint64_t kernels, runs, shared;	/* shared: not alone in their launch call */
		int64_t run_ns, pause_ns, saving_ns;
	} sum[SCOPE_COUNT];
	struct tiny_place place;
};

/* Names that repeat: `period` different ones, `length` kernels per run (of the first run seen,
 * because a pause may cut one in two). */
struct sequence {
	uint32_t queue, op_name, period, length, names[PERIOD_MAX];
	uint64_t count[SCOPE_COUNT], kernels[SCOPE_COUNT];
	int64_t saving_ns[SCOPE_COUNT];
};

struct tiny {
	struct basis basis;
	struct small_queue queues[QUEUES_KEPT];
	uint32_t n_queues;
	struct act_slots slots;		/* by queue: its place among them, plus 1 */
	struct sequence sequences[SEQUENCES_KEPT];
	uint32_t n_sequences;
	int64_t stretches_ns;	/* what all would save, whatever their ops, in the means' steps */
	struct step_pairs pairs;	/* of the same */
	/* for the current slice */
	bool bare;
	int64_t now_ns;
};

static void tiny_release(void *state)
{
	struct tiny *tiny = state;

	for (uint32_t i = 0; i < tiny->n_queues; i++)
		for (int k = 0; k < 2; k++) {
			hist_release(&tiny->queues[i].costs[k].interval);
			hist_release(&tiny->queues[i].costs[k].pause);
		}
	free(tiny->slots.of);
	pairs_release(&tiny->pairs);
}

static size_t tiny_bytes(const void *state)
{
	const struct tiny *tiny = state;
	size_t bytes = tiny->slots.n * sizeof(*tiny->slots.of) + pairs_bytes(&tiny->pairs);

	for (uint32_t i = 0; i < tiny->n_queues; i++)
		for (int k = 0; k < 2; k++)
			bytes += ((size_t)tiny->queues[i].costs[k].interval.n +
				  tiny->queues[i].costs[k].pause.n) * sizeof(uint64_t);
	return bytes;
}

/* ---- what a launch costs ---- */

static int64_t pause_before(const struct act *act, const struct act *before)
{
	return act->start_ns > before->end_ns ? act->start_ns - before->end_ns : 0;
}

/* before: what ran before it on the queue. */
static void learn(struct launch_costs *costs, const struct act *act, const struct act *before)
{
	if (!act_is_kernel(act) || !act_is_kernel(before) || !act->call_ns || !before->call_ns)
		return;
	if (act->thread == before->thread && act->call_ns > before->call_ns &&
	    act->call_ns - before->call_ns <= LAUNCH_MAX_NS)
		hist_add(&costs->interval, act->call_ns - before->call_ns);
	if (act->call_ns + act->call_dur_ns <= before->end_ns &&
	    pause_before(act, before) <= LAUNCH_MAX_NS)
		hist_add(&costs->pause, pause_before(act, before));
}

static int64_t launch_cost(const struct small_queue *queue)
{
	const struct launch_costs *bare = &queue->costs[1];
	const struct launch_costs *costs =
		bare->interval.total + bare->pause.total < LAUNCHES_SURE ? &queue->costs[0] : bare;
	int64_t interval_ns = hist_percentile(&costs->interval, 500);
	int64_t pause_ns = hist_percentile(&costs->pause, 500);

	return interval_ns > pause_ns ? interval_ns : pause_ns;
}

static int64_t small_below(const struct model *model, const struct small_queue *queue)
{
	int64_t given_us = model_threshold(model, THRESHOLD_SMALL_KERNEL);

	return given_us ? given_us * 1000 : SHORT * launch_cost(queue);
}

/* ---- sequences ---- */

/* A sequence: acts[list[0]] ... acts[list[n - 1]]. */
struct run_of {
	const struct act *acts;
	const uint32_t *list, *shared;	/* shared: for each, see count_shared() */
	size_t n;
	enum scope scope;
};

static const struct act *member(const struct run_of *run, size_t i)
{
	return &run->acts[run->list[i]];
}

/* The shortest period of the names; 0: none up to PERIOD_MAX. */
static uint32_t period_of(const struct run_of *run)
{
	for (uint32_t period = 1; period <= PERIOD_MAX && period <= run->n; period++) {
		size_t i = period;

		while (i < run->n && member(run, i)->name == member(run, i - period)->name)
			i++;
		if (i == run->n)
			return period;
	}
	return 0;
}

static bool is_sequence(const struct sequence *sequence, const struct sequence *other)
{
	return sequence->queue == other->queue && sequence->op_name == other->op_name &&
	       sequence->period == other->period &&
	       (sequence->period || sequence->length == other->length) &&
	       !memcmp(sequence->names, other->names, sizeof(other->names));
}

static struct sequence *sequence_get(struct tiny *tiny, const struct sequence *wanted)
{
	struct sequence *least = &tiny->sequences[0];

	for (uint32_t i = 0; i < tiny->n_sequences; i++) {
		struct sequence *one = &tiny->sequences[i];

		if (is_sequence(one, wanted))
			return one;
		if (one->saving_ns[SCOPE_STEP] + one->saving_ns[SCOPE_TIME] <
		    least->saving_ns[SCOPE_STEP] + least->saving_ns[SCOPE_TIME])
			least = one;
	}
	if (tiny->n_sequences < SEQUENCES_KEPT)
		least = &tiny->sequences[tiny->n_sequences++];
	*least = *wanted;
	return least;
}

static void count_sequence(struct tiny *tiny, const struct run_of *run, int64_t saving_ns)
{
	const struct act *first = member(run, 0);
	struct sequence wanted = {
		.queue = first->queue, .op_name = first->op_name, .period = period_of(run),
		.length = (uint32_t)run->n,
	}, *sequence;

	for (uint32_t i = 0; i < (wanted.period ? wanted.period : PERIOD_MAX) && i < run->n; i++)
		wanted.names[i] = member(run, i)->name;
	if (member(run, run->n - 1)->op != first->op)
		wanted.op_name = 0;
	sequence = sequence_get(tiny, &wanted);
	sequence->count[run->scope]++;
	sequence->kernels[run->scope] += run->n;
	sequence->saving_ns[run->scope] += saving_ns;
}

/* ---- runs ---- */

static bool same_call(const struct act *act, const struct act *other)
{
	return act->call_ns && act->call_ns == other->call_ns && act->thread == other->thread;
}

/* How many runs of the queue each run shares its launch call with, itself included. */
static void count_shared(const struct act *acts, const uint32_t *list, uint32_t *shared, size_t n)
{
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && same_call(&acts[list[end]], &acts[list[i]]); end++)
			;
		for (size_t k = i; k < end; k++)
			shared[k] = (uint32_t)(end - i);
	}
}

/* What one kernel instead of the run would save. */
static int64_t run_saving(const struct run_of *run)
{
	int64_t ns = 0;

	for (size_t i = 1; i < run->n; i++) {
		int64_t pause = pause_before(member(run, i), member(run, i - 1));
		int64_t call = member(run, i)->call_dur_ns / run->shared[i];

		ns += pause > call ? pause : call;
	}
	return ns;
}

static void tiny_count_run(struct tiny *tiny, struct small_queue *queue, const struct run_of *run)
{
	int64_t saving_ns = run_saving(run), pause_ns = 0, run_ns = 0;

	for (size_t i = 0; i < run->n; i++) {
		const struct act *act = member(run, i);

		run_ns += act->end_ns - act->start_ns;
		pause_ns += i ? pause_before(act, member(run, i - 1)) : 0;
		queue->sum[run->scope].shared += run->shared[i] > 1;
	}
	queue->sum[run->scope].kernels += run->n;
	queue->sum[run->scope].runs++;
	queue->sum[run->scope].run_ns += run_ns;
	queue->sum[run->scope].pause_ns += pause_ns;
	queue->sum[run->scope].saving_ns += saving_ns;
	if (saving_ns > queue->place.saving_ns)
		queue->place = (struct tiny_place) {
			member(run, 0)->start_ns, member(run, run->n - 1)->end_ns, saving_ns,
			member(run, 0)->row,
		};
	count_sequence(tiny, run, saving_ns);
}

/* Counts the sequences of a stretch that are within one op each; returns how many kernels they
 * have. */
static size_t runs_in_ops(struct tiny *tiny, struct small_queue *queue,
			  const struct run_of *stretch, size_t least, bool count)
{
	size_t end, kernels = 0;

	for (size_t i = 0; i < stretch->n; i = end) {
		struct run_of run = *stretch;

		for (end = i + 1; end < stretch->n &&
		     member(stretch, end)->op == member(stretch, i)->op; end++)
			;
		run.list = stretch->list + i;
		run.shared = stretch->shared + i;
		run.n = end - i;
		if (run.n < least)
			continue;
		kernels += run.n;
		if (count)
			tiny_count_run(tiny, queue, &run);
	}
	return kernels;
}

/* Counts an uninterrupted stretch of small kernels: one sequence per op, or a single one for all if
 * those contain less than half of it. */
static void count_stretch(struct model *model, struct tiny *tiny, struct small_queue *queue,
			  const struct run_of *stretch)
{
	size_t least = (size_t)model_threshold(model, THRESHOLD_SMALL_RUN);

	if (stretch->n >= least)
		add_ns(&tiny->now_ns, run_saving(stretch));
	if (tiny->bare)
		return;
	if (stretch->n >= (size_t)model_threshold(model, THRESHOLD_SMALL_RUN_OPS) &&
	    runs_in_ops(tiny, queue, stretch, least, false) * 2 < stretch->n)
		tiny_count_run(tiny, queue, stretch);
	else
		runs_in_ops(tiny, queue, stretch, least, true);
}

/* list: the runs of one queue in the slice, by start. */
static void look_at_queue(struct model *model, struct tiny *tiny, struct small_queue *queue,
			  const struct run_of *all, int64_t t0)
{
	int64_t below_ns, pause_max;
	size_t end;

	for (size_t i = 1; i < all->n; i++)
		learn(&queue->costs[tiny->bare], member(all, i), member(all, i - 1));
	below_ns = small_below(model, queue);
	pause_max = PAUSE * below_ns;
	for (size_t i = 0; i < all->n; i = end) {
		struct run_of stretch = *all;

		for (end = i; end < all->n; end++) {
			const struct act *act = member(all, end);

			if (!act_is_kernel(act) || act->start_ns < t0 ||
			    act->end_ns - act->start_ns >= below_ns ||
			    (end > i && pause_before(act, member(all, end - 1)) > pause_max))
				break;
		}
		stretch.list = all->list + i;
		stretch.shared = all->shared + i;
		stretch.n = end - i;
		if (stretch.n)
			count_stretch(model, tiny, queue, &stretch);
		else
			end = i + 1;
	}
}

/* The place of a queue; QUEUES_KEPT: it has none. */
static uint32_t queue_at_place(struct tiny *tiny, uint32_t queue)
{
	uint32_t *slot;

	if (queue >= QUEUES_MAX && queue != NONE)
		return QUEUES_KEPT;
	slot = slot_of(&tiny->slots, queue + 1);	/* NONE + 1 is 0, the first slot */
	if (!*slot) {
		if (tiny->n_queues == QUEUES_KEPT)
			return QUEUES_KEPT;
		tiny->queues[tiny->n_queues].queue = queue;
		*slot = ++tiny->n_queues;
	}
	return *slot - 1;
}

/* Groups the runs of the slice by queue: counts them, then places them. */
static void look_at_slice(struct model *model, struct tiny *tiny, const struct slice *slice,
			  enum scope scope)
{
	uint32_t *lists, *places, *shared;
	size_t from[QUEUES_KEPT + 2] = { 0 };

	lists = xreallocarray(NULL, slice->n_runs, 3 * sizeof(*lists));
	places = lists + slice->n_runs;
	shared = places + slice->n_runs;
	for (size_t i = 0; i < slice->n_runs; i++) {
		places[i] = queue_at_place(tiny, slice->acts[slice->runs[i]].queue);
		from[places[i] + 1]++;
	}
	for (uint32_t i = 0; i < tiny->n_queues; i++)
		from[i + 1] += from[i];
	for (size_t i = 0; i < slice->n_runs; i++)
		if (places[i] < QUEUES_KEPT)
			lists[from[places[i]]++] = slice->runs[i];
	/* from[i] is now the end of the list of queue i */
	for (uint32_t i = 0; i < tiny->n_queues; i++) {
		size_t begin = i ? from[i - 1] : 0;
		struct run_of all = {
			slice->acts, lists + begin, shared, from[i] - begin, scope,
		};

		count_shared(slice->acts, all.list, shared, all.n);
		look_at_queue(model, tiny, &tiny->queues[i], &all, slice->t0);
	}
	free(lists);
}

static void tiny_slice(struct model *model, void *state, const struct slice *slice)
{
	struct tiny *tiny = state;
	enum scope scope = SCOPE_STEP;
	bool counts = basis_add(&tiny->basis, slice, &scope);
	bool whole = !slice->cut && !slice_partial(slice) && !slice->warm_up && !slice->compiles;

	tiny->bare = slice->bare;
	tiny->now_ns = 0;
	if (slice->step && !whole)
		pairs_break(&tiny->pairs);
	if (!counts && !(slice->bare && whole))
		return;
	if (slice->n_runs)
		look_at_slice(model, tiny, slice, scope);
	if (slice->step && !slice->bare)
		add_ns(&tiny->stretches_ns, tiny->now_ns);
	if (slice->step && whole)
		pairs_step(&tiny->pairs, slice->bare, tiny->now_ns);
}

/* ---- the finding ---- */

/* Writes "sgd_update × 30", "a, b × 12", "a, b, c, d … (40)"; of long names only as many as fit. */
static void sequence_text(struct model *model, const struct sequence *sequence, enum scope scope,
			  char *text, size_t size)
{
	uint32_t n = sequence->period ? sequence->period : PERIOD_MAX;
	uint64_t length = sequence->kernels[scope] / sequence->count[scope];
	size_t at = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < n && i < sequence->length; i++) {
		const char *name = names_short(&model->names, sequence->names[i]);

		if (at && at + strlen(name) + SEQUENCE_END > size)
			break;
		at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
	}
	if (i < sequence->period)
		at += (size_t)snprintf(text + at, size - at, ", …");
	if (!sequence->period)
		snprintf(text + at, size - at, " … (%u)", sequence->length);
	else if (length > sequence->period)
		snprintf(text + at, size - at, " × %llu",
			 (unsigned long long)(length / sequence->period));
}

static const struct sequence *dearest(const struct tiny *tiny, uint32_t queue, enum scope scope)
{
	const struct sequence *best = NULL;

	for (uint32_t i = 0; i < tiny->n_sequences; i++) {
		const struct sequence *one = &tiny->sequences[i];

		if (one->queue == queue && one->count[scope] &&
		    (!best || one->saving_ns[scope] > best->saving_ns[scope]))
			best = one;
	}
	return best;
}

static void sequence_line(struct model *model, const struct tiny *tiny,
			  const struct sequence *sequence, enum scope scope,
			  struct finding *finding)
{
	char names[NAME_SHORT_MAX + SEQUENCE_END], op[48] = "", times[FMT_MAX];

	sequence_text(model, sequence, scope, names, sizeof(names));
	if (sequence->op_name)
		snprintf(op, sizeof(op), " in "
			 "%.40s", names_short(&model->names, sequence->op_name));
	snprintf(finding->lines[0], FINDING_TEXT, "most of it: %s%s, %s times %s", names, op,
		 basis_times(times, &tiny->basis, sequence->count[scope]),
		 basis_word(model, &tiny->basis));
	finding->evidence.key = names_short(&model->names, sequence->names[0]);
}

static void cost_line(const struct small_queue *queue, enum scope scope, struct finding *finding)
{
	char run[FMT_MAX], launch[FMT_MAX];

	fmt_time(run, queue->sum[scope].run_ns / (int64_t)queue->sum[scope].kernels);
	fmt_time(launch, launch_cost(queue));
	snprintf(finding->lines[1], FINDING_TEXT,
		 "the mean run takes %s, one can be launched every %s", run, launch);
}

/* How much of what is lost on that queue per step is tftop's own. */
static int64_t tiny_own_ns(const struct model *model, const struct tiny *tiny,
			   const struct small_queue *queue)
{
	int64_t saving_ns = queue->sum[SCOPE_STEP].saving_ns, own_ns, most_ns;

	if (!tiny->basis.steps || tiny->stretches_ns <= 0 || !own_cost_step_ns(model))
		return 0;
	own_ns = (__int128)pairs_added_ns(&tiny->pairs) * saving_ns / tiny->stretches_ns;
	most_ns = basis_cost(&tiny->basis, saving_ns);
	return own_ns < most_ns ? own_ns : most_ns;
}

/* What fusing its sequences would save per step or second, without what is tftop's. */
static int64_t tiny_saving_ns(const struct model *model, const struct tiny *tiny,
			      const struct small_queue *queue)
{
	return basis_cost(&tiny->basis, queue->sum[basis_scope(&tiny->basis)].saving_ns) -
	       tiny_own_ns(model, tiny, queue);
}

/* Whether a finding names that queue. */
static bool is_told(const struct model *model, const struct tiny *tiny,
		    const struct small_queue *queue)
{
	return dearest(tiny, queue->queue, basis_scope(&tiny->basis)) &&
	       per_mille(tiny_saving_ns(model, tiny, queue), basis_whole(&tiny->basis)) >=
	       model_threshold(model, THRESHOLD_SMALL_SHARE) * 10;
}

static void queue_finding(struct model *model, const struct tiny *tiny,
			  const struct small_queue *queue, struct findings *findings)
{
	const struct basis *basis = &tiny->basis;
	enum scope scope = basis_scope(basis);
	const struct sequence *sequence = dearest(tiny, queue->queue, scope);
	int64_t run_ns = basis_per(basis, queue->sum[scope].run_ns);
	int64_t pause_ns = basis_per(basis, queue->sum[scope].pause_ns);
	int64_t own_ns = tiny_own_ns(model, tiny, queue);
	char count[FMT_MAX], below[FMT_MAX], saving[FMT_MAX], share[FMT_MAX], own[FMT_MAX];
	struct finding finding = {
		.id = "small-kernels", .subject = queue->queue, .severity = SEVERITY_WARNING,
		.cost_ns = tiny_saving_ns(model, tiny, queue),
		.evidence = {
			.kind = EVIDENCE_KERNEL, .t0 = queue->place.t0, .t1 = queue->place.t1,
			.row = queue->place.row,
		},
	};

	if (!sequence || !is_told(model, tiny, queue))
		return;
	pause_ns = pause_ns > own_ns ? pause_ns - own_ns : 0;
	fmt_count(count, basis_count(basis, queue->sum[scope].kernels));
	fmt_time(below, small_below(model, queue));
	fmt_share(share, (uint64_t)pause_ns, (uint64_t)(run_ns + pause_ns));
	fmt_time(saving, finding.cost_ns);
	snprintf(finding.title, FINDING_TEXT,
		 "small kernels: %.24s under %.24s %s on %.60s, gaps between launches take %.24s "
		 "of that time", count,
		 below, basis_word(model, basis), queue_label(model, queue->queue), share);
	sequence_line(model, tiny, sequence, scope, &finding);
	cost_line(queue, scope, &finding);
	if (own_ns)
		snprintf(finding.lines[2], FINDING_TEXT, "without tftop's own %s per step",
			 fmt_time(own, own_ns));
	snprintf(finding.advice, FINDING_TEXT,
		 "one fused kernel%s for each run would save at most %s %s",
		 queue->sum[scope].shared > queue->sum[scope].kernels / 2 ? "" : " (or one graph)",
		 saving, basis_word(model, basis));
	finding_add(findings, &finding);
}

int64_t tiny_cost_ns(const struct model *model)
{
	const struct tiny *tiny = analysis_state(model, ANALYSIS_TINY);
	int64_t sum = 0;

	if (!basis_ready(model, &tiny->basis))
		return 0;
	for (uint32_t i = 0; i < tiny->n_queues; i++)
		if (is_told(model, tiny, &tiny->queues[i]))
			add_ns(&sum, tiny_saving_ns(model, tiny, &tiny->queues[i]));
	return sum < basis_whole(&tiny->basis) ? sum : basis_whole(&tiny->basis);
}

static void tiny_review(struct model *model, void *state, struct findings *findings)
{
	const struct tiny *tiny = state;

	if (!basis_ready(model, &tiny->basis))
		return;
	for (uint32_t i = 0; i < tiny->n_queues; i++)
		queue_finding(model, tiny, &tiny->queues[i], findings);
}

const struct analysis analysis_tiny = {
	.name = "tiny", .size = sizeof(struct tiny), .release = tiny_release,
	.per_step = true,
	.slice = tiny_slice, .review = tiny_review, .bytes = tiny_bytes,
};
