/* SPDX-License-Identifier: MIT */
/*
 * The same data, copied or converted again in each step.
 *
 * Definition: a framework's ops report a fingerprint of the bytes that they read. Among the
 * copies with a fingerprint, this is about those of one line of the source whose data was the
 * same in nine of ten of the line's steps: such data could be copied once and kept. The same
 * data twice in a step counts, too. A step in which no copy of the line had a fingerprint says
 * nothing. The cost is the time of all copies of the line in all steps after the warm-up,
 * multiplied by the share that such copies have among those with a fingerprint. What another
 * thread copies for an op after the op has returned belongs to the op, too.
 *
 * What a batch brings is new in each step, and so are weights that were trained: a parameter
 * that is cast in each step is not reported, unless it is frozen.
 *
 * Bounds: PLACES_MAX lines, DATA_MAX fingerprints for each; the one that was missing most often
 * gives way. Complexity: O(DATA_MAX) for a copy with a fingerprint, O(1) for others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/op_class.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/core/model.h"
#include "model/lines/lines.h"

#define PLACES_MAX 256u
#define DATA_MAX 32u
#define MISSED 10			/* one in this many steps may be without it */

struct data {
	uint32_t content;
	uint64_t steps, copies, last;	/* last: the last step of the place that had it */
	int64_t ns;
};

struct same_data_place {
	uint32_t frame, name;	/* frame: 1 + index; if a line has several frames, the first */
	uint64_t steps;			/* number of steps in which its copies were examined ... */
	uint64_t first, last;		/* ... and the first and last of the basis' steps */
	int64_t number;			/* number of the last step */
	struct data data[DATA_MAX];
	uint32_t n;
	int64_t ns, looked_ns;		/* time of all its copies; of those that were examined */
	int64_t longest_ns, t0, t1;
	uint32_t row;
	/* device on which the copies ran, in addition to their ops; NONE: none */
	uint32_t device;
	int64_t run_ns;
};

struct same_data {
	struct basis basis;
	struct same_data_place *places;		/* owned */
	size_t n, cap;
	/* 1 for names that copy; 1 + index of the frame's place */
	struct act_slots names, by_frame;
	struct map runs;	/* for the current slice: the op of a copy -> index of the copy */
};

static struct same_data_place *place_new(struct same_data *s, uint32_t frame, uint32_t name)
{
	if (s->n == PLACES_MAX)
		return NULL;
	grow(&s->places, &s->cap, s->n, sizeof(*s->places));
	s->places[s->n] = (struct same_data_place) { .frame = frame, .name = name, .number = -1,
					     .device = NONE };
	return &s->places[s->n++];
}

/* The line of a copy that has the name of one. NULL: unknown, or not examined. */
static struct same_data_place *same_data_place(struct model *model, struct same_data *s,
					       const struct act *act)
{
	uint32_t frame = frame_of_process(model, act->process, act->object), *slot;
	struct same_data_place *place;

	if (!frame)
		return NULL;
	slot = slot_of(&s->by_frame, frame);
	if (*slot)
		return s->places[*slot - 1].name == act->name ? &s->places[*slot - 1] : NULL;
	for (size_t i = 0; i < s->n; i++) {
		if (s->places[i].name != act->name ||
		    !same_line(model, s->places[i].frame - 1, frame - 1))
			continue;
		*slot = (uint32_t)i + 1;
		return &s->places[i];
	}
	place = act->content ? place_new(s, frame, act->name) : NULL;
	if (place)
		*slot = (uint32_t)s->n;
	return place;
}

static struct data *data_of(struct same_data_place *place, uint32_t content)
{
	struct data *least = &place->data[0];

	for (uint32_t i = 0; i < place->n; i++) {
		if (place->data[i].content == content)
			return &place->data[i];
		if (place->data[i].steps < least->steps ||
		    (place->data[i].steps == least->steps && place->data[i].last < least->last))
			least = &place->data[i];
	}
	if (place->n < DATA_MAX)
		least = &place->data[place->n++];
	*least = (struct data) { .content = content };
	return least;
}

