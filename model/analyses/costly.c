/* SPDX-License-Identifier: MIT */
#include "model/analyses/costly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"

#define MEMBERS_MAX 1024u
#define TYPES_TOLD 3
/* an op whose removal saves less than this part of its path is not reported */
#define HIDDEN_PART 20

void costly_release(struct costly *costly)
{
	free(costly->class_of.of);
	free(costly->members);
	free(costly->in_row);
	map_release(&costly->by_key);
	zeroing_release(&costly->zeroing);
}

size_t costly_bytes(const struct costly *costly)
{
	return costly->class_of.n * sizeof(*costly->class_of.of) +
	       costly->cap_members * sizeof(*costly->members) + costly->cap_in_row +
	       map_bytes(&costly->by_key) + zeroing_bytes(&costly->zeroing);
}

/* ---- what an act is ---- */

static enum op_class class_of_name(struct costly *costly, uint32_t name)
{
	uint32_t *slot = slot_of(&costly->class_of, name);

	if (!*slot)
		*slot = 1 + (uint32_t)op_class_of(name ? names_short(costly->names, name) : NULL);
	return (enum op_class)(*slot - 1);
}

/* A kernel whose name says nothing has the class of the op that launched it. */
static enum op_class class_of_run(struct costly *costly, const struct act *act)
{
	enum op_class op_class;
	enum work work = names_work(costly->names, act->name);

	if (!act_is_kernel(act) || work == WORK_MATMUL || work == WORK_COMM)
		return OP_CLASS_NONE;
	op_class = class_of_name(costly, act->name);
	if (op_class == OP_CLASS_NONE && act->op_name)
		op_class = class_of_name(costly, act->op_name);
	return op_class == OP_CLASS_CHAIN ? OP_CLASS_NONE : op_class;
}

static enum op_class class_of_op(struct costly *costly, const struct act *act)
{
	return act->work == WORK_INPUT ? OP_CLASS_NONE :
	       class_of_name(costly, act->op_name ? act->op_name : act->name);
}

/* ---- the path ---- */

void costly_begin(struct costly *costly, struct names *names, const struct slice *slice,
		  enum scope scope)
{
	costly->names = names;
	costly->slice = slice;
	costly->scope = scope;
	costly->longest = NULL;
	memset(costly->met, 0, sizeof(costly->met));
}

static struct costly_member *member_of(struct costly *costly, const struct act *act,
				       enum op_class op_class)
{
	uint64_t key = (uint64_t)act->op_name << 32 | act->name;
	uint32_t at = map_get(&costly->by_key, key);

	if (at == MAP_NONE) {
		if (costly->n_members == MEMBERS_MAX)
			return NULL;
		grow(&costly->members, &costly->cap_members, costly->n_members,
		     sizeof(*costly->members));
		at = (uint32_t)costly->n_members++;
		costly->members[at] = (struct costly_member) {
			.op_class = op_class, .name = act->name, .type = act->op_name,
			.kernel = act->kind == ACT_RUN,
			.framework = act->kind == ACT_OP ? act->command : FW_NONE,
		};
		map_set(&costly->by_key, key, at);
	}
	return &costly->members[at];
}

static void costly_add(struct costly *costly, const struct act *act, enum op_class op_class,
		       int64_t ns)
{
	struct costly_member *member = member_of(costly, act, op_class);

	costly->met[op_class] = true;
	add_ns(&costly->ns[op_class][costly->scope], ns);
	if (!member)
		return;
	add_ns(&member->ns[costly->scope], ns);
	if (ns > member->longest_ns) {
		member->longest_ns = ns;
		member->t0 = act->start_ns;
		member->t1 = act->end_ns;
		member->row = act->row;
	}
}

