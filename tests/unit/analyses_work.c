/* SPDX-License-Identifier: MIT */
#include "tests/unit/analyses_work.h"

#include <stdlib.h>
#include <string.h>

#include "model/analyses/finding.h"
#include "model/analyses/analyses.h"
#include "model/core/model.h"
#include "model/base/util.h"
#include "tests/unit/model_events.h"

void bench_init(struct bench *bench, const struct analysis *analysis)
{
	*bench = (struct bench) {
		.model = model_with_device(), .analysis = analysis,
		.state = xcalloc(1, analysis->size),
	};
	if (analysis->init)
		analysis->init(bench->model, bench->state);
}

void bench_release(struct bench *bench)
{
	if (bench->analysis->release)
		bench->analysis->release(bench->state);
	free(bench->state);
	free(bench->acts);
	model_free(bench->model);
}

struct act *bench_act(struct bench *bench, enum act_kind kind, int64_t start_ns, int64_t end_ns)
{
	struct act *act;

	grow(&bench->acts, &bench->cap, bench->n, sizeof(*bench->acts));
	act = &bench->acts[bench->n++];
	*act = (struct act) {
		.kind = (uint8_t)kind, .start_ns = start_ns, .end_ns = end_ns,
		.device = NONE, .queue = NONE,
	};
	return act;
}

struct act *bench_kernel(struct bench *bench, uint32_t name, int64_t start_ns, int64_t end_ns)
{
	struct act *act = bench_act(bench, ACT_RUN, start_ns, end_ns);

	act->command = COMMAND_KERNEL;
	act->work = WORK_OTHER;
	act->name = name;
	act->device = act->queue = 0;
	return act;
}

struct act *bench_copy(struct bench *bench, enum direction direction, uint64_t bytes,
		       uint32_t object, int64_t start_ns, int64_t end_ns)
{
	struct act *act = bench_act(bench, ACT_RUN, start_ns, end_ns);

	act->command = direction == DIR_FILL ? COMMAND_FILL : COMMAND_COPY;
	act->work = WORK_COPY;
	act->direction = (uint8_t)direction;
	act->amount = bytes;
	act->object = object;
	act->device = act->queue = 0;
	return act;
}

static int by_start(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void hand_out(struct bench *bench, int64_t t0, int64_t t1, bool step)
{
	struct slice slice = {
		.t0 = t0, .t1 = t1, .number = step ? bench->next_number++ : -1, .step = step,
		.bare = step && bench->bare,
		.acts = bench->acts, .n = bench->n,
	};
	struct slice_space space = { .cap = 0 };

	if (bench->n)
		qsort(bench->acts, bench->n, sizeof(*bench->acts), by_start);
	slice_index(&slice, &space);
	/* as the model does; and so late that whoever can breathe does */
	model_lock(bench->model);
	bench->model->slice_ns = 0;
	bench->analysis->slice(bench->model, bench->state, &slice);
	model_unlock(bench->model);
	slice_space_release(&space);
	bench->n = 0;
}

void bench_step(struct bench *bench, int64_t t0, int64_t t1)
{
	hand_out(bench, t0, t1, true);
}

void bench_between(struct bench *bench, int64_t t0, int64_t t1)
{
	hand_out(bench, t0, t1, false);
}

uint32_t bench_name(struct bench *bench, const char *text)
{
	return names_intern(&bench->model->names, text);
}

size_t bench_review(struct bench *bench, const char *id, struct finding *out)
{
	struct findings *findings = findings_new();
	const struct finding *one;
	size_t n = 0;

	findings_begin(findings);
	model_lock(bench->model);
	bench->analysis->review(bench->model, bench->state, findings);
	model_unlock(bench->model);
	findings_end(findings, true);
	for (size_t i = 0; (one = findings_at(findings, i)); i++) {
		if (id && strcmp(one->id, id) != 0)
			continue;
		if (out && !n)
			*out = *one;
		n++;
	}
	findings_free(findings);
	return n;
}
