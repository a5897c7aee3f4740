/* SPDX-License-Identifier: MIT */
/* Pane 1: ops and ranges, by what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/util.h"
#include "tui/pane_steps.h"
#include "tui/panes.h"

struct ops_pane {
	struct pane pane;
	struct table table;
	struct steps_snapshot steps;
	bool devices;			/* any device work seen: sorted by it */
};

#define ROW(row) ((const struct op_row *)(row))

static void name_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void type_text(const struct table *table, const void *row, char *text, size_t size)
{
	const char *type = ROW(row)->type;

	if (!type || !*type)
		type = ROW(row)->is_range ? "range" : framework_name(ROW(row)->framework);
	snprintf(text, size, "%s", type);
}

static void calls_text(const struct table *table, const void *row, char *text, size_t size)
{
	char count[FMT_MAX];

	snprintf(text, size, "%s", fmt_count(count, ROW(row)->count));
}

static void self_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->self_ns, ROW(row)->count > 0);
}

static void device_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->device_ns, ROW(row)->kernels + ROW(row)->copies > 0);
}

/* What an op costs: device time, where there is no device its own. */
static uint64_t cost(const void *row, bool devices)
{
	int64_t ns = devices ? ROW(row)->device_ns : ROW(row)->self_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t device_part(const void *row)
{
	return cost(row, true);
}

static uint64_t self_part(const void *row)
{
	return cost(row, false);
}

static void share_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct table_column *column = table->kind->columns;
	while (!column->part)
		column++;
	if (column->part(row))
		panes_share(text, size, column->part(row), table->total);
}

static void average_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct op_row *op = row;

	table_time(text, size, op->count ? op->total_ns / (int64_t)op->count : 0, op->count > 0);
}

static void max_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->max_ns, ROW(row)->count > 0);
}

static void kernels_text(const struct table *table, const void *row, char *text, size_t size)
{
	char count[FMT_MAX];

	snprintf(text, size, "%s", ROW(row)->kernels ? fmt_count(count, ROW(row)->kernels) : "–");
}

static int by_name(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->name, ROW(b)->name);
}

static int by_type(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->type, ROW(b)->type);
}

static int by_calls(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->count, ROW(b)->count);
}

static int by_self(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->self_ns, ROW(b)->self_ns);
}

static int by_device(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->device_ns, ROW(b)->device_ns);
}

static int by_average(const void *a, const void *b)
{
	int64_t left = ROW(a)->count ? ROW(a)->total_ns / (int64_t)ROW(a)->count : 0;
	int64_t right = ROW(b)->count ? ROW(b)->total_ns / (int64_t)ROW(b)->count : 0;

	return table_compare_i64(left, right);
}

static int by_max(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->max_ns, ROW(b)->max_ns);
}

static int by_kernels(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->kernels, ROW(b)->kernels);
}

static uint64_t identity(const void *row)
{
	return table_mix((uintptr_t)ROW(row)->name, (uintptr_t)ROW(row)->type,
			 (uint64_t)ROW(row)->framework + 1);
}

static enum role bar_role(const void *row)
{
	return ROW(row)->is_range ? ROLE_WORK_RANGE : ROLE_WORK_OP;
}

#define COLUMNS(share_title, share_part) { \
	{"op", "op", 24, 42, 64, false, false, 0, name_text, by_name, NULL}, \
	{"type", "type", 8, 18, 24, false, false, 5, type_text, by_type, NULL}, \
	{"calls", "calls", 8, 0, 0, true, true, 2, calls_text, by_calls, NULL}, \
	{"self", "self", 9, 0, 0, true, true, 1, self_text, by_self, NULL}, \
	{"device time", "device-time", 13, 0, 0, true, true, 0, device_text, by_device, NULL}, \
	{share_title, NULL, 14, 14, 20, false, false, 3, share_text, NULL, share_part}, \
	{"avg call", "avg", 9, 0, 0, true, true, 4, average_text, by_average, NULL}, \
	{"max call", "max", 9, 0, 0, true, true, 6, max_text, by_max, NULL}, \
	{"kernels", "kernels", 9, 0, 0, true, true, 7, kernels_text, by_kernels, NULL}, \
}

