/* SPDX-License-Identifier: MIT */
/*
 * Steps of training: explicit marks of the program, else ranges named like a step ("step", "step
 * 12", "step#12", upper or lower case; "step[...]" and "execute_..." of serving engines), else the
 * runs of a framework's functions, else the forward passes of a program that does not train, else
 * the period of the work (analyses/period.h). A series belongs to one process and one source; a
 * series of marks, runs or periods also to one name. The series that is shown is the first of
 * explicit, numbered, plain, runs, passes, runs of XLA, calls of jitted functions, periods, and
 * among equals the longest. Marks that are fewer than half as many as the runs and cover less than
 * half of their time (a profiler's window) do not replace the runs. analyses/steps_list.c makes
 * lists of steps.
 *
 * Every program of JAX and every loop that was found has a series, and only later it is known
 * which of them is the loop. The longest is the one whose runs took most time without the longest
 * of them: what runs once (an initialisation) is no loop, and what runs often may be small.
 */
#include "model/steps/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/base/util.h"
#include "model/core/bares.h"

#define STEPS_MAX (1u << 22)
#define SERIES_MAX 4096u
#define NAMELESS_MAX 65536u
#define MARKED_MAX 65536u	/* outermost ranges of a process that are remembered */

/* The number in "step 12", -1 for a plain "step"; false: not a step's name. */
static bool step_number(const char *name, int64_t *number)
{
	char *end;

	if ((*name | 32) != 's' || strncasecmp(name, "step", 4) != 0)
		return false;
	name += 4;
	*number = -1;
	if (!*name)
		return true;
	name += strspn(name, " #:_-");
	if (!isdigit((unsigned char)*name) || strlen(name) > 18)
		return false;
	*number = strtoll(name, &end, 10);
	return !*end;
}

/* The names that serving engines give to the range of one step: "step[DECODE bs=8]",
 * "execute_context_1(512)_generation_31(31)". */
static bool is_serving_step(const char *name)
{
	size_t length = strlen(name);

	return (!strncmp(name, "step[", 5) && name[length - 1] == ']') ||
	       (!strncmp(name, "execute_", 8) && length > 8);
}

uint32_t steps_plain(struct model *model, uint32_t name)
{
	int64_t number;

	name = names_resolve(&model->names, name);
	if (name && step_number(names_raw(&model->names, name), &number) && number >= 0)
		name = names_intern(&model->names, "step #");
	return name;
}

static struct steps *steps_get(struct model *model, uint32_t process, enum step_source source,
			       uint32_t name)
{
	struct steps *steps;

	bool named = source == STEPS_EXPLICIT || source >= STEPS_RUN;

	for (size_t i = 0; i < model->n_steps; i++)
		if (model->steps[i].process == process && model->steps[i].source == source &&
		    (!named || names_resolve(&model->names, model->steps[i].name) ==
			       names_resolve(&model->names, name)))
			return &model->steps[i];
	if (model->n_steps >= SERIES_MAX)
		return NULL;
	grow(&model->steps, &model->cap_steps, model->n_steps, sizeof(*model->steps));
	steps = &model->steps[model->n_steps++];
	*steps = (struct steps) { .process = process, .source = source, .name = name };
	return steps;
}

static void steps_add(struct model *model, struct steps *steps, int64_t number,
		      int64_t start_ns, int64_t dur_ns)
{
	size_t at;

	if (!steps || steps->n >= STEPS_MAX) {
		model_bad(model, BAD_FULL);
		return;
	}
	grow(&steps->list, &steps->cap, steps->n, sizeof(*steps->list));
	for (at = steps->n; at > 0 && steps->list[at - 1].start_ns > start_ns; at--)
		steps->list[at] = steps->list[at - 1];
	steps->moved += at < steps->n;
	steps->list[at] = (struct step) { number, start_ns, dur_ns };
	steps->n++;
	add_ns(&steps->sum_ns, dur_ns);
	hist_add(&steps->hist, dur_ns);
}

/* Counts the time of the run that a step was made of. */
static void count_run(struct steps *steps, int64_t ran_ns)
{
	add_ns(&steps->ran_ns, ran_ns);
	if (ran_ns > steps->longest_ns)
		steps->longest_ns = ran_ns;
}

/* ---- what lies within a range ---- */

/* Takes a step that goes out of the sums of its series. Returns whether its run was the longest. */
static bool uncount_step(struct steps *steps, int64_t dur_ns)
{
	add_ns(&steps->sum_ns, -dur_ns);
	hist_remove(&steps->hist, dur_ns);
	if (steps->source != STEPS_PERIOD)
		return false;
	add_ns(&steps->ran_ns, -dur_ns);
	return dur_ns == steps->longest_ns;
}

