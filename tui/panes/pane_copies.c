/* SPDX-License-Identifier: MIT */
/* Pane 3: copies by direction and queue. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/copies.h"
#include "model/query/time.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

struct copies_pane {
	struct pane pane;
	struct table table;
};

#define LINE(line) ((const struct copy_line *)(line))

static uint64_t identity(const void *row)
{
	const struct copy_row *copy = &LINE(row)->row;

	return table_mix((uint64_t)copy->direction, copy->device,
			 (uint64_t)copy->peer << 32 | copy->queue);
}

static enum role bar_role(const void *row)
{
	return ROLE_WORK_COPY;
}

static bool bad(const void *row)
{
	return LINE(row)->row.failed > 0;
}

static const struct table_kind kind = {
	.count_key = "count",
	.cost_key = "total",
	.columns = &copy_columns,
	.row_size = sizeof(struct copy_line),
	.empty = "no copy has finished yet",
	.identity = identity,
	.bar = bar_role,
	.bad = bad,
};

static struct pane *copies_open(struct view *view)
{
	struct copies_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "total");
	return &pane->pane;
}

static void copies_close(struct pane *pane)
{
	struct copies_pane *copies = (struct copies_pane *)pane;

	table_teardown(&copies->table);
	free(copies);
}

/* The highest bandwidth seen for its direction on its device. */
static uint64_t best_of(const struct copy_row *row, const struct bandwidth_row *seen, size_t n_seen,
			const struct copy_row *rows, size_t n)
{
	uint64_t best = 0;

	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].device == row->device && seen[i].direction == row->direction)
			best = seen[i].best_bytes_per_s;
	for (size_t i = 0; i < n; i++)
		if (rows[i].device == row->device && rows[i].direction == row->direction &&
		    rows[i].peak_bytes_per_s > best)
			best = rows[i].peak_bytes_per_s;
	return best;
}

static void copies_update(struct pane *pane, struct view *view, int width, int height)
{
	struct copies_pane *p = (struct copies_pane *)pane;
	struct device_row *devices = NULL;
	struct queue_row *queues = NULL;
	struct copy_row *rows = NULL;
	size_t n_devices = model_devices(view->model, &devices);
	size_t n_queues = model_queues(view->model, &queues);
	struct bandwidth_row *seen = NULL;
	size_t n_seen;
	size_t count = model_copies(view->model, &rows), i;
	struct copy_line *lines = count ? xreallocarray(NULL, count, sizeof(*lines)) : NULL;
	uint64_t total = 0;

	n_seen = model_bandwidth(view->model, &seen);
	for (i = 0; i < count; i++) {
		struct copy_line *line = &lines[i];

		copy_line_init(line, &rows[i]);
		places_device_label(line->device, sizeof(line->device), devices, n_devices,
				   rows[i].device);
		if (rows[i].peer != UINT32_MAX)
			places_device_label(line->peer, sizeof(line->peer), devices, n_devices,
					   rows[i].peer);
		places_queue_label(line->queue, sizeof(line->queue), queues, n_queues,
				  rows[i].queue);
		for (size_t j = 0; j < n_queues; j++)
			if (queues[j].id == rows[i].queue)
				snprintf(line->number, sizeof(line->number), "%u",
					 queues[j].number);
		line->best_bytes_per_s = best_of(&rows[i], seen, n_seen, rows, count);
		total += copy_line_part(line);
	}
	free(seen);
	free(rows);
	free(queues);
	free(devices);
	table_take(&p->table, lines, count, total);
}

static void copies_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	table_draw(&((struct copies_pane *)pane)->table, view, area, focused);
}

static unsigned copies_command(struct pane *pane, struct view *view,
			       const struct command_call *call)
{
	struct copies_pane *p = (struct copies_pane *)pane;
	const struct copy_line *line;

	line = table_current(&p->table);
	if (line && strcmp(call->argv[0], "about") == 0)
		return places_about(view, "name", direction_name(line->row.direction));
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	return places_find_copy(view, line->row.queue, line->row.direction);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(direction_name(LINE(row)->row.direction), key) == 0;
}

static bool copies_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct copies_pane *)pane)->table, is_row, key);
}

static struct table *copies_table(struct pane *pane)
{
	return &((struct copies_pane *)pane)->table;
}

static const struct table_kind *copies_kind(void)
{
	return &kind;
}

static unsigned copies_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(copies_table(pane), view, mouse);
}

const struct pane_ops pane_copies = {
	.name = "copies",
	.key_table = "table",
	.open = copies_open,
	.close = copies_close,
	.update = copies_update,
	.draw = copies_draw,
	.command = copies_command,
	.reveal = copies_reveal,
	.mouse = copies_mouse,
	.table = copies_table,
	.kind = copies_kind,
};
