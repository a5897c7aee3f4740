/* SPDX-License-Identifier: MIT */
/* Commands that move the timeline's window. */
#include "tui/commands_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

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
unsigned cmd_follow(struct run *run)
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

unsigned cmd_freeze(struct run *run)
{
	(void)run;
	return OUT_FREEZE | OUT_REDRAW;
}

unsigned cmd_toggle_follow(struct run *run)
{
	return run->tui->view.following ? cmd_freeze(run) : cmd_follow(run);
}

static unsigned zoom(struct run *run, int direction)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	int times = command_number(run, 1, WINDOW_LEVEL_MAX);

	if (run->failed)
		return OUT_NONE;
	window_zoom(&tui->window, direction * times,
		    view->following ? view->now_ns : view->cursor_ns);
	window_moved(tui);
	return OUT_REDRAW;
}

unsigned cmd_zoom_in(struct run *run)
{
	return zoom(run, -1);
}

unsigned cmd_zoom_out(struct run *run)
{
	return zoom(run, 1);
}

/* By columns: "12c". 0: it is no such number. */
static int pan_columns(const char *text)
{
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return text && end > text && !strcmp(end, "c") && n >= 1 && n <= WINDOW_COLUMNS_MAX ?
	       (int)n : 0;
}

static unsigned pan(struct run *run, int direction)
{
	int columns = pan_columns(command_first(run));
	int percent = columns ? 0 : command_number(run, 10, 1000);

	if (run->failed)
		return OUT_NONE;
	run->tui->view.following = false;
	if (columns)
		window_shift(&run->tui->window, direction * columns);
	else
		window_pan(&run->tui->window, direction * percent);
	window_moved(run->tui);
	return OUT_FREEZE | OUT_REDRAW;
}

unsigned cmd_pan_left(struct run *run)
{
	return pan(run, -1);
}

unsigned cmd_pan_right(struct run *run)
{
	return pan(run, 1);
}

/* From the first event's start to the last one's end. */
static bool row_extent(struct tui *tui, int64_t *from, int64_t *to)
{
	const struct view *view = &tui->view;
	struct span_ref ref;
	struct span first, last;
	bool found;

	model_lock(tui->model);
	found = model_span_next(tui->model, view->cursor_row, view->cursor_lane, INT64_MIN, &ref) &&
		model_span(tui->model, ref, &first) &&
		model_span_prev(tui->model, view->cursor_row, view->cursor_lane, INT64_MAX, &ref) &&
		model_span(tui->model, ref, &last);
	model_unlock(tui->model);
	if (found) {
		*from = first.start_ns;
		*to = last.end_ns > *from ? last.end_ns : *from + 1;
	}
	return found;
}

unsigned cmd_fit(struct run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	const char *what = command_first(run);
	bool row = what && !strcmp(what, "row");
	int64_t from = tui->status.first_ns, to = view->now_ns, margin;
	struct span span;
	bool found = false;

	if (what && !row && strcmp(what, "all") && strcmp(what, "selection"))
		return command_fail(run, "not 'all', 'selection' or 'row': '%s'", what);
	if (!what || strcmp(what, "selection") == 0) {
		model_lock(tui->model);
		found = view->selected.id && model_span(tui->model, view->selected, &span);
		model_unlock(tui->model);
		if (!found && what)
			return command_fail(run, "no event is selected");
	}
	if (row && !row_extent(tui, &from, &to)) {
		return command_fail(run, "no event in the row under the cursor");
	} else if (found) {
		from = span.start_ns;
		to = span.end_ns;
	} else if (from > tui->status.last_ns) {
		return command_fail(run, "nothing has happened yet");
	}
	margin = (to - from) / 20;
	view->following = false;
	window_fit(&tui->window, tui->layout.columns, from - margin, to + margin);
	window_moved(tui);
	return OUT_FREEZE | OUT_REDRAW;
}

unsigned cmd_goto(struct run *run)
{
	struct tui *tui = run->tui;
	const char *where = command_first(run);
	int64_t t_ns;

	if (strcmp(where, "live") == 0)
		return cmd_follow(run);
	if (strcmp(where, "start") == 0)
		t_ns = 0;
	else if (!parse_time_ns(where, &t_ns) || t_ns < 0)
		return command_fail(run, "not 'start', 'live' or a time: '%s'", where);
	if (tui->status.first_ns > tui->status.last_ns)
		return command_fail(run, "nothing has happened yet");
	tui->view.following = false;
	t_ns += tui->status.first_ns;
	window_place(&tui->window, t_ns, t_ns == tui->status.first_ns ? 0 : 50);
	tui->view.selected = (struct span_ref){0};
	window_moved(tui);
	tui->view.cursor_ns = t_ns;
	return OUT_FREEZE | OUT_REDRAW;
}
