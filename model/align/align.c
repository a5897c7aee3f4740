/* SPDX-License-Identifier: MIT */
#include "model/align/align.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/rows/rows.h"

/* ---- moving ---- */

struct moving {
	const struct clock *clock, *before;
};

static int64_t move_span(void *arg, int64_t start_ns, void *cold)
{
	const struct moving *moving = arg;
	struct command_cold *command = cold;

	uint8_t segment = command->segment;
	int64_t moved = clock_move(moving->clock, moving->before, start_ns, &segment);

	/* The span would move to an impossible time: it stays where it is for good. */
	command->segment = time_ok(moved) ? segment : CLOCK_FIXED;
	return time_ok(moved) ? moved : start_ns;
}

static void move_view(struct model *model, uint32_t index, const struct clock_change *change)
{
	struct device_view *view = view_at(model, index);
	struct moving moving = { .clock = &view->clock, .before = change->before };
	bool moved = false;

	for (uint32_t i = 0; i < model->rows.n; i++) {
		struct row *row = row_at(model, i);

		if ((row->kind != ROW_QUEUE && row->kind != ROW_COPY && row->kind != ROW_GRAPH) ||
		    queue_at(model, row->queue)->view != index)
			continue;
		for (uint32_t l = 0; l < row->n_lanes; l++) {
			moved |= lane_move(&row->lanes[l], change->from_ns, move_span, &moving);
			model_breathe(model);
		}
	}
	if (!moved)
		return;
	if (change->from_ns == INT64_MIN)
		device_rebuild(model, view->device);
	else
		rows_moved(model, view->device, change->from_ns);
	rows_extent(model);
}

/* The clock may have its first map now: applies the commands that waited for it. */
static void changed(struct model *model, uint32_t view, struct clock_change *change,
		    clock_known_fn *known)
{
	if (change->changed) {
		move_view(model, view, change);
		free(change->before);
	}
	if (clock_has(&view_at(model, view)->clock))
		known(model, view);
}

/* ---- contradictions ---- */

/* messages for each clock; all contradictions are counted */
#define TELL_MAX 16u

/* The host time to which the clock converted these ticks before the new bound. */
static int64_t say(const struct clock *clock, uint64_t ticks, int64_t else_ns)
{
	uint8_t segment;

	return clock_has(clock) ? clock_map(clock, ticks, &segment) : else_ns;
}

/* Reports a bound or a pair that no line fits: it says host_ns where the clock said said_ns. The
 * message gets this time, because what is drawn around it is less certain. */
static void tell_contradiction(struct model *model, uint32_t index, uint64_t before,
			       int64_t said_ns, int64_t host_ns)
{
	const struct device_view *view = view_at(model, index);
	uint64_t violations = view->clock.violations;
	char *text, time[FMT_MAX];
	int64_t off;

	if (violations == before || violations > TELL_MAX)
		return;
	if (view->clock.quality != CLOCK_ESTIMATE && violations > 1)
		return;
	if (__builtin_sub_overflow(said_ns, host_ns, &off) || off == INT64_MIN)
		off = INT64_MAX;
	text = xasprintf(view->clock.quality == CLOCK_ESTIMATE ?
		"the clock of %s stepped by %s or more: error bars around it are wide" :
		"the clock of %s is %s off what launches and waits allow: see trust in the report",
		device_label(model, view->device), fmt_time(time, off < 0 ? -off : off));
	note_message(model, host_ns, 1, text);
	note_clock_step(model, host_ns);
	free(text);
}

/* ---- pairs ---- */

void apply_clock(struct model *model, const struct arrival *in, clock_known_fn *known)
{
	const struct event_clock *pair = &in->event->u.clock;
	uint32_t index;
	struct clock_change change;
	struct clock *clock;
	uint64_t before;
	int64_t said_ns;

	if (!time_ok(pair->host_ns) || pair->quality > CLOCK_DRIVER || pair->error_ns > TIME_MAX) {
		model_bad(model, BAD_FAR);
		return;
	}
	index = view_get(model, in->process->index, pair->device);
	if (index == NONE) {
		model_bad(model, BAD_FULL);
		return;
	}
	clock = &view_at(model, index)->clock;
	before = clock->violations;
	said_ns = say(clock, pair->ticks, pair->host_ns);
	clock_add(clock, pair, &change);
	tell_contradiction(model, index, before, said_ns, pair->host_ns);
	changed(model, index, &change, known);
}

/* ---- causality ---- */

static void bound(struct model *model, uint32_t view, uint64_t ticks, int64_t host_ns, bool upper,
		  clock_known_fn *known)
{
	struct clock *clock = &view_at(model, view)->clock;
	uint64_t before = clock->violations;
	int64_t said_ns = say(clock, ticks, host_ns);
	struct clock_change change;

	clock_bound(clock, ticks, host_ns, upper, &change);
	tell_contradiction(model, view, before, said_ns, host_ns);
	changed(model, view, &change, known);
}

static struct met *met_of(struct process *process, uint32_t correlation)
{
	struct met *met;

	if (!process->mets) {
		process->mets = xcalloc(METS, sizeof(*process->mets));
		for (uint32_t i = 0; i < METS; i++)
			process->mets[i].view = NONE;
	}
	met = &process->mets[correlation % METS];
	if (met->correlation != correlation)
		*met = (struct met) { .correlation = correlation, .view = NONE };
	return met;
}

static void meet_wait(struct model *model, struct met *met, clock_known_fn *known)
{
	uint32_t view = met->view;

	if (view == NONE || !met->return_ns)
		return;
	met->view = NONE;
	if (met->call_ns <= met->wait_ns)
		bound(model, view, met->end_ticks, met->return_ns, true, known);
}

void align_command(struct model *model, struct process *process, uint32_t view,
		   const struct event_command *command, clock_known_fn *known)
{
	int64_t call_ns = command->call_ns;
	struct met *met;

	if (!time_ok(call_ns))
		return;
	bound(model, view, command->queued_ticks ? command->queued_ticks : command->start_ticks,
	      call_ns, false, known);
	if (command->flags & CMD_BLOCKING && command->call_dur_ns &&
	    command->call_dur_ns < UINT32_MAX)
		bound(model, view, command->end_ticks, call_ns + command->call_dur_ns, true,
		      known);
	if (!command->correlation)
		return;
	met = met_of(process, command->correlation);
	met->view = view;
	met->end_ticks = command->end_ticks;
	met->call_ns = call_ns;
	meet_wait(model, met, known);
}

void align_wait(struct model *model, const struct arrival *in, clock_known_fn *known)
{
	const struct event_wait *wait = &in->event->u.wait;
	struct met *met;
	int64_t end_ns = wait->start_ns + wait->dur_ns;

	if (!wait->correlation || wait->result)
		return;
	met = met_of(in->process, wait->correlation);
	if (met->return_ns && met->return_ns <= end_ns)
		return;
	met->wait_ns = wait->start_ns;
	met->return_ns = end_ns;
	meet_wait(model, met, known);
}
