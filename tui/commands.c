/* SPDX-License-Identifier: MIT */
/* What the commands of COMMAND_LIST do; those of panes are handed to them. */
#include "tui/commands_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/signals.h"

static unsigned fail(struct run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static unsigned fail(struct run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->error, run->error_size, format, args);
	va_end(args);
	run->failed = true;
	return OUT_NONE;
}

/* The first argument, NULL: none. */
static const char *first(const struct run *run)
{
	return run->call.argc > 1 ? run->call.argv[1] : NULL;
}

/* A number from 1 to most as the first argument. */
static int number(struct run *run, int otherwise, int most)
{
	const char *text = first(run);
	char *end;
	long value;

	if (!text)
		return otherwise;
	value = strtol(text, &end, 10);
	if (!*text || *end || value < 1 || value > most) {
		fail(run, "not a number from 1 to %d: '%s'", most, text);
		return 0;
	}
	return (int)value;
}

/* ---- time ---- */

static void window_moved(struct tui *tui)
{
	struct view *view = &tui->view;

	tui->window_set = true;
	if (tui->status.first_ns <= tui->status.last_ns)
		window_clamp(&tui->window, tui->status.first_ns, view->now_ns);
	view->t0_ns = tui->window.t0_ns;
	view->t1_ns = window_end_ns(&tui->window);
	if (!view->selected.id && !view->following)
		view->cursor_ns = frame_middle(view);
}

/* After the end there is nothing to follow: the end itself. */
static unsigned cmd_follow(struct run *run)
{
	struct tui *tui = run->tui;

	tui->view.selected = (struct span_ref){0};
	if (tui->status.finished) {
		window_place(&tui->window, tui->view.now_ns, tui->settings.value[SETTING_JUMP_AT]);
		window_moved(tui);
		return OUT_REDRAW;
	}
	tui->jumped_ns = 0;
	return OUT_FOLLOW | OUT_REDRAW;
}

static unsigned cmd_freeze(struct run *run)
{
	(void)run;
	return OUT_FREEZE | OUT_REDRAW;
}

static unsigned cmd_toggle_follow(struct run *run)
{
	return run->tui->view.following ? cmd_freeze(run) : cmd_follow(run);
}

static unsigned zoom(struct run *run, int direction)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	int times = number(run, 1, WINDOW_LEVEL_MAX);

	if (run->failed)
		return OUT_NONE;
	window_zoom(&tui->window, direction * times,
		    view->following ? view->now_ns : view->cursor_ns);
	window_moved(tui);
	return OUT_REDRAW;
}

static unsigned cmd_zoom_in(struct run *run)
{
	return zoom(run, -1);
}

static unsigned cmd_zoom_out(struct run *run)
{
	return zoom(run, 1);
}

static unsigned pan(struct run *run, int direction)
{
	int percent = number(run, 10, 1000);

	if (run->failed)
		return OUT_NONE;
	run->tui->view.following = false;
	window_pan(&run->tui->window, direction * percent);
	window_moved(run->tui);
	return OUT_FREEZE | OUT_REDRAW;
}

static unsigned cmd_pan_left(struct run *run)
{
	return pan(run, -1);
}

static unsigned cmd_pan_right(struct run *run)
{
	return pan(run, 1);
}

static unsigned cmd_fit(struct run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	const char *what = first(run);
	int64_t from = tui->status.first_ns, to = view->now_ns, margin;
	struct span span;
	bool found = false;

	if (what && strcmp(what, "all") && strcmp(what, "selection"))
		return fail(run, "not 'all' or 'selection': '%s'", what);
	if (!what || strcmp(what, "selection") == 0) {
		model_lock(tui->model);
		found = view->selected.id && model_span(tui->model, view->selected, &span);
		model_unlock(tui->model);
		if (!found && what)
			return fail(run, "no event is selected");
	}
	if (found) {
		from = span.start_ns;
		to = span.end_ns;
	} else if (from > tui->status.last_ns) {
		return fail(run, "nothing has happened yet");
	}
	margin = (to - from) / 20;
	view->following = false;
	window_fit(&tui->window, tui->layout.columns, from - margin, to + margin);
	window_moved(tui);
	return OUT_FREEZE | OUT_REDRAW;
}

