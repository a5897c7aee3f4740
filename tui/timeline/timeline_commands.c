/* SPDX-License-Identifier: MIT */
/* The commands of keys in the timeline; the loop itself moves the window. */
#include "tui/timeline/pane_timeline.h"
#include "tui/filters/filters.h"
#include "tui/draw/places.h"

#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned timeline_answer(struct view *view, bool error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(view->status, sizeof(view->status), format, args);
	va_end(args);
	view->status_error = error;
	return OUT_REDRAW;
}

/* ---- rows ---- */

struct timeline_line *timeline_current(struct timeline_pane *t, const struct view *view)
{
	int64_t at = line_list_find(&t->list, view->cursor_row, view->cursor_lane);

	return at < 0 ? NULL : &t->list.lines[at];
}

/* Selects the row with the selected event, or the one under the cursor. */
void timeline_select(struct view *view)
{
	struct span_ref ref;

	model_lock(view->model);
	if (model_span_at(view->model, view->cursor_row, view->cursor_lane, view->cursor_ns, &ref))
		view->selected = ref;
	else
		view->selected = (struct span_ref){0};
	model_unlock(view->model);
}

static unsigned move_row(struct timeline_pane *t, struct view *view, int64_t by)
{
	int64_t at = line_list_find(&t->list, view->cursor_row, view->cursor_lane);
	int64_t last = (int64_t)t->list.count - 1;

	if (last < 0)
		return OUT_NONE;
	if (by > last)
		by = last;
	if (by < -last)
		by = -last;
	at = at < 0 ? 0 : at + by;
	at = at < 0 ? 0 : at > last ? last : at;
	t->moved = true;
	view->cursor_row = t->list.lines[at].row;
	view->cursor_lane = t->list.lines[at].lane;
	/* While events are selected, moving to another row selects the event there. */
	if (view->selected.id)
		timeline_select(view);
	return OUT_REDRAW;
}

static unsigned timeline_row_command(struct timeline_pane *t, struct view *view,
				     const struct command_call *call)
{
	int64_t rows = call->argc > 1 ? atoi(call->argv[1]) : 1;
	int64_t page = t->page > 1 ? (int64_t)t->page - 1 : 1;

	switch (call->id) {
	case COMMAND_ID_ROW_DOWN: return move_row(t, view, rows);
	case COMMAND_ID_ROW_UP: return move_row(t, view, -rows);
	case COMMAND_ID_PAGE_DOWN: return move_row(t, view, page);
	case COMMAND_ID_PAGE_UP: return move_row(t, view, -page);
	case COMMAND_ID_FIRST_ROW: return move_row(t, view, INT32_MIN);
	case COMMAND_ID_LAST_ROW: return move_row(t, view, INT32_MAX);
	default: return OUT_UNKNOWN;
	}
}

/* ---- folding ---- */

static void fold_all(struct timeline_pane *t, enum fold fold)
{
	size_t i;

	for (i = 0; i < t->list.count; i++) {
		const struct timeline_line *line = &t->list.lines[i];

		/* Folding all leaves the lines of the groups, not an empty screen. */
		if (line->foldable)
			fold_put(&t->folds, line->row, fold);
	}
}

/* On a line that cannot be folded, the command applies to its parent. */
static unsigned fold_line(struct timeline_pane *t, struct view *view, enum fold fold, bool toggle)
{
	struct timeline_line *line = timeline_current(t, view);
	int64_t at;

	if (!line)
		return timeline_answer(view, true, "no row under the cursor");
	if (!line->first)
		line = &t->list.lines[line_list_find(&t->list, line->row, 0)];
	if (!line->foldable || (!toggle && fold == FOLD_CLOSED && line->folded)) {
		at = line_list_find(&t->list, line->parent, LANE_ALL);
		if (at < 0)
			return timeline_answer(view, true, "there is nothing to fold here");
		line = &t->list.lines[at];
	}
	if (toggle)
		fold = line->folded ? FOLD_OPEN : FOLD_CLOSED;
	fold_put(&t->folds, line->row, fold);
	if (fold == FOLD_CLOSED && line->row != view->cursor_row)
		view->selected = (struct span_ref){0};
	t->moved = true;
	view->cursor_row = line->row;
	view->cursor_lane = line->lane;
	return OUT_REDRAW;
}

