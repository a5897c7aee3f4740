/* SPDX-License-Identifier: MIT */
/* Commands that move the timeline's window. */
#include "tui/commands/commands_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/gaps.h"
#include "model/query/time.h"
#include "tui/timeline/when.h"

#define STEPS_SEEN 20	/* in a window of more steps, one that is gone to is not seen */

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

/* After the end there is nothing to follow; the window goes to the end instead. */
unsigned cmd_follow(struct command_run *run)
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

unsigned cmd_freeze(struct command_run *run)
{
	(void)run;
	return OUT_FREEZE | OUT_REDRAW;
}

unsigned cmd_toggle_follow(struct command_run *run)
{
	return run->tui->view.following ? cmd_freeze(run) : cmd_follow(run);
}

/* Of a run that has ended, a window of twice its length shows all there is. */
static bool is_zoomed_out(const struct tui *tui)
{
	int64_t window_ns = window_end_ns(&tui->window) - tui->window.t0_ns;

	return tui->status.finished && window_ns / 2 > tui->status.last_ns - tui->status.first_ns;
}

static unsigned time_zoom(struct command_run *run, int direction)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	int times = command_number(run, 1, WINDOW_LEVEL_MAX);

	if (run->failed)
		return OUT_NONE;
	while (times-- && (direction < 0 || !is_zoomed_out(tui)))
		window_zoom(&tui->window, direction,
			    view->following ? view->now_ns : view->cursor_ns);
	window_moved(tui);
	return OUT_REDRAW;
}

unsigned cmd_zoom_in(struct command_run *run)
{
	return time_zoom(run, -1);
}

unsigned cmd_zoom_out(struct command_run *run)
{
	return time_zoom(run, 1);
}

/* Parses a number of columns, "12c". Returns 0 if it is none. */
static int pan_columns(const char *text)
{
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	return text && end > text && !strcmp(end, "c") && n >= 1 && n <= WINDOW_COLUMNS_MAX ?
	       (int)n : 0;
}

static unsigned time_pan(struct command_run *run, int direction)
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

unsigned cmd_pan_left(struct command_run *run)
{
	return time_pan(run, -1);
}

unsigned cmd_pan_right(struct command_run *run)
{
	return time_pan(run, 1);
}

/* The time from the start of the first event to the end of the last one. */
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

/* Sets the window to a range, with a margin. */
static unsigned fit_range(struct command_run *run, int64_t from, int64_t to)
{
	struct tui *tui = run->tui;
	int64_t margin = (to - from) / 20;

	tui->view.following = false;
	window_fit(&tui->window, tui->layout.columns, from - margin, to + margin);
	window_moved(tui);
	return OUT_FREEZE | OUT_REDRAW;
}

static unsigned fit_words(struct command_run *run)
{
	struct when_asks asks = { run->tui->model, &run->tui->view };
	struct when when;
	int at = 1;

	run->failed = !when_range(&asks, run->call.argc, run->call.argv, &at, &when, run->error,
				  run->error_size);
	if (run->failed)
		return OUT_NONE;
	if (at < run->call.argc)
		return command_fail(run, "'%s' takes one range, not also '%s'", run->call.argv[0],
				    run->call.argv[at]);
	if (!when.is_step)
		return fit_range(run, when.t0, when.t1);
	run->tui->view.selected = (struct span_ref){0};
	fit_range(run, when.t0, when.t1);
	run->tui->view.cursor_ns = when.t0;
	return OUT_FREEZE | OUT_REDRAW;
}

unsigned cmd_fit(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	const char *what = command_first(run);
	struct span span;
	int64_t from, to;
	bool found = false;

	if (what && !strcmp(what, "row"))
		return row_extent(tui, &from, &to) ? fit_range(run, from, to) :
			command_fail(run, "the row under the cursor has no event");
	if (what && strcmp(what, "all"))
		return fit_words(run);
	if (!what) {
		model_lock(tui->model);
		found = view->selected.id && model_span(tui->model, view->selected, &span);
		model_unlock(tui->model);
	}
	if (found)
		return fit_range(run, span.start_ns, span.end_ns);
	if (tui->status.first_ns > tui->status.last_ns)
		return command_fail(run, "nothing has happened yet");
	return fit_range(run, tui->status.first_ns, view->now_ns);
}

static unsigned goto_time(struct command_run *run, int64_t t_ns, int percent)
{
	struct tui *tui = run->tui;

	tui->view.following = false;
	window_place(&tui->window, t_ns, percent);
	tui->view.selected = (struct span_ref){0};
	window_moved(tui);
	tui->view.cursor_ns = t_ns;
	return OUT_FREEZE | OUT_REDRAW;
}

/* The step starts at the left of the window; a window in which it is seen keeps its length. One
 * that is named (not the next or the previous one) is shown whole. */
