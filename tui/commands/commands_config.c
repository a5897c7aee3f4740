/* SPDX-License-Identifier: MIT */
/* Commands of configuration. */
#include "tui/commands/commands_internal.h"

#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "model/filter/filter.h"

/* ---- configuration ---- */

unsigned cmd_config(struct command_run *run)
{
	struct tui *tui = run->tui;
	int errors = tui->config.errors;
	char many[FMT_MAX];

	if (!config_command(&tui->config, NULL, run->call.line, run->call.argc,
			    run->call.argv, run->error, run->error_size)) {
		run->failed = true;
		return OUT_NONE;
	}
	if (tui->config.errors > errors)
		return command_fail(run, "%s in '%s', see the messages",
			    fmt_many(many, (uint64_t)(tui->config.errors - errors), "error"),
			    command_first(run));
	frame_set_colours(tui);
	command_remake_page(tui);
	if (tui->screen)
		screen_redraw(tui->screen);
	return OUT_LAYOUT;
}

/* The command without arguments is another command, which shows a page. */
static unsigned page_alone(struct command_run *run, enum command_id id)
{
	const char *const argv[] = {command_table[id].name};

	run->id = id;
	run->call = (struct command_call){id, 1, argv, NULL};
	return cmd_page(run);
}

unsigned cmd_bind(struct command_run *run)
{
	if (run->call.argc == 1)
		return page_alone(run, COMMAND_ID_BINDINGS);
	return cmd_config(run);
}

unsigned cmd_color(struct command_run *run)
{
	if (run->call.argc == 1)
		return page_alone(run, COMMAND_ID_COLORS);
	return cmd_config(run);
}

unsigned cmd_colors(struct command_run *run)
{
	const char *const argv[] = { "set", "theme", "=", command_first(run) };

	if (run->call.argc == 1)
		return cmd_page(run);
	run->call = (struct command_call){COMMAND_ID_SET, 4, argv, run->call.line};
	return cmd_config(run);
}

unsigned cmd_set(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *name = command_first(run);
	char value[64];
	int id;

	if (run->call.argc > 2 || (name && strchr(name, '=')))
		return cmd_config(run);
	if (!name)
		return page_alone(run, COMMAND_ID_OPTIONS);
	id = setting_find(&tui->settings, name, run->error, run->error_size);
	if (id < 0) {
		run->failed = true;
		return OUT_NONE;
	}
	tui_say(tui, false, "%s = %s", name,
		setting_print(&tui->settings, id, value, sizeof(value)));
	return OUT_REDRAW;
}

/* Implements "filter [NAME [= EXPR]]". */
unsigned cmd_filter(struct command_run *run)
{
	const char *name = command_first(run), *text;

	if (!name)
		return page_alone(run, COMMAND_ID_FILTERS);
	if (run->call.argc > 2 || strchr(name, '='))
		return cmd_config(run);
	text = filter_names_find(run->tui->filters, name);
	if (!text)
		return command_fail(run, "there is no filter '%s'; 'filter' lists them", name);
	tui_say(run->tui, false, "%s = %s", name, text);
	return OUT_REDRAW;
}

unsigned cmd_toggle(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *name = command_first(run);
	char value[64];
	int id = setting_find(&tui->settings, name, run->error, run->error_size);

	if (id < 0 || !setting_next(&tui->settings, id, run->error, run->error_size)) {
		run->failed = true;
		return OUT_NONE;
	}
	tui_say(tui, false, "%s = %s", name,
		setting_print(&tui->settings, id, value, sizeof(value)));
	return OUT_LAYOUT;
}

unsigned cmd_script(struct command_run *run)
{
	if (!script_command(run->tui->script, run->tui, (int)run->id, &run->call,
			    run->error, run->error_size))
		run->failed = true;
	return OUT_REDRAW;
}
