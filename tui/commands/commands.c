/* SPDX-License-Identifier: MIT */
/* Runs a command line, and implements the commands about help. */
#include "tui/commands/commands_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

unsigned command_fail(struct command_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(run->error, run->error_size, format, args);
	va_end(args);
	run->failed = true;
	return OUT_NONE;
}

const char *command_first(const struct command_run *run)
{
	return run->call.argc > 1 ? run->call.argv[1] : NULL;
}

int command_number(struct command_run *run, int otherwise, int most)
{
	const char *text = command_first(run);
	char *end;
	long value;

	if (!text)
		return otherwise;
	value = strtol(text, &end, 10);
	if (!*text || *end || value < 1 || value > most) {
		command_fail(run, "expected a number from 1 to %d, not '%s'", most, text);
		return 0;
	}
	return (int)value;
}

/* Help on an option or a key: one line. */
static unsigned help_other(struct command_run *run, const char *about)
{
	struct tui *tui = run->tui;
	int id = setting_find(&tui->settings, about, run->error, run->error_size), count;
	const struct binding *binding;
	struct key keys[KEY_SEQUENCE_MAX];
	char value[64], sentence[400];
	const char *does;

	if (id >= 0) {
		tui_say(tui, false, "%s = %s: %s", about,
			setting_print(&tui->settings, id, value, sizeof(value)),
			setting_row(&tui->settings, id).help);
		return OUT_REDRAW;
	}
	count = keys_parse(about, keys, KEY_SEQUENCE_MAX, run->error, run->error_size);
	if (count < 1 || keymap_lookup(&tui->keymap, frame_key_table(tui), keys, count, &binding) !=
	    KEY_MATCH_COMMAND)
		return command_fail(
			run, "'%s' is not a command, an option or a key that is bound here", about);
	does = command_help(binding->command, sentence, sizeof(sentence));
	tui_say(tui, false, "'%s' runs '%s': %s", about, binding->command, does ? does : "");
	return OUT_REDRAW;
}

/* Help on a column, as the page of columns describes it: of the table that is shown, else of all
 * tables that have it. */
static unsigned help_column(struct command_run *run, const char *key)
{
	struct tui *tui = run->tui;
	struct pane *shown = tui->panes[tui->lower];
	struct strbuf text;

	strbuf_init(&text);
	for (size_t i = 0; i < pane_count; i++) {
		const struct table_kind *kind = pane_table[i] && pane_table[i]->kind ?
						pane_table[i]->kind() : NULL;
		const struct table_column *column = kind ? table_kind_column(kind, key) : NULL;

		if (!column)
			continue;
		if (shown && shown->ops == pane_table[i])
			strbuf_reset(&text);
		strbuf_addf(&text, "%s%s of %s: %s", text.length ? "; " : "", key,
			    kind->columns->name, column->help);
		if (shown && shown->ops == pane_table[i])
			break;
	}
	if (text.length)
		tui_say(tui, false, "%s", text.data);
	else
		command_fail(run,
			     "no table has a column '%.40s'; 'columns' lists the columns of a "
			     "table",
			     key);
	strbuf_release(&text);
	return OUT_REDRAW;
}

unsigned cmd_help(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *about = command_first(run);
	bool tasks = about && !strcmp(about, "tasks") && run->call.argc == 2;
	int id;

	if (run->to && !tasks)
		return command_fail(run, "only 'help tasks' can be written to a file; 'man tftop' "
					 "has the rest");
	if (tasks)
		return cmd_page(run);
	if (run->call.argc == 3 && !strcmp(about, "column"))
		return help_column(run, run->call.argv[2]);
	if (run->call.argc == 3)
		return command_fail(run, "help takes one word, or 'column NAME', not also '%.40s'",
				    run->call.argv[2]);
	if (tui->help.open && !about) {
		help_close(&tui->help);
		return OUT_REDRAW;
	}
	if (about) {
		id = command_find(about, run->error, run->error_size);
		if (id < 0)
			return help_other(run, about);
		about = command_table[id].name;
	}
	help_close(&tui->help);
	help_open(&tui->help, &tui->keymap, &tui->settings, about);
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

/* Sends the command to the pane with the focus, then to the other one. */
unsigned cmd_pane(struct command_run *run)
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
		return command_fail(run, "'%s' does nothing in this pane", run->call.argv[0]);
	return outcome;
}

/* ---- the table's functions, from the same rows ---- */

static unsigned (*const command_functions[COMMAND_ID_COUNT])(struct command_run *run) = {
#define COMMAND(id, name, alias, group, needs, function, ...) [COMMAND_ID_##id] = cmd_##function,
#include "keymap/commands.def"
#undef COMMAND
};

/* Whether everything that the command needs is there. If it returns false, the command has
 * failed. */
static bool command_may_run(struct command_run *run)
{
	const struct tui *tui = run->tui;

	switch (command_table[run->id].needs) {
	case COMMAND_NEEDS_NOTHING:
		return true;
	case COMMAND_NEEDS_SESSION:
		if (tui->live && live_session(tui->live))
			return true;
		command_fail(run, "tftop collects from no program: this is a recording");
		return false;
	case COMMAND_NEEDS_RUNNING:
		if (tui_program_runs(tui))
			return true;
		command_fail(run, "no program is running");
		return false;
	case COMMAND_NEEDS_TERMINAL:
		if (tui->screen)
			return true;
		command_fail(run, "tftop has no terminal to give back");
		return false;
	case COMMAND_NEEDS_PROMPT:
		if (tui->prompt.open)
			return true;
		command_fail(run, "the prompt is not open");
		return false;
	case COMMAND_NEEDS_SCRIPT:
		if (tui->script)
			return true;
		command_fail(run, "'%s' works only in a script", run->call.argv[0]);
		return false;
	}
	return false;
}

/* Commands report errors either to their caller or in the answer; both count as failed. The
 * commands of scripts, which press keys, report errors themselves. before: the answer before the
 * command ran. */
static bool command_answered_wrongly(const struct command_run *run, const char *before,
				     bool was_wrong)
{
	const struct view *view = &run->tui->view;

	if (!view->status_error || !view->status[0] ||
	    command_table[run->id].group == GROUP_SCRIPT ||
	    (was_wrong && !strcmp(view->status, before)))
		return false;
	snprintf(run->error, run->error_size, "%s", view->status);
	return true;
}

bool command_line(struct tui *tui, const char *line, char *error, size_t error_size)
{
	struct command_run run = {.tui = tui, .error = error, .error_size = error_size};
	char before[sizeof(tui->view.status)];
	bool was_wrong = tui->view.status_error;
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
		slow_stop_waited(tui);
		words.argv[0] = command_table[id].name;
		run.id = (enum command_id)id;
		run.call = (struct command_call){run.id, words.argc, words.argv, line};
		memcpy(before, tui->view.status, sizeof(before));
		if (command_may_run(&run))
			tui_apply(tui, command_functions[id](&run));
		run.failed |= command_answered_wrongly(&run, before, was_wrong);
	}
	words_release(&words);
	return id >= 0 && !run.failed;
}

const struct tui_commands commands_for_loop = {
	.line = command_line,
	.answer_key = command_answer_key,
	.follow_page = command_follow_page,
};
