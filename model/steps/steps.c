/* SPDX-License-Identifier: MIT */
/*
 * Steps of training: explicit marks of the program, else ranges named like a step ("step", "step
 * 12", "step#12", upper or lower case), else the runs of a framework's functions, else the period
 * of the work (analyses/period.h). A series belongs to one process and one source; a series of
 * marks, runs or periods also to one name. The series that is shown is the first of explicit,
 * numbered, plain, runs, periods, and among equals the longest. Marks that are fewer than half as
 * many as the runs and cover less than half of their time (a profiler's window) do not replace
 * the runs. analyses/steps_list.c makes lists of steps.
 */
#include "model/steps/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/base/util.h"

#define STEPS_MAX (1u << 22)
#define SERIES_MAX 4096u
#define NAMELESS_MAX 65536u

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

	bool named = source == STEPS_EXPLICIT || source == STEPS_RUN || source == STEPS_PERIOD;

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

void apply_step(struct model *model, const struct arrival *in)
{
	const struct event_step *step = &in->event->u.step;

	if (!span_ok(step->start_ns, step->dur_ns, in->event->time_ns)) {
		model_bad(model, bad_time(step->dur_ns));
		return;
	}
	steps_add(model, steps_get(model, in->process->index,
				   step->number < 0 ? STEPS_RUN : STEPS_EXPLICIT,
				   local_name(model, in->process, step->name)),
		  step->number, step->start_ns, step->dur_ns);
	saw_time(model, step->start_ns, step->start_ns + step->dur_ns);
}

void steps_range(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		 int64_t dur_ns)
{
	int64_t number;

	if (!name)
		return;
	if (!names_defined(&model->names, name)) {
		if (model->n_nameless >= NAMELESS_MAX)
			return;
		grow(&model->nameless, &model->cap_nameless, model->n_nameless,
		     sizeof(*model->nameless));
		model->nameless[model->n_nameless++] = (struct nameless) {
			name, process, start_ns, dur_ns,
		};
		return;
	}
	if (step_number(names_raw(&model->names, name), &number))
		steps_add(model, steps_get(model, process, number < 0 ? STEPS_PLAIN :
					   STEPS_NUMBERED, 0), number, start_ns, dur_ns);
}

void steps_period(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		  int64_t dur_ns)
{
	steps_add(model, steps_get(model, process, STEPS_PERIOD, name), -1, start_ns, dur_ns);
}

void steps_named(struct model *model, uint32_t placeholder)
{
	size_t to = 0, n = model->n_nameless;

	model->n_nameless = 0;
	for (size_t i = 0; i < n; i++) {
		struct nameless *one = &model->nameless[i];

		if (one->name == placeholder)
			steps_range(model, one->process, names_resolve(&model->names, placeholder),
				    one->start_ns, one->dur_ns);
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
	if (a->source == b->source)
		return a->n > b->n;
	if (a->source > b->source)
		return !is_better(b, a);
	return b->source != STEPS_RUN || a->n >= b->n / 2 || reach_ns(a) >= reach_ns(b) / 2;
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

		if (steps->n && steps->source == longest->source &&
		    steps->n + 1 + longest->n / 16 >= longest->n &&
		    (!best || is_first(model, steps, best)))
			best = steps;
	}
	return best;
}

static const char *period_text(struct model *model, uint32_t name)
{
	char *text = xasprintf("period of %s", names_short(&model->names, name));
	uint32_t interned = names_intern(&model->names, text);

	free(text);
	return interned ? names_raw(&model->names, interned) : "period";
}

const char *steps_source(struct model *model, const struct steps *steps)
{
	if (steps->source == STEPS_EXPLICIT || steps->source == STEPS_RUN)
		return steps->name ? names_short(&model->names, steps->name) : "step";
	if (steps->source == STEPS_PERIOD)
		return period_text(model, steps->name);
	return steps->source == STEPS_NUMBERED ? "range step #" : "range step";
}

bool step_compiles(const struct model *model, const struct steps *steps,
		   const struct step *step, int part)
{
	const struct cover *compiling = &process_at(model, steps->process)->compiling;

	return step->dur_ns > 0 && compiling->n &&
	       cover_window(compiling, step->start_ns, step->start_ns + step->dur_ns) >=
	       step->dur_ns / part;
}