static unsigned goto_step(struct command_run *run, const char *which)
{
	struct view *view = &run->tui->view;
	struct when_asks asks = { run->tui->model, view };
	struct when when;
	char time[FMT_MAX];
	unsigned outcome;

	run->failed = !when_step(&asks, which, &when, run->error, run->error_size);
	if (run->failed)
		return OUT_NONE;
	outcome = goto_time(run, when.t0, 5);
	if (strcmp(which, "next") && strcmp(which, "previous") &&
	    (view->t1_ns - view->t0_ns) / STEPS_SEEN > when.t1 - when.t0) {
		fit_range(run, when.t0, when.t1);
		view->cursor_ns = when.t0;
	}
	tui_say(run->tui, false, "%s: %s", when.title, fmt_time_fine(time, when.t1 - when.t0));
	return outcome | OUT_FOCUS_TIMELINE;
}

/* Formats "input 80 %": the cause of most of the gap; "" if it is unknown. */
static const char *gap_cause(struct tui *tui, const struct row_gap *gap, char *text, size_t size)
{
	struct model_row *rows;
	struct idle_gap idle;
	char share[FMT_MAX];
	size_t n = model_rows(tui->model, &rows), i;

	text[0] = '\0';
	for (i = 0; i < n && rows[i].id != tui->view.cursor_row; i++)
		;
	if (i < n &&
	    (rows[i].kind == ROW_DEVICE || rows[i].kind == ROW_QUEUE || rows[i].kind == ROW_COPY) &&
	    model_idle_at(tui->model, rows[i].device,
			  gap->start_ns + (gap->end_ns - gap->start_ns) / 2, &idle))
		snprintf(text, size, ", the device was idle: %s %s", idle_name(idle_most(&idle)),
			 fmt_share(share, (uint64_t)idle.ns[idle_most(&idle)],
				   (uint64_t)(idle.end_ns - idle.start_ns)));
	free(rows);
	return text;
}

/* The gap is measured on the timeline, so that its length is shown. */
static unsigned goto_gap(struct command_run *run, const char *which)
{
	struct tui *tui = run->tui;
	struct view *view = &tui->view;
	int64_t least = view->columns > 0 ? (view->t1_ns - view->t0_ns) / view->columns * 2 : 1;
	bool next = !strcmp(which, "next"), longest = !strcmp(which, "longest"), found, more;
	char length[FMT_MAX], cause[80] = "";
	struct row_gap gap;

	if (!next && !longest && strcmp(which, "previous"))
		return command_fail(run, "expected next, previous or longest, not '%s'", which);
	model_lock(tui->model);
	found = longest ? model_gaps_longest(tui->model, view->cursor_row, view->cursor_lane,
					     view->t0_ns, view->t1_ns, 1, &gap, &more) > 0
			: (next ? model_gap_next : model_gap_prev)(tui->model, view->cursor_row,
								   view->cursor_lane,
								   view->cursor_ns, least, &gap);
	if (found)
		gap_cause(tui, &gap, cause, sizeof(cause));
	model_unlock(tui->model);
	if (!found)
		return command_fail(
			run,
			"no %sgap of %s or more (two columns) in this row; zoom in for "
			"shorter ones",
			next	  ? "later "
			: longest ? ""
				  : "earlier ",
			fmt_time(length, least));
	view->selected = (struct span_ref){0};
	view->cursor_ns = gap.start_ns;
	view->measure.shown = true;
	view->measure.open = false;
	view->measure.t0_ns = gap.start_ns;
	view->measure.t1_ns = gap.end_ns;
	tui_say(tui, false, "a gap of %s%s", fmt_time_fine(length, gap.end_ns - gap.start_ns),
		cause);
	return OUT_FREEZE | OUT_REDRAW | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE;
}

unsigned cmd_goto(struct command_run *run)
{
	struct tui *tui = run->tui;
	struct when_asks asks = { tui->model, &tui->view };
	const char *where = command_first(run),
		   *which = run->call.argc > 2 ? run->call.argv[2] : NULL;
	char end[FMT_MAX];
	int64_t t_ns;

	if (strcmp(where, "live") == 0)
		return cmd_follow(run);
	if (strcmp(where, "step") == 0 && which)
		return goto_step(run, which);
	if (strcmp(where, "gap") == 0 && which)
		return goto_gap(run, which);
	if (strcmp(where, "mark") == 0 && which) {
		if (!marks_find(&tui->marks, which))
			return command_fail(run,
					    tui->marks.n ? "there is no mark '%s'; 'marks' lists "
							   "them" :
							   "there is no mark '%s'; m and a letter "
							   "set one",
					    which);
		where = which;
	} else if (which) {
		return command_fail(run,
				    "expected 'mark NAME', 'step N' or 'gap next', not '%s %s'",
				    where, which);
	}
	run->failed = !when_moment(&asks, where, &t_ns, run->error, run->error_size);
	if (run->failed)
		return OUT_NONE;
	if (t_ns > tui->status.last_ns) {
		fmt_time(end, tui->status.last_ns - tui->status.first_ns);
		tui_say(tui, false, "there is nothing at that time: the recording ends at %s", end);
	}
	return goto_time(run, t_ns, t_ns == tui->status.first_ns ? 0 : 50) |
	       (which ? OUT_FOCUS_TIMELINE : 0);
}
