/* SPDX-License-Identifier: MIT */
/* Sets up and tears down the loop. */
#include "tui/tui.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/table/column_choice.h"
#include "tui/filters/filters.h"
#include "tui/base/complain.h"
#include "tui/base/signals.h"
#include "tui/commands/commands.h"
#include "tui/loop/loop.h"
#include "tui/panes/pane_table.h"

#define HEADLESS_COLUMNS 120
#define HEADLESS_ROWS 34
#define FAILED 125

static bool set_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	struct tui *tui = arg;

	return theme_set(&tui->theme, argc, argv, error, error_size);
}

static bool change_filter(void *arg, const char *name, const char *text, char *error,
			  size_t error_size)
{
	struct tui *tui = arg;

	return filters_change(tui->filters, name, text, error, error_size);
}

static bool set_columns(void *arg, int argc, const char *const *argv, char *error,
			size_t error_size)
{
	struct tui *tui = arg;
	const struct table_kind *kind = argc ? pane_kind(argv[0]) : NULL;

	if (argc < 2) {
		snprintf(error, error_size,
			 "usage: columns PANE +COLUMN -COLUMN COLUMN,COLUMN reset");
		return false;
	}
	if (!kind) {
		snprintf(error, error_size,
			 "'%.40s' is not a pane with a table: ops, kernels, "
			 "copies, steps or memory",
			 argv[0]);
		return false;
	}
	return column_choices_apply(tui->view.column_choices, argv[0], kind, argc - 1, argv + 1,
				    error, error_size);
}

static void report_config(void *arg, const char *message)
{
	struct tui *tui = arg;

	model_message(tui->model, 1, message);
}

/* --theme is applied after the configuration file, so that it takes precedence. */
static void choose_theme(struct tui *tui)
{
	const char *const set[] = {"set", "theme", tui->options->theme};
	char error[160];

	if (tui->options->theme && !config_command(&tui->config, NULL, NULL, 3, set, error,
						   sizeof(error)))
		tui_say(tui, true, "%s", error);
}

static void load_config(struct tui *tui)
{
	char path[4096], error[512], many[FMT_MAX];

	tui->config = (struct config){
		.keymap = &tui->keymap, .settings = &tui->settings,
		.color = set_color, .filter = change_filter, .columns = set_columns,
		.report = report_config, .arg = tui,
	};
	tui->filters = filter_names_new();
	tui->view.filters = tui->filters;
	keymap_init(&tui->keymap);
	settings_init(&tui->settings);
	thresholds_init(&tui->thresholds, tui->model);
	tui->settings.more = &tui->thresholds.more;
	theme_init(&tui->theme);
	config_builtin(&tui->config);
	if (tui->options->no_config || !config_find(tui->options->config, path, sizeof(path))) {
		choose_theme(tui);
		return;
	}
	if (!config_file(&tui->config, path, error, sizeof(error)))
		tui_say(tui, true, "%s", error);
	else if (tui->config.errors)
		tui_say(tui, true, "%s in '%s': pane 8 lists them",
			fmt_many(many, (uint64_t)tui->config.errors, "error"), path);
	choose_theme(tui);
}

/* --until; the expression was checked before anything was started. */
static void start_until(struct tui *tui)
{
	struct filter *filter = NULL;
	char error[FILTER_ERROR_MAX];

	if (tui->options->until)
		filter = filter_parse(tui->options->until, tui->filters, error, sizeof(error));
	if (filter)
		until_start(&tui->until, tui->model, filter, INT64_MIN);
}

/*
 * Sets the locale of the environment. If it is not installed here (over ssh) but asks for UTF-8,
 * uses C.UTF-8 instead: the terminal is on the other machine.
 */
static void choose_locale(void)
{
	const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	size_t i;

	if (!setlocale(LC_ALL, ""))
		for (i = 0; i < 3; i++) {
			const char *value = getenv(names[i]);

			if (!value || !*value)
				continue;
			if (strcasestr(value, "utf-8") || strcasestr(value, "utf8"))
				setlocale(LC_CTYPE, "C.UTF-8");
			break;
		}
	setlocale(LC_NUMERIC, "C");
}

