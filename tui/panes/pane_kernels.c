/* SPDX-License-Identifier: MIT */
/* Pane 2: kernels, by their cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/kernels.h"
#include "model/query/work.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/report/report.h"

#define CLASSES_FROM 8	/* height of the pane from which on the line of classes is shown */

struct kernels_pane {
	struct pane pane;
	struct table table;
	struct report_share classes[KERNEL_KINDS];	/* time by class, of all devices */
	size_t n_classes;
	int64_t classes_ns;
	uint64_t taken;			/* places_stands() */
};

#define LINE(line) ((const struct kernel_line *)(line))

static uint64_t identity(const void *row)
{
	return table_mix((uintptr_t)LINE(row)->row.name, LINE(row)->row.device, 2);
}

static enum role bar_role(const void *row)
{
	enum work work = LINE(row)->row.work;

	return ROLE_WORK_MATMUL + (work > WORK_NONE && work < WORK_COUNT ?
				   work - WORK_MATMUL : WORK_OTHER - WORK_MATMUL);
}

static bool bad(const void *row)
{
	return LINE(row)->row.failed > 0;
}

static const struct table_kind kind = {
	.count_key = "count",
	.cost_key = "total",
	.columns = &kernel_columns,
	.row_size = sizeof(struct kernel_line),
	.empty = "no kernel has finished yet",
	.identity = identity,
	.bar = bar_role,
	.bad = bad,
};

/* If no kernel has a geometry for which occupancy rules are known, the first four columns are left
 * out; if no kernel has a known amount of computation, the last one. */
static void offer(struct table *table, bool gpu, bool flop)
{
	static const char *const of_gpus[] = { "dtype", "tensor", "occupancy", "limit" };

	for (size_t i = 0; i < sizeof(of_gpus) / sizeof(of_gpus[0]); i++)
		table_offer(table, of_gpus[i], gpu);
	table_offer(table, "flops", flop);
}

static struct pane *kernels_open(struct view *view)
{
	struct kernels_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "total");
	offer(&pane->table, false, false);
	return &pane->pane;
}

static void kernels_close(struct pane *pane)
{
	struct kernels_pane *kernels = (struct kernels_pane *)pane;

	table_teardown(&kernels->table);
	free(kernels);
}

static int compare_trends(const void *a, const void *b)
{
	const struct kernel_trend *left = a, *right = b;

	if (left->raw_name != right->raw_name)
		return (uintptr_t)left->raw_name < (uintptr_t)right->raw_name ? -1 : 1;
	return columns_compare_u64(left->device, right->device);
}

/* trends: in the order of compare_trends(). */
static void add_trend(struct kernel_line *line, const struct kernel_trend *trends, size_t n_trends)
{
	struct kernel_trend key = { .raw_name = line->row.raw_name, .device = line->row.device };
	const struct kernel_trend *trend = bsearch(&key, trends, n_trends, sizeof(*trends),
						   compare_trends);

	if (!trend)
		return;
	line->n_trend = trend->n;
	memcpy(line->trend_ns, trend->mean_ns, sizeof(line->trend_ns));
}

static void kernels_update(struct pane *pane, struct view *view, int width, int height)
{
	struct kernels_pane *p = (struct kernels_pane *)pane;
	struct kernel_row *rows = NULL;
	struct device_row *devices = NULL;
	struct kernel_trend *trends = NULL;
	struct kernel_line *lines;
	size_t n_trends, n_devices, count, i;
	bool gpu = false, flop = false;
	uint64_t total = 0;

	if (places_stands(view, &p->taken))
		return;
	n_trends = model_kernel_trends(view->model, &trends);
	if (n_trends)
		qsort(trends, n_trends, sizeof(*trends), compare_trends);
	n_devices = model_devices(view->model, &devices);
	count = model_kernels(view->model, &rows);
	lines = count ? xreallocarray(NULL, count, sizeof(*lines)) : NULL;
	for (i = 0; i < count; i++) {
		kernel_line_init(&lines[i], &rows[i]);
		add_trend(&lines[i], trends, n_trends);
		places_device_label(lines[i].device, sizeof(lines[i].device), devices, n_devices,
				   rows[i].device);
		total += kernel_line_part(&lines[i]);
		flop |= rows[i].flop > 0 && rows[i].flop_ns > 0;
		gpu |= rows[i].occupancy_milli >= 0;
	}
	offer(&p->table, gpu, flop);
	p->n_classes = report_classes(view->model, UINT32_MAX, p->classes, &p->classes_ns);
	free(trends);
	model_kernels_free(rows, count);
	free(devices);
	table_take(&p->table, lines, count, total);
}

/* The last line: shares of the time by class. */
static void draw_classes(const struct kernels_pane *p, struct area area)
{
	char share[FMT_MAX], part[64];
	int x = 1, y = area.height - 1;

	x = area_text(area, x, y, ROLE_COLUMN, 0, "by class") + 2;
	for (size_t i = 0; i < p->n_classes; i++) {
		snprintf(part, sizeof(part), "%s %s", p->classes[i].name,
			 fmt_share(share, report_positive(p->classes[i].ns),
				   report_positive(p->classes_ns)));
		if (x + text_width(part) >= area.width)
			return;
		x = area_text(area, x, y, ROLE_MUTED, 0, part) + 3;
	}
}

static void kernels_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct kernels_pane *p = (struct kernels_pane *)pane;
	struct area table = area;

	if (area.height >= CLASSES_FROM && p->n_classes > 1 && p->classes_ns > 0) {
		draw_classes(p, area);
		table.height--;
	}
	table_draw(&p->table, view, table, focused);
}

static unsigned kernels_command(struct pane *pane, struct view *view,
				const struct command_call *call)
{
	struct kernels_pane *p = (struct kernels_pane *)pane;
	const struct kernel_line *line;

	line = table_current(&p->table);
	if (line && strcmp(call->argv[0], "about") == 0)
		return places_about(view, "pk", line->row.raw_name);
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	return places_find_event(view, line->row.name, ROW_QUEUE, line->row.device);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(LINE(row)->row.name, key) == 0;
}

static bool kernels_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct kernels_pane *)pane)->table, is_row, key);
}

static struct table *kernels_table(struct pane *pane)
{
	return &((struct kernels_pane *)pane)->table;
}

static const struct table_kind *kernels_kind(void)
{
	return &kind;
}

static unsigned kernels_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(kernels_table(pane), view, mouse);
}

const struct pane_ops pane_kernels = {
	.name = "kernels",
	.key_table = "table",
	.open = kernels_open,
	.close = kernels_close,
	.update = kernels_update,
	.draw = kernels_draw,
	.command = kernels_command,
	.reveal = kernels_reveal,
	.mouse = kernels_mouse,
	.table = kernels_table,
	.kind = kernels_kind,
};
