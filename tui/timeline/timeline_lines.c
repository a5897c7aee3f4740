/* SPDX-License-Identifier: MIT */
/* One line of the timeline: its cells and the value in its label. */
#include "tui/timeline/pane_timeline.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"

void timeline_label_bars(struct timeline_pane *t, const struct view *view,
			 const struct column *columns, size_t n, const struct cell_style *style,
			 struct cell *cells)
{
	size_t begin = 0, end = 0;

	while (cells_next_bar(t->owners, n, &begin, &end)) {
		struct span span;

		if (end - begin >= CELLS_LABEL_MIN &&
		    model_span(view->model, columns[begin].longest, &span))
			cells_label(cells, begin, end, span.name, style);
		begin = end;
	}
}

/* Two significant digits are enough for a label: "12 GB/s", "3.4 GB/s", "6.2 MiB". */
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

/* The value at the cursor, else the last one in view. */
static void plot_value(const struct timeline_pane *t, const struct view *view, int64_t w,
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

/* As plot_value(), but 0 and negative numbers are values too. */
static void counter_value(const struct timeline_pane *t, const struct view *view, int64_t w,
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

/* Minimum and maximum of the visible part, as its label writes them. */
static void plot_range(const struct timeline_pane *t, const struct column *columns,
		       struct timeline_seen *seen)
{
	bool counter = seen->line.kind == ROW_COUNTER, any = false;
	uint64_t least = 0, most = 0;
	char text[FMT_MAX];

	for (size_t i = 0; i < t->columns; i++) {
		if (counter ? !columns[i].count : !columns[i].value)
			continue;
		if (!any || columns[i].value < least)
			least = columns[i].value;
		if (!any || columns[i].value_max > most)
			most = columns[i].value_max;
		any = true;
	}
	if (!any)
		return;
	if (counter) {
		snprintf(seen->least, sizeof(seen->least), "%.31s",
			 fmt_counter(text, (int64_t)least + seen->line.base, seen->line.unit));
		snprintf(seen->most, sizeof(seen->most), "%.31s",
			 fmt_counter(text, (int64_t)most + seen->line.base, seen->line.unit));
		return;
	}
	short_value(seen->least, sizeof(seen->least), least, seen->line.kind != ROW_MEMORY);
	short_value(seen->most, sizeof(seen->most), most, seen->line.kind != ROW_MEMORY);
}

static void mark_selected(struct timeline_pane *t, const struct view *view, int64_t w,
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

/* The column of a time, limited to 0 ... columns. */
static size_t column_at(const struct timeline_pane *t, const struct view *view, int64_t w,
			int64_t t_ns)
{
	int64_t after = t_ns - view->t0_ns;

	if (after <= 0)
		return 0;
	return (size_t)(after / w) < t->columns ? (size_t)(after / w) : t->columns;
}

int64_t timeline_late(enum row_kind kind)
{
	return kind == ROW_GRAPH ? ROW_GRAPH_LATE_NS :
	       kind == ROW_COUNTER ? ROW_COUNTER_LATE_NS : 0;
}

/* Draws what the thread did where this line has no op and the line above it has one. */
static void draw_states(struct timeline_pane *t, const struct view *view, int64_t w,
			const struct timeline_line *line, const struct column *columns,
			const struct cell_style *style, struct cell *cells)
{
	const struct column *above = NULL;

	if (!t->states || line->kind != ROW_THREAD || line->lane == LANE_ALL)
		return;
	if (t->doing_row != line->row)
		model_host_states(view->model, line->row, view->t0_ns, w, t->columns, t->doing);
	t->doing_row = line->row;
	if (line->lane)
		above = column_cache_get(&t->cache, view->model, line->row, line->lane - 1,
					 view->t0_ns, w, t->columns);
	t->families |= cells_states(cells, columns, above, t->doing, t->columns, w, style);
}

void timeline_line(struct timeline_pane *t, const struct view *view, int64_t w, size_t index)
{
	struct timeline_seen *seen = &t->seen[index];
	const struct timeline_line *line = &seen->line;
	struct cell *cells = t->cells + (size_t)seen->y * t->columns;
	struct cell_style style = {
		view->ascii,
		view->colour,
		line->kind == ROW_DEVICE || line->kind == ROW_PROCESS || line->kind == ROW_POOL ||
			line->kind == ROW_MEMORY || line->kind == ROW_COUNTER,
		line->kind == ROW_QUEUE || line->kind == ROW_COPY || line->kind == ROW_GRAPH,
		line->direction,
		t->heat,
		false,
		NULL,
	};
	const struct column *columns = t->blank;
	int lines = seen->height - seen->compared;
	/* a counter's last value holds until the next one is told: that is no gap to be hatched */
	int64_t late_ns = line->kind == ROW_COUNTER ? 0 : timeline_late(line->kind);
	size_t settled = column_at(t, view, w, t->status.settled_ns > 0 ?
				   t->status.settled_ns - late_ns : 0);

	t->cache.late_ns = timeline_late(line->kind);
	/* A process whose threads are shown has no cells of its own. */
	if ((line->kind != ROW_PROCESS && line->kind != ROW_POOL) || line->folded)
		columns = column_cache_get(&t->cache, view->model, line->row, line->lane,
					   view->t0_ns, w, t->columns);
	if (row_is_counter(line->kind)) {
		cells_plot(columns, t->columns, line->peak, lines, &style, cells);
		(line->kind == ROW_COUNTER ? counter_value : plot_value)(t, view, w, columns, seen);
		if (lines > 1)
			plot_range(t, columns, seen);
		/* Marks are drawn in the lowest line of the row. */
		cells += (size_t)(lines - 1) * t->columns;
	} else {
		if (!style.muted)
			style.tints = tints_line(&t->tints, view->model, &t->cache, line, columns,
						 view->t0_ns, w, t->steps.rows, t->steps.n);
		cells_draw(columns, t->columns, view->t0_ns, w, &style, cells, t->owners);
		cells_fade(cells, columns, t->columns, t->owners, &style);
		if (!style.muted)
			timeline_label_bars(t, view, columns, t->columns, &style, cells);
		if (t->find.shown && !style.muted)
			find_mark(&t->find, line->row, line->lane, view->t0_ns, w, t->columns,
				  cells, &style);
		mark_selected(t, view, w, line, &style, cells);
		timeline_links_mark(t, view, w, line, &style, cells);
	}
	cells_lost(cells, columns, t->columns, &style);
	cells_paused(cells, columns, t->columns, &style);
	/* Time after the live edge stays blank: the hatch marks the live edge. */
	if (!t->status.finished)
		cells_unsettled(cells, settled, column_at(t, view, w, view->now_ns + w), &style);
	draw_states(t, view, w, line, columns, &style, cells);
	if (seen->compared)
		timeline_compare_line(t, view, w, seen, style);
}
