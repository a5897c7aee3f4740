/* SPDX-License-Identifier: MIT */
/*
 * The same thing compiled again and again.
 *
 * Definition: compilations with one name are of the same thing. For torch.compile, whose names
 * end in "FUNCTION/VERSION", those of one function are. Tracing a function ("trace NAME()") is
 * reported only where XLA compiles nothing, because tracing precedes compiling. What is
 * compiled up to the end of the warm-up is the start of the program. From `recompiles` (3)
 * compilations on, in steps after the warm-up (and, for tracing in TensorFlow, between them),
 * there is a finding. The exception is compiling that is next to nothing, as when oneDNN makes
 * primitives in microseconds: no compilation is long enough to be a stall that a step shows,
 * and all of them take less than 1 %. Each time, something that went into the compilation was
 * new (shapes, types, flags).
 *
 * The cost is their time divided by the number of all these steps, although a few steps may
 * contain it all. The place is the one that the last compilation named ("FILE:LINE FUNCTION");
 * for tracing, it is where the function is called, if its calls say so.
 *
 * Complexity: O(1) for a compilation. State: THINGS_MAX sums.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define THINGS_MAX 1024u
#define LONG_NS 1000000
#define LONG_MIN 100	/* per mille of a step: what a long compilation takes at least */
#define SHARE_MIN 10	/* per mille of a step: what all together take at least, if none is long */

struct recompiles_thing {
	uint32_t name;			/* name without the version */
	uint32_t where;			/* name: the origin that the last compilation gave */
	struct sum {
		uint64_t count;
		int64_t ns, longest_ns, t0, t1;	/* t0, t1: start and end of the longest */
	} of[SCOPE_COUNT];
	uint32_t row;
};

struct recompiles {
	struct basis basis;
	struct recompiles_thing *things;		/* owned */
	size_t n, cap;
	struct map by_name;
};

static bool is_tracing(const char *name)
{
	return !strncmp(name, "trace ", 6);
}

/* Maps "torch.compile 0/3" to "torch.compile 0"; 0: not counted. */
static uint32_t thing_name(struct model *model, uint32_t name)
{
	const char *raw = names_raw(&model->names, name), *slash = raw ? strrchr(raw, '/') : NULL;
	char text[NAME_SHORT_MAX];

	if (!raw)
		return 0;
	if (strncmp(raw, "torch.compile", 13) || !slash || !isdigit((unsigned char)slash[1]))
		return name;
	snprintf(text, sizeof(text), "%.*s", (int)(slash - raw), raw);
	return names_intern(&model->names, text);
}

static struct recompiles_thing *thing_of(struct recompiles *r, uint32_t name)
{
	uint32_t at = map_get(&r->by_name, name);

	if (at != MAP_NONE)
		return &r->things[at];
	if (r->n == THINGS_MAX)
		return NULL;
	grow(&r->things, &r->cap, r->n, sizeof(*r->things));
	r->things[r->n] = (struct recompiles_thing) { .name = name };
	map_set(&r->by_name, name, (uint32_t)r->n);
	return &r->things[r->n++];
}

static void recompiles_slice(struct model *model, void *state, const struct slice *slice)
{
	struct recompiles *r = state;
	enum scope scope;

	if (!basis_add_any(&r->basis, slice, &scope))
		return;
	for (size_t i = 0; i < slice->n_rest; i++) {
		const struct act *act = &slice->acts[slice->rest[i]];
		uint32_t name = act->kind == ACT_COMPILE && act_counts(slice, act) ?
				thing_name(model, act->name) : 0;
		struct recompiles_thing *thing = name ? thing_of(r, name) : NULL;
		struct sum *sum;

		if (!thing)
			continue;
		/* between two steps: it was for the second one */
		sum = &thing->of[is_tracing(names_raw(&model->names, name)) ?
				 basis_scope(&r->basis) : scope];
		sum->count++;
		add_ns(&sum->ns, act->end_ns - act->start_ns);
		thing->where = act->op_name ? act->op_name : thing->where;
		if (act->end_ns - act->start_ns < sum->longest_ns)
			continue;
		sum->longest_ns = act->end_ns - act->start_ns;
		sum->t0 = act->start_ns;
		sum->t1 = act->end_ns;
		thing->row = process_at(model, act->process)->compiles + 1;	/* NONE: 0 */
	}
}

static const char *advice_for(const char *name)
{
	if (!strncmp(name, "torch.compile", 13))
		return "use dynamic=True or mark_dynamic() for the size that changes, or pad "
		       "batches to a few sizes; TORCH_LOGS=recompiles shows what changed";
	if (is_tracing(name))
		return "pass tensors instead of Python numbers, since each number makes another "
		       "function; use input_signature or reduce_retracing=True for shapes that "
		       "change";
	if (!strncmp(name, "XLA ", 4))
		return "pad inputs to a few shapes, and keep Python values that change out of the "
		       "static arguments; jax_log_compiles shows what changed";
	return "keep what was compiled and use it again";
}