static unsigned timeline_fold_command(struct timeline_pane *t, struct view *view,
				      const struct command_call *call)
{
	bool toggle = call->id == COMMAND_ID_TOGGLE_FOLD;
	enum fold fold = call->id == COMMAND_ID_FOLD ? FOLD_CLOSED : FOLD_OPEN;

	if (call->argc < 2 || toggle)
		return fold_line(t, view, fold, toggle);
	if (strcmp(call->argv[1], "all") != 0)
		return timeline_answer(view, true,
				       "'%s' takes 'all', or nothing for this row, not '%.40s'",
				       call->argv[0], call->argv[1]);
	fold_all(t, fold);
	return OUT_REDRAW;
}

/* ---- events ---- */

/* Moves the cursor to the start of the event. It stays if it is inside of both the event and the
 * window. */
static unsigned go_to(struct view *view, const struct span *span)
{
	view->selected = span->ref;
	if (view->cursor_ns < span->start_ns || view->cursor_ns >= span->end_ns ||
	    view->cursor_ns < view->t0_ns || view->cursor_ns >= view->t1_ns)
		view->cursor_ns = span->start_ns;
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR;
}

/* Time at which the search for the next or previous event starts. */
static int64_t search_from(struct view *view, bool forward)
{
	struct span span;

	if (view->selected.id && view->selected.row == view->cursor_row &&
	    model_span(view->model, view->selected, &span))
		return span.start_ns;
	if (view->cursor_ns >= view->t0_ns && view->cursor_ns < view->t1_ns && !view->following)
		return forward ? view->cursor_ns - 1 : view->cursor_ns + 1;
	/* While following, the search starts from the latest events. */
	if (view->following)
		return forward ? view->t0_ns - 1 : view->now_ns;
	return forward ? view->t0_ns - 1 : view->t1_ns;
}

static unsigned step_event(struct view *view, bool forward)
{
	struct span_ref ref;
	struct span span;
	unsigned result;
	bool found;

	model_lock(view->model);
	found = forward ? model_span_next(view->model, view->cursor_row, view->cursor_lane,
					  search_from(view, true), &ref)
			: model_span_prev(view->model, view->cursor_row, view->cursor_lane,
					  search_from(view, false), &ref);
	if (found && model_span(view->model, ref, &span)) {
		view->cursor_ns = span.start_ns;
		result = go_to(view, &span);
	} else {
		result = timeline_answer(view, true, forward ? "no later event in this row"
						    : "no earlier event in this row");
	}
	model_unlock(view->model);
	return result;
}

static unsigned longest_event(struct view *view)
{
	struct span_ref ref;
	struct span span;
	unsigned result;

	model_lock(view->model);
	if (model_span_longest(view->model, view->cursor_row, view->cursor_lane, view->t0_ns,
			       view->t1_ns, &ref) && model_span(view->model, ref, &span))
		result = go_to(view, &span);
	else
		result = timeline_answer(view, true, "no event of this row in the window");
	model_unlock(view->model);
	return result;
}

static bool has_row(const struct model_row *rows, size_t n, uint32_t row)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id == row)
			return true;
	return false;
}

void timeline_show_row(struct timeline_pane *t, struct view *view, uint32_t row, uint32_t lane)
{
	struct model_row *rows = NULL;
	size_t n_rows, i, depth;
	uint32_t around = row;

	model_lock(view->model);
	n_rows = model_rows(view->model, &rows);
	timeline_take_rows(t, view->model, rows, n_rows);
	if (!has_row(t->rows, t->n_rows, row) && has_row(rows, n_rows, row) &&
	    row_choice_add_row(&t->choice, ROW_SHOW, row)) {
		timeline_take_rows(t, view->model, rows, n_rows);
		timeline_answer(view, false, "its row was hidden, and is shown again");
	}
	for (depth = 0; around && depth < n_rows; depth++) {
		for (i = 0; i < t->n_rows && t->rows[i].id != around; i++)
			;
		around = i < t->n_rows ? t->rows[i].parent : 0;
		if (around && line_list_find(&t->list, row, lane) < 0)
			fold_put(&t->folds, around, FOLD_OPEN);
	}
	timeline_take_rows(t, view->model, rows, n_rows);
	model_unlock(view->model);
	free(rows);
}