/* Marks an act that would be fused into a longer one of its chain. */
static void mark_in_row(struct costly *costly, const struct act *act, int64_t ns)
{
	size_t n = costly->slice->n;

	if (costly->cap_in_row < n) {
		free(costly->in_row);
		costly->cap_in_row = n + n / 2;
		costly->in_row = xmalloc(costly->cap_in_row);
	}
	if (!costly->met[OP_CLASS_CHAIN])
		memset(costly->in_row, 0, n);
	costly->in_row[act - costly->slice->acts] = 1;
	costly_add(costly, act, OP_CLASS_CHAIN, ns);
}

void costly_op(struct costly *costly, const struct act *act, int64_t ns)
{
	enum op_class op_class = class_of_op(costly, act);

	if (op_class != OP_CLASS_CHAIN) {
		costly->longest = NULL;
		if (op_class != OP_CLASS_NONE)
			costly_add(costly, act, op_class, ns);
	} else if (!costly->longest) {
		costly->longest = act;
		costly->longest_ns = ns;
	} else if (ns <= costly->longest_ns) {
		mark_in_row(costly, act, ns);
	} else {
		mark_in_row(costly, costly->longest, costly->longest_ns);
		costly->longest = act;
		costly->longest_ns = ns;
	}
}

void costly_run(struct costly *costly, const struct act *act, int64_t ns)
{
	enum op_class op_class = class_of_run(costly, act);

	if (op_class != OP_CLASS_NONE)
		costly_add(costly, act, op_class, ns);
}

/* ---- the step without it ---- */

struct picked { struct costly *costly; enum op_class op_class; };

static bool pick_op(void *arg, const struct act *act)
{
	const struct picked *picked = arg;
	struct costly *costly = picked->costly;

	return picked->op_class == OP_CLASS_CHAIN ? costly->in_row[act - costly->slice->acts] :
	       class_of_op(costly, act) == picked->op_class;
}

static bool pick_run(void *arg, const struct act *act)
{
	const struct picked *picked = arg;

	return class_of_run(picked->costly, act) == picked->op_class;
}

void costly_end_ops(struct costly *costly, const struct function_run *run)
{
	for (int i = 0; i < OP_CLASSES; i++) {
		struct picked picked = { costly, (enum op_class)i };

		if (costly->met[i])
			add_ns(&costly->saved_ns[i][costly->scope],
			       zeroing_ops(&costly->zeroing, costly->slice, run, pick_op, &picked));
	}
}

void costly_end_runs(struct costly *costly, struct critical_ready *ready, uint32_t thread)
{
	for (int i = 0; i < OP_CLASSES; i++) {
		struct picked picked = { costly, (enum op_class)i };

		if (costly->met[i])
			add_ns(&costly->saved_ns[i][costly->scope],
			       zeroing_runs(&costly->zeroing, ready, thread, pick_run, &picked));
	}
}

/* ---- the findings ---- */

/* Time by type, for ops of a class. */
struct type_sum { uint32_t name; int64_t ns; };

static uint32_t shown_name(const struct costly_member *member)
{
	return member->type && !member->kernel ? member->type : member->name;
}

