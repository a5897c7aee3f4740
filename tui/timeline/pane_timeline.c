/* SPDX-License-Identifier: MIT */
#include "tui/timeline/pane_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/setting.h"
#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/timeline/sentence.h"

struct timeline_layout timeline_layout(int height, bool minimap)
{
	struct timeline_layout layout = {-1, -1, 0, height > 0 ? height : 0, -1};

	if (height >= 2) {
		layout.sentence = height - 1;
		layout.n_rows--;
	}
	if (minimap && height >= 5) {
		layout.minimap = layout.rows++;
		layout.n_rows--;
	}
	if (height >= 3) {
		layout.ruler = layout.rows++;
		layout.n_rows--;
	}
	return layout;
}

#define LINES_BESIDE 3		/* lines for minimap, ruler and sentence */

static size_t height_of(const struct timeline_pane *t, size_t line)
{
	const struct timeline_line *l = &t->list.lines[line];

	return (row_is_counter(l->kind) ? (size_t)t->counter_lines : 1) + l->compared;
}

static int timeline_lines(const struct pane *pane)
{
	const struct timeline_pane *timeline = (const struct timeline_pane *)pane;
	size_t lines = (size_t)timeline_compare_lines(timeline);

	for (size_t i = 0; i < timeline->list.count; i++)
		lines += row_is_counter(timeline->list.lines[i].kind) ?
			 (size_t)timeline->counter_lines : 1;
	return lines ? (int)lines + LINES_BESIDE : 0;
}

static struct pane *timeline_open(struct view *view)
{
	struct timeline_pane *timeline = xcalloc(1, sizeof(*timeline));

	return &timeline->pane;
}

static void timeline_close(struct pane *pane)
{
	struct timeline_pane *timeline = (struct timeline_pane *)pane;

	fold_set_release(&timeline->folds);
	row_choice_release(&timeline->choice);
	free(timeline->rows);
	line_list_release(&timeline->list);
	column_cache_release(&timeline->cache);
	column_cache_release(&timeline->compare.cache);
	tints_release(&timeline->tints);
	minimap_release(&timeline->minimap);
	step_list_release(&timeline->steps);
	find_release(&timeline->find);
	free(timeline->losses);
	free(timeline->pauses);
	free(timeline->taken);
	free(timeline->seen);
	free(timeline->cells);
	free(timeline->owners);
	free(timeline->blank);
	free(timeline->doing);
	free(timeline->marks);
	free(timeline);
}

/* ---- update ---- */

static void timeline_reserve(struct timeline_pane *t, size_t rows, size_t columns)
{
	if (rows > t->seen_cap) {
		t->seen_cap = rows;
		t->seen = xreallocarray(t->seen, rows, sizeof(*t->seen));
	}
	if (columns > t->columns_cap) {
		t->columns_cap = columns;
		t->owners = xreallocarray(t->owners, columns, sizeof(*t->owners));
		t->blank = xreallocarray(t->blank, columns, sizeof(*t->blank));
		memset(t->blank, 0, columns * sizeof(*t->blank));
		t->doing = xreallocarray(t->doing, columns, sizeof(*t->doing));
		t->marks = xreallocarray(t->marks, columns, sizeof(*t->marks));
	}
	if (rows * columns > t->cells_cap) {
		t->cells_cap = rows * columns;
		t->cells = xreallocarray(t->cells, t->cells_cap, sizeof(*t->cells));
	}
	t->columns = columns;
}

/* Scrolls so that the line is in view. Pinned lines stay above the others, which keep half of the
 * page. */
static void place_top(struct timeline_pane *t, size_t line)
{
	size_t room = t->page, used = 0, last;

	for (t->fixed = 0; t->fixed < t->list.pinned; t->fixed++) {
		if (t->page - room + height_of(t, t->fixed) > t->page / 2)
			break;
		room -= height_of(t, t->fixed);
	}
	/* The last lines fill the page. */
	for (last = t->list.count; last > t->fixed; last--) {
		used += height_of(t, last - 1);
		if (used > room)
			break;
	}
	if (t->top > last)
		t->top = last;
	if (line >= t->fixed && line < t->top)
		t->top = line;
	if (t->top < t->fixed)
		t->top = t->fixed;
	for (used = 0, last = line + 1; last > t->top && line >= t->fixed; last--) {
		used += height_of(t, last - 1);
		if (used > room)
			break;
	}
	if (line >= t->fixed && last > t->top)
		t->top = last <= line ? last : line;
}

/* The cursor is on an existing line, and that line is in view. */
static void place_cursor(struct timeline_pane *t, struct view *view)
{
	int64_t at = line_list_find(&t->list, view->cursor_row, view->cursor_lane);
	size_t line;

	if (!t->list.count) {
		t->top = 0;
		return;
	}
	/* Rows appear one by one: until the user moves the cursor, it is placed on the best row
	 * that exists. */
	if (at < 0 || (!t->moved && view->cursor_row == t->home_row)) {
		line = line_list_home(&t->list);
		t->home_row = t->list.lines[line].row;
	} else {
		line = (size_t)at;
		t->moved = true;
	}
	view->cursor_row = t->list.lines[line].row;
	view->cursor_lane = t->list.lines[line].lane;
	place_top(t, line);
}

