/* SPDX-License-Identifier: MIT */
/*
 * The engine of the analyses: it cuts settled time into slices, hands them out, asks for findings.
 *
 * Idea: acts wait in the order in which they arrived (waiting.h). When the settled line has passed
 * the end of a step (or a second, where nothing marks steps), the acts that start before the new
 * border are sorted by start, through small keys, and copied out slice by slice. An act that
 * reaches over a border is carried into the next slice.
 *
 * How far a hand-out goes, its border: to the end of the last complete step that has settled. Where
 * no step has ended for LAG_NS and four steps, the border is that much before the settled line, so
 * that a step that is still going on is handed out whole when it ends. At the finish it is the end
 * of everything. The border never passes work that was launched in the last LAG_NS and has not
 * ended, because it is unknown when that work ran. When waiting acts fill three quarters of their
 * memory, the border is the settled line, whatever the steps are; if that frees too little, it goes
 * past the settled line, and what arrives later is late.
 *
 * Complexity: a push is one copy. Each act is looked at, sorted and copied out once, and looked at
 * once more in each hand-out during which it waits.
 */
#include "model/analyses/analyses.h"

#include <stdlib.h>
#include <string.h>

#include "model/acts/acts.h"
#include "model/analyses/period.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#define POLL_NS 20000000	/* settled time must advance by this much between two calls ... */
#define OPEN_NS INT64_C(1000)	/* ... plus this much for each open span, as each is looked at */
#define REVIEW_NS 1000000000
#define STEPLESS_NS 1000000000		/* distance from the settled line before there are steps */
#define LAG_NS 10000000000
#define PERIOD_LOOK_NS 100000000	/* searching for steps goes through all acts that wait */
#define CARRY_MAX 16384u
#define AHEAD 8
#define PIECE_ACTS 16384u	/* outside of steps: as many acts as fit into a core's cache */

#define ANALYSIS_POINTER(id, one) &one,
static const struct analysis *const list[ANALYSIS_COUNT + 1] = {
	ANALYSIS_LIST(ANALYSIS_POINTER) NULL
};

struct analyses {
	struct acts *acts;	/* borrowed; acts that have arrived and were not handed out */
	struct act *carry;		/* owned; acts that reach beyond done_ns, by start */
	size_t n_carry, cap_carry;
	struct act *out;		/* owned; the slice that is being handed out */
	size_t n_out, cap_out;
	struct slice_space space;	/* also part of the slice */
	struct start_key *keys;		/* owned; twice cap_keys */
	size_t n_keys, cap_keys, at_key;
	int64_t done_ns, tried_ns, reviewed_ns;
	size_t at_loss, losses_gone;
	struct analyses_stats stats;
	struct input_names input;
	struct findings *findings;	/* owned */
	struct period *period;		/* owned; searches for steps up to period_ns */
	int64_t period_ns;
	uint64_t n_steps;		/* complete steps, without the warm-up */
	int64_t steps_ns;		/* sum of their durations */
	size_t series;			/* of the steps in the means; see series.c */
	void *state[ANALYSIS_COUNT + 1];	/* owned */
	void (*watch)(void *arg, const struct slice *slice);
	void *watch_arg;
};

/* ---- life ---- */

struct analyses *analyses_new(struct model *model)
{
	struct analyses *analyses = xcalloc(1, sizeof(*analyses));

	analyses->acts = model->acts;
	analyses->findings = findings_new();
	analyses->period = period_new();
	analyses->period_ns = INT64_MIN;
	analyses->done_ns = analyses->tried_ns = analyses->reviewed_ns = INT64_MIN;
	for (int i = 0; i < (int)ANALYSIS_COUNT; i++) {
		analyses->state[i] = xcalloc(1, list[i]->size);
		analysis_start(model, list[i], analyses->state[i]);
	}
	return analyses;
}

