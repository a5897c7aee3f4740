/* SPDX-License-Identifier: MIT */
/* What the user added to the timeline: marks on the ruler and the measured range. */
#include "tui/timeline/pane_timeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/base/util.h"
#include "tui/timeline/marks.h"

/* Draws a flag and a name over the times; names that would overlap are left out. */
void timeline_draw_marks(const struct view *view, struct area area)
{
	int64_t w = (view->t1_ns - view->t0_ns) / (view->columns > 0 ? view->columns : 1);
	const struct marks *marks = view->marks;
	int free_from = 0;

	for (size_t i = marks && w > 0 ? marks_from(marks, view->t0_ns) : 0;
	     marks && w > 0 && i < marks->n && marks->list[i].start_ns < view->t1_ns; i++) {
		int x = (int)((marks->list[i].start_ns - view->t0_ns) / w);
		char text[MARK_NAME_MAX + 4];

		if (x < free_from || x >= area.width)
			continue;
		snprintf(text, sizeof(text), "%s%s ", view->ascii ? "'" : "▾", marks->list[i].name);
		free_from = area_text(area, x, 0, ROLE_ACCENT, ATTR_BOLD, text);
	}
}

/* Draws the first letter of each mark at its position in the run. */
void timeline_draw_map_marks(const struct timeline_pane *t, const struct view *view,
			     struct area area)
{
	for (size_t i = 0; view->marks && i < view->marks->n; i++) {
		int x = minimap_column(&t->minimap, view->marks->list[i].start_ns);

		if (x >= 0 && x < area.width)
			area_put(area, x, 0, (unsigned char)view->marks->list[i].name[0],
				 ROLE_ACCENT, ROLE_DEFAULT, ATTR_BOLD);
	}
}

/* Columns of the measured range within the window; returns false if it is not in view. */
static bool measured_columns(const struct view *view, int width, int *from, int *to)
{
	int64_t w = (view->t1_ns - view->t0_ns) / (view->columns > 0 ? view->columns : 1);
	int64_t a = view->measure.t0_ns - view->t0_ns, b = view->measure.t1_ns - view->t0_ns;

	if (!view->measure.shown || w <= 0 || b <= 0 || a >= w * width)
		return false;
	*from = a < 0 ? 0 : (int)(a / w);
	*to = b > w * width ? width : (int)((b + w - 1) / w);
	return true;
}

/* Brackets make the range visible without colours. */
void timeline_draw_measure(const struct view *view, struct area ruler)
{
	int from, to;

	if (!measured_columns(view, ruler.width, &from, &to))
		return;
	for (int x = from; x < to; x++)
		area_put(ruler, x, 0, view->ascii ? '=' : 0x2550, ROLE_ACCENT, ROLE_DEFAULT, 0);
	if (view->measure.t0_ns >= view->t0_ns)
		area_put(ruler, from, 0, '[', ROLE_ACCENT, ROLE_DEFAULT, ATTR_BOLD);
	if (view->measure.t1_ns <= view->t1_ns)
		area_put(ruler, to - 1, 0, ']', ROLE_ACCENT, ROLE_DEFAULT, ATTR_BOLD);
}

void timeline_shade_measure(const struct view *view, struct area rows)
{
	int from, to;

	if (!view->shades || !measured_columns(view, rows.width, &from, &to))
		return;
	for (int y = 0; y < rows.height; y++)
		area_shade(rows, from, y, to - from, ROLE_SELECTED);
}

/* "measured 12.4 ms (80.6/s)   stream 7: 12 events, busy 65 %, ..." */
void timeline_measure_sentence(struct timeline_pane *t, const struct view *view,
			       const struct model_row *row)
{
	int64_t length = view->measure.t1_ns - view->measure.t0_ns;
	char time[FMT_MAX], rate[FMT_MAX], count[FMT_MAX], busy[FMT_MAX], share[FMT_MAX];
	struct range_sum sum;

	strip_clear(&t->sentence);
	strip_add(&t->sentence, 0, 1, ROLE_ACCENT, ATTR_BOLD, "measured %s",
		  fmt_time_fine(time, length));
	strip_add(&t->sentence, 1, 1, ROLE_DEFAULT, 0, "(%s/s)",
		  fmt_tenths(rate, (uint64_t)(10000000000 / length)));
	if (!row || !model_range(view->model, row->id, view->cursor_lane, view->measure.t0_ns,
				 view->measure.t1_ns, &sum))
		return;
	strip_add(&t->sentence, 1, 3, ROLE_TITLE, 0, "%s", row->label);
	strip_add(&t->sentence, 1, 2, ROLE_DEFAULT, 0, "%s%s", sum.approx ? "≈" : "",
		  fmt_many(count, sum.count, "event"));
	strip_add(&t->sentence, 1, 2, ROLE_DEFAULT, 0, "busy %s, %s of it",
		  fmt_time(busy, sum.busy_ns),
		  fmt_share(share, (uint64_t)sum.busy_ns, (uint64_t)length));
	if (sum.bytes)
		strip_add(&t->sentence, 2, 2, ROLE_DEFAULT, 0, "%s, %s while busy",
			  fmt_bytes(count, sum.bytes),
			  fmt_rate(rate, bytes_per_s(sum.bytes, sum.busy_ns)));
	strip_add(&t->sentence, 3, 3, ROLE_MUTED, 0, "%s", view->measure.open ?
		  "moving extends, enter: what ran, esc ends" : "range: what ran, esc ends");
}
