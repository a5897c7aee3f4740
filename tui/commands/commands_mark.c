/* SPDX-License-Identifier: MIT */
/* Commands about places in time: marks, measuring, comparing steps. */
#include "tui/commands/commands_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/timeline/when.h"

/* ---- marks ---- */

/* The start of the selected event, else the cursor; while following, the live edge. */
static int64_t place(struct tui *tui)
{
	struct view *view = &tui->view;
	struct span span;
	bool found;

	model_lock(tui->model);
	found = view->selected.id && model_span(tui->model, view->selected, &span);
	model_unlock(tui->model);
	return found ? span.start_ns : view->following ? view->now_ns : view->cursor_ns;
}

/* The folder of the recording that is being made or shown; NULL if there is none. */
static const char *folder(const struct tui *tui)
{
	if (tui->options->record_dir)
		return tui->options->record_dir;
	return tui->options->open_path && tui->live && !live_is_import(tui->live) ?
	       tui->options->open_path : NULL;
}

void commands_load_marks(struct tui *tui)
{
	char error[512];

	if (tui->options->open_path && folder(tui) &&
	    !marks_read(&tui->marks, folder(tui), error, sizeof(error)))
		tui_say(tui, true, "%s", error);
}

static bool write_marks(struct tui *tui, char *error, size_t size)
{
	char *lines = marks_text(&tui->marks);
	bool good = marks_write(lines, folder(tui), error, size);

	free(lines);
	return good;
}

/* Saves the marks with the recording that this run makes; nothing is written into one that is only
 * looked at before that is asked for. Returns a message, or "" if there is nothing to say. */
static const char *keep_marks(struct tui *tui, char *text, size_t size)
{
	char error[160];

	text[0] = '\0';
	if (!folder(tui))
		snprintf(text, size, " (save writes it)");
	else if (!tui->options->record_dir)
		snprintf(text, size, " (keep-marks writes it into the recording)");
	else if (!write_marks(tui, error, sizeof(error)))
		snprintf(text, size, " (not kept: %s)", error);
	return text;
}

unsigned cmd_keep_marks(struct command_run *run)
{
	struct tui *tui = run->tui;
	char count[FMT_MAX], error[160];

	if (!folder(tui))
		return command_fail(run, "no recording is shown; save makes one, with the marks");
	if (!write_marks(tui, error, sizeof(error)))
		return command_fail(run, "%s", error);
	tui_say(tui, false, "wrote %s to '%s/marks'", fmt_many(count, tui->marks.n, "mark"),
		folder(tui));
	return OUT_REDRAW;
}

unsigned cmd_mark(struct command_run *run)
{
	struct tui *tui = run->tui;
	const struct time_mark *mark;
	struct strbuf note;
	char time[FMT_MAX], why[200];

	if (tui->status.first_ns > tui->status.last_ns)
		return command_fail(run, "nothing has happened yet");
	strbuf_init(&note);
	for (int i = 2; i < run->call.argc; i++)
		strbuf_addf(&note, "%s%s", i > 2 ? " " : "", run->call.argv[i]);
	run->failed = !marks_set(&tui->marks, command_first(run), place(tui), note.data, &mark,
				 run->error, run->error_size);
	strbuf_release(&note);
	if (run->failed)
		return OUT_NONE;
	fmt_time_fine(time, mark->start_ns - tui->status.first_ns);
	tui_say(tui, false, "mark %s at %s%s", mark->name, time, keep_marks(tui, why, sizeof(why)));
	return OUT_REDRAW;
}

unsigned cmd_unmark(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *name = command_first(run);
	char why[200];

	if (strcmp(name, "all") == 0)
		tui->marks.n = 0;
	else if (!marks_remove(&tui->marks, name))
		return command_fail(run, "there is no mark '%s'; 'marks' lists them", name);
	tui_say(tui, false, "removed mark %s%s", name, keep_marks(tui, why, sizeof(why)));
	return OUT_REDRAW;
}

/* ---- the next key is the argument ---- */

