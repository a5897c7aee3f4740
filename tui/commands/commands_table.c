/* SPDX-License-Identifier: MIT */
/* Commands about tables that concern more than one pane. */
#include "tui/commands/commands_internal.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/base/atomic_file.h"
#include "tui/table/column_choice.h"
#include "tui/table/table.h"
#include "tui/panes/pane_table.h"

/* The table of the pane that is shown below; NULL if it has none. */
static struct table *table_shown_now(struct tui *tui)
{
	struct pane *pane = tui->panes[tui->lower];

	return pane && pane->ops->table ? pane->ops->table(pane) : NULL;
}

static unsigned no_table(struct command_run *run)
{
	return command_fail(run, "'%s' needs a table: panes 1 to 5 have one", run->call.argv[0]);
}

/* ---- columns ---- */

unsigned cmd_columns(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct table *table = table_shown_now(tui);
	const char *first = command_first(run), *page[2] = {"columns", NULL};
	bool named = first && pane_kind(first);

	if (tui->help.open || (!first && !table))
		return cmd_help(run);
	if (!named && !table)
		return no_table(run);
	page[1] = named ? first : table->kind->columns->name;
	if (run->call.argc == (named ? 2 : 1)) {
		run->call = (struct command_call){COMMAND_ID_COLUMNS, 2, page, NULL};
		return cmd_page(run);
	}
	run->failed = !column_choices_apply(tui->view.column_choices, page[1], pane_kind(page[1]),
					    run->call.argc - 1 - named,
					    run->call.argv + 1 + named, run->error,
					    run->error_size);
	return OUT_REDRAW;
}

/* ---- pin ---- */

static void each_table(struct tui *tui, void (*act)(struct table *table))
{
	for (int i = 0; i < TUI_PANES_MAX; i++) {
		struct pane *pane = tui->panes[i];

		if (!pane || !pane->ops->table)
			continue;
		/* the tables of panes that are not shown have old rows */
		model_lock(tui->model);
		pane->ops->update(pane, &tui->view, tui->width, tui->layout.lower.height);
		model_unlock(tui->model);
		act(pane->ops->table(pane));
	}
}

unsigned cmd_pin(struct command_run *run)
{
	each_table(run->tui, table_pin);
	run->tui->view.pinned_ns = run->tui->view.now_ns;
	return OUT_REDRAW;
}

unsigned cmd_unpin(struct command_run *run)
{
	if (!run->tui->view.pinned_ns)
		return command_fail(run, "nothing is pinned: 'pin' remembers the numbers of the "
					 "tables");
	each_table(run->tui, table_unpin);
	run->tui->view.pinned_ns = 0;
	return OUT_REDRAW;
}

/* ---- to a file ---- */

unsigned cmd_write(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct table *table = table_shown_now(tui);
	const char *path = command_first(run), *dot = strrchr(path, '.');
	char rows[FMT_MAX];
	struct atomic_file file;

	if (!table)
		return no_table(run);
	if (atomic_file_open(&file, path, run->error, run->error_size) < 0) {
		run->failed = true;
		return OUT_NONE;
	}
	table_write(table, file.out, dot && strcasecmp(dot, ".csv") == 0);
	if (atomic_file_commit(&file, run->error, run->error_size) < 0) {
		run->failed = true;
		return OUT_NONE;
	}
	if (!tui->script)
		tui_say(tui, false, "%s written to %s", fmt_many(rows, table->n_marked ?
			table->picked.rows : table->count, "row"), path);
	return OUT_REDRAW;
}
