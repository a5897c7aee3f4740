/* SPDX-License-Identifier: MIT */
/*
 * Forward, backward, optimizer: the phases of a training step.
 *
 * Definition: an instant of a step belongs to the first phase of which an op is open on any
 * thread of the step's process: backward, optimizer, input, and forward for any other op of a
 * framework. The time between two ops of one phase belongs to that phase, too, if no op of
 * another phase lies in between: it is spent around its ops. The rest is other. So the phases
 * add up to the step.
 *
 * The phase of an op is judged by its name: autograd's nodes and optimizers of PyTorch; in a
 * graph, the scopes that gradients and optimizers make (runs of whole functions and sessions
 * are not ops here). The times are the host's: where devices work, they are the times of
 * launching that work.
 *
 * The numbers are of the steps after the warm-up; there are none if no step had a backward
 * pass. Complexity: O(acts) for a slice.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/base/util.h"
#include "model/query/time.h"
#include "model/steps/steps.h"

struct phases {
	struct basis basis;
	int64_t ns[STEP_PHASES];
	uint64_t backward;		/* steps that had a backward pass */
	uint8_t *known;			/* owned; by name: 1 + enum step_phase */
	size_t n_known;
	/* For the current slice: */
	uint32_t open[STEP_PHASES];
	int64_t now[STEP_PHASES];
	int64_t last_ns, gap_ns;	/* gap_ns: time since an op of phase `last` ended */
	enum step_phase last;
};

/* ---- by name ---- */

/* Whether the text, such as "Adam_1", is the name of an optimizer as one part of a name. */
static bool is_optimizer(const char *part, size_t length)
{
	static const char *const names[] = {
		"adam", "adamw", "adamax", "nadam", "sgd", "rmsprop", "adagrad", "adadelta",
		"adafactor", "ftrl", "lion", "lamb", "gradientdescent", "momentum",
	};

	while (length && (isdigit((unsigned char)part[length - 1]) || part[length - 1] == '_'))
		length--;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && !strncasecmp(part, names[i], length))
			return true;
	return false;
}