/* Marks the starts of steps, if they are far enough apart. */
static void mark_steps(struct timeline_pane *t, const struct view *view, int64_t w)
{
	size_t from, i;

	memset(t->marks, 0, t->columns);
	t->marked = false;
	model_steps_update(view->model, &t->steps);
	from = steps_from(&t->steps, view->t0_ns);
	for (i = from; i < t->steps.n && t->steps.rows[i].start_ns < view->t1_ns; i++)
		if (i - from > t->columns / 6)
			break;
	if (i - from > t->columns / 6)
		return;
	for (; i-- > from;) {
		int64_t column = (t->steps.rows[i].start_ns - view->t0_ns) / w;

		if (column >= 0 && (size_t)column < t->columns)
			t->marks[column] = t->marked = true;
	}
}

static void update_sentence(struct timeline_pane *t, struct view *view,
			    const struct model_row *rows, size_t n_rows, int64_t w)
{
	int64_t busy = 0, until = view->t1_ns, from = view->t0_ns;
	const struct column *columns;
	struct idle_gap gap;
	char peak[FMT_MAX];
	size_t i, c;

	strip_clear(&t->sentence);
	if (view->measure.shown) {
		for (i = 0; i < n_rows && rows[i].id != view->cursor_row; i++)
			;
		timeline_measure_sentence(t, view, i < n_rows ? &rows[i] : NULL);
		return;
	}
	if (t->has_selected) {
		sentence_of_span(&t->sentence, &t->selected, places_base_ns(&t->status));
		return;
	}
	for (i = 0; i < n_rows && rows[i].id != view->cursor_row; i++)
		;
	if (i == n_rows || !t->columns)
		return;
	if (!t->status.finished && until > t->status.settled_ns)
		until = t->status.settled_ns;
	if (until > t->status.last_ns)
		until = t->status.last_ns;
	if (from < t->status.first_ns)
		from = t->status.first_ns;
	if (rows[i].kind == ROW_MEMORY || rows[i].kind == ROW_COUNTER) {
		fmt_counter(peak, (int64_t)rows[i].peak + rows[i].base,
			    rows[i].kind == ROW_MEMORY ? "bytes" : rows[i].unit);
		sentence_of_counter(&t->sentence, rows[i].label, peak);
		return;
	}
	t->cache.late_ns = timeline_late(rows[i].kind);
	columns = column_cache_get(&t->cache, view->model, view->cursor_row, view->cursor_lane,
				   view->t0_ns, w, t->columns);
	for (c = 0; c < t->columns && view->t0_ns + (int64_t)(c + 1) * w <= until; c++)
		busy += columns[c].busy_ns;
	until = view->t0_ns + (int64_t)c * w;
	sentence_of_row(&t->sentence, rows[i].label,
			busy, rows[i].kind == ROW_BANDWIDTH ? 0 : until - from, rows[i].count);
	if ((rows[i].kind == ROW_DEVICE || rows[i].kind == ROW_QUEUE || rows[i].kind == ROW_COPY) &&
	    model_idle_at(view->model, rows[i].device, view->cursor_ns, &gap))
		sentence_add_idle(&t->sentence, &gap, view->ascii);
	if (rows[i].kind == ROW_THREAD && t->states)
		sentence_add_states(&t->sentence, view->model, view->cursor_row, view->cursor_ns,
				    view->t0_ns, w, view->ascii);
	if (t->status.folded_ns > view->t0_ns)
		sentence_add_folded(&t->sentence, t->status.folded_ns, places_base_ns(&t->status));
}

/* Start of the first event of each row whose detail is kept. */
static int64_t *first_starts(struct model *model, const struct model_row *rows, size_t n)
{
	int64_t *starts = xreallocarray(NULL, n ? n : 1, sizeof(*starts));
	struct span_ref ref;
	struct span span;

	for (size_t i = 0; i < n; i++)
		starts[i] = !row_is_counter(rows[i].kind) &&
			    model_span_next(model, rows[i].id, LANE_ALL, INT64_MIN, &ref) &&
			    model_span(model, ref, &span) ? span.start_ns : INT64_MAX;
	return starts;
}

void timeline_take_rows(struct timeline_pane *t, struct model *model, const struct model_row *rows,
			size_t n_rows)
{
	int64_t *starts = NULL;

	t->rows = xreallocarray(t->rows, n_rows ? n_rows : 1, sizeof(*t->rows));
	if (n_rows)
		memcpy(t->rows, rows, n_rows * sizeof(*rows));
	/* then no line is there for what is not shown */
	for (size_t i = 0; i < n_rows; i++)
		t->rows[i].looked_at &= t->states;
	if (t->choice.order == ROWS_BY_START)
		starts = first_starts(model, rows, n_rows);
	t->n_rows = row_choice_apply(&t->choice, t->rows, n_rows, starts);
	free(starts);
	line_list_build(&t->list, t->rows, t->n_rows, t->choice.n_first, &t->folds);
}

