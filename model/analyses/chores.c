/* SPDX-License-Identifier: MIT */
/*
 * tensor-print, checkpoint, logging: work beside training that the thread of the steps does in its
 * loop; and no-processor: the time in which that thread had none, in ops and outside of them. All
 * of these are spread over many ops and lines of libraries, so that no op and no state of the host
 * shows what they cost; the looks at the thread do.
 *
 * Definition: a look at the thread (host/doings.h) belongs to a chore if one of its callers is a
 * function of the chore's library; to the first of the chores, if several are (a logger that prints
 * a tensor prints it). The value is the time of these looks within the steps after the warm-up and
 * between them, as far as the looks are kept, per step: in ops and outside of them, with what is
 * waited for there. Of the process of the steps the thread that loses most counts, and the line of
 * the program that has most of it is told. It is an upper bound, because what the thread would do
 * instead may wait for the same.
 *
 * A look that found the thread that goes through the steps without a processor belongs to
 * no-processor, if it belongs to none of the others. That is told only where the processor does
 * all work: elsewhere host_wait.c tells for how long devices wait for it.
 *
 * Complexity: O(looks that are kept) for a review. State: a byte for each sum of looks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/analyses/chores.h"
#include "model/analyses/sweep.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#define CHORE_PLACES 6
#define CHORE_LINES 32u			/* of a chore; further ones are in none */

/* What a sum of looks belongs to. */
enum { CHORE_UNKNOWN, CHORE_NONE, CHORE_FIRST };

static const struct chore {
	const char *id, *title, *advice;
	/* ends of paths, or folders, and the function there without its class, or "": any */
	struct chore_place { const char *file, *function; } places[CHORE_PLACES];
} chores[] = {
	{ "tensor-print", "turns tensors into text",
	  "print less often, and numbers (loss.item()) rather than tensors",
	  { { "/torch/_tensor_str.py", "" }, { "/numpy/_core/arrayprint.py", "" },
	    { "/numpy/core/arrayprint.py", "" } } },
	{ "checkpoint", "saves tensors",
	  "save less often, or copy what is to be saved and let another thread or process write it",
	  { { "/torch/serialization.py", "save" }, { "/safetensors/torch.py", "save_file" },
	    { "/orbax/checkpoint/", "save" },
	    { "/tensorflow/python/checkpoint/checkpoint.py", "save" },
	    { "/keras/src/saving/saving_api.py", "save_model" } } },
	{ "logging", "writes logs",
	  "log every some steps, and what was gathered in between at once",
	  { { "/logging/__init__.py", "" }, { "/torch/utils/tensorboard/writer.py", "" },
	    { "/tensorboardX/writer.py", "" }, { "/wandb/sdk/wandb_run.py", "log" },
	    { "/mlflow/tracking/fluent.py", "" }, { "/tqdm/std.py", "refresh" } } },
	{ "no-processor", "waits for a processor", "", { { NULL, NULL } } },
};
#define CHORES (sizeof(chores) / sizeof(chores[0]))
#define CHORE_LACK (CHORES - 1)

struct chore_line { uint32_t frame; int64_t ns; };

struct chore_time {
	int64_t ns, t0, t1;		/* t0, t1: the time of the steps that it is of */
	uint64_t looks;
	uint32_t thread;
	struct chore_line lines[CHORE_LINES];
	uint32_t n_lines;
	uint32_t frame;			/* the line with most of it; 0: unknown */
	int64_t throttled_ns;		/* of ns: a limit stopped the program */
	int64_t worst_ns, worst_t0, worst_t1;
};

struct chores_state {
	uint8_t *of;			/* owned; by sum, see CHORE_UNKNOWN */
	size_t n;
	struct chore_told { uint32_t frame; int64_t cost_ns; } told[CHORES];
};

/* ---- which looks ---- */

