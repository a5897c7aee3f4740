/* SPDX-License-Identifier: MIT */
/* `rows`: selects the timeline rows that are shown and their order, and finds a row. */
#include "tui/timeline/pane_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"

/* The text after the word: "/stream 7/" and "stream 7" mean the same. */
static void choose_rest(const struct command_call *call, char *text, size_t size)
{
	size_t at = 0, length;

	text[0] = '\0';
	for (int i = 2; i < call->argc && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i > 2 ? " " : "",
				       call->argv[i]);
	length = strlen(text);
	if (length >= 2 && text[0] == '/' && text[length - 1] == '/') {
		memmove(text, text + 1, length - 2);
		text[length - 2] = '\0';
	}
}

static const char *label_of(const struct timeline_line *line)
{
	return *line->label ? line->label : "the row";
}

/* If the rule would hide all lines, it is undone. */
static bool all_gone(struct timeline_pane *t, struct view *view)
{
	struct model_row *rows = NULL;
	size_t n;

	model_lock(view->model);
	n = model_rows(view->model, &rows);
	timeline_take_rows(t, view->model, rows, n);
	model_unlock(view->model);
	free(rows);
	return n && !t->list.count;
}

static unsigned hide_or_show(struct timeline_pane *t, struct view *view, enum row_rule what,
			     const char *text)
{
	struct timeline_line *line = timeline_current(t, view);
	size_t before = t->choice.hidden;
	char rows[FMT_MAX];
	bool added;

	if (*text)
		added = row_choice_add(&t->choice, what, text, view->status, sizeof(view->status));
	else if (what == ROW_HIDE && !line)
		return timeline_answer(view, true, "no row under the cursor");
	else if (what == ROW_HIDE)
		added = row_choice_add_row(&t->choice, what, line->row);
	else
		return timeline_answer(view, true, "name the rows: rows %s /REGEX/",
				       what == ROW_SHOW ? "show" : "only");
	if (!added && *text) {
		view->status_error = true;
		return OUT_REDRAW;
	}
	if (!added)
		return timeline_answer(view, true,
				       "there can be at most %u rules for rows; 'rows reset' "
				       "removes them",
				       ROW_RULES);
	if (all_gone(t, view)) {
		row_choice_drop_last(&t->choice);
		all_gone(t, view);
		return timeline_answer(view, true, "that would leave no row");
	}
	if (what == ROW_HIDE && t->choice.hidden == before)
		return timeline_answer(view, false,
				       "no row matches '%s' yet: later ones will be hidden", text);
	return timeline_answer(view, false, "%s hidden%s", fmt_many(rows, t->choice.hidden, "row"),
			       t->choice.hidden ? "; 'rows reset' shows all" : "");
}

static unsigned pin(struct timeline_pane *t, struct view *view)
{
	struct timeline_line *line = timeline_current(t, view);

	if (!line)
		return timeline_answer(view, true, "no row under the cursor");
	return timeline_answer(view, false, row_choice_pin(&t->choice, line->row) ?
			       "'%s' stays at the top; 'rows pin' again releases it" :
			       "'%s' is back in its place", label_of(line));
}

static unsigned move(struct timeline_pane *t, struct view *view, bool up)
{
	struct timeline_line *line = timeline_current(t, view);

	if (!line)
		return timeline_answer(view, true, "no row under the cursor");
	if (row_choice_move(&t->choice, t->rows, t->n_rows, line->row, up))
		return OUT_REDRAW;
	return timeline_answer(view, true, "'%s' is already the %s row of its group",
			       label_of(line), up ? "first" : "last");
}

static unsigned rows_set_order(struct timeline_pane *t, struct view *view, const char *name)
{
	int chosen = row_order_by_name(name);

	if (!*name)
		return timeline_answer(view, false,
				       "rows are ordered by %s; possible: activity, name, id, "
				       "start",
				       row_order_name(t->choice.order));
	if (chosen < 0)
		return timeline_answer(view, true,
				       "'%.40s' is not an order of rows: activity, name, id or "
				       "start",
				       name);
	t->choice.order = (enum row_order)chosen;
	return timeline_answer(view, false, "rows ordered by %s", name);
}

/* The next row below the cursor's whose name matches, folded or not; then from the top. */
static unsigned find_row(struct timeline_pane *t, struct view *view, const char *text)
{
	regex_t regex;
	size_t from, i, n = t->n_rows;

	if (!*text)
		return timeline_answer(view, true, "name the row: rows find /REGEX/");
	if (!regex_make(&regex, text, REGEX_SMART, view->status, sizeof(view->status))) {
		view->status_error = true;
		return OUT_REDRAW;
	}
	for (from = 0; from < n && t->rows[from].id != view->cursor_row; from++)
		;
	for (i = 1; i <= n; i++) {
		const struct model_row *row = &t->rows[(from + i) % n];

		if (row_worth_a_line(row) && row->label &&
		    regexec(&regex, row->label, 0, NULL, 0) == 0)
			break;
	}
	regfree(&regex);
	if (i > n)
		return timeline_answer(view, true, "no row matches '%s'%s", text,
				       t->choice.hidden ? " among those that are not hidden" : "");
	view->cursor_row = t->rows[(from + i) % n].id;
	view->cursor_lane = 0;
	view->selected = (struct span_ref){0};
	t->moved = true;
	timeline_show_row(t, view, view->cursor_row, 0);
	return OUT_REDRAW;
}

static unsigned say(struct timeline_pane *t, struct view *view)
{
	char rows[FMT_MAX];

	return timeline_answer(view, false, "%s hidden, %zu pinned, ordered by %s%s (help rows)",
			       fmt_many(rows, t->choice.hidden, "row"),
			       t->choice.n_pinned, row_order_name(t->choice.order),
			       t->choice.n_places ? " and by hand" : "");
}

unsigned timeline_choose(struct timeline_pane *t, struct view *view,
			 const struct command_call *call)
{
	const char *what = call->argc > 1 ? call->argv[1] : "";
	char text[ROW_RULE_TEXT + 1];

	choose_rest(call, text, sizeof(text));
	if (strcmp(what, "hide") == 0)
		return hide_or_show(t, view, ROW_HIDE, text);
	if (strcmp(what, "show") == 0)
		return hide_or_show(t, view, ROW_SHOW, text);
	if (strcmp(what, "only") == 0)
		return hide_or_show(t, view, ROW_ONLY, text);
	if (strcmp(what, "find") == 0)
		return find_row(t, view, text);
	if (strcmp(what, "order") == 0)
		return rows_set_order(t, view, text);
	if (call->argc > 2)
		return timeline_answer(view, true, "'rows %s' takes no argument", what);
	if (strcmp(what, "pin") == 0)
		return pin(t, view);
	if (strcmp(what, "up") == 0 || strcmp(what, "down") == 0)
		return move(t, view, what[0] == 'u');
	if (strcmp(what, "reset") == 0) {
		row_choice_release(&t->choice);
		return timeline_answer(view, false, "all rows are shown in their usual order");
	}
	return *what ? timeline_answer(view, true, "rows does not take '%.40s' (help rows)",
				       what) : say(t, view);
}