static unsigned cmd_goto(struct run *run)
{
	struct tui *tui = run->tui;
	const char *where = first(run);
	int64_t t_ns;

	if (strcmp(where, "live") == 0)
		return cmd_follow(run);
	if (strcmp(where, "start") == 0)
		t_ns = 0;
	else if (!parse_time_ns(where, &t_ns) || t_ns < 0)
		return fail(run, "not 'start', 'live' or a time: '%s'", where);
	if (tui->status.first_ns > tui->status.last_ns)
		return fail(run, "nothing has happened yet");
	tui->view.following = false;
	t_ns += tui->status.first_ns;
	window_place(&tui->window, t_ns, t_ns == tui->status.first_ns ? 0 : 50);
	tui->view.selected = (struct span_ref){0};
	window_moved(tui);
	tui->view.cursor_ns = t_ns;
	return OUT_FREEZE | OUT_REDRAW;
}

/* ---- panes ---- */

static unsigned show_lower(struct tui *tui, int i)
{
	tui->lower = i;
	tui->focus_lower = true;
	return OUT_LAYOUT;
}

static unsigned cmd_show_pane(struct run *run)
{
	struct tui *tui = run->tui;
	const char *which = first(run);
	int i;

	for (i = 0; i < TUI_PANES_MAX; i++) {
		char digits[12];

		snprintf(digits, sizeof(digits), "%d", i);
		if (!tui->panes[i])
			continue;
		if (strcmp(which, digits) && strcmp(which, tui->panes[i]->ops->name))
			continue;
		if (i > 0)
			return show_lower(tui, i);
		tui->focus_lower = false;
		return OUT_LAYOUT;
	}
	return fail(run, "no pane '%s'", which);
}

static unsigned step_pane(struct tui *tui, int by)
{
	int i = tui->lower;

	do {
		i += by;
		if (i < 1)
			i = TUI_PANES_MAX - 1;
		if (i >= TUI_PANES_MAX)
			i = 1;
	} while (!tui->panes[i]);
	return show_lower(tui, i);
}

static unsigned cmd_next_pane(struct run *run)
{
	return step_pane(run->tui, 1);
}

static unsigned cmd_prev_pane(struct run *run)
{
	return step_pane(run->tui, -1);
}

static unsigned cmd_focus(struct run *run)
{
	const char *what = first(run);

	if (!what)
		run->tui->focus_lower = !run->tui->focus_lower;
	else if (strcmp(what, "timeline") == 0)
		run->tui->focus_lower = false;
	else if (strcmp(what, "lower") == 0)
		run->tui->focus_lower = true;
	else
		return fail(run, "not 'timeline' or 'lower': '%s'", what);
	return OUT_LAYOUT;
}

static unsigned cmd_messages(struct run *run)
{
	return run->tui->panes[8] ? show_lower(run->tui, 8) : fail(run, "no pane for messages");
}

static unsigned cmd_help(struct run *run)
{
	struct tui *tui = run->tui;
	const char *about = first(run);
	int id;

	if (tui->help.open && !about) {
		help_close(&tui->help);
		return OUT_REDRAW;
	}
	if (about) {
		id = command_find(about, run->error, run->error_size);
		if (id < 0) {
			run->failed = true;
			return OUT_NONE;
		}
		about = command_table[id].name;
	}
	help_close(&tui->help);
	help_open(&tui->help, &tui->keymap, &tui->settings, about);
	return OUT_REDRAW;
}

/* ---- the program and leaving ---- */

static unsigned cmd_level(struct run *run)
{
	static const char *const names[] = {"off", "min", "default", "full"};
	struct tui *tui = run->tui;
	struct session *session = tui->live ? live_session(tui->live) : NULL;
	unsigned i;

	if (!session)
		return fail(run, "no program to steer: this is a recording");
	if (!first(run)) {
		tui_say(tui, false, "level %s", names[session_level(session) & 3]);
		return OUT_REDRAW;
	}
	for (i = 0; i < 4; i++)
		if (strcmp(first(run), names[i]) == 0) {
			session_set_level(session, (enum tft_level)i);
			tui_say(tui, false, "level %s", names[i]);
			return OUT_REDRAW;
		}
	return fail(run, "not off, min, default or full: '%s'", first(run));
}