static bool open_screen(struct tui *tui, char *error, size_t error_size)
{
	static const enum theme_depth depths[] = {
		[OPTIONS_COLOR_AUTO] = DEPTH_256, [OPTIONS_COLOR_NEVER] = DEPTH_MONO,
		[OPTIONS_COLOR_16] = DEPTH_16, [OPTIONS_COLOR_256] = DEPTH_256,
	};
	struct screen_options options = {
		.most = depths[tui->options->color],
		.escape_ms = tui->settings.value[SETTING_ESCAPE_MS],
	};
	const struct options *wish = tui->options;
	int width, height;

	if (wish->headless) {
		tui->depth = options.most;
		frame_set_colours(tui);
		tui_resize(tui, wish->columns ? wish->columns : HEADLESS_COLUMNS,
			   wish->rows ? wish->rows : HEADLESS_ROWS);
		return true;
	}
	tui->screen = screen_open(&options, error, error_size);
	if (!tui->screen)
		return false;
	tui->capture = capture_start();
	tui->depth = screen_depth(tui->screen);
	frame_set_colours(tui);
	tui->view.ascii |= !screen_locale_is_utf8();
	screen_size(tui->screen, &width, &height);
	tui_resize(tui, width, height);
	return true;
}

static void open_panes(struct tui *tui)
{
	size_t i;

	for (i = 0; i < pane_count && i < TUI_PANES_MAX; i++)
		if (pane_table[i]) {
			tui->panes[i] = pane_table[i]->open(&tui->view);
			tui->panes[i]->ops = pane_table[i];
		}
	tui->header = header_new();
	tui->lower = 1;
}

static void take_output(void *arg, const void *data, size_t size)
{
	struct tui *tui = arg;

	output_feed(tui->output, data, size);
}

static void tui_init(struct tui *tui, const struct options *options, struct model *model,
		     struct live *live)
{
	memset(tui, 0, sizeof(*tui));
	tui->commands = &commands_for_loop;
	tui->options = options;
	tui->model = model;
	tui->live = live;
	tui->exit_status = -1;
	tui->output = output_new();
	tui->view.model = model;
	tui->view.live = live;
	tui->view.output = tui->output;
	tui->view.marks = &tui->marks;
	tui->view.settings = &tui->settings;
	tui->view.panes = tui->panes;
	tui->view.column_choices = column_choices_new();
	tui->view.keymap = &tui->keymap;
	tui->view.following = true;
	tui->view.ascii = options->ascii;
	tui->view.columns = 1;
	tui->window.columns = 1;
	tui->mouse.holder = -1;
	if (options->synth) {
		tui->synth = synth_new(strtoull(options->synth, NULL, 10),
				       options->synth + strcspn(options->synth, ","), model);
		tui->virtual_clock = options->headless;
	}
	load_config(tui);
	history_open(&tui->history, !options->no_config && !options->headless);
	start_until(tui);
	commands_load_marks(tui);
	grid_init(&tui->grid, 0, 0);
	tui->start_ns = tui_clock(tui);
	if (live)
		live_on_output(live, take_output, tui);
}

static void tui_release(struct tui *tui)
{
	size_t i;

	slow_stop(tui);
	run_forget(tui);
	filter_names_free(tui->filters);
	for (i = 0; i < TUI_PANES_MAX; i++)
		if (tui->panes[i])
			tui->panes[i]->ops->close(tui->panes[i]);
	if (tui->header)
		header_free(tui->header);
	help_close(&tui->help);
	prompt_close(&tui->prompt);
	text_find_release(&tui->text_find);
	history_close(&tui->history);
	synth_free(tui->synth);
	script_free(tui->script);
	output_free(tui->output);
	column_choices_free(tui->view.column_choices);
	free(tui->save_error);
	free(tui->asks_key);
	marks_release(&tui->marks);
	reports_release(&tui->reports);
	grid_release(&tui->grid);
	keymap_release(&tui->keymap);
}

static int exit_status(const struct tui *tui)
{
	int status, number;

	if (tui->exit_status >= 0)
		return tui->exit_status;
	if (tui->reopen)
		return TUI_REOPEN;
	if (!tui->live || !live_exited(tui->live, &status, &number))
		return 0;	/* the file is a recording, or PROGRAM continues to run */
	status = live_exit_status(tui->live);
	return !status && tui->options->until && !tui->until_matched ? UNTIL_NEVER : status;
}