static void find_runs(struct same_data *s, const struct slice *slice)
{
	map_release(&s->runs);
	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *run = &slice->acts[slice->runs[i]];

		if (act_is_copy(run) && run->flags & ACT_WORKS && run->op)
			map_set(&s->runs, run->op, slice->runs[i]);
	}
}

/* The copy that ran for this op; NULL: as far as is known the op itself copies. */
static const struct act *run_of(const struct same_data *s, const struct slice *slice,
				const struct act *act)
{
	uint32_t at = s->runs.used && act->op ? map_get(&s->runs, act->op) : MAP_NONE;
	const struct act *run = at == MAP_NONE ? NULL : &slice->acts[at];

	return run && run->process == act->process ? run : NULL;
}

/* The time until everything is copied. */
static int64_t copy_ns(struct same_data_place *place, const struct act *act, const struct act *run)
{
	if (!run)
		return act->end_ns - act->start_ns;
	place->device = run->device;
	add_ns(&place->run_ns, run->end_ns - run->start_ns);
	return (run->end_ns > act->end_ns ? run->end_ns : act->end_ns) - act->start_ns;
}

static void looked_at(const struct same_data *s, struct same_data_place *place,
		      const struct slice *slice, const struct act *act, int64_t ns)
{
	struct data *data;

	if (place->number != slice->number || !place->steps) {
		place->number = slice->number;
		place->first = place->steps ? place->first : s->basis.steps;
		place->last = s->basis.steps;
		place->steps++;
	}
	data = data_of(place, act->content);
	data->steps += data->last != place->steps;
	data->last = place->steps;
	data->copies++;
	add_ns(&data->ns, ns);
	add_ns(&place->looked_ns, ns);
}

static void copied(struct model *model, struct same_data_place *place, const struct act *act,
		   int64_t ns)
{
	add_ns(&place->ns, ns);
	if (ns <= place->longest_ns)
		return;
	place->longest_ns = ns;
	place->t0 = act->start_ns;
	place->t1 = act->start_ns + ns;
	place->row = act->thread != NONE && thread_at(model, act->thread)->row != NONE ?
		     thread_at(model, act->thread)->row + 1 : 0;
}

/* Only for steps, because the question is whether the data is the same in each of them. */
static void same_data_slice(struct model *model, void *state, const struct slice *slice)
{
	struct same_data *s = state;
	enum scope scope;

	if (!basis_add(&s->basis, slice, &scope) || scope != SCOPE_STEP)
		return;
	find_runs(s, slice);
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		struct same_data_place *place;
		int64_t ns;

		if (act->kind != ACT_OP || !act_counts(slice, act))
			continue;
		if (act->content)
			*slot_of(&s->names, act->name) = 1;
		else if (!s->n || !*slot_of(&s->names, act->name))
			continue;
		place = same_data_place(model, s, act);
		if (!place)
			continue;
		ns = copy_ns(place, act, run_of(s, slice, act));
		copied(model, place, act, ns);
		if (act->content)
			looked_at(s, place, slice, act, ns);
	}
}

/* How much of a place was the same in each step. */
struct same_data_sums { uint32_t n; uint64_t copies; int64_t ns, cost_ns; };

/* Whether it is worth reporting. */
static bool same_data_is_reported(const struct model *model, const struct same_data *s,
				  const struct same_data_place *place, struct same_data_sums *same)
{
	*same = (struct same_data_sums) { 0 };
	for (uint32_t i = 0; i < place->n; i++) {
		const struct data *data = &place->data[i];

		if (data->steps * MISSED < place->steps * (MISSED - 1))
			continue;
		same->n++;
		same->copies += data->copies;
		add_ns(&same->ns, data->ns);
	}
	if (!same->n || place->looked_ns <= 0 ||
	    place->steps < (uint64_t)model_threshold(model, THRESHOLD_MIN_STEPS))
		return false;
	same->cost_ns = basis_cost(&s->basis,
				  (int64_t)((__int128)place->ns * same->ns / place->looked_ns));
	return per_mille(same->cost_ns, basis_whole(&s->basis)) >=
	       model_threshold(model, THRESHOLD_REPEAT_SHARE) * 10;
}

