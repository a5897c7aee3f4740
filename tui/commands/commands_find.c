/* SPDX-License-Identifier: MIT */
/* The commands find, next-match and prev-match, which act on the pane that has the focus. */
#include "tui/commands/commands_internal.h"

#include <string.h>

#include "model/base/util.h"
#include "tui/table/table.h"

/* ---- what is looked through ---- */

struct find_lines {
	struct tui *tui;
	struct pane *pane;
};

static void pane_line(void *arg, size_t line, struct strbuf *out)
{
	const struct find_lines *looked = arg;
	const struct pane_ops *ops = looked->pane->ops;

	if (ops->table)
		table_line(ops->table(looked->pane), line, out);
	else
		ops->text(looked->pane, &looked->tui->view, line, out);
}

static void line_of_help(void *arg, size_t line, struct strbuf *out)
{
	help_text(&((struct find_lines *)arg)->tui->help, line, out);
}

/* Returns the lines of the pane that has the keys, or false if it does not consist of lines. */
static bool find_lines_of(struct find_lines *looked, struct text_lines *lines)
{
	struct tui *tui = looked->tui;
	struct table *table;

	*lines = (struct text_lines){.line = pane_line, .arg = looked};
	if (tui->help.open) {
		lines->line = line_of_help;
		lines->count = tui->help.count;
		lines->at = tui->help.found;
		return true;
	}
	looked->pane = tui->panes[tui->lower];
	if (!tui->focus_lower)
		return false;
	if (looked->pane->ops->table) {
		table = looked->pane->ops->table(looked->pane);
		table_order(table);
		lines->count = table->count;
		lines->at = table->cursor;
	} else if (looked->pane->ops->texts) {
		lines->count = looked->pane->ops->texts(looked->pane, &tui->view, &lines->at);
	} else {
		return false;
	}
	return true;
}

static void go_to(struct find_lines *looked, size_t line)
{
	struct tui *tui = looked->tui;
	struct pane *pane = looked->pane;

	if (tui->help.open)
		help_go(&tui->help, line);
	else if (pane->ops->table)
		table_go(pane->ops->table(pane), line);
	else
		pane->ops->go(pane, &tui->view, line, &tui->text_find);
}

unsigned cmd_find(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct find_lines looked = {.tui = tui};
	enum text_step step = run->id == COMMAND_ID_PREV_MATCH ? TEXT_PREV :
			      run->call.argc > 1 ? TEXT_HERE : TEXT_NEXT;
	struct text_lines lines;
	char said[TEXT_FIND_MAX + 80];
	struct strbuf text;
	size_t line;
	bool good;

	/* Filters match events, so the search is in the timeline. */
	if (run->call.argc > 1 && strcmp(run->call.argv[1], "-w") == 0)
		tui->focus_lower = false;
	if (!find_lines_of(&looked, &lines))
		return cmd_pane(run);
	if (run->call.argc > 1) {
		strbuf_init(&text);
		for (int i = 1; i < run->call.argc; i++)
			strbuf_addf(&text, "%s%s", i > 1 ? " " : "", run->call.argv[i]);
		good = text_find_set(&tui->text_find, text.data, run->error, run->error_size);
		strbuf_release(&text);
		if (!good) {
			run->failed = true;
			return OUT_NONE;
		}
	}
	good = text_find_step(&tui->text_find, &lines, step, &line, said, sizeof(said));
	if (good)
		go_to(&looked, line);
	tui_say(tui, !good, "%s", said);
	return OUT_REDRAW;
}
