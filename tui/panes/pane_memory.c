/* SPDX-License-Identifier: MIT */
/*
 * Pane 5: allocators by their peak, and below them the live bytes of the one under the cursor, over
 * the timeline's window, column by column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/memory.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/draw/timeline_cells.h"

#define PLOT_LINES 3
#define TRENDS 64		/* most allocators with a trend */
#define PLOT_FROM 8		/* height of the pane from which on the plot is drawn */

struct memory_pane {
	struct pane pane;
	struct table table;
	struct memory_column *columns;	/* owned; of the window */
	size_t n_columns;
	struct memory_line shown;	/* the allocator that the columns belong to */
	bool has_shown;
};

#define ROW(line) (&((const struct memory_line *)(line))->row)

static uint64_t identity(const void *row)
{
	return table_mix((uintptr_t)ROW(row)->allocator, ROW(row)->device, ROW(row)->account);
}

static enum role bar_role(const void *row)
{
	return ROW(row)->growth_bytes_per_step ? ROLE_ACCENT : ROLE_WORK_OTHER;
}

static const struct table_kind kind = {
	.count_key = "allocations",
	.cost_key = "live",
	.columns = &allocator_columns,
	.row_size = sizeof(struct memory_line),
	.empty = "no allocation yet: OpenCL buffers, images and shared memory appear here",
	.identity = identity,
	.bar = bar_role,
};

static struct pane *memory_open(struct view *view)
{
	struct memory_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "peak");
	return &pane->pane;
}

static void memory_close(struct pane *pane)
{
	struct memory_pane *memory = (struct memory_pane *)pane;

	table_teardown(&memory->table);
	free(memory->columns);
	free(memory);
}

static void update_plot(struct memory_pane *p, struct view *view)
{
	const struct memory_line *line = table_current(&p->table);

	p->has_shown = line && view->columns > 0;
	if (!p->has_shown)
		return;
	p->shown = *line;
	p->n_columns = (size_t)view->columns;
	p->columns = xreallocarray(p->columns, p->n_columns, sizeof(*p->columns));
	model_memory_columns(view->model, line->row.account, view->t0_ns, view->t1_ns,
			     p->n_columns, p->columns);
}

static void take_trend(struct model *model, struct memory_line *line)
{
	struct memory_column live[MEMORY_TREND];
	struct model_status status;

	model_status(model, &status);
	if (status.last_ns <= status.first_ns || status.last_ns - status.first_ns < MEMORY_TREND)
		return;
	model_memory_columns(model, line->row.account, status.first_ns, status.last_ns,
			     MEMORY_TREND, live);
	for (size_t i = 0; i < MEMORY_TREND; i++)
		line->trend[i] = live[i].known ? live[i].max : 0;
}

static void memory_update(struct pane *pane, struct view *view, int width, int height)
{
	struct memory_pane *p = (struct memory_pane *)pane;
	struct device_row *devices = NULL;
	struct memory_row *rows = NULL;
	size_t n_devices = model_devices(view->model, &devices);
	size_t count = model_memory(view->model, &rows), i;
	struct memory_line *lines = count ? xcalloc(count, sizeof(*lines)) : NULL;
	bool steps = model_memory_steps(view->model) > 0;
	uint64_t largest = 0;

	for (i = 0; i < count; i++) {
		lines[i].row = rows[i];
		lines[i].steps = steps;
		if (i < TRENDS)
			take_trend(view->model, &lines[i]);
		places_device_label(lines[i].device, sizeof(lines[i].device), devices, n_devices,
				   rows[i].device);
		if (rows[i].peak_bytes > largest)
			largest = rows[i].peak_bytes;
	}
	free(rows);
	free(devices);
	table_take(&p->table, lines, count, largest);
	update_plot(p, view);
}

/* Draws one cell of a plot of several lines, from the bottom, in eighths of a line. */
static void plot_cell(const struct memory_pane *p, size_t column, int lines, struct area area,
		      int x, bool ascii)
{
	uint64_t peak = p->shown.row.peak_bytes, value = p->columns[column].max;
	uint64_t height = 0;

	if (p->columns[column].known && peak)
		height = (uint64_t)(((unsigned __int128)value * (unsigned)lines * 8 + peak - 1) /
				    peak);
	for (int line = 0; line < lines; line++) {
		int eighths = height > 8 ? 8 : (int)height;

		if (eighths)
			area_put(area, x, lines - 1 - line, cells_height(eighths, ascii),
				 bar_role(&p->shown), ROLE_DEFAULT, 0);
		height -= (uint64_t)eighths;
	}
}

/* The columns of the plot are aligned with those of the timeline. */
static void draw_plot(const struct memory_pane *p, const struct view *view, struct area area)
{
	char bytes[FMT_MAX], text[FMT_MAX + 8], name[LABEL_MAX];
	int width = view->gutter - 1;

	if (width > 4) {
		label_fit(name, sizeof(name), p->shown.row.allocator, width - 1, view->ascii);
		area_text(area, 1, 0, ROLE_LABEL, 0, name);
		snprintf(text, sizeof(text), "peak %s", fmt_bytes(bytes, p->shown.row.peak_bytes));
		if (area.height > 1)
			area_right(area, width, 1, ROLE_MUTED, 0, text);
		snprintf(text, sizeof(text), "live %s", fmt_bytes(bytes, p->shown.row.live_bytes));
		if (area.height > 2)
			area_right(area, width, 2, ROLE_MUTED, 0, text);
	}
	for (size_t i = 0; i < p->n_columns; i++)
		if (view->gutter + (int)i < area.width)
			plot_cell(p, i, area.height, area, view->gutter + (int)i, view->ascii);
}

static void memory_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct memory_pane *p = (struct memory_pane *)pane;
	int lines = area.height >= PLOT_FROM ? PLOT_LINES : area.height >= PLOT_FROM - 2 ? 1 : 0;

	if (p->has_shown && lines) {
		draw_plot(p, view, area_sub(area, 0, area.height - lines, area.width, lines));
		area = area_sub(area, 0, 0, area.width, area.height - lines);
	}
	table_draw(&p->table, view, area, focused);
}

/* Moves to the time of the peak. */
static unsigned memory_command(struct pane *pane, struct view *view,
			       const struct command_call *call)
{
	struct memory_pane *p = (struct memory_pane *)pane;
	const struct memory_line *line = table_current(&p->table);
	unsigned outcome;

	if (line && strcmp(call->argv[0], "about") == 0)
		return places_about(view, "allocator", line->row.allocator);
	if (strcmp(call->argv[0], "open") != 0) {
		outcome = table_command(&p->table, view, call);
		model_lock(view->model);
		update_plot(p, view);
		model_unlock(view->model);
		return outcome;
	}
	if (!line || !line->row.peak_ns)
		return OUT_NONE;
	view->cursor_ns = line->row.peak_ns;
	view->selected = (struct span_ref){0};
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE;
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(ROW(row)->allocator, key) == 0;
}

static bool memory_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct memory_pane *)pane)->table, is_row, key);
}

static struct table *memory_table(struct pane *pane)
{
	return &((struct memory_pane *)pane)->table;
}

static const struct table_kind *memory_kind(void)
{
	return &kind;
}

static unsigned memory_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(memory_table(pane), view, mouse);
}

const struct pane_ops pane_memory = {
	.name = "memory",
	.key_table = "table",
	.open = memory_open,
	.close = memory_close,
	.update = memory_update,
	.draw = memory_draw,
	.command = memory_command,
	.reveal = memory_reveal,
	.mouse = memory_mouse,
	.table = memory_table,
	.kind = memory_kind,
};
