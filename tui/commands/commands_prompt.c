/* SPDX-License-Identifier: MIT */
/* Commands of the prompt: typing, completion, history. */
#include "tui/commands/commands_internal.h"

#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"

unsigned cmd_prompt(struct command_run *run)
{
	char *text = words_join(run->call.argc - 1, run->call.argv + 1);

	prompt_open(&run->tui->prompt, text);
	if (*text)
		prompt_insert(&run->tui->prompt, ' ');
	free(text);
	return OUT_REDRAW;
}

/* Position just behind the first word of the line that the error message names; 0 if it names
 * none. */
static size_t find_wrong(const char *line, const char *error)
{
	const char *at, *end;

	for (at = strchr(error, '\''); at; at = strchr(end + 1, '\'')) {
		char *word;
		const char *found;

		end = strchr(at + 1, '\'');
		if (!end)
			return 0;
		word = xstrndup(at + 1, (size_t)(end - at) - 1);
		found = *word ? strstr(line, word) : NULL;
		free(word);
		if (found)
			return (size_t)(found - line) + (size_t)(end - at) - 1;
	}
	return 0;
}

unsigned cmd_accept(struct command_run *run)
{
	struct tui *tui = run->tui;
	char line[PROMPT_MAX];

	if (!tui->prompt.open)
		return OUT_NONE;
	memcpy(line, tui->prompt.text, sizeof(line));
	prompt_close(&tui->prompt);
	history_add(&tui->history, line);
	tui->wrong_at = 0;
	if (!command_line(tui, line, run->error, run->error_size)) {
		run->failed = true;
		tui->wrong_at = find_wrong(line, run->error);
	}
	return OUT_REDRAW;
}

unsigned cmd_cancel(struct command_run *run)
{
	struct tui *tui = run->tui;
	static const char *const deselect[] = {"deselect"};
	struct command_call call = {COMMAND_ID_DESELECT, 1, deselect, NULL};

	if (tui->prompt.open) {
		if (!prompt_unbox(&tui->prompt))
			prompt_close(&tui->prompt);
	} else if (tui->dialog) {
		tui->dialog = false;
	} else if (diff_stop(tui)) {
		return OUT_REDRAW;
	} else if (tui->text_find.shown && (tui->help.open || tui->focus_lower)) {
		tui->text_find.shown = false;
	} else if (tui->help.open) {
		help_close(&tui->help);
	} else if (tui->focus_lower) {
		tui->focus_lower = false;
		return OUT_LAYOUT;
	} else if (tui->view.measure.shown) {
		tui->view.measure.shown = tui->view.measure.open = false;
	} else if (tui->view.compare.shown && !tui->view.selected.id) {
		tui->view.compare.shown = false;
		return OUT_LAYOUT;
	} else {
		return tui->panes[0]->ops->command(tui->panes[0], &tui->view, &call) & ~OUT_UNKNOWN;
	}
	return OUT_REDRAW;
}

unsigned cmd_edit(struct command_run *run)
{
	prompt_edit(&run->tui->prompt, run->id);
	return OUT_REDRAW;
}

unsigned cmd_complete(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct pane *lower = tui->panes[tui->lower];
	struct complete_ask ask = {
		.model = tui->model, .keymap = &tui->keymap, .settings = &tui->settings,
		.panes = tui->panes, .n_panes = TUI_PANES_MAX,
		.filters = tui->filters, .marks = &tui->marks,
		.table = lower && lower->ops->table ? lower->ops->table(lower) : NULL,
	};

	prompt_complete(&tui->prompt, &ask, run->id == COMMAND_ID_COMPLETE_BACK);
	return OUT_REDRAW;
}

unsigned cmd_recall(struct command_run *run)
{
	struct tui *tui = run->tui;
	bool at_once = !tui->prompt.length;

	/* the wrong line comes back, with the cursor behind the wrong word */
	if (prompt_recall(&tui->prompt, &tui->history, run->id) && at_once && tui->wrong_at &&
	    tui->prompt.recalled + 1 == tui->history.count)
		prompt_place(&tui->prompt, tui->wrong_at);
	return OUT_REDRAW;
}