static unsigned cmd_quit(struct run *run)
{
	struct tui *tui = run->tui;
	const char *how = first(run);
	int standard = tui->settings.value[SETTING_QUIT_RUNNING];

	if (how && strcmp(how, "leave") && strcmp(how, "stop"))
		return fail(run, "not 'leave' or 'stop': '%s'", how);
	if (tui->help.open && !how) {
		help_close(&tui->help);
		return OUT_REDRAW;
	}
	if (!tui_program_runs(tui)) {
		tui->quit = true;
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

static unsigned cmd_answer(struct run *run)
{
	const char *answer = first(run);

	if (!run->tui->dialog)
		return fail(run, "nothing was asked");
	if (strcmp(answer, "leave") && strcmp(answer, "stop") && strcmp(answer, "back"))
		return fail(run, "not 'leave', 'stop' or 'back': '%s'", answer);
	return dialog_answer(run->tui, answer);
}

static unsigned cmd_interrupt(struct run *run)
{
	if (!tui_program_runs(run->tui))
		return fail(run, "no program is running");
	session_signal(live_session(run->tui->live), SIGINT);
	tui_say(run->tui, false, "sent SIGINT to %s", tui_program_name(run->tui));
	return OUT_REDRAW;
}

/* ---- screen ---- */

static unsigned cmd_redraw(struct run *run)
{
	if (run->tui->screen)
		screen_redraw(run->tui->screen);
	return OUT_REDRAW;
}

static unsigned cmd_suspend(struct run *run)
{
	struct tui *tui = run->tui;

	if (!tui->screen)
		return fail(run, "no terminal to give back");
	screen_suspend(tui->screen);
	signals_stop_here();
	screen_resume(tui->screen);
	return OUT_LAYOUT;
}

static unsigned cmd_save_screen(struct run *run)
{
	struct tui *tui = run->tui;
	bool roles = run->call.argc == 3;
	const char *path = run->call.argv[run->call.argc - 1];
	FILE *file;

	if (roles && strcmp(run->call.argv[1], "-a"))
		return fail(run, "usage: save-screen [-a] FILE");
	frame_update(tui, true);
	frame_draw(tui);
	file = fopen(path, "we");
	if (!file)
		return fail(run, "cannot write '%s': %s", path, strerror(errno));
	grid_save(&tui->grid, file, roles);
	if (fclose(file))
		return fail(run, "cannot write '%s': %s", path, strerror(errno));
	if (!tui->script)
		tui_say(tui, false, "saved to %s", path);
	return OUT_REDRAW;
}

static unsigned cmd_save(struct run *run)
{
	run->failed = !save_begin(run->tui, &run->call, run->error, run->error_size);
	return OUT_REDRAW;
}

static unsigned cmd_export(struct run *run)
{
	run->failed = !export_begin(run->tui, &run->call, run->error, run->error_size);
	return OUT_REDRAW;
}

/* ---- configuration ---- */

static unsigned cmd_config(struct run *run)
{
	struct tui *tui = run->tui;
	int errors = tui->config.errors;

	if (!config_command(&tui->config, NULL, run->call.argc, run->call.argv,
			    run->error, run->error_size)) {
		run->failed = true;
		return OUT_NONE;
	}
	if (tui->config.errors > errors)
		return fail(run, "%d errors in '%s', see the messages",
			    tui->config.errors - errors, first(run));
	if (tui->screen)
		screen_redraw(tui->screen);
	return OUT_LAYOUT;
}

static unsigned cmd_set(struct run *run)
{
	struct tui *tui = run->tui;
	const char *name = first(run);
	char value[64];
	int id;

	if (run->call.argc > 2 || (name && strchr(name, '=')))
		return cmd_config(run);
	if (!name)
		return fail(run, "which option? help set lists them");
	id = setting_find(&tui->settings, name, run->error, run->error_size);
	if (id < 0) {
		run->failed = true;
		return OUT_NONE;
	}
	tui_say(tui, false, "%s = %s", name,
		setting_print(&tui->settings, id, value, sizeof(value)));
	return OUT_REDRAW;
}

/* ---- prompt ---- */

static unsigned cmd_prompt(struct run *run)
{
	char *text = words_join(run->call.argc - 1, run->call.argv + 1);

	prompt_open(&run->tui->prompt, text);
	if (*text)
		prompt_insert(&run->tui->prompt, ' ');
	free(text);
	return OUT_REDRAW;
}

static unsigned cmd_accept(struct run *run)
{
	struct tui *tui = run->tui;
	char line[PROMPT_MAX];

	if (!tui->prompt.open)
		return OUT_NONE;
	memcpy(line, tui->prompt.text, sizeof(line));
	prompt_close(&tui->prompt);
	if (!command_line(tui, line, run->error, run->error_size))
		run->failed = true;
	return OUT_REDRAW;
}

static unsigned cmd_cancel(struct run *run)
{
	struct tui *tui = run->tui;
	static const char *const deselect[] = {"deselect"};
	struct command_call call = {1, deselect};

	if (tui->prompt.open) {
		prompt_close(&tui->prompt);
	} else if (tui->dialog) {
		tui->dialog = false;
	} else if (tui->help.open) {
		help_close(&tui->help);
	} else if (tui->focus_lower) {
		tui->focus_lower = false;
		return OUT_LAYOUT;
	} else {
		return tui->panes[0]->ops->command(tui->panes[0], &tui->view, &call) & ~OUT_UNKNOWN;
	}
	return OUT_REDRAW;
}

static unsigned cmd_edit(struct run *run)
{
	if (!run->tui->prompt.open)
		return fail(run, "the prompt is not open");
	prompt_edit(&run->tui->prompt, run->id);
	return OUT_REDRAW;
}

static unsigned cmd_script(struct run *run)
{
	if (!run->tui->script)
		return fail(run, "only in scripts: '%s'", run->call.argv[0]);
	if (!script_command(run->tui->script, run->tui, (int)run->id, &run->call,
			    run->error, run->error_size))
		run->failed = true;
	return OUT_REDRAW;
}

/* ---- panes' own ---- */

static bool help_command(struct tui *tui, enum command_id id)
{
	switch (id) {
	case COMMAND_ID_ROW_DOWN: help_scroll(&tui->help, 1); break;
	case COMMAND_ID_ROW_UP: help_scroll(&tui->help, -1); break;
	case COMMAND_ID_PAGE_DOWN: help_scroll(&tui->help, tui->help.page); break;
	case COMMAND_ID_PAGE_UP: help_scroll(&tui->help, -tui->help.page); break;
	case COMMAND_ID_FIRST_ROW: help_scroll(&tui->help, -1000000); break;
	case COMMAND_ID_LAST_ROW: help_scroll(&tui->help, 1000000); break;
	default: return false;
	}
	return true;
}

/* The pane with the focus, then the other one. */
static unsigned cmd_pane(struct run *run)
{
	struct tui *tui = run->tui;
	struct pane *focused = tui->panes[tui->focus_lower ? tui->lower : 0];
	struct pane *other = tui->panes[tui->focus_lower ? 0 : tui->lower];
	unsigned outcome;

	if (tui->help.open && help_command(tui, run->id))
		return OUT_REDRAW;
	outcome = focused->ops->command(focused, &tui->view, &run->call);
	if (outcome & OUT_UNKNOWN)
		outcome = other->ops->command(other, &tui->view, &run->call);
	if (outcome & OUT_UNKNOWN)
		return fail(run, "not here: '%s'", run->call.argv[0]);
	return outcome;
}

/* ---- the table's functions, from the same rows ---- */

static unsigned (*const functions[COMMAND_ID_COUNT])(struct run *run) = {
#define FUNCTION(id, name, alias, group, arguments, least, most, function, help) \
	[COMMAND_ID_##id] = cmd_##function,
	COMMAND_LIST(FUNCTION)
#undef FUNCTION
};

bool command_line(struct tui *tui, const char *line, char *error, size_t error_size)
{
	struct run run = {.tui = tui, .error = error, .error_size = error_size};
	struct words words;
	int id;

	while (*line == ' ' || *line == ':')
		line++;
	if (!words_split(&words, line, error, error_size))
		return false;
	if (!words.argc) {
		words_release(&words);
		return true;
	}
	run.to = command_redirect(&words);
	id = command_check(words.argc, words.argv, error, error_size);
	if (id >= 0) {
		words.argv[0] = command_table[id].name;
		run.id = (enum command_id)id;
		run.call = (struct command_call){words.argc, words.argv};
		tui_apply(tui, functions[id](&run));
	}
	words_release(&words);
	return id >= 0 && !run.failed;
}