/* The name of a row alone does not say to which device or process it belongs. */
static void tell_parent(struct timeline_seen *seen, const struct model_row *rows, size_t n_rows)
{
	uint32_t parent = 0;

	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].id == seen->line.row)
			parent = rows[i].parent;
	for (size_t i = 0; parent && i < n_rows; i++)
		if (rows[i].id == parent && rows[i].label)
			snprintf(seen->value, sizeof(seen->value), "%.*s",
				 (int)strcspn(rows[i].label, " "), rows[i].label);
}

static void update_rows(struct timeline_pane *t, struct view *view, const struct model_row *rows,
			size_t n_rows, int64_t w)
{
	int y = 0;
	size_t i;

	/* While following, the screen changes faster than it can be read. */
	if (view->following)
		t->find.shown = false;
	if (t->find.shown)
		find_count(&t->find, view->model, rows, n_rows, view->t0_ns, view->t1_ns);
	timeline_take_rows(t, view->model, rows, n_rows);
	timeline_compare_choose(t, view);
	place_cursor(t, view);
	for (i = 0; y < (int)t->page; i++) {
		size_t line = i < t->fixed ? i : t->top + i - t->fixed;
		struct timeline_seen *seen = &t->seen[i];

		if (line >= t->list.count)
			break;
		*seen = (struct timeline_seen) {
			.line = t->list.lines[line], .pinned = line < t->list.pinned,
			.y = y, .height = (int)height_of(t, line),
		};
		if (seen->height > (int)t->page - y)
			seen->height = (int)t->page - y;
		seen->compared = seen->line.compared && seen->height == (int)height_of(t, line);
		y += seen->height;
		timeline_line(t, view, w, i);
		model_yield(view->model);
		if (seen->pinned && seen->line.first && !seen->value[0])
			tell_parent(seen, rows, n_rows);
	}
	t->n_seen = i;
}

static void timeline_legend(struct timeline_pane *t, const struct view *view)
{
	tints_legend(&t->tints, &t->sentence, view->ascii, view->colour);
	states_legend(&t->sentence, t->families, STRIP_NEEDED + 7 + TINTS_TOLD, view->ascii);
}

static void timeline_update(struct pane *pane, struct view *view, int width, int height)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;
	struct timeline_layout layout = timeline_layout(height, view->minimap);
	int columns = view->columns < width ? view->columns : width;
	struct model_row *rows = NULL;
	size_t n_rows;
	int64_t w;

	t->page = (size_t)layout.n_rows;
	t->n_seen = 0;
	t->counter_lines = view->settings->value[SETTING_COUNTER_LINES];
	t->states = view->settings->value[SETTING_THREAD_STATES];
	t->doing_row = t->families = 0;
	t->heat = view->shades && view->settings->value[SETTING_DENSITY];
	timeline_reserve(t, t->page, columns > 0 ? (size_t)columns : 0);
	tints_begin(&t->tints, (enum tint_by)view->settings->value[SETTING_COLOUR_BY], t->columns);
	model_status(view->model, &t->status);
	column_cache_frame(&t->cache, &t->status);
	column_cache_frame(&t->compare.cache, &t->status);
	n_rows = model_rows(view->model, &rows);
	t->has_selected = view->selected.id &&
			  model_span(view->model, view->selected, &t->selected);
	w = view->columns > 0 ? (view->t1_ns - view->t0_ns) / view->columns : 0;
	if (t->columns && w > 0 && view->t1_ns - view->t0_ns == w * (int64_t)t->columns) {
		timeline_links_update(t, view);
		mark_steps(t, view, w);
		ruler_layout(&t->ruler, view->t0_ns, w, t->columns, places_base_ns(&t->status));
		update_rows(t, view, rows, n_rows, w);
		free(t->losses);
		t->losses = NULL;
		t->n_losses = model_losses(view->model, view->t0_ns, view->t1_ns, &t->losses);
		free(t->pauses);
		t->n_pauses = model_pauses(view->model, UINT32_MAX, view->t0_ns, view->t1_ns,
					   &t->pauses);
		free(t->taken);
		t->n_taken = model_taken(view->model, view->t0_ns, view->t1_ns, &t->taken);
		t->n_clock_steps = model_clock_steps(view->model, view->t0_ns, view->t1_ns,
						     t->clock_steps, CLOCK_MARKS);
		update_sentence(t, view, rows, n_rows, w);
		if (t->has_selected)
			timeline_links_sentence(t, view, rows, n_rows);
		else
			timeline_legend(t, view);
		if (t->find.shown)
			find_sentence(&t->find, &t->sentence);
	}
	model_yield(view->model);
	if (layout.minimap >= 0)
		minimap_update(&t->minimap, view->model, &t->status, rows, n_rows,
			       width > 2 ? width - 2 : 0, view->t0_ns, view->t1_ns);
	free(rows);
}

const struct pane_ops pane_timeline = {
	.name = "timeline",
	.key_table = "timeline",
	.open = timeline_open,
	.close = timeline_close,
	.update = timeline_update,
	.lines = timeline_lines,
	.draw = timeline_draw,
	.command = timeline_command,
	.mouse = timeline_mouse,
	.reveal = timeline_reveal,
};
