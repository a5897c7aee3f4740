/* SPDX-License-Identifier: MIT */
/* compare: below each row, the same row in another step, in grey, both steps aligned at their
 * starts. The second line belongs to its row: the cursor is never on it. */
#include "tui/timeline/pane_timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/base/util.h"
#include "tui/timeline/compare.h"

/* For open groups, the rows inside say more. */
static bool takes_line(const struct timeline_line *line)
{
	bool holds =
		line->kind == ROW_DEVICE || line->kind == ROW_PROCESS || line->kind == ROW_POOL;

	return !holds || line->folded;
}

/* The device or process that contains the row. */
static uint32_t outermost(const struct timeline_pane *t, uint32_t row)
{
	for (size_t depth = 0; depth < t->n_rows; depth++) {
		size_t i;

		for (i = 0; i < t->n_rows && t->rows[i].id != row; i++)
			;
		if (i == t->n_rows || !t->rows[i].parent)
			break;
		row = t->rows[i].parent;
	}
	return row;
}

/* The two steps that this frame compares. */
static bool take_steps(struct timeline_pane *t, const struct view *view)
{
	int64_t at = view->t0_ns + (view->t1_ns - view->t0_ns) / 2;
	const struct step_row *rows = t->steps.rows;
	size_t here, there;

	if (!view->compare.shown || !t->steps.n)
		return false;
	if (!view->following && view->cursor_ns >= view->t0_ns && view->cursor_ns < view->t1_ns)
		at = view->cursor_ns;
	here = compare_step_at(rows, t->steps.n, at);
	there = view->compare.previous ? here - (here > 0) :
		compare_step_at(rows, t->steps.n, view->compare.start_ns);
	t->compare.here = rows[here];
	t->compare.there = rows[there];
	return !view->compare.previous || here;
}

int timeline_compare_lines(const struct timeline_pane *t)
{
	int lines = 0;

	for (size_t i = 0; t->compare.shown && i < t->list.count; i++)
		lines += takes_line(&t->list.lines[i]);
	return lines;
}

void timeline_compare_choose(struct timeline_pane *t, const struct view *view)
{
	uint32_t around = 0;
	size_t lines;

	t->compare.shown = take_steps(t, view);
	if (!t->compare.shown)
		return;
	lines = (size_t)timeline_compare_lines(t);
	for (size_t i = 0; i < t->list.count; i++)
		lines += row_is_counter(t->list.lines[i].kind) ? (size_t)t->counter_lines : 1;
	t->compare.only = lines > t->page ? outermost(t, view->cursor_row) : 0;
	for (size_t i = 0; i < t->list.count; i++) {
		struct timeline_line *line = &t->list.lines[i];

		/* Neighbouring rows usually have the same parent. */
		if (t->compare.only && (!i || !line->parent || line->parent != line[-1].parent))
			around = outermost(t, line->row);
		line->compared = takes_line(line) && around == t->compare.only;
	}
}

void timeline_compare_line(struct timeline_pane *t, const struct view *view, int64_t w,
			   const struct timeline_seen *seen, struct cell_style style)
{
	const struct timeline_line *line = &seen->line;
	struct compare_place place = compare_place(t->compare.here.start_ns, &t->compare.there,
						   view->t0_ns, w, t->columns);
	struct cell *cells = t->cells + (size_t)(seen->y + seen->height - 1) * t->columns;
	const struct column *columns;
	size_t i, n = place.end - place.begin;

	for (i = 0; i < t->columns; i++)
		cells[i] = (struct cell){' ', ROLE_DEFAULT, ROLE_DEFAULT, 0};
	if (!n)
		return;
	/* The end of the other step, which users look for first. */
	if (place.end < t->columns)
		cells[place.end] = (struct cell){view->ascii ? '|' : 0x250a, ROLE_MUTED,
						 ROLE_DEFAULT, 0};
	style.grey = true;
	style.heat = false;
	style.tints = NULL;
	t->compare.cache.late_ns = timeline_late(line->kind);
	columns = column_cache_get(&t->compare.cache, view->model, line->row, line->lane,
				   place.t0_ns, w, t->columns) + place.begin;
	cells += place.begin;
	if (row_is_counter(line->kind)) {
		style.muted = true;
		cells_plot(columns, n, line->peak, 1, &style, cells);
	} else {
		cells_draw(columns, n, place.t0_ns + (int64_t)place.begin * w, w, &style, cells,
			   t->owners);
		if (!style.muted)
			timeline_label_bars(t, view, columns, n, &style, cells);
	}
	cells_lost(cells, columns, n, &style);
	cells_paused(cells, columns, n, &style);
	/* Without colours there is no grey. */
	for (i = 0; i < n && !view->colour; i++)
		cells[i].attr |= ATTR_DIM;
}

static void step_name(char *out, size_t size, const struct step_row *step)
{
	snprintf(out, size, "step %" PRId64, step->number);
}

void timeline_compare_label(const struct timeline_pane *t, const struct view *view,
			    const struct timeline_seen *seen, struct area labels)
{
	int right = labels.width - 1, y = seen->y + seen->height - 1;
	char text[32];

	step_name(text, sizeof(text), &t->compare.there);
	if (text_width(text) + 2 < right)
		area_text(labels, right - text_width(text), y, ROLE_MUTED, 0, text);
	area_put(labels, right, y, view->ascii ? '|' : 0x2502, ROLE_UNSETTLED, ROLE_DEFAULT, 0);
}

void timeline_compare_ruler(const struct timeline_pane *t, const struct view *view,
			    struct area ruler)
{
	const struct step_row *steps[2] = { &t->compare.here, &t->compare.there };
	char text[240], name[2][32], time[2][FMT_MAX];

	if (!view->compare.shown)
		return;
	for (int i = 0; i < 2; i++) {
		step_name(name[i], sizeof(name[i]), steps[i]);
		fmt_time(time[i], steps[i]->dur_ns);
	}
	if (!t->compare.shown)
		snprintf(text, sizeof(text), " no step before it ");
	else if (steps[0]->start_ns == steps[1]->start_ns)
		snprintf(text, sizeof(text), " %s over itself ", name[0]);
	else
		snprintf(text, sizeof(text), " %s %s over %s %s ", name[0], time[0], name[1],
			 time[1]);
	if (text_width(text) > ruler.width / 2)
		snprintf(text, sizeof(text), " %s over %s ", name[0], name[1]);
	if (text_width(text) <= ruler.width)
		area_text(ruler, ruler.width - text_width(text), 0, ROLE_ACCENT, 0, text);
}