/*
 * PROGRAM is started first: its terminal copies the modes of ours, which the screen changes.
 */
static int tui_start_and_loop(struct tui *tui)
{
	char error[512];

	if (!tui->options->headless && !screen_possible(error, sizeof(error))) {
		complain_on_stderr("%s", error);
		return FAILED;
	}
	if (tui->live && !live_start(tui->live)) {
		complain_on_stderr("%s", live_error(tui->live));
		return live_exit_status(tui->live);
	}
	if (!open_screen(tui, error, sizeof(error))) {
		complain_on_stderr("%s", error);
		tui_leave(tui);
		return FAILED;
	}
	open_panes(tui);
	frame_update(tui, true);
	frame_draw(tui);
	tui->dirty = true;
	tui_loop(tui);
	return exit_status(tui);
}

/* Messages say why PROGRAM could not be started; without a screen nobody would see them there. */
static void print_errors(struct tui *tui)
{
	struct message_row *messages = NULL;
	size_t count, i;

	model_lock(tui->model);
	count = model_messages(tui->model, &messages);
	for (i = 0; i < count; i++)
		if (messages[i].level >= 2)
			complain_on_stderr("%s", messages[i].text);
	model_unlock(tui->model);
	free(messages);
}

/* After the screen is gone: the program that was left, and how to come back to it. */
static void tui_say_left(const struct tui *tui)
{
	int pid = tui->live ? (int)live_run(tui->live)->pid : 0;

	if (tui->left_running && !tui->options->headless && pid > 0)
		complain_on_stderr("%s runs on as process %d; 'tftop %s %d' watches it again",
				   tui_program_name(tui), pid,
				   tui->options->n_pids ? "-p" : "--join", pid);
}

int tui_run(const struct options *options, struct model *model, struct live *live)
{
	struct tui tui;
	char error[512];
	int status;

	choose_locale();
	tui_init(&tui, options, model, live);
	if (options->script)
		tui.script = script_open(options->script, error, sizeof(error));
	if (options->script && !tui.script) {
		complain_on_stderr("%s", error);
		tui_release(&tui);
		return FAILED;
	}
	signals_start(SIGNALS_SCREEN);
	status = tui_start_and_loop(&tui);
	screen_close(tui.screen);
	capture_end(tui.capture);
	signals_end();
	tui_say_left(&tui);
	save_leave(&tui);
	if (tui.save_error)
		complain_on_stderr("%s", tui.save_error);
	if (status != TUI_REOPEN && !export_leave(&tui) && !status)
		status = FAILED;
	if (tui.script && status != TUI_REOPEN)
		script_report(tui.script);
	if (status >= FAILED && status <= 127)
		print_errors(&tui);
	tui_release(&tui);
	return status;
}

/* ---- for the manual ---- */

static bool no_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	(void)arg, (void)argc, (void)argv, (void)error, (void)error_size;
	return true;
}

static void to_stderr(void *arg, const char *message)
{
	(void)arg;
	complain_on_stderr("%s", message);
}

static void builtin_keymap(struct keymap *keymap)
{
	struct settings settings;
	struct config config = {
		.keymap = keymap,
		.settings = &settings,
		.color = no_color,
		.columns = no_color,
		.report = to_stderr,
	};

	keymap_init(keymap);
	settings_init(&settings);
	config_builtin(&config);
}

void tui_print_keys(void)
{
	struct keymap keymap;

	builtin_keymap(&keymap);
	help_write_keys(&keymap, stdout);
	keymap_release(&keymap);
}

void tui_print_commands(void)
{
	struct keymap keymap;

	builtin_keymap(&keymap);
	help_write_commands(&keymap, stdout);
	keymap_release(&keymap);
}

void tui_print_filters(void)
{
	filters_write_fields(stdout);
}

void tui_print_settings(void)
{
	struct thresholds thresholds;
	struct settings settings;

	settings_init(&settings);
	thresholds_init(&thresholds, NULL);
	settings.more = &thresholds.more;
	help_write_settings(&settings, stdout);
}