/* The line must exist before it can be shown. */
static void show_line(struct timeline_pane *t, struct view *view, struct span_ref ref)
{
	int64_t at = line_list_find(&t->list, ref.row, ref.lane);

	view->cursor_row = ref.row;
	view->cursor_lane = ref.lane;
	if (at < 0)
		timeline_show_row(t, view, ref.row, ref.lane);
	else if (t->list.lines[at].lane != LANE_ALL && t->list.lines[at].lane != ref.lane)
		fold_put(&t->folds, ref.row, FOLD_OPEN);
}

/* ---- finding by name ---- */

static void search(struct turns *turns, void *arg)
{
	struct timeline_pane *t = arg;

	find_go(&t->find, t->searched, turns);
}

static unsigned say_none(const struct timeline_pane *t, struct view *view)
{
	return timeline_answer(view, true, "no event here %s '%s'%s",
			       t->find.filter ? "matches" : "is named like", t->find.text,
			       t->status.folded_ns > t->status.first_ns ?
			       "; of the oldest events only sums are left" : "");
}

static unsigned timeline_search_over(void *arg, struct view *view, bool stopped)
{
	struct timeline_pane *t = arg;
	const struct find_step *step = &t->find.step;
	unsigned result = OUT_REDRAW;
	struct span span;
	bool found;
	size_t at;

	if (stopped) {
		at = strlen(view->status);
		snprintf(view->status + at, sizeof(view->status) - at, "; %s-match goes on",
			 step->forward ? "next" : "prev");
		return OUT_REDRAW;
	}
	model_lock(view->model);
	found = step->found && model_span(view->model, step->ref, &span);
	model_unlock(view->model);
	t->find.shown = found;
	if (!found)
		return say_none(t, view);
	view->cursor_ns = span.start_ns;
	result = go_to(view, &span);
	show_line(t, view, step->ref);
	if (step->around)
		timeline_answer(view, false,
				step->forward ? "after the last match, continued from the start"
					      : "before the first match, continued from the end");
	return result;
}

static unsigned step_match(struct timeline_pane *t, struct view *view, bool forward)
{
	struct find_from from = { .row = 0 };
	struct span span;

	view->status[0] = '\0';
	if (!t->find.search)
		return timeline_answer(view, true, "nothing to find yet: use find REGEX");
	model_lock(view->model);
	if (view->selected.id && model_span(view->model, view->selected, &span))
		from = (struct find_from){span.start_ns, view->selected.row, view->selected.lane};
	else
		from.start_ns = view->following ? view->t0_ns : view->cursor_ns;
	model_unlock(view->model);
	t->searched = view->model;
	find_begin(&t->find, view->model, &from, forward);
	view->work = (struct view_work) { "searching", search, timeline_search_over, t };
	return OUT_WORK;
}

static unsigned timeline_find_command(struct timeline_pane *t, struct view *view,
				      const struct command_call *call)
{
	char text[FIND_TEXT + 1];
	struct filter *filter;
	size_t at = 0;
	int i;

	if (call->argc > 1 && strcmp(call->argv[1], "-w") == 0) {
		filter = filters_parse(view->filters, call, 2, view->status, sizeof(view->status));
		view->status_error = !filter;
		if (!filter)
			return OUT_REDRAW;
		find_set_filter(&t->find, view->model, filter);
		return step_match(t, view, true);
	}
	text[0] = '\0';
	for (i = 1; i < call->argc && at < sizeof(text); i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i > 1 ? " " : "",
				       call->argv[i]);
	if (call->argc > 1 && !find_set(&t->find, view->model, text, view->status,
					sizeof(view->status))) {
		view->status_error = true;
		return OUT_REDRAW;
	}
	return step_match(t, view, true);
}

static unsigned timeline_go_to_peer(struct timeline_pane *t, struct view *view, bool to_op)
{
	const char *why = NULL;
	struct span span, other;
	struct span_ref ref;
	unsigned result = OUT_NONE;

	model_lock(view->model);
	if (!view->selected.id || !model_span(view->model, view->selected, &span))
		why = "no event is selected: , and . go from event to event";
	else if (to_op && span.row_kind == ROW_THREAD)
		why = "this is an op; ] goes to the work it launched";
	else if (!to_op && span.row_kind != ROW_THREAD)
		why = "this is not an op; [ goes to the op that launched it";
	else if (!model_span_peer(view->model, view->selected, &ref) ||
		 !model_span(view->model, ref, &other))
		why = to_op ? "no op is known to have launched this"
			    : "nothing was launched inside this op";
	if (!why)
		result = go_to(view, &other);
	model_unlock(view->model);
	if (why)
		return timeline_answer(view, true, "%s", why);
	show_line(t, view, ref);
	return result;
}

