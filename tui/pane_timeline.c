/* SPDX-License-Identifier: MIT */
#include "tui/pane_timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/labels.h"
#include "tui/panes.h"
#include "tui/sentence.h"

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

#define LINES_BESIDE 3		/* minimap, ruler and sentence */

static int timeline_lines(const struct pane *pane)
{
	const struct timeline *timeline = (const struct timeline *)pane;

	return timeline->list.count ? (int)timeline->list.count + LINES_BESIDE : 0;
}

static struct pane *timeline_open(struct view *view)
{
	struct timeline *timeline = xcalloc(1, sizeof(*timeline));

	return &timeline->pane;
}

static void timeline_close(struct pane *pane)
{
	struct timeline *timeline = (struct timeline *)pane;

	fold_set_release(&timeline->folds);
	line_list_release(&timeline->list);
	column_cache_release(&timeline->cache);
	minimap_release(&timeline->minimap);
	step_list_release(&timeline->steps);
	find_release(&timeline->find);
	free(timeline->losses);
	free(timeline->seen);
	free(timeline->cells);
	free(timeline->owners);
	free(timeline->blank);
	free(timeline->marks);
	free(timeline);
}

/* ---- update ---- */

static void reserve(struct timeline *t, size_t rows, size_t columns)
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
		t->marks = xreallocarray(t->marks, columns, sizeof(*t->marks));
	}
	if (rows * columns > t->cells_cap) {
		t->cells_cap = rows * columns;
		t->cells = xreallocarray(t->cells, t->cells_cap, sizeof(*t->cells));
	}
	t->columns = columns;
}

/* The cursor stands on a line that is there, and that line is seen. */
static void place_cursor(struct timeline *t, struct view *view)
{
	int64_t at = line_list_find(&t->list, view->cursor_row, view->cursor_lane);
	size_t line;

	if (!t->list.count) {
		t->top = 0;
		return;
	}
	/* Rows come one by one: until the user moves it, the cursor goes where it
	 * belongs with the rows there are. */
	if (at < 0 || (!t->moved && view->cursor_row == t->home_row)) {
		line = line_list_home(&t->list);
		t->home_row = t->list.lines[line].row;
	} else {
		line = (size_t)at;
		t->moved = true;
	}
	view->cursor_row = t->list.lines[line].row;
	view->cursor_lane = t->list.lines[line].lane;
	if (line < t->top)
		t->top = line;
	if (t->page && line >= t->top + t->page)
		t->top = line - t->page + 1;
	if (t->top + t->page > t->list.count)
		t->top = t->list.count > t->page ? t->list.count - t->page : 0;
}

/* Where steps begin, when they are far enough apart to be told. */
static void mark_steps(struct timeline *t, const struct view *view, int64_t w)
{
	size_t from, i;

	memset(t->marks, 0, t->columns);
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
			t->marks[column] = 1;
	}
}

static void label_bars(struct timeline *t, const struct view *view,
		       const struct column *columns, const struct cell_style *style,
		       struct cell *cells)
{
	size_t begin = 0, end = 0;

	while (cells_next_bar(t->owners, t->columns, &begin, &end)) {
		struct span span;

		if (end - begin >= CELLS_LABEL_MIN &&
		    model_span(view->model, columns[begin].longest, &span))
			cells_label(cells, begin, end, span.name, style);
		begin = end;
	}
}

/* Two digits are enough for a label: "12 GB/s", "3.4 GB/s", "6.2 MiB". */
static void short_value(char *text, size_t size, uint64_t value, bool rate)
{
	static const char *const units[2][5] = {
		{ "B", "KiB", "MiB", "GiB", "TiB" }, { "B/s", "kB/s", "MB/s", "GB/s", "TB/s" },
	};
	unsigned base = rate ? 1000 : 1024;
	uint64_t below = 1;
	size_t unit = 0;

	while (unit < 4 && value / below >= base) {
		below *= base;
		unit++;
	}
	if (!unit || value / below >= 10)
		snprintf(text, size, "%u %s", (unsigned)(value / below), units[rate][unit]);
	else
		snprintf(text, size, "%u.%u %s", (unsigned)(value / below),
			 (unsigned)(value % below * 10 / below), units[rate][unit]);
}