/* For "trace step()": " at FILE:LINE", where that function is called. */
static bool traced_at(struct model *model, uint32_t name, char *out, size_t size)
{
	char function[NAME_SHORT_MAX];
	uint32_t op;

	snprintf(function, sizeof(function), "%s", names_raw(&model->names, name) + 6);
	op = names_intern(&model->names, function);
	if (!op && strlen(function) > 2) {
		function[strlen(function) - 2] = '\0';		/* cut off the "()" */
		op = names_intern(&model->names, function);
	}
	return op && op_place_text(model, op, out, size);
}

static void recompiles_report(struct model *model, const struct recompiles *r,
			      const struct recompiles_thing *thing, struct findings *findings)
{
	const struct sum *sum = &thing->of[basis_scope(&r->basis)];
	const char *name = names_raw(&model->names, thing->name);
	const char *verb = is_tracing(name) ? "traced again" : "recompiled";
	char count[FMT_MAX], all[FMT_MAX], longest[FMT_MAX], place[200] = "";
	struct finding finding = {
		.id = "recompiles", .subject = thing->name, .severity = SEVERITY_WARNING,
		.cost_ns = basis_cost(&r->basis, sum->ns),
		.evidence = { .kind = EVIDENCE_TIME, .t0 = sum->t0, .t1 = sum->t1,
			      .row = thing->row },
	};

	fmt_count(count, sum->count);
	if (is_tracing(name) ? traced_at(model, thing->name, place, sizeof(place)) :
	    origin_place_text(model, thing->where, place, sizeof(place)))
		snprintf(finding.title, FINDING_TEXT,
			 "%s %s times: inputs change (shapes, types)%.160s", verb, count, place);
	else
		snprintf(finding.title, FINDING_TEXT,
			 "%s %s times: %.120s, because its inputs change", verb, count, name);
	snprintf(finding.lines[0], FINDING_TEXT,
		 "%.120s: %s in total after the warm-up, the longest took %s", name,
		 fmt_time(all, sum->ns), fmt_time(longest, sum->longest_ns));
	snprintf(finding.advice, FINDING_TEXT, "%s", advice_for(name));
	finding_add(findings, &finding);
}

/* Whether it delays a single step much, or many steps a little. */
static bool is_material(const struct recompiles *r, const struct sum *sum)
{
	int64_t whole_ns = basis_whole(&r->basis);

	return (sum->longest_ns >= LONG_NS && per_mille(sum->longest_ns, whole_ns) >= LONG_MIN) ||
	       per_mille(basis_per(&r->basis, sum->ns), whole_ns) >= SHARE_MIN;
}

/* XLA traces what it compiles before, including what that calls, so tracing is not reported
 * separately. */
static bool is_told_with(struct model *model, const struct recompiles *r,
			 const struct recompiles_thing *thing)
{
	for (size_t i = 0; i < r->n && is_tracing(names_raw(&model->names, thing->name)); i++)
		if (!strncmp(names_raw(&model->names, r->things[i].name), "XLA ", 4))
			return true;
	return false;
}

static bool is_told(struct model *model, const struct recompiles *r,
		    const struct recompiles_thing *thing)
{
	const struct sum *sum = &thing->of[basis_scope(&r->basis)];

	return basis_ready(model, &r->basis) &&
	       sum->count >= (uint64_t)model_threshold(model, THRESHOLD_RECOMPILES) &&
	       is_material(r, sum) && !is_told_with(model, r, thing);
}

bool recompiles_tells(struct model *model, uint32_t name)
{
	const struct recompiles *r = analysis_state(model, ANALYSIS_RECOMPILES);
	uint32_t thing = thing_name(model, name);
	uint32_t at = thing ? map_get(&r->by_name, thing) : MAP_NONE;

	return at != MAP_NONE && is_told(model, r, &r->things[at]);
}

static void recompiles_review(struct model *model, void *state, struct findings *findings)
{
	const struct recompiles *r = state;

	for (size_t i = 0; i < r->n; i++)
		if (is_told(model, r, &r->things[i]))
			recompiles_report(model, r, &r->things[i], findings);
}

static void recompiles_release(void *state)
{
	struct recompiles *r = state;

	free(r->things);
	map_release(&r->by_name);
}

static size_t recompiles_bytes(const void *state)
{
	const struct recompiles *r = state;

	return r->cap * sizeof(*r->things) + map_bytes(&r->by_name);
}

const struct analysis analysis_recompiles = {
	.name = "recompiles", .size = sizeof(struct recompiles), .slice = recompiles_slice,
	.per_step = true,
	.review = recompiles_review, .release = recompiles_release, .bytes = recompiles_bytes,
};