/* Goes to the last op that feeds this one or that launched it, or to the first that consumes its
 * output. */
static unsigned timeline_go_to_neighbour(struct timeline_pane *t, struct view *view,
					 enum link_kind kind)
{
	struct span_link links[LINKS_MOST];
	const struct span_link *to = NULL;
	unsigned result = OUT_NONE;
	struct span span;
	size_t n;

	if (!view->selected.id)
		return timeline_answer(view, true, "no event is selected: , and . go from event "
				       "to event");
	model_lock(view->model);
	n = model_span_links(view->model, view->selected, links, LINKS_MOST);
	for (size_t i = 0; i < n; i++)
		if (links[i].kind == kind && (!to || kind == LINK_PRODUCER))
			to = &links[i];
	if (to && model_span(view->model, to->ref, &span))
		result = go_to(view, &span);
	model_unlock(view->model);
	if (!to)
		return timeline_answer(view, true, kind == LINK_PRODUCER ?
				       "no producer of its inputs is known" :
				       "no consumer of its output is known");
	show_line(t, view, to->ref);
	return result;
}

bool timeline_reveal(struct pane *pane, struct view *view, const char *key)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;
	int64_t at;

	timeline_show_row(t, view, view->cursor_row, view->cursor_lane);
	at = line_list_find(&t->list, view->cursor_row, view->cursor_lane);
	if (at < 0)
		return false;
	view->cursor_lane = t->list.lines[at].lane;
	t->moved = true;
	return true;
}

static unsigned about_selected(struct view *view)
{
	char event[64];

	snprintf(event, sizeof(event), "%" PRIu32 ":%" PRIu32 ":%" PRIu64, view->selected.row,
		 view->selected.lane, view->selected.id);
	return places_about(view, "event", event);
}

/* Shows the page about the subject of a row. */
static unsigned about_row(struct view *view, const struct model_row *row)
{
	char number[16];

	switch (row->kind) {
	case ROW_DEVICE:
	case ROW_BANDWIDTH:
	case ROW_MEMORY:
		snprintf(number, sizeof(number), "%" PRIu32, row->device);
		return places_about(view, "device", number);
	case ROW_QUEUE:
	case ROW_COPY:
	case ROW_GRAPH:
		snprintf(number, sizeof(number), "%" PRIu32, row->queue);
		return places_about(view, "queue", number);
	case ROW_COUNTER:
		return places_about(view, "counters", row->label);
	case ROW_THREAD:
		snprintf(number, sizeof(number), "%" PRIu32, row->tid ? row->tid : row->pid);
		return places_about(view, row->tid ? "thread" : "process", number);
	case ROW_POOL:
		return places_about(view, "pools", NULL);
	default:
		snprintf(number, sizeof(number), "%" PRIu32, row->pid);
		return places_about(view, "process", number);
	}
}

/* Shows the page of the selected event, else of the row under the cursor. */
static unsigned timeline_about(struct timeline_pane *t, struct view *view)
{
	const struct timeline_line *line = timeline_current(t, view);
	struct model_row *rows = NULL;
	unsigned outcome = OUT_NONE;
	size_t n;

	if (view->selected.id)
		return about_selected(view);
	if (!line)
		return timeline_answer(view, true, "nothing has happened yet");
	model_lock(view->model);
	n = model_rows(view->model, &rows);
	model_unlock(view->model);
	for (size_t i = 0; i < n && outcome == OUT_NONE; i++)
		if (rows[i].id == line->row)
			outcome = about_row(view, &rows[i]);
	free(rows);
	return outcome;
}

/* Where no event is under the cursor: the call stacks of what the thread did then. false: that is
 * not known, or not shown. */