static void free_buffers(struct analyses *analyses)
{
	waiting_release(&analyses->acts->waiting);
	slice_space_release(&analyses->space);
	free(analyses->carry);
	free(analyses->out);
	free(analyses->keys);
	analyses->carry = analyses->out = NULL;
	analyses->keys = NULL;
	analyses->n_carry = analyses->n_out = analyses->n_keys = 0;
	analyses->cap_carry = analyses->cap_out = analyses->cap_keys = 0;
}

void analyses_free(struct analyses *analyses)
{
	if (!analyses)
		return;
	for (int i = 0; i < (int)ANALYSIS_COUNT; i++) {
		if (list[i]->release)
			list[i]->release(analyses->state[i]);
		free(analyses->state[i]);
	}
	free_buffers(analyses);
	findings_free(analyses->findings);
	period_free(analyses->period);
	free(analyses->input.known);
	free(analyses);
}

void *analysis_state(const struct model *model, enum analysis_id id)
{
	return model->analyses->state[id];
}

size_t analyses_bytes(const struct model *model)
{
	const struct analyses *a = model->analyses;
	size_t bytes = (a->cap_carry + a->cap_out) * sizeof(struct act) +
		       a->cap_keys * 2 * sizeof(*a->keys) + a->input.n +
		       slice_space_bytes(&a->space) +
		       findings_bytes(a->findings) + period_bytes(a->period);

	for (int i = 0; i < (int)ANALYSIS_COUNT; i++)
		bytes += list[i]->size + (list[i]->bytes ? list[i]->bytes(a->state[i]) : 0);
	return bytes;
}

struct analyses_stats analyses_stats(const struct model *model)
{
	struct analyses_stats stats = model->analyses->stats;

	stats.done_ns = model->analyses->done_ns;
	stats.dropped = model->acts->dropped;
	return stats;
}

struct findings *analyses_findings(const struct model *model)
{
	return model->analyses->findings;
}

void analyses_progress(const struct model *model, struct findings_status *status)
{
	const struct analyses *analyses = model->analyses;
	*status = (struct findings_status) {
		.settled_ns = analyses->done_ns, .steps = analyses->n_steps,
		.step_ns = analyses->n_steps ? analyses->steps_ns / (int64_t)analyses->n_steps +
			   verdict_between_ns(model) : 0,
		.passes = steps_are_passes(model), .final = model->finished,
	};
}

void analyses_watch(struct model *model, void (*watch)(void *arg, const struct slice *slice),
		    void *arg)
{
	model->analyses->watch = watch;
	model->analyses->watch_arg = arg;
}

/* ---- names, as far as they are known ---- */

static void analyses_resolve_thread(struct model *model, struct act *act)
{
	act->name = names_resolve(&model->names, act->name);
	act->op_name = names_resolve(&model->names, act->op_name);
	if (act->queue != NONE)
		act->device = queue_device(model, queue_at(model, act->queue));
	if (act->kind == ACT_RUN && act->device != NONE &&
	    device_at(model, act->device)->processor)
		act->flags |= ACT_WORKS;
	if (act->kind == ACT_OP)
		input_op(&model->analyses->input, &model->names, act);
	else if (act->kind == ACT_RUN && act->command == COMMAND_KERNEL)
		act->work = (uint8_t)names_work(&model->names, act->name);
}

/* ---- handing out ---- */

static void review(struct model *model, bool final)
{
	struct analyses *analyses = model->analyses;

	analyses->reviewed_ns = analyses->done_ns;
	findings_begin(analyses->findings);
	for (int i = 0; i < (int)ANALYSIS_COUNT; i++)
		if (list[i]->review)
			list[i]->review(model, analyses->state[i], analyses->findings);
	findings_end(analyses->findings, final);
}