static bool is_gradient(const char *part, size_t length)
{
	static const char *const names[] = { "gradient_tape", "gradients" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (length >= n && !strncmp(part, names[i], n) && (length == n || part[n] == '_'))
			return true;
	}
	return false;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum step_phase phase_of(const char *name)
{
	if (starts(name, "autograd::engine::"))
		return PHASE_BACKWARD;
	if (starts(name, "Optimizer."))
		return PHASE_OPTIMIZER;
	for (const char *end; (end = strchr(name, '/')); name = end + 1) {
		if (is_gradient(name, (size_t)(end - name)))
			return PHASE_BACKWARD;
		if (is_optimizer(name, (size_t)(end - name)))
			return PHASE_OPTIMIZER;
	}
	return PHASE_FORWARD;
}

static enum step_phase known_phase(struct model *model, struct phases *p, uint32_t name)
{
	if (name >= p->n_known) {
		size_t n = name + name / 2 + 64;

		p->known = xreallocarray(p->known, n, sizeof(*p->known));
		memset(p->known + p->n_known, 0, n - p->n_known);
		p->n_known = n;
	}
	if (!p->known[name])
		p->known[name] =
			(uint8_t)(1 + phase_of(name ? names_raw(&model->names, name) : ""));
	return (enum step_phase)(p->known[name] - 1);
}

/* The phase of an act; PHASE_OTHER: it is in none. */
static enum step_phase act_phase(struct model *model, struct phases *p, const struct act *act)
{
	enum step_phase phase;

	if (act->kind != ACT_OP)
		return PHASE_OTHER;
	if (act->flags & ACT_FETCH)	/* the waits of a graph itself are on no thread */
		return PHASE_INPUT;
	if (act->flags & ACT_ASYNC)
		return PHASE_OTHER;
	if (act->work == WORK_INPUT)
		return PHASE_INPUT;
	if (act->command != FW_PYTORCH && !(act->flags & ACT_WORKS))
		return PHASE_OTHER;
	phase = known_phase(model, p, act->name);
	/* a range is not something that runs, except for that of an optimizer */
	return act->flags & ACT_RANGE && phase == PHASE_FORWARD ? PHASE_OTHER : phase;
}

/* ---- a slice ---- */

static void phases_count_piece(struct phases *p, int64_t now_ns)
{
	int64_t ns = now_ns - p->last_ns;
	int phase = 0;

	if (ns <= 0)
		return;
	p->last_ns = now_ns;
	while (phase < PHASE_OTHER && !p->open[phase])
		phase++;
	if (phase == PHASE_OTHER) {
		add_ns(&p->gap_ns, ns);
		return;
	}
	add_ns(&p->now[phase], ns);
	add_ns(&p->now[p->last == (enum step_phase)phase ? phase : PHASE_OTHER], p->gap_ns);
	p->gap_ns = 0;
	p->last = (enum step_phase)phase;
}

static bool is_ours(const struct slice *slice, const struct act *act, uint32_t process)
{
	return (process == NONE || act->process == process) && act->end_ns > slice->t0 &&
	       act->start_ns < slice->t1 &&
	       act->end_ns > act->start_ns;
}

static void phases_walk_edges(struct model *model, struct phases *p, const struct slice *slice,
			      uint32_t process)
{
	size_t end = 0, begin = 0;

	for (;;) {
		const struct act *first = begin < slice->n ? &slice->acts[begin] : NULL, *done;
		enum step_phase phase;

		done = end < slice->n ? &slice->acts[slice->ends[end].at] : NULL;
		if (!first && (!done || done->end_ns >= slice->t1))
			break;
		if (done && done->end_ns < slice->t1 &&
		    (!first || done->end_ns <= first->start_ns)) {
			phase = act_phase(model, p, done);
			end++;
			if (!is_ours(slice, done, process) || phase == PHASE_OTHER)
				continue;
			phases_count_piece(p, done->end_ns);
			p->open[phase] -= p->open[phase] > 0;
		} else if (first) {
			phase = act_phase(model, p, first);
			begin++;
			if (!is_ours(slice, first, process) || phase == PHASE_OTHER)
				continue;
			phases_count_piece(p, act_start(slice, first));
			p->open[phase]++;
		}
	}
	phases_count_piece(p, slice->t1);
	add_ns(&p->now[PHASE_OTHER], p->gap_ns);
}

static void phases_slice(struct model *model, void *state, const struct slice *slice)
{
	const struct steps *steps = steps_best(model);
	struct phases *p = state;
	enum scope scope;

	if (!slice->step || !basis_add(&p->basis, slice, &scope))
		return;
	memset(p->open, 0, sizeof(p->open));
	memset(p->now, 0, sizeof(p->now));
	p->last_ns = slice->t0;
	p->gap_ns = 0;
	p->last = PHASE_OTHER;
	phases_walk_edges(model, p, slice, steps ? steps->process : NONE);
	for (int i = 0; i < STEP_PHASES; i++)
		add_ns(&p->ns[i], p->now[i]);
	p->backward += p->now[PHASE_BACKWARD] > 0;
}

static void phases_release(void *state)
{
	free(((struct phases *)state)->known);
}

static size_t phases_bytes(const void *state)
{
	return ((const struct phases *)state)->n_known;
}

const struct analysis analysis_phases = {
	.name = "phases", .size = sizeof(struct phases), .slice = phases_slice,
	.per_step = true, .needs_ops = true,
	.release = phases_release, .bytes = phases_bytes,
};

/* ---- queries ---- */

uint64_t phases_mean(const void *state, struct step_phases *out)
{
	const struct phases *p = state;

	*out = (struct step_phases) { .whole_ns = 0 };
	if (!p->backward || !p->basis.steps)
		return 0;
	for (int i = 0; i < STEP_PHASES; i++) {
		out->ns[i] = basis_per(&p->basis, p->ns[i]);
		add_ns(&out->whole_ns, out->ns[i]);
	}
	return p->basis.steps;
}

uint64_t model_step_phases(struct model *model, struct step_phases *out)
{
	return phases_mean(analysis_state(model, ANALYSIS_PHASES), out);
}

const char *step_phase_name(enum step_phase phase)
{
	static const char *const names[STEP_PHASES] = {
		"backward", "optimizer", "input", "forward", "other",
	};

	return (unsigned)phase < STEP_PHASES ? names[phase] : "";
}