static int by_ns(const void *a, const void *b)
{
	const struct type_sum *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static size_t sum_types(const struct costly *costly, enum op_class op_class, enum scope scope,
			struct type_sum **out)
{
	size_t n = 0;

	*out = xcalloc(costly->n_members + 1, sizeof(**out));
	for (size_t i = 0; i < costly->n_members; i++) {
		const struct costly_member *member = &costly->members[i];
		size_t at = 0;

		if (member->op_class != op_class || !member->ns[scope])
			continue;
		while (at < n && (*out)[at].name != shown_name(member))
			at++;
		if (at == n)
			(*out)[n++].name = shown_name(member);
		add_ns(&(*out)[at].ns, member->ns[scope]);
	}
	if (n)
		qsort(*out, n, sizeof(**out), by_ns);
	return n;
}

/* "MaxPoolGrad 2.41 ms, MaxPool 846 µs per step" */
static void types_line(struct model *model, const struct costly *costly, enum op_class op_class,
		       const struct basis *basis, struct finding *finding)
{
	enum scope scope = basis_scope(basis);
	char time[FMT_MAX], *text = finding->lines[0];
	struct type_sum *types;
	size_t n = sum_types(costly, op_class, scope, &types), at = 0;

	for (size_t i = 0; i < n && i < TYPES_TOLD; i++)
		at += (size_t)snprintf(text + at, FINDING_TEXT - at, "%s%.60s %s", i ? ", " : "",
				       op_type_plain(names_short(&model->names, types[i].name)),
				       fmt_time(time, basis_per(basis, types[i].ns)));
	if (n > TYPES_TOLD)
		at += (size_t)snprintf(text + at, FINDING_TEXT - at, ", %zu more", n - TYPES_TOLD);
	snprintf(text + at, FINDING_TEXT - at, " %s", basis_word(model, basis));
	free(types);
}

/* Sets the place to the longest run of the op or kernel that costs most, and the advice for it. */
static void costly_set_evidence(struct model *model, const struct costly *costly,
				enum op_class op_class, enum scope scope, struct finding *finding)
{
	const struct costly_member *most = NULL;

	for (size_t i = 0; i < costly->n_members; i++)
		if (costly->members[i].op_class == op_class &&
		    (!most || costly->members[i].ns[scope] > most->ns[scope]))
			most = &costly->members[i];
	if (!most)
		return;
	finding->evidence = (struct evidence) {
		.kind = most->kernel ? EVIDENCE_KERNEL : EVIDENCE_OP, .t0 = most->t0,
		.t1 = most->t1, .row = most->row, .key = names_short(&model->names, most->name),
	};
	snprintf(finding->advice, FINDING_TEXT, "%s%s", op_class_advice(op_class),
		 op_class == OP_CLASS_POOLING && most->framework == FW_PYTORCH ?
		 "; pooling is faster with memory_format=torch.channels_last" : "");
}

static void class_finding(struct model *model, const struct costly *costly, enum op_class op_class,
			  const struct basis *basis, struct findings *findings)
{
	enum scope scope = basis_scope(basis);
	int64_t ns = basis_per(basis, costly->ns[op_class][scope]), whole = basis_whole(basis);
	/* what copies the same data has a finding of its own */
	int64_t told_ns = basis->steps ? same_data_class_ns(model, (int)op_class) : 0;
	char share[FMT_MAX], path[FMT_MAX], left[FMT_MAX], now[FMT_MAX];
	struct finding finding = {
		.id = "costly-op", .subject = (uint32_t)op_class, .severity = SEVERITY_NOTE,
		.cost_ns = basis_cost(basis, costly->saved_ns[op_class][scope]),
	};

	ns -= told_ns;
	finding.cost_ns -= told_ns;
	if (per_mille(ns, whole) < model_threshold(model, THRESHOLD_COSTLY_SHARE) * 10 ||
	    finding.cost_ns <= 0)
		return;
	snprintf(finding.title, FINDING_TEXT, "costly-op: %s holds %s of the critical path",
		 op_class_word(op_class), fmt_share(share, (uint64_t)ns, (uint64_t)whole));
	types_line(model, costly, op_class, basis, &finding);
	snprintf(finding.lines[1], FINDING_TEXT,
		 "%s of %s on the path%s; if they took no time, %s would take %s at best%s",
		 fmt_time(path, ns), fmt_time(now, whole),
		 told_ns ? ", copies of the same data not counted" : "",
		 !basis->steps ? "a second of the run" : steps_are_passes(model) ? "a pass" :
		 "a step",
		 fmt_time(left, whole - finding.cost_ns),
		 finding.cost_ns < ns - ns / HIDDEN_PART ?
		 ", because other work runs at the same time" : "");
	costly_set_evidence(model, costly, op_class, scope, &finding);
	finding_add(findings, &finding);
}

void costly_review(struct model *model, const struct costly *costly, const struct basis *basis,
		   struct findings *findings)
{
	if (!basis_ready(model, basis))
		return;
	for (int i = OP_CLASS_NONE + 1; i < OP_CLASSES; i++)
		class_finding(model, costly, (enum op_class)i, basis, findings);
}