static uint64_t lost_within(const struct model *model, struct analyses *analyses, int64_t t0,
			    int64_t t1)
{
	uint64_t lost = 0;

	if (analyses->losses_gone != model->losses_gone) {
		analyses->losses_gone = model->losses_gone;
		analyses->at_loss = 0;
	}
	while (analyses->at_loss < model->n_losses &&
	       model->losses[analyses->at_loss].end_ns < t0)
		analyses->at_loss++;
	for (size_t i = analyses->at_loss; i < model->n_losses; i++) {
		if (model->losses[i].begin_ns >= t1)
			break;
		if (model->losses[i].end_ns >= t0)
			lost += model->losses[i].count ? model->losses[i].count : 1;
	}
	return lost;
}

/* Prefetch: the acts are scattered in memory. */
static void fetch(const struct act *act)
{
	__builtin_prefetch(act, 1);
	__builtin_prefetch((const char *)(act + 1) - 1, 1);
}

static struct act *put_out(struct analyses *analyses, const struct act *act)
{
	if (analyses->n_out == analyses->cap_out)
		grow(&analyses->out, &analyses->cap_out, analyses->n_out, sizeof(struct act));
	analyses->out[analyses->n_out] = *act;
	return &analyses->out[analyses->n_out++];
}

/* Merges carried acts and the keys [at_key, end), the first of which may be late, by start. */
static void analyses_gather_slice(struct model *model, size_t end, int64_t t0)
{
	struct analyses *analyses = model->analyses;
	size_t carried = 0;

	analyses->n_out = 0;
	for (; analyses->at_key < end; analyses->at_key++) {
		const struct start_key *key = &analyses->keys[analyses->at_key];
		struct act *act;

		if (analyses->at_key + AHEAD < analyses->n_keys)
			fetch(waiting_at(&analyses->acts->waiting, key[AHEAD].at));
		while (carried < analyses->n_carry &&
		       analyses->carry[carried].start_ns <= key->start)
			put_out(analyses, &analyses->carry[carried++]);
		/* Copy it first: reading at once what was just written in pieces stalls a core. */
		act = put_out(analyses, waiting_at(&analyses->acts->waiting, key->at));
		analyses_resolve_thread(model, act);
		if (key->start < t0) {
			act->flags |= ACT_LATE;
			analyses->stats.late += act->kind != ACT_COMPILE ||
						!steps_begin_after(model, act->end_ns);
		}
		analyses->stats.handed++;
	}
	while (carried < analyses->n_carry)
		put_out(analyses, &analyses->carry[carried++]);
}

/* Keeps the acts of the slice that reach over its end. */
static void analyses_carry_over(struct analyses *analyses, int64_t t1)
{
	analyses->n_carry = 0;
	for (size_t i = 0; i < analyses->n_out; i++) {
		struct act *act = &analyses->out[i];

		if (act->end_ns <= t1)
			continue;
		if (analyses->n_carry == CARRY_MAX) {
			analyses->acts->dropped++;
			analyses->acts->dropped_now++;
			continue;
		}
		if (analyses->n_carry == analyses->cap_carry)
			grow(&analyses->carry, &analyses->cap_carry, analyses->n_carry,
			     sizeof(struct act));
		analyses->carry[analyses->n_carry] = *act;
		analyses->carry[analyses->n_carry++].flags &= (uint8_t)~ACT_LATE;
	}
}

static void hand_piece(struct model *model, struct slice *slice, size_t end)
{
	struct analyses *analyses = model->analyses;

	analyses_gather_slice(model, end, slice->t0);
	slice->acts = analyses->out;
	slice->n = analyses->n_out;
	slice_index(slice, &analyses->space);
	slice->lost = lost_within(model, analyses, slice->t0, slice->t1) +
		analyses->acts->dropped_now;
	analyses->acts->dropped_now = 0;
	slice->paused = pauses_count(model, slice->t0, slice->t1);
	analyses->done_ns = slice->t1;
	analyses->stats.slices++;
	if (slice->step && !slice->warm_up && !slice->cut) {
		analyses->n_steps++;
		add_ns(&analyses->steps_ns, slice->t1 - slice->t0);
	}
	for (int i = 0; i < (int)ANALYSIS_COUNT; i++) {
		if (list[i]->slice && !(slice->bare && list[i]->needs_ops))
			list[i]->slice(model, analyses->state[i], slice);
		model_breathe(model);
	}
	if (analyses->watch)
		analyses->watch(analyses->watch_arg, slice);
	analyses_carry_over(analyses, slice->t1);
	if (analyses->reviewed_ns == INT64_MIN)
		analyses->reviewed_ns = slice->t0;
	if (slice->t1 - analyses->reviewed_ns >= REVIEW_NS)
		review(model, false);
	model_breathe(model);
}

