/* SPDX-License-Identifier: MIT */
/*
 * Compiling that takes much of the run, also before the first step.
 *
 * Definition: compiling time is the time in which something was compiled or traced, whatever and
 * in whichever process; what overlaps counts once. There is a finding while it is at least
 * LEAST_NS and `compile-share` of the time from the first act to the last settled slice, so it
 * fades in a long run; from half of that time on it is a warning. What is compiled again and
 * again in steps is another finding (recompiles.c), and while that is told of the thing that took
 * most, this one is not.
 *
 * The cost is this time spread over all steps so far, and never more than a step. What would help
 * is to find the results of an earlier run: so the advice names the cache of the compiler.
 *
 * Complexity: O(1) for a compilation. State: THINGS_MAX sums; further things count in the total
 * only.
 */
#include <stdio.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/core/model.h"

#define THINGS_MAX 64u
#define LEAST_NS INT64_C(10000000000)
#define MUCH 500	/* per mille of the run: from here on it is a warning */

struct compiling_thing {
	uint32_t name, where;		/* where: the origin that its longest compilation gave */
	uint32_t row;
	int64_t ns, longest_ns, t0, t1;	/* t0, t1: start and end of the longest */
};

struct compiling {
	struct basis basis;
	int64_t first_ns, last_ns;	/* of all slices */
	int64_t until_ns, ns;		/* compiling time is counted up to there; its sum */
	struct compiling_thing things[THINGS_MAX];
	size_t n;
};

static void compiling_init(struct model *model, void *state)
{
	struct compiling *c = state;

	(void)model;
	c->first_ns = c->until_ns = INT64_MIN;
}

static struct compiling_thing *compiling_thing(struct compiling *c, uint32_t name)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->things[i].name == name)
			return &c->things[i];
	if (c->n == THINGS_MAX)
		return NULL;
	c->things[c->n] = (struct compiling_thing) { .name = name };
	return &c->things[c->n++];
}

static void compiling_slice(struct model *model, void *state, const struct slice *slice)
{
	struct compiling *c = state;
	enum scope scope;

	basis_add_any(&c->basis, slice, &scope);
	if (c->first_ns == INT64_MIN)
		c->first_ns = slice->n ? slice->acts[0].start_ns : slice->t0;
	c->last_ns = slice->t1;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		int64_t dur_ns = act->end_ns - act->start_ns;
		struct compiling_thing *thing;

		if (act->kind != ACT_COMPILE || !act_counts(slice, act))
			continue;
		c->ns += time_beyond(&c->until_ns, act->start_ns, act->end_ns);
		thing = compiling_thing(c, act->name);
		if (!thing)
			continue;
		add_ns(&thing->ns, dur_ns);
		if (dur_ns < thing->longest_ns)
			continue;
		thing->longest_ns = dur_ns;
		thing->t0 = act->start_ns;
		thing->t1 = act->end_ns;
		thing->where = act->op_name;
		thing->row = process_at(model, act->process)->compiles + 1;	/* NONE: 0 */
	}
}

/* How long steps take is counted anew when other steps are shown. */
static void compiling_restart(void *state)
{
	((struct compiling *)state)->basis = (struct basis) { .steps = 0 };
}

static const char *cache_advice(const char *name)
{
	if (!strncmp(name, "torch.compile", 13))
		return "a later run finds the results in TORCHINDUCTOR_CACHE_DIR, if that folder "
		       "outlives this run; mode=\"max-autotune\" tries many kernels for each "
		       "product";
	if (!strncmp(name, "XLA ", 4))
		return "set jax_compilation_cache_dir, so that a later run finds the results; jit "
		       "one function around the step rather than many small ones";
	if (!strncmp(name, "trace ", 6))
		return "trace fewer and smaller functions: Python loops within one become a long "
		       "graph, tf.while_loop and lax.scan do not";
	return "keep the compiler's results from run to run, if it has a cache for that";
}

static void compiling_review(struct model *model, void *state, struct findings *findings)
{
	const struct compiling *c = state;
	const struct compiling_thing *most = NULL;
	int64_t share;
	char all[FMT_MAX], part[FMT_MAX], percent[FMT_MAX], place[PLACE_TEXT];
	struct finding finding = { .id = "compile-time", .severity = SEVERITY_NOTE };

	/* before the first slice its time is unknown */
	if (!basis_ready(model, &c->basis) || c->ns < LEAST_NS)
		return;
	share = per_mille(c->ns, c->last_ns - c->first_ns);
	if (share < model_threshold(model, THRESHOLD_COMPILE_SHARE) * 10)
		return;
	for (size_t i = 0; i < c->n; i++)
		if (!most || c->things[i].ns > most->ns)
			most = &c->things[i];
	if (!most || recompiles_tells(model, most->name))
		return;
	if (share >= MUCH)
		finding.severity = SEVERITY_WARNING;
	finding.cost_ns = basis_cost(&c->basis, c->ns);
	finding.evidence = (struct evidence) {
		.kind = EVIDENCE_TIME, .t0 = most->t0, .t1 = most->t1, .row = most->row,
	};
	snprintf(finding.title, FINDING_TEXT, "compiling took %s, %s of the run so far",
		 fmt_time(all, c->ns), fmt_share(percent, c->ns, c->last_ns - c->first_ns));
	snprintf(finding.lines[0], FINDING_TEXT, "%.100s took most, %s%s",
		 names_raw(&model->names, most->name), fmt_time(part, most->ns),
		 origin_place_text(model, most->where, place, sizeof(place)) ? place : "");
	snprintf(finding.advice, FINDING_TEXT, "%s",
		 cache_advice(names_raw(&model->names, most->name)));
	finding_add(findings, &finding);
}

const struct analysis analysis_compiling = {
	.name = "compiling", .size = sizeof(struct compiling), .init = compiling_init,
	.slice = compiling_slice, .restart = compiling_restart, .review = compiling_review,
};
