/* SPDX-License-Identifier: MIT */
/* `run`: on until so many steps have ended or an event comes that is wanted, then freeze.
 * --until does the same and ends collecting. */
#include "tui/commands/commands_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/filters/filters.h"

static void forget(struct tui *tui)
{
	until_stop(&tui->until);
	tui->run_steps = 0;
}

void run_release(struct tui *tui)
{
	forget(tui);
}

/* ---- the command ---- */

static bool take_steps(struct run *run)
{
	char *end = NULL;
	unsigned long long steps = run->call.argc == 3 ? strtoull(run->call.argv[2], &end, 10) : 0;

	if (!end || *end || !steps || run->call.argv[2][0] == '-' || steps > UINT32_MAX) {
		command_fail(run, "run -t wants a number of steps, 1 or more: run -t 10");
		return false;
	}
	forget(run->tui);
	run->tui->run_steps = run->tui->status.steps + steps;
	run->tui->run_count = steps;
	return true;
}

static bool take_filter(struct run *run)
{
	struct tui *tui = run->tui;
	struct filter *filter;
	struct model_status status;

	filter = filters_parse(tui->filters, &run->call, 2, run->error, run->error_size);
	if (!filter) {
		run->failed = true;
		return false;
	}
	forget(tui);
	model_lock(tui->model);
	model_status(tui->model, &status);
	model_unlock(tui->model);
	until_start(&tui->until, tui->model, filter, status.last_ns);
	return true;
}

/* run [-t N | -f EXPR] */
unsigned cmd_run(struct run *run)
{
	struct tui *tui = run->tui;
	const char *how = command_first(run);

	if (tui->options->until && tui->until.filter)
		return command_fail(run, "--until is waited for already");
	if (how && tui->status.finished)
		return command_fail(run, "the run is over, nothing more comes; find -w looks among what is there");
	if (!how)
		forget(tui);
	else if (strcmp(how, "-t") == 0 && !take_steps(run))
		return OUT_NONE;
	else if (strcmp(how, "-f") == 0 && !take_filter(run))
		return OUT_NONE;
	else if (strcmp(how, "-t") && strcmp(how, "-f"))
		return command_fail(run, "not known to run: '%s'; run -t STEPS, run -f EXPR, run", how);
	if (how && tui->run_steps)
		tui_say(tui, false, "on until step %llu", (unsigned long long)tui->run_steps);
	else if (how)
		tui_say(tui, false, "on until an event matches %s", filter_text(tui->until.filter));
	return OUT_FOLLOW;
}

/* ---- each turn ---- */

static void found(struct tui *tui, const struct span *span)
{
	struct view *view = &tui->view;
	char text[240];

	until_sentence(&tui->until, span, text, sizeof(text));
	view->selected = span->ref;
	view->cursor_ns = span->start_ns;
	view->cursor_row = span->ref.row;
	view->cursor_lane = span->ref.lane;
	if (tui->panes[0]->ops->reveal)
		tui->panes[0]->ops->reveal(tui->panes[0], view, NULL);
	tui_apply(tui, OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR);
	if (tui->options->until && !tui->until_matched) {
		tui->until_matched = true;
		tui_end_collecting(tui);
		tui_say(tui, false, "collecting ended at %s: %s", text, filter_text(tui->until.filter));
	} else {
		tui_say(tui, false, "frozen at %s: %s", text, filter_text(tui->until.filter));
	}
	forget(tui);
}

void run_look(struct tui *tui)
{
	char text[FMT_MAX];
	struct span span;

	if (tui->run_steps && tui->status.steps >= tui->run_steps) {
		tui_apply(tui, OUT_REDRAW | OUT_FREEZE);
		tui_say(tui, false, "frozen after %s, at step %llu; run goes on",
			fmt_many(text, (uint64_t)tui->run_count, "step"), (unsigned long long)tui->status.steps);
		forget(tui);
	}
	if (tui->until.filter && until_look(&tui->until, &span))
		found(tui, &span);
	if (tui->status.finished && tui->run_steps) {
		tui_say(tui, false, "the run is over before step %llu",
			(unsigned long long)tui->run_steps);
		forget(tui);
	}
	if (tui->status.finished && tui->until.filter && !until_look(&tui->until, &span)) {
		if (tui->until.missed)
			tui_say(tui, true, "the run is over; %s came too fast to be looked at, "
				"none of the others matched",
				fmt_many(text, tui->until.missed, "event"));
		else
			tui_say(tui, false, "the run is over, no event matched %s",
				filter_text(tui->until.filter));
		forget(tui);
	}
}