/* The first key from at_key on that starts at t_ns or later. */
static size_t key_from(const struct analyses *analyses, int64_t t_ns)
{
	return FIRST_NOT(i, analyses->at_key, analyses->n_keys, analyses->keys[i].start < t_ns);
}

/* Hands out one slice, in pieces if it has too many acts. */
static void hand_out(struct model *model, const struct slice *whole)
{
	struct analyses *analyses = model->analyses;
	size_t end = key_from(analyses, whole->t1);
	size_t max = analyses->acts->max / 4 < SLICE_ACTS_MAX ? analyses->acts->max / 4 :
		SLICE_ACTS_MAX;
	struct slice slice = *whole;

	if (!whole->step && max > PIECE_ACTS)
		max = PIECE_ACTS;
	slice.whole_t1 = whole->t1;
	while (end - analyses->at_key > max) {
		int64_t at = analyses->keys[analyses->at_key + max].start;

		if (at <= slice.t0)	/* all at once, or late */
			at = slice.t0 + 1;
		if (at >= whole->t1)
			break;
		slice.t1 = at;
		slice.cut = true;
		hand_piece(model, &slice, key_from(analyses, at));
		slice.t0 = at;
		slice.t1 = whole->t1;
	}
	hand_piece(model, &slice, end);
}

/* ---- where the borders are ---- */

/* The first step at or after from_ns, if it has ended by until_ns. */
static const struct step *next_step(const struct steps *steps, int64_t from_ns, int64_t until_ns)
{
	if (!steps)
		return NULL;
	for (size_t i = FIRST_FROM(steps->list, steps->n, from_ns); i < steps->n; i++) {
		const struct step *step = &steps->list[i];

		if (step->start_ns + step->dur_ns > until_ns)
			return NULL;
		if (step->dur_ns > 0)
			return step;
	}
	return NULL;
}

/* Where the next slice starts; the first slice starts with the first act that is there when it is
 * handed out. INT64_MIN: there are no acts. */
static int64_t beginning(const struct analyses *analyses, const struct steps *steps)
{
	int64_t first = steps && steps->n ? steps->list[0].start_ns : INT64_MAX;

	if (analyses->done_ns != INT64_MIN)
		return analyses->done_ns;
	if (analyses->acts->waiting.first_ns < first)
		first = analyses->acts->waiting.first_ns;
	return first == INT64_MAX ? INT64_MIN : first;
}

/* The end of the last slice, at least `last`: every waiting act must start before it. */
static int64_t last_end(const struct analyses *analyses, const struct steps *steps, int64_t last)
{
	size_t before;

	for (size_t i = 0; i < analyses->acts->waiting.n; i++) {
		const struct act *act = waiting_at(&analyses->acts->waiting,
						   analyses->acts->waiting.keys[i].at);

		if (act->start_ns >= last)
			last = act->start_ns + 1;
		if (act->end_ns > last)
			last = act->end_ns;
	}
	for (size_t i = 0; i < analyses->n_carry; i++)
		if (analyses->carry[i].end_ns > last)
			last = analyses->carry[i].end_ns;
	/* a step may be longer than what it consists of */
	before = steps ? FIRST_FROM(steps->list, steps->n, last) : 0;
	if (before && steps->list[before - 1].start_ns + steps->list[before - 1].dur_ns > last)
		last = steps->list[before - 1].start_ns + steps->list[before - 1].dur_ns;
	for (const struct step *step; (step = next_step(steps, last, INT64_MAX)) != NULL; )
		last = step->start_ns + step->dur_ns;
	return last;
}