static bool chore_is_at(const struct chore_place *place, const char *file, const char *function)
{
	const char *at = strstr(file, place->file), *method = strrchr(function, '.');
	size_t n = strlen(place->file);

	return at && (!at[n] || place->file[n - 1] == '/') &&
	       (!*place->function || !strcmp(method ? method + 1 : function, place->function));
}

/* CHORES: the function is of none. */
static size_t chore_of_frame(struct model *model, const struct source_frame *frame)
{
	const char *file = frame_file(model, frame);
	uint32_t name = names_resolve(&model->names, frame->function);
	const char *function = name ? names_raw(&model->names, name) : "";

	if (!lines_is_library(file))
		return CHORES;
	for (size_t i = 0; i < CHORES; i++)
		for (int k = 0; k < CHORE_PLACES && chores[i].places[k].file; k++)
			if (chore_is_at(&chores[i].places[k], file, function))
				return i;
	return CHORES;
}

/* CHORE_UNKNOWN: a frame of the stack is not defined yet. */
static uint8_t chore_of_stack(struct model *model, uint32_t stack)
{
	size_t best = CHORES;

	while (stack) {
		const struct source_frame *frame = frame_at(model->lines, stack - 1);
		size_t one;

		if (!frame->file)
			return CHORE_UNKNOWN;
		one = chore_of_frame(model, frame);
		best = one < best ? one : best;
		stack = frame_caller(model->lines, stack);
	}
	return best == CHORES ? CHORE_NONE : (uint8_t)(CHORE_FIRST + best);
}

/* CHORES: it is none. */
static size_t chore_of_sum(struct model *model, struct chores_state *state, uint32_t sum)
{
	size_t n = model->doings->list.n;

	if (sum >= state->n) {
		state->of = xreallocarray(state->of, n, 1);
		memset(state->of + state->n, CHORE_UNKNOWN, n - state->n);
		state->n = n;
	}
	if (state->of[sum] == CHORE_UNKNOWN)
		state->of[sum] = chore_of_stack(model, doing_sum_at(model, sum)->stack);
	return state->of[sum] < CHORE_FIRST ? CHORES : (size_t)state->of[sum] - CHORE_FIRST;
}

static size_t chore_of_look(struct model *model, struct chores_state *state,
			    const struct doing *doing, bool through)
{
	size_t i = chore_of_sum(model, state, doing->sum);
	bool lacks = doing->kind == DOING_CPU || doing->kind == DOING_THROTTLED;

	return i == CHORES && lacks && through ? CHORE_LACK : i;
}

/* ---- how much of them ---- */

static void chore_add(struct model *model, struct chore_time *chore, const struct doing *doing,
		      int64_t ns)
{
	uint32_t frame = doing_sum_at(model, doing->sum)->frame, i;

	add_ns(&chore->ns, ns);
	chore->looks += doing->looks;
	if (doing->kind == DOING_THROTTLED)
		add_ns(&chore->throttled_ns, ns);
	if (ns > chore->worst_ns) {
		chore->worst_ns = ns;
		chore->worst_t0 = doing->start_ns;
		chore->worst_t1 = doing->end_ns;
	}
	if (!frame)
		return;
	for (i = 0; i < chore->n_lines; i++)
		if (same_line(model, chore->lines[i].frame - 1, frame - 1))
			break;
	if (i == CHORE_LINES)
		return;
	if (i == chore->n_lines)
		chore->lines[chore->n_lines++] = (struct chore_line) { frame, 0 };
	add_ns(&chore->lines[i].ns, ns);
}