/* The value at the cursor, else the last one that is seen. */
static void plot_value(const struct timeline *t, const struct view *view, int64_t w,
		       const struct column *columns, struct timeline_seen *seen)
{
	int64_t at = (view->cursor_ns - view->t0_ns) / w;
	uint64_t value = 0;
	size_t i;

	if (!view->following && at >= 0 && (size_t)at < t->columns)
		value = columns[at].value_max;
	for (i = t->columns; i-- > 0 && !value;)
		value = columns[i].value_max;
	if (value)
		short_value(seen->value, sizeof(seen->value), value,
			    seen->line.kind != ROW_MEMORY);
}

/* Likewise; 0 and less are values too. */
static void counter_value(const struct timeline *t, const struct view *view, int64_t w,
			  const struct column *columns, struct timeline_seen *seen)
{
	int64_t at = (view->cursor_ns - view->t0_ns) / w;
	size_t i = t->columns;
	char text[FMT_MAX];

	if (!view->following && at >= 0 && (size_t)at < t->columns && columns[at].count)
		i = (size_t)at + 1;
	while (i && !columns[i - 1].count)
		i--;
	if (i)
		snprintf(seen->value, sizeof(seen->value), "%.31s",
			 fmt_counter(text, (int64_t)columns[i - 1].value_max + seen->line.base,
				     seen->line.unit));
}

static void mark_selected(struct timeline *t, const struct view *view, int64_t w,
			  const struct timeline_line *line, const struct cell_style *style,
			  struct cell *cells)
{
	int64_t begin = t->selected.start_ns - view->t0_ns, end = t->selected.end_ns - view->t0_ns;
	int64_t columns = (int64_t)t->columns;

	if (!t->has_selected || view->selected.row != line->row ||
	    (line->lane != LANE_ALL && view->selected.lane != line->lane))
		return;
	if (end < 0 || begin >= w * columns)
		return;
	begin = begin < 0 ? 0 : begin / w;
	end = end > w * columns ? columns : (end + w - 1) / w;
	if (end <= begin)
		end = begin + 1;
	cells_select(cells, t->owners, (size_t)begin, (size_t)end, view->selected.id,
		     t->selected.name, style);
}

/* The column of a time, within 0 ... columns. */
static size_t column_at(const struct timeline *t, const struct view *view, int64_t w, int64_t t_ns)
{
	int64_t after = t_ns - view->t0_ns;

	if (after <= 0)
		return 0;
	return (size_t)(after / w) < t->columns ? (size_t)(after / w) : t->columns;
}

static int64_t late(enum row_kind kind)
{
	return kind == ROW_GRAPH ? ROW_GRAPH_LATE_NS : 0;
}

static void update_line(struct timeline *t, const struct view *view, int64_t w, size_t index)
{
	struct timeline_seen *seen = &t->seen[index];
	const struct timeline_line *line = &seen->line;
	struct cell *cells = t->cells + index * t->columns;
	struct cell_style style = {
		view->ascii, view->colour, line->kind == ROW_DEVICE || line->kind == ROW_PROCESS ||
			line->kind == ROW_POOL || line->kind == ROW_MEMORY || line->kind == ROW_COUNTER,
		line->kind == ROW_QUEUE || line->kind == ROW_COPY || line->kind == ROW_GRAPH,
		line->direction,
	};
	const struct column *columns = t->blank;
	size_t settled = column_at(t, view, w, t->status.settled_ns > 0 ?
				   t->status.settled_ns - late(line->kind) : 0);

	t->cache.late_ns = late(line->kind);
	/* A process whose threads are seen has nothing to add to them. */
	if ((line->kind != ROW_PROCESS && line->kind != ROW_POOL) || line->folded)
		columns = column_cache_get(&t->cache, view->model, line->row, line->lane,
					   view->t0_ns, w, t->columns);
	if (row_is_counter(line->kind)) {
		cells_plot(columns, t->columns, line->peak, &style, cells);
		(line->kind == ROW_COUNTER ? counter_value : plot_value)(t, view, w, columns, seen);
	} else {
		cells_draw(columns, t->columns, view->t0_ns, w, &style, cells, t->owners);
		if (!style.muted)
			label_bars(t, view, columns, &style, cells);
		if (t->find.shown && !style.muted)
			find_mark(&t->find, line->row, line->lane, view->t0_ns, w, t->columns,
				  cells, &style);
		mark_selected(t, view, w, line, &style, cells);
	}
	cells_lost(cells, columns, t->columns, &style);
	/* What is yet to come stays blank: the hatch is the live edge. */
	if (!t->status.finished)
		cells_unsettled(cells, settled, column_at(t, view, w, view->now_ns + w), &style);
}

