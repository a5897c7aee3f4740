/* SPDX-License-Identifier: MIT */
/* Commands about PROGRAM, quitting, and the screen as a whole. */
#include "tui/commands/commands_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/base/signals.h"
#include "tui/filters/filters.h"

/* ---- the program and leaving ---- */

unsigned cmd_level(struct command_run *run)
{
	static const char *const names[] = {"off", "min", "default", "full"};
	struct tui *tui = run->tui;
	struct session *session = live_session(tui->live);
	unsigned i;

	if (!command_first(run)) {
		tui_say(tui, false, "level %s%s", names[session_level(session) & 3],
			session_trigger(session) ? ", where --trigger allows it" : "");
		return OUT_REDRAW;
	}
	for (i = 0; i < 4; i++)
		if (strcmp(command_first(run), names[i]) == 0) {
			session_set_level(session, (enum tft_level)i);
			tui_say(tui, false, "level %s", names[i]);
			return OUT_REDRAW;
		}
	return command_fail(run, "expected off, min, default or full, not '%s'",
			    command_first(run));
}

unsigned cmd_quit(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *how = command_first(run);
	int standard = tui->settings.value[SETTING_QUIT_RUNNING];

	if (how && strcmp(how, "leave") && strcmp(how, "stop"))
		return command_fail(run, "expected 'leave' or 'stop', not '%s'", how);
	if (tui->help.open && !how) {
		help_close(&tui->help);
		return OUT_REDRAW;
	}
	if (!tui_program_runs(tui)) {
		tui->quit = true;
		return OUT_QUIT;
	}
	/* tftop did not start this process, so it does not end it. */
	if (tui->options->n_pids && how && !strcmp(how, "stop"))
		return command_fail(run,
				    "tftop did not start %s and does not stop it: 'quit' detaches",
				    tui_program_name(tui));
	if (tui->options->n_pids) {
		tui_leave(tui);
		return OUT_QUIT;
	}
	if (!how && standard)
		how = standard == 1 ? "leave" : "stop";
	if (how)
		return dialog_answer(tui, how);
	prompt_close(&tui->prompt);
	tui->dialog = true;
	return OUT_REDRAW;
}

unsigned cmd_answer(struct command_run *run)
{
	const char *answer = command_first(run);

	if (!run->tui->dialog)
		return command_fail(run, "there is no question to answer");
	if (strcmp(answer, "leave") && strcmp(answer, "stop") && strcmp(answer, "back"))
		return command_fail(run, "expected 'leave', 'stop' or 'back', not '%s'", answer);
	return dialog_answer(run->tui, answer);
}

unsigned cmd_interrupt(struct command_run *run)
{
	if (run->tui->options->n_pids)
		return command_fail(run, "tftop did not start %s and sends it no signal",
				    tui_program_name(run->tui));
	session_signal(live_session(run->tui->live), SIGINT);
	tui_say(run->tui, false, "sent SIGINT to %s", tui_program_name(run->tui));
	return OUT_REDRAW;
}

/* ---- run ---- */

static bool run_take_steps(struct command_run *run)
{
	char *end = NULL;
	unsigned long long steps = run->call.argc == 3 ? strtoull(run->call.argv[2], &end, 10) : 0;

	if (!end || *end || !steps || run->call.argv[2][0] == '-' || steps > UINT32_MAX) {
		command_fail(run, "run -t needs a number of steps, 1 or more: run -t 10");
		return false;
	}
	run_forget(run->tui);
	run->tui->run_steps = run->tui->status.steps + steps;
	run->tui->run_count = steps;
	return true;
}

static bool run_take_filter(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct filter *filter;
	struct model_status status;

	filter = filters_parse(tui->filters, &run->call, 2, run->error, run->error_size);
	if (!filter) {
		run->failed = true;
		return false;
	}
	run_forget(tui);
	model_lock(tui->model);
	model_status(tui->model, &status);
	model_unlock(tui->model);
	until_start(&tui->until, tui->model, filter, status.last_ns);
	return true;
}

/* Implements "run [-t N | -f EXPR]". */
unsigned cmd_run(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *how = command_first(run);

	if (tui->options->until && tui->until.filter)
		return command_fail(run, "tftop already waits for --until");
	if (how && tui->status.finished)
		return command_fail(run, "the run is over and has no new events; 'find -w' "
					 "searches those that are there");
	if (!how)
		run_forget(tui);
	else if (strcmp(how, "-t") == 0 && !run_take_steps(run))
		return OUT_NONE;
	else if (strcmp(how, "-f") == 0 && !run_take_filter(run))
		return OUT_NONE;
	else if (strcmp(how, "-t") && strcmp(how, "-f"))
		return command_fail(run, "run does not take '%s': usage: run [-t STEPS | -f EXPR]",
				    how);
	if (how && tui->run_steps)
		tui_say(tui, false, "following until step %llu",
			(unsigned long long)tui->run_steps);
	else if (how)
		tui_say(tui, false, "following until an event matches %s",
			filter_text(tui->until.filter));
	return OUT_FOLLOW;
}

/* ---- screen ---- */

unsigned cmd_redraw(struct command_run *run)
{
	if (run->tui->screen)
		screen_redraw(run->tui->screen);
	return OUT_REDRAW;
}

unsigned cmd_suspend(struct command_run *run)
{
	struct tui *tui = run->tui;

	screen_suspend(tui->screen);
	signals_stop_here();
	screen_resume(tui->screen);
	return OUT_LAYOUT;
}

unsigned cmd_save_screen(struct command_run *run)
{
	struct tui *tui = run->tui;
	bool roles = run->call.argc == 3;
	const char *path = run->call.argv[run->call.argc - 1];
	FILE *file;

	if (roles && strcmp(run->call.argv[1], "-a"))
		return command_fail(run, "usage: save-screen [-a] FILE");
	frame_update(tui, true);
	frame_draw(tui);
	file = fopen(path, "we");
	if (!file)
		return command_fail(run, "cannot write '%s': %s", path, strerror(errno));
	grid_save(&tui->grid, file, roles);
	if (fclose(file))
		return command_fail(run, "cannot write '%s': %s", path, strerror(errno));
	if (!tui->script)
		tui_say(tui, false, "saved to %s", path);
	return OUT_REDRAW;
}

unsigned cmd_save(struct command_run *run)
{
	run->failed = !save_begin(run->tui, &run->call, run->error, run->error_size);
	return OUT_REDRAW;
}

unsigned cmd_export(struct command_run *run)
{
	run->failed = !export_begin(run->tui, &run->call, run->error, run->error_size);
	return OUT_REDRAW;
}