unsigned cmd_ask_key(struct command_run *run)
{
	struct strbuf command;

	strbuf_init(&command);
	for (int i = 1; i < run->call.argc; i++)
		strbuf_addf(&command, "%s ", run->call.argv[i]);
	free(run->tui->asks_key);
	run->tui->asks_key = strbuf_detach(&command);
	return OUT_REDRAW;
}

bool command_answer_key(struct tui *tui, struct key key)
{
	char *command = tui->asks_key, error[256];

	tui->asks_key = NULL;
	if (!command)
		return false;
	if (key_is_text(key) && key.code > ' ' && key.code < 0x7f) {
		char *line = xasprintf("%s%c", command, (char)key.code);

		if (!command_line(tui, line, error, sizeof(error)))
			tui_say(tui, true, "%s", error);
		free(line);
	} else if (key.code != KEYSYM_ESC) {
		tui_say(tui, true, "%sneeds a letter or a digit", command);
	}
	free(command);
	return true;
}

/* ---- measuring ---- */

unsigned cmd_measure(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	struct when_asks asks = { tui->model, view };
	struct when when;
	int at = 1;

	if (run->call.argc == 2 && strcmp(command_first(run), "off") == 0) {
		view->measure.shown = view->measure.open = false;
		return OUT_REDRAW;
	}
	if (run->call.argc > 1) {
		run->failed = !when_range(&asks, run->call.argc, run->call.argv, &at, &when,
					  run->error, run->error_size);
		if (run->failed)
			return OUT_NONE;
		if (at < run->call.argc)
			return command_fail(run, "'%s' takes one range, not also '%s'",
					    run->call.argv[0], run->call.argv[at]);
		view->measure.shown = true;
		view->measure.open = false;
		view->measure.t0_ns = when.t0;
		view->measure.t1_ns = when.t1;
		return OUT_REDRAW | OUT_FREEZE;
	}
	if (view->measure.open) {
		view->measure.open = false;
		return OUT_REDRAW;
	}
	if (tui->status.first_ns > tui->status.last_ns)
		return command_fail(run, "nothing has happened yet");
	view->measure.from_ns = place(tui);
	view->measure.t0_ns = view->measure.from_ns;
	view->measure.t1_ns = view->measure.from_ns + 1;
	view->measure.shown = view->measure.open = true;
	tui->focus_lower = false;
	return OUT_REDRAW | OUT_FREEZE | OUT_FOCUS_TIMELINE;
}

/* ---- another step below ---- */

unsigned cmd_compare(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	struct when_asks asks = { tui->model, view };
	int at = run->call.argc > 1 && !strcmp(command_first(run), "step") ? 2 : 1;
	const char *which = run->call.argc > at ? run->call.argv[at] : "median";
	bool previous = strcmp(which, "previous") == 0;
	struct when when;
	char time[FMT_MAX];

	if (at == 2 && run->call.argc == 2)
		return command_fail(run, "name a step: a number, slowest, fastest, median, first, "
				    "last, previous or here");
	if (run->call.argc > at + 1)
		return command_fail(run, "'%s' takes one step, not also '%.40s'", run->call.argv[0],
				    run->call.argv[at + 1]);
	if ((at == 1 && strcmp(which, "off") == 0) ||
	    (run->call.argc == 1 && view->compare.shown)) {
		view->compare.shown = false;
		return OUT_LAYOUT;
	}
	/* "previous" is another step wherever the cursor moves. */
	run->failed = !when_step(&asks, previous ? "here" : which, &when, run->error,
				 run->error_size);
	if (run->failed)
		return OUT_NONE;
	view->compare.shown = true;
	view->compare.previous = previous;
	view->compare.start_ns = when.t0;
	if (previous)
		tui_say(tui, false, "compared with the previous step; Esc or compare off ends it");
	else
		tui_say(tui, false, "compared with %s, %s; Esc or compare off ends it", when.title,
			fmt_time(time, when.t1 - when.t0));
	return OUT_LAYOUT;
}
