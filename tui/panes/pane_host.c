/* SPDX-License-Identifier: MIT */
/* Pane 9: at which lines of the program devices wait for the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/host.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

struct host_pane {
	struct pane pane;
	struct table table;
};

#define ROW(line) (&((const struct host_line *)(line))->row)

static uint64_t identity(const void *row)
{
	const struct host_line_row *host = ROW(row);
	uint64_t place = table_mix((uintptr_t)host->file, (uintptr_t)host->function, host->line);

	return table_mix(place, (uintptr_t)host->what, (uint64_t)host->doing << 32 | host->pid);
}

static const struct table_kind kind = {
	.count_key = "looks",
	.cost_key = "waited",
	.columns = &host_columns,
	.row_size = sizeof(struct host_line),
	.empty = "no thread was looked at yet: the probes do so at the levels default and full",
	.identity = identity,
};

static struct pane *host_open(struct view *view)
{
	struct host_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "waited");
	return &pane->pane;
}

static void host_close(struct pane *pane)
{
	struct host_pane *host = (struct host_pane *)pane;

	table_teardown(&host->table);
	free(host);
}

static void host_update(struct pane *pane, struct view *view, int width, int height)
{
	struct host_pane *p = (struct host_pane *)pane;
	struct host_line_row *rows;
	size_t count = model_host_lines(view->model, &rows);
	struct host_line *lines = host_lines_of(rows, count);
	bool several = false, waits = !count || lines[0].waits;
	uint64_t total = 0;

	free(rows);
	for (size_t i = 0; i < count; i++) {
		several |= lines[i].row.pid != lines[0].row.pid;
		total += host_line_part(&lines[i]);
	}
	table_offer(&p->table, "pid", several);
	table_offer(&p->table, "waited", waits);
	if (!p->table.chosen)
		table_sort_by(&p->table, waits ? "waited" : "total");
	snprintf(p->table.note, sizeof(p->table.note), "%s", waits ? "" :
		 "no device has waited for the host: the shares are those of the total");
	table_take(&p->table, lines, count, total);
}

static void host_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	table_draw(&((struct host_pane *)pane)->table, view, area, focused);
}

static unsigned host_open_line(const struct host_line_row *row, struct view *view)
{
	char place[4096];

	if (row->file && row->line) {
		snprintf(place, sizeof(place), "%s:%u", row->file, row->line);
		return places_about(view, "ps", place);
	}
	snprintf(view->status, sizeof(view->status), "the line of this row is unknown");
	return OUT_REDRAW;
}

static unsigned host_command(struct pane *pane, struct view *view,
			     const struct command_call *call)
{
	struct host_pane *p = (struct host_pane *)pane;
	const struct host_line *line;

	if (strcmp(call->argv[0], "open") != 0 && strcmp(call->argv[0], "about") != 0)
		return table_command(&p->table, view, call);
	line = table_current(&p->table);
	return line ? host_open_line(&line->row, view) : OUT_NONE;
}

static struct table *host_table(struct pane *pane)
{
	return &((struct host_pane *)pane)->table;
}

static const struct table_kind *host_kind(void)
{
	return &kind;
}

static unsigned host_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			   int width, int height)
{
	return table_mouse(host_table(pane), view, mouse);
}

const struct pane_ops pane_host = {
	.name = "host",
	.key_table = "table",
	.open = host_open,
	.close = host_close,
	.update = host_update,
	.draw = host_draw,
	.command = host_command,
	.mouse = host_mouse,
	.table = host_table,
	.kind = host_kind,
};
