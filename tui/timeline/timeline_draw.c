/* SPDX-License-Identifier: MIT */
/* Draws the timeline pane from the data that update() has copied; does not access the model. */
#include "tui/timeline/pane_timeline.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"

/* Draws "▒lost 1 204▒" in the middle of [begin, end), shifted so that it is in view. */
static int draw_lost(struct area area, const struct view *view, int begin, int end, int free_from,
		     uint64_t count, bool packets)
{
	const char *shade = view->ascii ? "?" : "▒";
	char text[96], number[FMT_MAX] = "";
	int x, width;

	/* For some losses only the time is known here; their numbers are shown elsewhere. */
	if (count)
		fmt_count(number, count);
	snprintf(text, sizeof(text), "%slost%s%s%s%s", shade, count ? " " : "", number,
		 packets ? " packets" : "", shade);
	width = text_width(text);
	x = begin + (end - begin - width) / 2;
	x = x + width > area.width ? area.width - width : x;
	x = x < 0 ? 0 : x;
	return x < free_from ? free_from : area_text(area, x, 0, ROLE_LOST, 0, text) + 1;
}

/* Draws losses in place of the times on the ruler; adjacent losses are drawn as one. */
static void draw_losses(const struct timeline_pane *t, const struct view *view, struct area area)
{
	int64_t w = (view->t1_ns - view->t0_ns) / view->columns;
	int free_from = 0;
	size_t i, next;

	for (i = 0; i < t->n_losses; i = next) {
		int64_t begin = (t->losses[i].begin_ns - view->t0_ns) / w, end = begin;
		uint64_t count = 0;
		bool packets = false;

		for (next = i; next < t->n_losses; next++) {
			const struct model_loss *loss = &t->losses[next];
			int64_t until = (loss->end_ns - view->t0_ns) / w + 1;

			if (next > i && (loss->begin_ns - view->t0_ns) / w > end)
				break;
			end = until > end ? until : end;
			count += loss->count;
			packets |= loss->packets;
		}
		begin = begin < 0 ? 0 : begin;
		end = end > area.width ? area.width : end;
		if (begin >= end)
			continue;
		area_fill(area, (int)begin, 0, (int)(end - begin), 1, view->ascii ? '?' : 0x2592,
			  ROLE_LOST, ROLE_DEFAULT, 0);
		free_from = draw_lost(area, view, (int)begin, (int)end, free_from, count, packets);
	}
}

/* The longest text for which there is room, in the middle of the visible part; the rows are
 * hatched. */
static void draw_pause(const struct view *view, struct area area, const struct model_pause *pause)
{
	static const char *const off[] = { "off", NULL };
	static const char *const taken[] = {
		"the program's own profiler has the device", "the program's own profiler",
		"own profiler", NULL,
	};
	int64_t w = (view->t1_ns - view->t0_ns) / view->columns;
	int64_t from = (pause->begin_ns - view->t0_ns) / w;
	int room = (int)((pause->end_ns - view->t0_ns) / w - from);

	for (const char *const *text = pause->taken ? taken : off; *text; text++) {
		int width = text_width(*text);

		if (room < width + 2)
			continue;
		area_text(area, (int)from + (room - width) / 2, 0, ROLE_MUTED, 0, *text);
		return;
	}
}

static void draw_pauses(const struct timeline_pane *t, const struct view *view, struct area area)
{
	for (size_t i = 0; i < t->n_pauses; i++)
		draw_pause(view, area, &t->pauses[i]);
	for (size_t i = 0; i < t->n_taken; i++)
		draw_pause(view, area, &t->taken[i]);
}

/* Draws one screen line of a row. */
static void draw_cells(const struct timeline_pane *t, const struct view *view, struct area area,
		       int y, const struct timeline_seen *seen, int line)
{
	const struct cell *cells = t->cells + (size_t)(seen->y + line) * t->columns;
	enum row_kind kind = seen->line.kind;
	size_t i;

	for (i = 0; i < t->columns; i++) {
		const struct cell *cell = &cells[i];

		if (cell->ch == ' ' && cell->bg == ROLE_DEFAULT) {
			if (t->marks[i] && !view->ascii && !row_is_counter(kind) && !line)
				area_put(area, (int)i, y, 0x250a, ROLE_UNSETTLED, ROLE_DEFAULT, 0);
		} else if (cell->ch) {
			area_put(area, (int)i, y, cell->ch, (enum role)cell->fg,
				 (enum role)cell->bg, cell->attr);
		}
	}
}

/* Draws at the left of the times that there are more rows than those in view. */
static void draw_hidden(const struct timeline_pane *t, struct area area)
{
	char text[FMT_MAX + 16], rows[FMT_MAX];

	if (!t->choice.hidden)
		return;
	snprintf(text, sizeof(text), "%s hidden", fmt_many(rows, t->choice.hidden, "row"));
	if (text_width(text) > area.width - 1)
		snprintf(text, sizeof(text), "%zu hidden", t->choice.hidden);
	area_text(area, 1, 0, ROLE_ACCENT, 0, text);
}

/* Draws step numbers as far as the step marks are drawn. */
static void draw_step_numbers(const struct timeline_pane *t, const struct view *view,
			      struct area area, int64_t w)
{
	for (size_t i = steps_from(&t->steps, view->t0_ns); t->marked && i < t->steps.n; i++) {
		int64_t column = (t->steps.rows[i].start_ns - view->t0_ns) / w;

		if (column >= area.width)
			return;
		if (t->steps.rows[i].start_ns >= view->t0_ns && (size_t)column < t->columns &&
		    t->marks[column] && t->steps.rows[i].number >= 0)
			ruler_draw_step(area, column, t->steps.rows[i].number);
	}
}