static int64_t analyses_next_border(const struct steps *steps, int64_t to, int64_t settled)
{
	int64_t lag = STEPLESS_NS;
	const struct step *step;

	while ((step = next_step(steps, to, settled)) != NULL)
		to = step->start_ns + step->dur_ns;
	if (steps && steps->n) {
		lag = LAG_NS;
		if (steps->sum_ns / (int64_t)steps->n < TIME_MAX / 4)
			lag += 4 * (steps->sum_ns / (int64_t)steps->n);
	}
	if (settled > lag && settled - lag > to)
		to += (settled - lag - to) / SLICE_NS * SLICE_NS;
	return to;
}

static void make_room(struct analyses *analyses)
{
	if (analyses->cap_keys >= analyses->acts->waiting.n)
		return;
	analyses->cap_keys = analyses->acts->waiting.cap;
	free(analyses->keys);
	analyses->keys = xreallocarray(NULL, analyses->cap_keys, 2 * sizeof(*analyses->keys));
}

static bool may_repeat(uint32_t kind)
{
	return kind == ACT_RUN || kind == ACT_OP;
}

/* Sorted keys of all acts, or of those of a period, from number i on, in [from_ns, to_ns). */
static void make_keys(struct analyses *analyses, size_t i, int64_t from_ns, int64_t to_ns,
		      bool repeat)
{
	const struct waiting_acts *waiting = &analyses->acts->waiting;
	size_t n = 0;

	make_room(analyses);
	for (; i < waiting->n; i++) {
		struct start_key key = waiting->keys[i];

		if (key.start < to_ns && key.start >= from_ns && (!repeat || may_repeat(key.kind)))
			analyses->keys[n++] = key;
	}
	start_keys_sort(analyses->keys, analyses->keys + n, n);
	analyses->n_keys = n;
	analyses->at_key = 0;
}

/* If nothing else marks steps, the period of the runs may show them. */
static void look_for_steps(struct model *model, int64_t to_ns)
{
	struct analyses *analyses = model->analyses;
	const struct waiting_acts *waiting = &analyses->acts->waiting;
	const struct steps *steps = steps_best(model);

	if ((steps && steps->source != STEPS_PERIOD) || to_ns <= analyses->period_ns)
		return;
	if (to_ns != INT64_MAX && analyses->period_ns != INT64_MIN &&
	    to_ns - analyses->period_ns < PERIOD_LOOK_NS)
		return;
	while (analyses->acts->looked < waiting->n &&
	       (!may_repeat(waiting->keys[analyses->acts->looked].kind) ||
		waiting->keys[analyses->acts->looked].start < analyses->period_ns))
		analyses->acts->looked++;
	make_keys(analyses, analyses->acts->looked, analyses->period_ns, to_ns, true);
	for (size_t i = 0; i < analyses->n_keys; i++) {
		if (i + AHEAD < analyses->n_keys)
			fetch(waiting_at(waiting, analyses->keys[i + AHEAD].at));
		period_act(model, analyses->period, waiting_at(waiting, analyses->keys[i].at));
	}
	analyses->period_ns = to_ns;
}

/* The end of the next slice without a step, at most to_ns: a second, or longer if nothing starts
 * for longer. */
static int64_t plain_end(const struct analyses *analyses, int64_t to_ns)
{
	int64_t t1 = analyses->done_ns + SLICE_NS;
	size_t next = key_from(analyses, analyses->done_ns);

	if (t1 >= to_ns || next == analyses->n_keys)
		return to_ns;
	return analyses->keys[next].start > t1 ? analyses->keys[next].start : t1;
}