/* Removes the steps that lie within [start, end). */
static void steps_drop_within(struct steps *steps, int64_t start_ns, int64_t end_ns)
{
	size_t from = FIRST_FROM(steps->list, steps->n, start_ns), to = from, i;
	bool longest = false;

	for (i = from; i < steps->n && steps->list[i].start_ns < end_ns; i++) {
		struct step step = steps->list[i];

		if (step.start_ns + step.dur_ns > end_ns)
			steps->list[to++] = step;
		else
			longest |= uncount_step(steps, step.dur_ns);
	}
	if (to == i)
		return;
	memmove(&steps->list[to], &steps->list[i], (steps->n - i) * sizeof(*steps->list));
	steps->n -= i - to;
	steps->moved++;
	if (!longest)
		return;
	steps->longest_ns = 0;
	for (i = 0; i < steps->n; i++)
		if (steps->list[i].dur_ns > steps->longest_ns)
			steps->longest_ns = steps->list[i].dur_ns;
}

/* Whether a step of the list covers [start, end). */
static bool is_within(const struct steps *steps, int64_t start_ns, int64_t end_ns)
{
	size_t after = FIRST_FROM(steps->list, steps->n, start_ns + 1);

	return after && steps->list[after - 1].start_ns + steps->list[after - 1].dur_ns >= end_ns;
}

/* The outermost ranges of a process; NULL: there are too many processes. */
static struct steps *marked_of(struct model *model, uint32_t process)
{
	for (size_t i = 0; i < model->n_marked; i++)
		if (model->marked[i].process == process)
			return &model->marked[i];
	if (model->n_marked >= SERIES_MAX)
		return NULL;
	grow(&model->marked, &model->cap_marked, model->n_marked, sizeof(*model->marked));
	model->marked[model->n_marked] = (struct steps) { .process = process };
	return &model->marked[model->n_marked++];
}

/* Remembers a range of the program. What repeats in it is a part of what the program marked, so no
 * period in it is a step. A single range may be around the whole loop and says nothing. */
static void steps_mark(struct model *model, uint32_t process, int64_t start_ns, int64_t dur_ns)
{
	struct steps *marked = marked_of(model, process);

	if (!marked || is_within(marked, start_ns, start_ns + dur_ns))
		return;
	steps_drop_within(marked, start_ns, start_ns + dur_ns);
	if (marked->n == MARKED_MAX)
		steps_drop_within(marked, INT64_MIN, marked->list[MARKED_MAX / 2].start_ns);
	steps_add(model, marked, -1, start_ns, dur_ns);
	for (size_t i = 0; i < model->n_steps && marked->n > 1; i++) {
		struct steps *steps = &model->steps[i];

		if (steps->process != process || steps->source != STEPS_PERIOD)
			continue;
		if (marked->n == 2)
			for (size_t k = 0; k < 2; k++)
				steps_drop_within(steps, marked->list[k].start_ns,
						  marked->list[k].start_ns +
						  marked->list[k].dur_ns);
		else
			steps_drop_within(steps, start_ns, start_ns + dur_ns);
	}
}

void steps_compiled(struct model *model, uint32_t process, int64_t start_ns, int64_t dur_ns)
{
	for (size_t i = 0; i < model->n_steps; i++)
		if (model->steps[i].process == process &&
		    model->steps[i].source == STEPS_PERIOD)
			steps_drop_within(&model->steps[i], start_ns, start_ns + dur_ns);
}

/* ---- adding ---- */

void apply_step(struct model *model, const struct arrival *in)
{
	const struct event_step *step = &in->event->u.step;
	enum step_source source = step->number == STEP_PASS ? STEPS_PASS :
				  step->number < 0 ? STEPS_RUN : STEPS_EXPLICIT;
	struct steps *steps;

	if (!span_ok(step->start_ns, step->dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(step->dur_ns));
		return;
	}
	steps = steps_get(model, in->process->index, source,
			  local_name(model, in->process, step->name));
	steps_add(model, steps, step->number, step->start_ns, step->dur_ns);
	if (source == STEPS_RUN)
		bares_step(in->process, step->start_ns, step->start_ns + step->dur_ns);
	if (steps && source == STEPS_PASS)
		count_run(steps, step->dur_ns);
	saw_time(model, step->start_ns, step->start_ns + step->dur_ns);
}

/* Of step ranges within each other, the outermost are the steps. */
static void steps_add_plain(struct model *model, uint32_t process, int64_t start_ns,
			    int64_t dur_ns)
{
	struct steps *steps = steps_get(model, process, STEPS_PLAIN, 0);

	if (steps && is_within(steps, start_ns, start_ns + dur_ns))
		return;
	if (steps)
		steps_drop_within(steps, start_ns, start_ns + dur_ns);
	steps_add(model, steps, -1, start_ns, dur_ns);
}