/* The chores of a thread within [t0, t1), or what is kept of it. */
static void chores_of_thread(struct model *model, struct chores_state *state, uint32_t thread,
			     int64_t t0, int64_t t1, struct chore_time *times)
{
	const struct doing *end, *at = doings_from(model, thread, t0, &end);
	bool through = thread + 1 == sweep_of(model)->breakdown.through;

	if (at < end && at->start_ns > t0)
		t0 = at->start_ns;
	for (size_t i = 0; i < CHORES; i++)
		times[i] = (struct chore_time) { .thread = thread, .t0 = t0, .t1 = t1 };
	for (; at < end && at->start_ns < t1; at++) {
		size_t i = chore_of_look(model, state, at, through);
		int64_t ns = i < CHORES ? doing_within(at, t0, t1) : 0;

		if (ns > 0)
			chore_add(model, &times[i], at, ns);
	}
	for (size_t i = 0; i < CHORES; i++) {
		struct chore_time *one = &times[i];
		int64_t most_ns = 0;

		for (uint32_t k = 0; k < one->n_lines; k++)
			if (one->lines[k].ns > most_ns) {
				most_ns = one->lines[k].ns;
				one->frame = one->lines[k].frame;
			}
	}
}

/* Of the thread of the process that loses most by each. */
static void chores_most(struct model *model, struct chores_state *state, uint32_t process,
			int64_t t0, int64_t t1, struct chore_time *most)
{
	struct chore_time times[CHORES];

	memset(most, 0, sizeof(times));
	for (uint32_t i = 0; i < model->threads.n && model->doings; i++) {
		if (thread_at(model, i)->process != process || !thread_at(model, i)->doings.n)
			continue;
		chores_of_thread(model, state, i, t0, t1, times);
		for (size_t k = 0; k < CHORES; k++)
			if (times[k].ns > most[k].ns)
				most[k] = times[k];
	}
}

/* ---- the findings ---- */

/* Whether a limit or other threads had the processors, and how many the program itself used. */
static void chore_say_lack(struct model *model, const struct chore_time *time, const char *place,
			   const char *share, struct finding *finding)
{
	uint32_t process = thread_at(model, time->thread)->process;
	struct processor_use use = processor_use(model, process, time->t0, time->t1);
	bool throttled = time->throttled_ns * 2 >= time->ns;
	char limit[FMT_MAX], count[FMT_MAX], below[FMT_MAX + 32] = "";

	if (throttled)
		snprintf(finding->title, FINDING_TEXT, "no-processor: %s of each %s is throttled%s",
			 share, step_noun(steps_are_passes(model)), place);
	if (use.all && !throttled)
		snprintf(finding->advice, FINDING_TEXT, "the program's own threads%s have them "
			 "all: run fewer of them (OMP_NUM_THREADS, torch.set_num_threads(), "
			 "num_workers)",
			 use.children * 10 >= use.own ? " and child processes" : "");
	else
		snprintf(finding->advice, FINDING_TEXT, "%s",
			 host_wait_advice(throttled ? DOING_THROTTLED : DOING_CPU));
	snprintf(finding->lines[0], FINDING_TEXT, "%s per %s, in ops and between them",
		 fmt_time(count, finding->cost_ns), step_noun(steps_are_passes(model)));
	if (use.children >= 50)
		snprintf(below, sizeof(below), ", its child processes %s",
			 fmt_tenths(count, (uint64_t)(use.children + 50) / 100));
	if (use.cores && use.own >= 0)
		snprintf(finding->lines[1], FINDING_TEXT, "the program itself used %s of %s%s",
			 fmt_tenths(count, (uint64_t)(use.own + 50) / 100),
			 fmt_many(limit, use.cores, "processor"), below);
	if (time->throttled_ns > 0 && time->throttled_ns < time->ns)
		snprintf(finding->lines[2], FINDING_TEXT, "%s of it, a limit (cgroup) had stopped "
			 "the program; else others had the processors",
			 fmt_share(limit, (uint64_t)time->throttled_ns, (uint64_t)time->ns));
}

