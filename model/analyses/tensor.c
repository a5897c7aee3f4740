/* SPDX-License-Identifier: MIT */
/*
 * Matrix products, convolutions and attention that run without tensor cores on a device that
 * has them.
 *
 * Definition: the time of a kernel counts if its name says that it multiplies matrices, that
 * its numbers are f32, f16 or bf16, and that it does not use tensor cores
 * (model/base/kernel_class.h), and if the device has tensor cores for such numbers: from
 * compute capability 7.0 on for f16, from 8.0 on for bf16 and, as TF32, for f32 (CUDA C++
 * Programming Guide, "Warp Matrix Functions"). A kernel whose name does not say so is left out.
 * Products of a matrix and a vector wait for memory and do not count.
 *
 * The cost is seven eighths of that time: on an A100, TF32 has eight times the FLOP/s of f32
 * without tensor cores (its data sheet: 156 and 19.5 TFLOP/s). This is an upper bound, because
 * a kernel that waits for memory does not become eight times as fast.
 *
 * Complexity: O(runs) for a slice. State: KERNELS_MAX sums.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/analyses.h"
#include "model/analyses/basis.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define KERNELS_MAX 64u
#define KERNELS_TOLD 3

struct slow_kernel {
	uint32_t name, op_name, row;
	int64_t ns[SCOPE_COUNT], longest_ns, t0, t1;
};

struct tensor_state {
	struct basis basis;
	int64_t ns[SCOPE_COUNT];
	struct slow_kernel kernels[KERNELS_MAX];
	size_t n;
};

static bool could_use(const struct model *model, const struct act *act, struct kernel_class class)
{
	uint32_t capability = act->device == NONE ? 0 :
			      device_at(model, act->device)->limits.capability;

	if (class.tensor != TENSOR_UNUSED || capability < 70)
		return false;
	if (class.type == NUMBER_F16)
		return true;
	return capability >= 80 && (class.type == NUMBER_F32 || class.type == NUMBER_BF16);
}

static bool is_vector(struct model *model, const struct act *act)
{
	const char *name = names_raw(&model->names, act->name);

	return name && strstr(name, "gemv");
}

static struct slow_kernel *kernel_of(struct tensor_state *t, const struct act *act)
{
	size_t at = 0;

	while (at < t->n && t->kernels[at].name != act->name)
		at++;
	if (at == KERNELS_MAX)
		return NULL;
	if (at == t->n)
		t->kernels[t->n++].name = act->name;
	return &t->kernels[at];
}

static void tensor_slice(struct model *model, void *state, const struct slice *slice)
{
	struct tensor_state *t = state;
	enum scope scope;

	if (!basis_add(&t->basis, slice, &scope))
		return;
	for (size_t i = 0; i < slice->n_runs; i++) {
		const struct act *act = &slice->acts[slice->runs[i]];
		int64_t ns = act_end(slice, act) - act_start(slice, act);
		struct slow_kernel *kernel;

		if (!act_is_kernel(act) || ns <= 0 ||
		    !could_use(model, act, names_class(&model->names, act->name)) ||
		    is_vector(model, act))
			continue;
		add_ns(&t->ns[scope], ns);
		kernel = kernel_of(t, act);
		if (!kernel)
			continue;
		add_ns(&kernel->ns[scope], ns);
		if (ns <= kernel->longest_ns)
			continue;
		kernel->longest_ns = ns;
		kernel->op_name = act->op_name;
		kernel->row = act->row;
		kernel->t0 = act->start_ns;
		kernel->t1 = act->end_ns;
	}
}

static enum scope sorted_by;		/* only one thread feeds the model */

static int by_ns(const void *a, const void *b)
{
	const struct slow_kernel *x = a, *y = b;

	return (x->ns[sorted_by] < y->ns[sorted_by]) - (x->ns[sorted_by] > y->ns[sorted_by]);
}

static void kernels_line(struct model *model, struct tensor_state *t, struct finding *finding)
{
	char time[FMT_MAX], *text = finding->lines[0];
	enum scope scope = basis_scope(&t->basis);
	size_t at = 0;

	for (size_t i = 0; i < t->n && i < KERNELS_TOLD && t->kernels[i].ns[scope]; i++)
		at += (size_t)snprintf(text + at, FINDING_TEXT - at, "%s%.60s %s", i ? ", " : "",
				       names_short(&model->names, t->kernels[i].name),
				       fmt_time(time, basis_per(&t->basis,
								t->kernels[i].ns[scope])));
	snprintf(text + at, FINDING_TEXT - at, " %s", basis_word(model, &t->basis));
}

static void tensor_review(struct model *model, void *state, struct findings *findings)
{
	struct tensor_state *t = state;
	enum scope scope = basis_scope(&t->basis);
	int64_t ns = basis_per(&t->basis, t->ns[scope]), whole = basis_whole(&t->basis);
	char share[FMT_MAX], time[FMT_MAX], place[PLACE_TEXT];
	struct finding finding = {
		.id = "no-tensor-cores", .severity = SEVERITY_WARNING, .cost_ns = ns - ns / 8,
	};

	if (!basis_ready(model, &t->basis) || !t->n ||
	    per_mille(ns, whole) < model_threshold(model, THRESHOLD_TENSOR_SHARE) * 10)
		return;
	sorted_by = scope;
	qsort(t->kernels, t->n, sizeof(*t->kernels), by_ns);
	op_place_text(model, t->kernels[0].op_name, place, sizeof(place));
	snprintf(finding.title, FINDING_TEXT,
		 "no tensor cores: matrix products that do not use them take %s of %s (%s)%s%s",
		 fmt_share(share, (uint64_t)ns, (uint64_t)whole),
		 basis_each(model, &t->basis), fmt_time(time, ns),
		 *place ? ", most" : "", place);
	kernels_line(model, t, &finding);
	snprintf(finding.advice, FINDING_TEXT,
		 "use TF32 for f32 (torch.set_float32_matmul_precision(\"high\"), "
		 "jax_default_matmul_precision), or autocast to bf16; make sizes multiples of 8");
	finding.evidence = (struct evidence) {
		.kind = EVIDENCE_KERNEL, .t0 = t->kernels[0].t0, .t1 = t->kernels[0].t1,
		.row = t->kernels[0].row,
		.key = names_short(&model->names, t->kernels[0].name),
	};
	finding_add(findings, &finding);
}

const struct analysis analysis_tensor = {
	.name = "tensor cores", .size = sizeof(struct tensor_state), .slice = tensor_slice,
	.per_step = true,
	.review = tensor_review,
};