static void keep_nameless(struct model *model, struct nameless one)
{
	if (model->n_nameless >= NAMELESS_MAX)
		return;
	grow(&model->nameless, &model->cap_nameless, model->n_nameless,
	     sizeof(*model->nameless));
	model->nameless[model->n_nameless++] = one;
}

static void steps_named_range(struct model *model, uint32_t process, uint32_t name,
			      int64_t start_ns, int64_t dur_ns)
{
	int64_t number = 0;

	if (!name)
		return;
	if (!names_defined(&model->names, name)) {
		keep_nameless(model, (struct nameless) { name, process, 0, start_ns, dur_ns });
		return;
	}
	if (step_number(names_raw(&model->names, name), &number) && number >= 0)
		steps_add(model, steps_get(model, process, STEPS_NUMBERED, 0), number, start_ns,
			  dur_ns);
	else if (number == -1 || is_serving_step(names_raw(&model->names, name)))
		steps_add_plain(model, process, start_ns, dur_ns);
}

void steps_range(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		 int64_t dur_ns)
{
	steps_mark(model, process, start_ns, dur_ns);
	steps_named_range(model, process, name, start_ns, dur_ns);
}

void steps_period(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		  int64_t dur_ns)
{
	const struct steps *marked = marked_of(model, process);
	struct steps *steps;

	if (marked && marked->n > 1 && is_within(marked, start_ns, start_ns + dur_ns))
		return;
	steps = steps_get(model, process, STEPS_PERIOD, name);
	steps_add(model, steps, -1, start_ns, dur_ns);
	if (steps)
		count_run(steps, dur_ns);
}

static bool has_xla_runs(const struct model *model, uint32_t process)
{
	for (size_t i = 0; i < model->n_steps; i++)
		if (model->steps[i].process == process && model->steps[i].source == STEPS_XLA)
			return true;
	return false;
}

/* Where a run begins that ended at end_ns and arrived after a later one, whose step is then two.
 * start_ns: when the run itself started. */
static int64_t split_later(struct steps *steps, int64_t start_ns, int64_t end_ns)
{
	size_t after = FIRST_FROM(steps->list, steps->n, end_ns);
	struct step *later = after ? &steps->list[after - 1] : NULL;
	int64_t from_ns = later ? later->start_ns : start_ns;

	if (!later || later->start_ns + later->dur_ns <= end_ns)
		return start_ns;
	hist_remove(&steps->hist, later->dur_ns);
	add_ns(&steps->sum_ns, from_ns - end_ns);
	later->dur_ns -= end_ns - from_ns;
	later->start_ns = end_ns;
	steps->moved++;
	hist_add(&steps->hist, later->dur_ns);
	return from_ns;
}

void steps_jax(struct model *model, uint32_t process, uint32_t type, uint32_t name,
	       int64_t start_ns, int64_t dur_ns)
{
	int64_t end_ns = start_ns + dur_ns, from_ns = start_ns;
	enum step_source source = STEPS_XLA;
	struct steps *steps;
	const char *text;

	if (!type || !name)
		return;
	if (!names_defined(&model->names, type)) {
		keep_nameless(model, (struct nameless) { type, process, name, start_ns, dur_ns });
		return;
	}
	text = names_raw(&model->names, names_resolve(&model->names, type));
	if (!strcmp(text, "PjitFunction") && !has_xla_runs(model, process))
		source = STEPS_CALL;
	else if (strcmp(text, "XLA run"))
		return;
	steps = steps_get(model, process, source, name);
	if (steps && steps->n)
		from_ns = steps->end_ns <= end_ns ? steps->end_ns :
			  split_later(steps, start_ns, end_ns);
	steps_add(model, steps, -1, from_ns, end_ns - from_ns);
	if (!steps)
		return;
	count_run(steps, dur_ns);
	if (end_ns > steps->end_ns)
		steps->end_ns = end_ns;
}

static void nameless_named(struct model *model, const struct nameless *one)
{
	uint32_t name = names_resolve(&model->names, one->name);

	if (one->op)
		steps_jax(model, one->process, name, one->op, one->start_ns, one->dur_ns);
	else
		steps_named_range(model, one->process, name, one->start_ns, one->dur_ns);
}

void steps_named(struct model *model, uint32_t placeholder)
{
	size_t to = 0, n = model->n_nameless;

	model->n_nameless = 0;
	for (size_t i = 0; i < n; i++) {
		struct nameless *one = &model->nameless[i];

		if (one->name == placeholder)
			nameless_named(model, one);
		else
			model->nameless[to++] = *one;
	}
	model->n_nameless = to;
}