static void draw_ruler(const struct timeline_pane *t, const struct view *view, struct area area)
{
	int64_t w = (view->t1_ns - view->t0_ns) / (view->columns > 0 ? view->columns : 1);
	int64_t at;

	if (w <= 0)
		return;
	draw_pauses(t, view, area);
	draw_losses(t, view, area);
	for (size_t i = 0; i < t->n_clock_steps; i++)
		ruler_draw_clock(area, (t->clock_steps[i] - view->t0_ns) / w, view->ascii);
	if (t->status.folded_ns > view->t0_ns)
		ruler_draw_folded(area, (t->status.folded_ns - view->t0_ns) / w + 1, view->ascii);
	timeline_draw_marks(view, area);
	timeline_draw_measure(view, area);
	timeline_compare_ruler(t, view, area);
	ruler_draw(&t->ruler, area, view->ascii);
	draw_step_numbers(t, view, area, w);
	at = view->cursor_ns < view->t0_ns ? -1 : (view->cursor_ns - view->t0_ns) / w;
	/* Changes only the background: a mark over a digit would change the number. */
	if (!view->following && at >= 0 && at < area.width)
		area_tint(area, (int)at, 0, 1, ROLE_CURSOR, ATTR_BOLD);
}

static void draw_sentence(struct timeline_pane *t, const struct view *view, struct area area)
{
	if (view->colour) {
		area_fill(area, 0, 0, area.width, 1, ' ', ROLE_HEADER, ROLE_HEADER, 0);
		strip_draw(&t->sentence, area_sub(area, 1, 0, area.width - 2, 1), 0, ROLE_HEADER,
			   0, view->ascii);
	} else {
		strip_draw(&t->sentence, area, 0, ROLE_DEFAULT, view->ascii ? '-' : 0x2500,
			   view->ascii);
	}
}

/* A counter of several lines has its visible maximum at the top and its minimum at the bottom. */
static void draw_range(const struct view *view, const struct timeline_seen *seen,
		       struct area labels, int line)
{
	bool last = line == seen->height - seen->compared - 1 && line > 1;
	const char *text = last ? seen->least : line == 1 ? seen->most : "";
	int right = labels.width - 1, at = right - text_width(text);

	if (*text && at > 3)
		area_text(labels, at, seen->y + line, ROLE_MUTED, 0, text);
	if (*text && at > 7)
		area_text(labels, at - 4, seen->y + line, ROLE_MUTED, 0, last ? "min" : "max");
	area_put(labels, right, seen->y + line, view->ascii ? '|' : 0x2502, ROLE_UNSETTLED,
		 ROLE_DEFAULT, 0);
}

static void draw_label(const struct timeline_pane *t, const struct view *view,
		       const struct timeline_seen *seen, struct area labels)
{
	bool current = seen->line.row == view->cursor_row && seen->line.lane == view->cursor_lane;

	line_label_draw(&seen->line, seen->value[0] ? seen->value : NULL, labels, seen->y,
			current, view->ascii);
	if (seen->pinned)
		area_text(labels, 0, seen->y, ROLE_ACCENT, 0, view->ascii ? "*" : "•");
	for (int line = 1; line < seen->height - seen->compared; line++)
		draw_range(view, seen, labels, line);
	if (seen->compared)
		timeline_compare_label(t, view, seen, labels);
}

void timeline_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct timeline_pane *t = (struct timeline_pane *)pane;
	struct timeline_layout layout = timeline_layout(area.height, view->minimap);
	struct area time = area_sub(area, view->gutter, 0, (int)t->columns, area.height);
	struct area labels = area_sub(area, 0, layout.rows, view->gutter, layout.n_rows);
	size_t i;

	if (layout.minimap >= 0)
		minimap_draw(&t->minimap, area_sub(area, 1, layout.minimap, area.width - 2, 1),
			     view->ascii, view->colour);
	if (layout.minimap >= 0)
		timeline_draw_map_marks(t, view,
					area_sub(area, 1, layout.minimap, area.width - 2, 1));
	if (layout.ruler >= 0 && view->columns > 0)
		draw_ruler(t, view, area_sub(time, 0, layout.ruler, time.width, 1));
	if (layout.ruler >= 0)
		draw_hidden(t, area_sub(area, 0, layout.ruler, view->gutter, 1));
	for (i = 0; i < t->n_seen && t->seen[i].y < layout.n_rows; i++) {
		const struct timeline_seen *seen = &t->seen[i];

		draw_label(t, view, seen, labels);
		for (int line = 0; line < seen->height; line++)
			draw_cells(t, view, time, layout.rows + seen->y + line, seen, line);
	}
	timeline_shade_measure(view, area_sub(time, 0, layout.rows, time.width, layout.n_rows));
	if (t->top + t->n_seen - t->fixed < t->list.count && layout.n_rows > 3)
		area_text(area, 0, layout.rows + layout.n_rows - 1, ROLE_MUTED, 0,
			  view->ascii ? "v" : "↓");
	if (t->top > t->fixed && layout.n_rows > 3 && t->fixed < t->n_seen)
		area_text(area, 0, layout.rows + t->seen[t->fixed].y, ROLE_MUTED, 0,
			  view->ascii ? "^" : "↑");
	if (layout.sentence >= 0)
		draw_sentence(t, view, area_sub(area, 0, layout.sentence, area.width, 1));
}