static void hand_out_until(struct model *model, const struct steps *steps, int64_t to_ns)
{
	struct analyses *analyses = model->analyses;
	const struct step *step;

	if (series_changes(model, steps, &analyses->series)) {
		analyses->n_steps = 0;
		analyses->steps_ns = 0;
		analyses_restart(model, list, analyses->state);
	}
	make_keys(analyses, 0, INT64_MIN, to_ns, false);
	while (analyses->done_ns < to_ns) {
		struct slice slice = { .t0 = analyses->done_ns, .number = -1 };

		step = next_step(steps, slice.t0, to_ns);
		if (!step) {
			slice.t1 = plain_end(analyses, to_ns);
			hand_out(model, &slice);
			continue;
		}
		slice.t1 = step->start_ns;
		if (slice.t1 > slice.t0)
			hand_out(model, &slice);
		slice = (struct slice) {
			.t0 = step->start_ns, .t1 = step->start_ns + step->dur_ns, .step = true,
			.number = step->number >= 0 ? step->number : step - steps->list,
			.warm_up = step - steps->list < model_threshold(model, THRESHOLD_WARM_UP),
			.compiles = step_compiles(model, steps, step, 2),
			.bare = bares_count(model, steps->process, step->start_ns,
					    step->start_ns + step->dur_ns),
		};
		hand_out(model, &slice);
	}
	waiting_forget(&analyses->acts->waiting, to_ns);
	analyses->acts->looked = 0;
}

/* ---- when ---- */

/* until_ns, or earlier: the oldest launch that was announced and has not been heard of since, but
 * at most most_ns before until_ns. O(queues and such launches). */
static int64_t heard_until(const struct model *model, int64_t until_ns, int64_t most_ns)
{
	int64_t from_ns = until_ns - most_ns;

	for (uint32_t i = 0; i < model->queues.n; i++) {
		const struct queue *queue = queue_at(model, i);

		for (int d = -1; d < DIR_COUNT && queue->in_flight; d++) {
			uint32_t row = d < 0 ? queue->row : queue->copies[d], o;

			for (o = row == NONE ? NONE : row_at(model, row)->opens; o != NONE;
			     o = open_at(model, o)->next)
				if (open_at(model, o)->start_ns < until_ns &&
				    open_at(model, o)->start_ns >= from_ns)
					until_ns = open_at(model, o)->start_ns;
		}
	}
	return until_ns;
}

void analyses_run(struct model *model, bool finish)
{
	struct analyses *analyses = model->analyses;
	int64_t settled = analyses->tried_ns = model_settle(model), from, to;
	const struct waiting_acts *waiting = &analyses->acts->waiting;
	bool full = waiting->n >= analyses->acts->max / 4 * 3;
	const struct steps *steps;

	if (!finish)
		settled = heard_until(model, settled, LAG_NS);
	if (full && waiting->keys[waiting->n / 2].start > settled)
		settled = waiting->keys[waiting->n / 2].start;	/* the half that came first */
	look_for_steps(model, finish ? INT64_MAX : settled);
	steps = steps_best(model);
	from = beginning(analyses, steps);
	if (from != INT64_MIN) {
		to = finish ? last_end(analyses, steps, from) : full ? settled :
		     analyses_next_border(steps, from, settled);
		if (to > from) {
			analyses->done_ns = from;
			hand_out_until(model, steps, to);
		}
	}
	if (!finish)
		return;
	review(model, true);
	free_buffers(analyses);
}

void analyses_poll(struct model *model, bool batch_ends)
{
	struct analyses *analyses = model->analyses;
	int64_t pause_ns = POLL_NS + OPEN_NS * (int64_t)model->n_alive_opens;

	if (analyses->acts->waiting.n < analyses->acts->max / 4 * 3 &&
	    (!batch_ends || model_settle(model) - pause_ns < analyses->tried_ns))
		return;
	analyses_run(model, false);
}