void steps_release(struct model *model)
{
	for (size_t i = 0; i < model->n_steps; i++) {
		free(model->steps[i].list);
		hist_release(&model->steps[i].hist);
	}
	for (size_t i = 0; i < model->n_marked; i++) {
		free(model->marked[i].list);
		hist_release(&model->marked[i].hist);
	}
	free(model->marked);
	free(model->steps);
	free(model->nameless);
}

/* By rank, then by the earliest start; the order of arrival does not matter. */
static bool is_first(const struct model *model, const struct steps *a, const struct steps *b)
{
	const struct process *x = process_at(model, a->process), *y = process_at(model, b->process);

	if (x == y)
		return a->n != b->n ? a->n > b->n : a->list[0].start_ns < b->list[0].start_ns;
	if (x->rank != y->rank)
		return x->rank < y->rank;
	return x->start_ns != y->start_ns ? x->start_ns < y->start_ns : x->pid < y->pid;
}

static int64_t reach_ns(const struct steps *steps)
{
	return steps->list[steps->n - 1].start_ns - steps->list[0].start_ns;
}

/* Whether a is to be shown rather than b. */
static bool is_better(const struct steps *a, const struct steps *b)
{
	int64_t more_ns = a->ran_ns - a->longest_ns - (b->ran_ns - b->longest_ns);

	if (a->source == b->source && a->source > STEPS_RUN && more_ns)
		return more_ns > 0;
	if (a->source == b->source)
		return a->n > b->n;
	if (a->source > b->source)
		return !is_better(b, a);
	if (a->source >= STEPS_RUN || b->source == STEPS_PERIOD)
		return true;
	return a->n >= b->n / 2 || reach_ns(a) >= reach_ns(b) / 2;
}

/* Whether the series may be shown instead of the best one of all: it has about as many steps, and
 * if there is one for each program or loop, it is that of the same program in another process. */
static bool is_like(const struct model *model, const struct steps *steps, const struct steps *best)
{
	if (!steps->n || steps->source != best->source ||
	    steps->n + 1 + best->n / 16 < best->n)
		return false;
	return steps->source <= STEPS_RUN || steps == best ||
	       (steps->process != best->process &&
		names_resolve(&model->names, steps->name) ==
		names_resolve(&model->names, best->name));
}

struct steps *steps_best(const struct model *model)
{
	struct steps *longest = NULL, *best = NULL;

	for (size_t i = 0; i < model->n_steps; i++) {
		struct steps *steps = &model->steps[i];

		if (steps->n && (!longest || is_better(steps, longest)))
			longest = steps;
	}
	for (size_t i = 0; i < model->n_steps; i++) {
		struct steps *steps = &model->steps[i];

		if (longest && is_like(model, steps, longest) &&
		    (!best || is_first(model, steps, best)))
			best = steps;
	}
	return best;
}

bool steps_begin_after(const struct model *model, int64_t t_ns)
{
	const struct steps *steps = steps_best(model);

	return !steps || !steps->n || steps->list[0].start_ns >= t_ns;
}

bool steps_are_passes(const struct model *model)
{
	const struct steps *steps = steps_best(model);

	return steps && steps->source == STEPS_PASS;
}

/* A phrase that ends in that name, as a text of the model's. */
static const char *phrase(struct model *model, const char *what, uint32_t name)
{
	char *text = xasprintf("%s of %s", what, names_short(&model->names, name));
	uint32_t interned = names_intern(&model->names, text);

	free(text);
	return interned ? names_raw(&model->names, interned) : what;
}

const char *steps_source(struct model *model, const struct steps *steps)
{
	if (steps->source == STEPS_EXPLICIT || steps_are_runs(steps))
		return steps->name ? names_short(&model->names, steps->name) : "step";
	if (steps->source == STEPS_PERIOD)
		return phrase(model, "a guess: period", steps->name);
	if (steps->source == STEPS_PASS)
		return phrase(model, "calls", steps->name);
	return steps->source == STEPS_NUMBERED ? "range step #" : "range step";
}

bool steps_are_runs(const struct steps *steps)
{
	return steps->source == STEPS_RUN || steps->source == STEPS_XLA ||
	       steps->source == STEPS_CALL;
}

bool step_compiles(const struct model *model, const struct steps *steps,
		   const struct step *step, int part)
{
	const struct cover *compiling = &process_at(model, steps->process)->compiling;

	return step->dur_ns > 0 && compiling->n &&
	       cover_window(compiling, step->start_ns, step->start_ns + step->dur_ns) >=
	       step->dur_ns / part;
}