static void same_data_report(struct model *model, const struct same_data *s,
			     const struct same_data_place *place, const struct same_data_sums *same,
			     struct findings *findings)
{
	/* If the host runs ahead of the device, the copies of several of its steps fall into one
	 * step of the device, and none into the next. */
	uint64_t steps = place->last - place->first + 1;
	const char *word = step_noun(steps_are_passes(model));
	char time[FMT_MAX], count[FMT_MAX], tensors[FMT_MAX], share[FMT_MAX], where[PLACE_TEXT];
	struct finding finding = {
		.id = "same-data", .subject = place->frame, .severity = SEVERITY_WARNING,
		.cost_ns = same->cost_ns, .of_ns = basis_whole(&s->basis),
		.evidence = { .kind = EVIDENCE_TIME, .t0 = place->t0, .t1 = place->t1,
			      .row = place->row },
		.advice = "copy or convert data that does not change once, before the loop, and "
			  "keep it",
	};

	frame_place_text(model, place->frame, where, sizeof(where));
	snprintf(finding.title, FINDING_TEXT,
		 "the same data is copied in each %s: %.60s takes %s of the %s, %s%s", word,
		 names_short(&model->names, place->name), fmt_time(time, same->cost_ns), word,
		 fmt_share(share, (uint64_t)same->cost_ns, (uint64_t)basis_whole(&s->basis)),
		 where);
	fmt_tenths(count, (same->copies * 20 / steps + 1) / 2);
	snprintf(finding.lines[0], FINDING_TEXT,
		 "%s cop%s per %s of %s whose data was the same in the %llu %s examined",
		 count, strcmp(count, "1.0") ? "ies" : "y", word,
		 fmt_many(tensors, same->n, "tensor"),
		 (unsigned long long)place->steps, step_nouns(steps_are_passes(model)));
	finding_add(findings, &finding);
}

static bool is_ready(const struct model *model, const struct same_data *s)
{
	return s->basis.steps && basis_ready(model, &s->basis);
}

static void same_data_review(struct model *model, void *state, struct findings *findings)
{
	const struct same_data *s = state;
	struct same_data_sums same;

	for (size_t i = 0; i < s->n && is_ready(model, s); i++)
		if (same_data_is_reported(model, s, &s->places[i], &same))
			same_data_report(model, s, &s->places[i], &same, findings);
}

int64_t same_data_run_ns(const struct model *model, uint32_t device)
{
	const struct same_data *s = analysis_state(model, ANALYSIS_SAME_DATA);
	struct same_data_sums same;
	int64_t ns = 0;

	for (size_t i = 0; i < s->n && is_ready(model, s); i++)
		if (s->places[i].device == device &&
		    same_data_is_reported(model, s, &s->places[i], &same))
			add_ns(&ns, (int64_t)((__int128)s->places[i].run_ns * same.ns /
					      s->places[i].looked_ns));
	return basis_per(&s->basis, ns);
}

int64_t same_data_class_ns(struct model *model, int op_class)
{
	const struct same_data *s = analysis_state(model, ANALYSIS_SAME_DATA);
	struct same_data_sums same;
	int64_t ns = 0;

	for (size_t i = 0; i < s->n && is_ready(model, s); i++)
		if ((int)op_class_of(names_raw(&model->names, s->places[i].name)) == op_class &&
		    same_data_is_reported(model, s, &s->places[i], &same))
			add_ns(&ns, same.cost_ns);
	return ns;
}

static void same_data_release(void *state)
{
	struct same_data *s = state;

	free(s->places);
	free(s->names.of);
	free(s->by_frame.of);
	map_release(&s->runs);
}

static size_t same_data_bytes(const void *state)
{
	const struct same_data *s = state;

	return s->cap * sizeof(*s->places) + (s->names.n + s->by_frame.n) * sizeof(uint32_t) +
	       map_bytes(&s->runs);
}

const struct analysis analysis_same_data = {
	.name = "same data", .size = sizeof(struct same_data), .slice = same_data_slice,
	.per_step = true, .needs_ops = true,
	.review = same_data_review, .release = same_data_release, .bytes = same_data_bytes,
};
