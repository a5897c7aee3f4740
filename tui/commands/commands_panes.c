/* SPDX-License-Identifier: MIT */
/* The commands that choose a pane and give it the focus or the whole screen. */
#include "tui/commands/commands_internal.h"

#include <stdio.h>
#include <string.h>

static unsigned panes_show_lower(struct tui *tui, int i)
{
	tui->lower = i;
	tui->focus_lower = true;
	help_close(&tui->help);		/* it would hide the pane */
	return OUT_LAYOUT;
}

unsigned cmd_show_pane(struct command_run *run)
{
	struct tui *tui = run->tui;
	const char *which = command_first(run);
	int i;

	for (i = 0; i < TUI_PANES_MAX; i++) {
		char digits[12];

		snprintf(digits, sizeof(digits), "%d", i);
		if (!tui->panes[i])
			continue;
		if (strcmp(which, digits) && strcmp(which, tui->panes[i]->ops->name))
			continue;
		if (i > 0)
			return panes_show_lower(tui, i);
		tui->focus_lower = false;
		return OUT_LAYOUT;
	}
	return command_fail(run, "no pane '%s'", which);
}

static unsigned panes_step(struct tui *tui, int by)
{
	int i = tui->lower;

	do {
		i += by;
		if (i < 1)
			i = TUI_PANES_MAX - 1;
		if (i >= TUI_PANES_MAX)
			i = 1;
	} while (!tui->panes[i]);
	return panes_show_lower(tui, i);
}

unsigned cmd_next_pane(struct command_run *run)
{
	return panes_step(run->tui, 1);
}

unsigned cmd_prev_pane(struct command_run *run)
{
	return panes_step(run->tui, -1);
}

unsigned cmd_focus(struct command_run *run)
{
	const char *what = command_first(run);

	if (!what)
		run->tui->focus_lower = !run->tui->focus_lower;
	else if (strcmp(what, "timeline") == 0)
		run->tui->focus_lower = false;
	else if (strcmp(what, "lower") == 0)
		run->tui->focus_lower = true;
	else
		return command_fail(run, "expected 'timeline' or 'lower', not '%s'", what);
	return OUT_LAYOUT;
}

unsigned cmd_full(struct command_run *run)
{
	run->tui->full = !run->tui->full || !run->tui->focus_lower;
	run->tui->focus_lower = true;
	return OUT_LAYOUT;
}

unsigned cmd_messages(struct command_run *run)
{
	return run->tui->panes[8] ? panes_show_lower(run->tui, 8)
				  : command_fail(run, "there is no messages pane");
}