static bool timeline_stacks(const struct timeline_pane *t, struct view *view)
{
	int64_t from_ns = view->cursor_ns, to_ns = from_ns + 1, others_ns, base_ns;
	struct model_row *rows = NULL;
	struct host_state state;
	char range[64], tid[16];
	size_t n, i;
	bool known;

	if (!t->states || view->following || view->columns <= 0)
		return false;
	if (from_ns >= view->t0_ns && from_ns < view->t1_ns) {
		int64_t w = (view->t1_ns - view->t0_ns) / view->columns;

		from_ns = view->t0_ns + (from_ns - view->t0_ns) / w * w;
		to_ns = from_ns + w;
	}
	model_lock(view->model);
	known = model_host_doing(view->model, view->cursor_row, view->cursor_ns, &from_ns,
				   &to_ns, &state, 1, &others_ns) > 0;
	n = model_rows(view->model, &rows);
	model_unlock(view->model);
	for (i = 0; i < n && rows[i].id != view->cursor_row; i++)
		;
	known = known && i < n;
	base_ns = places_base_ns(&t->status);
	if (known) {
		snprintf(range, sizeof(range), "%" PRId64 "ns..%" PRId64 "ns", from_ns - base_ns,
			 to_ns - base_ns);
		snprintf(tid, sizeof(tid), "%" PRIu32, rows[i].tid);
		places_run(view, (const char *[]){ "stacks", range, "-T", tid, NULL });
	}
	free(rows);
	return known;
}

/* Opens a folded group; elsewhere shows the page of the event under the cursor, or the stacks of
 * the thread. */
static unsigned open_event(struct timeline_pane *t, struct view *view)
{
	struct timeline_line *line = timeline_current(t, view);

	if (view->measure.open) {
		view->measure.open = false;
		view->run_command = "range measured";
		return OUT_RUN_COMMAND;
	}
	if (!line)
		return OUT_NONE;
	if (line->kind == ROW_PROCESS || line->kind == ROW_DEVICE || line->kind == ROW_POOL ||
	    (line->kind == ROW_COUNTER && line->foldable))
		return fold_line(t, view, FOLD_OPEN, true);
	if (!view->selected.id)
		timeline_select(view);
	if (!view->selected.id && timeline_stacks(t, view))
		return OUT_RUN_COMMAND | OUT_FREEZE;
	return view->selected.id ? about_selected(view) | OUT_FREEZE : step_event(view, false);
}

static unsigned timeline_event_command(struct timeline_pane *t, struct view *view,
				       const struct command_call *call)
{
	switch (call->id) {
	case COMMAND_ID_NEXT_EVENT:
		return step_event(view, !view->following || view->selected.id);
	case COMMAND_ID_PREV_EVENT:
		return step_event(view, false);
	case COMMAND_ID_LONGEST_EVENT:
		return longest_event(view);
	case COMMAND_ID_TO_OP:
		return timeline_go_to_peer(t, view, true);
	case COMMAND_ID_TO_KERNEL:
		return timeline_go_to_peer(t, view, false);
	case COMMAND_ID_TO_PRODUCER:
		return timeline_go_to_neighbour(t, view, LINK_PRODUCER);
	case COMMAND_ID_TO_CONSUMER:
		return timeline_go_to_neighbour(t, view, LINK_TAKER);
	case COMMAND_ID_OPEN:
		return open_event(t, view);
	case COMMAND_ID_ABOUT:
		return timeline_about(t, view);
	case COMMAND_ID_DESELECT:
		view->selected = (struct span_ref){0};
		t->find.shown = false;
		return OUT_REDRAW;
	default:
		return timeline_row_command(t, view, call);
	}
}

unsigned timeline_command(struct pane *pane, struct view *view, const struct command_call *call)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;

	switch (call->id) {
	case COMMAND_ID_ROWS:
		return timeline_choose(t, view, call);
	case COMMAND_ID_FOLD:
	case COMMAND_ID_UNFOLD:
	case COMMAND_ID_TOGGLE_FOLD:
		return timeline_fold_command(t, view, call);
	case COMMAND_ID_FIND:
		return timeline_find_command(t, view, call);
	case COMMAND_ID_NEXT_MATCH:
	case COMMAND_ID_PREV_MATCH:
		return step_match(t, view, call->id == COMMAND_ID_NEXT_MATCH);
	default:
		return timeline_event_command(t, view, call);
	}
}