static const struct table_column device_columns[] = COLUMNS("share of it", device_part);
static const struct table_column self_columns[] = COLUMNS("share of self", self_part);

#define KIND(list) { \
	.columns = list, \
	.n_columns = sizeof(list) / sizeof(list[0]), \
	.row_size = sizeof(struct op_row), \
	.empty = "no op or range yet: frameworks, NVTX and ITT ranges appear here", \
	.identity = identity, \
	.bar = bar_role, \
}

static const struct table_kind device_kind = KIND(device_columns);
static const struct table_kind self_kind = KIND(self_columns);

static struct pane *ops_open(struct view *view)
{
	struct ops_pane *pane = xcalloc(1, sizeof(*pane));

	pane->devices = true;
	table_setup(&pane->table, &device_kind, "device-time");
	return &pane->pane;
}

static void ops_close(struct pane *pane)
{
	struct ops_pane *ops = (struct ops_pane *)pane;

	table_teardown(&ops->table);
	steps_snapshot_release(&ops->steps);
	free(ops);
}

/* Numbered steps have a pane of their own: here one row stands for them all. */
static size_t merge_steps(struct ops_pane *p, struct view *view, struct op_row *rows, size_t count)
{
	struct model_status status;
	struct op_row *all = NULL;
	const char *name;
	size_t i, kept = 0;

	model_status(view->model, &status);
	steps_snapshot_refresh(&p->steps, view->model, &status, view->clock_ns);
	for (i = 0; i < count; i++) {
		bool step = steps_name(&p->steps.stats, rows[i].name, &name);

		if (!step || !all) {
			rows[kept] = rows[i];
			if (step) {
				all = &rows[kept];
				all->name = name;
			}
			kept++;
			continue;
		}
		all->count += rows[i].count;
		all->total_ns += rows[i].total_ns;
		all->self_ns += rows[i].self_ns;
		all->device_ns += rows[i].device_ns;
		all->kernels += rows[i].kernels;
		all->copies += rows[i].copies;
		all->copy_bytes += rows[i].copy_bytes;
		if (rows[i].max_ns > all->max_ns)
			all->max_ns = rows[i].max_ns;
	}
	return kept;
}

static void ops_update(struct pane *pane, struct view *view, int width, int height)
{
	struct ops_pane *p = (struct ops_pane *)pane;
	struct op_row *rows = NULL;
	size_t count = model_ops(view->model, &rows), i;
	bool devices = false;
	uint64_t total = 0;

	count = merge_steps(p, view, rows, count);
	for (i = 0; i < count; i++)
		devices = devices || rows[i].device_ns > 0;
	for (i = 0; i < count; i++)
		total += cost(&rows[i], devices || !count);
	p->table.kind = devices || !count ? &device_kind : &self_kind;
	if (devices != p->devices && count) {
		p->devices = devices;
		if (!p->table.chosen)
			table_sort_by(&p->table, devices ? "device-time" : "self");
	}
	table_take(&p->table, rows, count, total);
}

static void ops_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	table_draw(&((struct ops_pane *)pane)->table, view, area, focused);
}

static unsigned ops_command(struct pane *pane, struct view *view, const struct command_call *call)
{
	struct ops_pane *p = (struct ops_pane *)pane;
	const struct op_row *row;

	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	row = table_current(&p->table);
	if (!row)
		return OUT_NONE;
	return panes_find_event(view, row->name, ROW_THREAD, UINT32_MAX);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(((const struct op_row *)row)->name, key) == 0;
}

static bool ops_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct ops_pane *)pane)->table, is_row, key);
}

const struct pane_ops pane_ops_table = {
	.name = "ops",
	.key_table = "table",
	.open = ops_open,
	.close = ops_close,
	.update = ops_update,
	.draw = ops_draw,
	.command = ops_command,
	.reveal = ops_reveal,
};