static void chore_tell(struct model *model, size_t which, const struct chore_time *time,
		       int64_t cost_ns, int64_t step_ns, struct findings *findings)
{
	const char *noun = step_noun(steps_are_passes(model));
	struct finding finding = { .severity = SEVERITY_NOTE, .cost_ns = cost_ns };
	char share[FMT_MAX], text[FMT_MAX], place[PLACE_TEXT];
	uint32_t row = row_of_thread(model, time->thread);

	snprintf(finding.id, sizeof(finding.id), "%s", chores[which].id);
	if ((__int128)cost_ns * 100 >=
	    (__int128)step_ns * model_threshold(model, THRESHOLD_HOST_MUCH))
		finding.severity = SEVERITY_WARNING;
	frame_place_text(model, time->frame, place, sizeof(place));
	snprintf(finding.title, FINDING_TEXT, "%s: %s of each %s %s%s", chores[which].id,
		 fmt_share(share, (uint64_t)cost_ns, (uint64_t)step_ns), noun,
		 chores[which].title, place);
	snprintf(finding.lines[0], FINDING_TEXT,
		 "%s per %s, with its ops and what it waits for", fmt_time(text, cost_ns), noun);
	snprintf(finding.advice, FINDING_TEXT, "%s", chores[which].advice);
	if (which == CHORE_LACK)
		chore_say_lack(model, time, place, share, &finding);
	finding.evidence = (struct evidence) {
		.kind = EVIDENCE_HOST, .t0 = time->worst_t0, .t1 = time->worst_t1,
		.row = row == NONE ? 0 : row + 1,
	};
	finding_add(findings, &finding);
}

static void chores_review(struct model *model, void *of, struct findings *findings)
{
	size_t warm_up = (size_t)model_threshold(model, THRESHOLD_WARM_UP);
	const struct steps *steps = steps_best(model);
	struct chores_state *state = of;
	struct chore_time most[CHORES];
	struct findings_status status;
	const struct step *last;

	memset(state->told, 0, sizeof(state->told));
	analyses_progress(model, &status);
	if (!steps || !status.step_ns ||
	    steps->n < warm_up + (size_t)model_threshold(model, THRESHOLD_MIN_STEPS))
		return;
	last = &steps->list[steps->n - 1];
	chores_most(model, state, steps->process, steps->list[warm_up].start_ns,
		    last->start_ns + last->dur_ns, most);
	for (size_t i = 0; i < CHORES; i++) {
		int64_t cost_ns;

		if (most[i].looks < HOST_LOOKS_LEAST || most[i].t1 <= most[i].t0 ||
		    (i == CHORE_LACK && !sweep_on_processor(sweep_of(model))))
			continue;
		cost_ns = (int64_t)((__int128)status.step_ns * most[i].ns /
				    (most[i].t1 - most[i].t0));
		if ((__int128)cost_ns * 100 <
		    (__int128)status.step_ns * model_threshold(model, THRESHOLD_HOST_SHARE))
			continue;
		if (i != CHORE_LACK)
			state->told[i] = (struct chore_told) { most[i].frame, cost_ns };
		chore_tell(model, i, &most[i], cost_ns, status.step_ns, findings);
	}
}

bool chores_tell(struct model *model, const char *file, uint32_t line, int64_t cost_ns)
{
	const struct chores_state *state = analysis_state(model, ANALYSIS_CHORES);

	for (size_t i = 0; i < CHORES; i++) {
		const struct chore_told *told = &state->told[i];
		const struct source_frame *frame;

		if (!told->frame || told->cost_ns * 2 < cost_ns)
			continue;
		frame = frame_at(model->lines, told->frame - 1);
		if (frame->line == line && !strcmp(frame_file(model, frame), file))
			return true;
	}
	return false;
}

static void chores_release(void *of)
{
	free(((struct chores_state *)of)->of);
}

static size_t chores_bytes(const void *of)
{
	return ((const struct chores_state *)of)->n;
}

const struct analysis analysis_chores = {
	.name = "chores", .size = sizeof(struct chores_state), .review = chores_review,
	.release = chores_release, .bytes = chores_bytes,
};