static void update_sentence(struct timeline *t, struct view *view, const struct model_row *rows,
			    size_t n_rows, int64_t w)
{
	int64_t busy = 0, until = view->t1_ns, from = view->t0_ns;
	const struct column *columns;
	struct idle_gap gap;
	char peak[FMT_MAX];
	size_t i, c;

	strip_clear(&t->sentence);
	if (t->has_selected) {
		sentence_of_span(&t->sentence, &t->selected, panes_base_ns(&t->status));
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
	t->cache.late_ns = late(rows[i].kind);
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
	if (t->status.folded_ns > view->t0_ns)
		sentence_add_folded(&t->sentence, t->status.folded_ns, panes_base_ns(&t->status));
}

static void update_rows(struct timeline *t, struct view *view, const struct model_row *rows,
			size_t n_rows, int64_t w)
{
	size_t i;

	/* Following, what is on the screen changes faster than it can be read. */
	if (view->following)
		t->find.shown = false;
	if (t->find.shown)
		find_count(&t->find, view->model, rows, n_rows, view->t0_ns, view->t1_ns);
	line_list_build(&t->list, rows, n_rows, &t->folds);
	place_cursor(t, view);
	t->n_seen = t->list.count - t->top < t->page ? t->list.count - t->top : t->page;
	for (i = 0; i < t->n_seen; i++) {
		t->seen[i].line = t->list.lines[t->top + i];
		t->seen[i].value[0] = '\0';
		update_line(t, view, w, i);
	}
}

static void timeline_update(struct pane *pane, struct view *view, int width, int height)
{
	struct timeline *t = (struct timeline *)pane;
	struct timeline_layout layout = timeline_layout(height, view->minimap);
	int columns = view->columns < width ? view->columns : width;
	struct model_row *rows = NULL;
	size_t n_rows;
	int64_t w;

	t->page = (size_t)layout.n_rows;
	t->n_seen = 0;
	reserve(t, t->page, columns > 0 ? (size_t)columns : 0);
	model_status(view->model, &t->status);
	column_cache_frame(&t->cache, &t->status);
	n_rows = model_rows(view->model, &rows);
	t->has_selected = view->selected.id &&
			  model_span(view->model, view->selected, &t->selected);
	w = view->columns > 0 ? (view->t1_ns - view->t0_ns) / view->columns : 0;
	if (t->columns && w > 0 && view->t1_ns - view->t0_ns == w * (int64_t)t->columns) {
		mark_steps(t, view, w);
		ruler_layout(&t->ruler, view->t0_ns, w, t->columns, panes_base_ns(&t->status));
		update_rows(t, view, rows, n_rows, w);
		free(t->losses);
		t->losses = NULL;
		t->n_losses = model_losses(view->model, view->t0_ns, view->t1_ns, &t->losses);
		t->n_clock_steps = model_clock_steps(view->model, view->t0_ns, view->t1_ns,
						     t->clock_steps, CLOCK_MARKS);
		update_sentence(t, view, rows, n_rows, w);
		if (t->find.shown)
			find_sentence(&t->find, &t->sentence);
	}
	if (layout.minimap >= 0)
		minimap_update(&t->minimap, view->model, &t->status, rows, n_rows,
			       width > 2 ? width - 2 : 0, view->t0_ns, view->t1_ns);
	free(rows);
}

/* ---- drawing ---- */

/* "▒lost 1 204▒" in the middle of [begin, end), shifted so that it can be read. */
static int draw_lost(struct area area, const struct view *view, int begin, int end, int free_from,
		     uint64_t count, bool packets)
{
	const char *shade = view->ascii ? "?" : "▒";
	char text[96], number[FMT_MAX] = "";
	int x, width;

	/* Of some only the place is known here, their count stands elsewhere. */
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

/* Where it is, instead of the times there; what touches is one. */
static void draw_losses(const struct timeline *t, const struct view *view, struct area area)
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

static void draw_cells(const struct timeline *t, const struct view *view, struct area area,
		       int y, size_t index)
{
	const struct cell *cells = t->cells + index * t->columns;
	enum row_kind kind = t->seen[index].line.kind;
	size_t i;

	for (i = 0; i < t->columns; i++) {
		const struct cell *cell = &cells[i];

		if (cell->ch == ' ' && cell->bg == ROLE_DEFAULT) {
			if (t->marks[i] && !view->ascii && !row_is_counter(kind))
				area_put(area, (int)i, y, 0x250a, ROLE_UNSETTLED, ROLE_DEFAULT, 0);
		} else if (cell->ch) {
			area_put(area, (int)i, y, cell->ch, (enum role)cell->fg,
				 (enum role)cell->bg, cell->attr);
		}
	}
}

static void draw_ruler(const struct timeline *t, const struct view *view, struct area area)
{
	int64_t w = (view->t1_ns - view->t0_ns) / (view->columns > 0 ? view->columns : 1);
	int64_t at;

	if (w <= 0)
		return;
	draw_losses(t, view, area);
	for (size_t i = 0; i < t->n_clock_steps; i++)
		ruler_draw_clock(area, (t->clock_steps[i] - view->t0_ns) / w, view->ascii);
	if (t->status.folded_ns > view->t0_ns)
		ruler_draw_folded(area, (t->status.folded_ns - view->t0_ns) / w + 1, view->ascii);
	ruler_draw(&t->ruler, area, view->ascii);
	at = view->cursor_ns < view->t0_ns ? -1 : (view->cursor_ns - view->t0_ns) / w;
	/* A background only: a mark over a digit would make another number. */
	if (!view->following && at >= 0 && at < area.width)
		area_tint(area, (int)at, 0, 1, ROLE_CURSOR, ATTR_BOLD);
}

static void draw_sentence(struct timeline *t, const struct view *view, struct area area)
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

static void timeline_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct timeline *t = (struct timeline *)pane;
	struct timeline_layout layout = timeline_layout(area.height, view->minimap);
	struct area time = area_sub(area, view->gutter, 0, (int)t->columns, area.height);
	struct area labels = area_sub(area, 0, layout.rows, view->gutter, layout.n_rows);
	size_t i;

	if (layout.minimap >= 0)
		minimap_draw(&t->minimap, area_sub(area, 1, layout.minimap, area.width - 2, 1),
			     view->ascii, view->colour);
	if (layout.ruler >= 0 && view->columns > 0)
		draw_ruler(t, view, area_sub(time, 0, layout.ruler, time.width, 1));
	for (i = 0; i < t->n_seen && (int)i < layout.n_rows; i++) {
		const struct timeline_seen *seen = &t->seen[i];
		bool current = seen->line.row == view->cursor_row &&
			       seen->line.lane == view->cursor_lane;

		line_label_draw(&seen->line, seen->value[0] ? seen->value : NULL, labels, (int)i,
				current, view->ascii);
		draw_cells(t, view, time, layout.rows + (int)i, i);
	}
	if (t->top + t->n_seen < t->list.count && layout.n_rows > 3)
		area_text(area, 0, layout.rows + layout.n_rows - 1, ROLE_MUTED, 0,
			  view->ascii ? "v" : "↓");
	if (t->top && layout.n_rows > 3)
		area_text(area, 0, layout.rows, ROLE_MUTED, 0, view->ascii ? "^" : "↑");
	if (layout.sentence >= 0)
		draw_sentence(t, view, area_sub(area, 0, layout.sentence, area.width, 1));
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
	.reveal = timeline_reveal,
};
