/* SPDX-License-Identifier: MIT */
/* Pane 2: kernels, by what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query-launch.h"
#include "model/query-work.h"
#include "model/base/util.h"
#include "tui/panes.h"
#include "tui/report.h"

#define CLASSES_FROM 8			/* lines of the pane from which on there is one for them */

struct kernels_pane {
	struct pane pane;
	struct table table;
	struct report_share classes[KERNEL_KINDS];	/* time by class, of all devices */
	size_t n_classes;
	int64_t classes_ns;
	uint64_t taken;			/* panes_stands() */
};

/* What is shown of a kernel; the strings are the model's. */
struct kernel_line {
	const char *name, *raw_name, *op;	/* op: the one that launched most of it */
	size_t n_ops;
	enum how how;
	char device[12];
	uint32_t device_id;
	enum work work;
	struct kernel_class class;
	int occupancy_milli;		/* -1 not known */
	unsigned limits;
	uint64_t count, failed, untimed;
	bool approx;
	int64_t total_ns, mean_ns, min_ns, max_ns, p99_ns;
	uint64_t spread[KERNEL_SPREAD];
	uint32_t n_trend;
	int64_t trend_ns[TREND_POINTS];
	uint64_t flop_per_s;		/* 0: not known */
};

#define ROW(row) ((const struct kernel_line *)(row))

static void name_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void device_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->device);
}

static void count_text(const struct table *table, const void *row, char *text, size_t size)
{
	char count[FMT_MAX];

	snprintf(text, size, "%s", fmt_count(count, ROW(row)->count));
}

/* Times of kernels of which some were only bracketed by the host carry "~". */
static void time_text(const void *row, int64_t ns, char *text, size_t size)
{
	bool known = ROW(row)->count > ROW(row)->untimed;
	char time[FMT_MAX];

	snprintf(text, size, "%s%s", known && ROW(row)->approx ? "~" : "",
		 known ? fmt_time(time, ns) : "–");
}

static void total_text(const struct table *table, const void *row, char *text, size_t size)
{
	time_text(row, ROW(row)->total_ns, text, size);
}

static void mean_text(const struct table *table, const void *row, char *text, size_t size)
{
	time_text(row, ROW(row)->mean_ns, text, size);
}

static void min_text(const struct table *table, const void *row, char *text, size_t size)
{
	time_text(row, ROW(row)->min_ns, text, size);
}

static void max_text(const struct table *table, const void *row, char *text, size_t size)
{
	time_text(row, ROW(row)->max_ns, text, size);
}

static void p99_text(const struct table *table, const void *row, char *text, size_t size)
{
	char time[FMT_MAX];

	/* Percentiles come from log buckets: an estimate. */
	if (ROW(row)->count > ROW(row)->untimed)
		snprintf(text, size, "≈%s", fmt_time(time, ROW(row)->p99_ns));
	else
		snprintf(text, size, "–");
}

static uint64_t part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

static void share_text(const struct table *table, const void *row, char *text, size_t size)
{
	if (part(row))
		panes_share(text, size, part(row), table->total);
}

static void op_text(const struct table *table, const void *row, char *text, size_t size)
{
	char more[24] = "";

	if (ROW(row)->n_ops > 1)
		snprintf(more, sizeof(more), " +%zu", ROW(row)->n_ops - 1);
	if (ROW(row)->op)
		snprintf(text, size, "%s%s (%s)", ROW(row)->op, more, how_name(ROW(row)->how));
	else
		snprintf(text, size, "–%s", more);
}

/* One cell a value, 0 … most; what is there at all has the lowest block. */
static void strip_text(char *text, size_t size, const uint64_t *values, size_t n)
{
	uint64_t most = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < n && at + 4 < size; i++)
		if (values[i])
			at += text_encode(0x2581 + (uint32_t)((__uint128_t)values[i] * 7 / most),
					  text + at);
		else
			text[at++] = ' ';
	text[at] = '\0';
}

/* How long it took, over the run: from left to right. */
static void trend_text(const struct table *table, const void *row, char *text, size_t size)
{
	uint64_t values[TREND_POINTS];

	for (uint32_t i = 0; i < ROW(row)->n_trend; i++)
		values[i] = (uint64_t)ROW(row)->trend_ns[i];
	strip_text(text, size, values, ROW(row)->n_trend);
}

/* How often it took so long: from the shortest to the longest. */
static void spread_text(const struct table *table, const void *row, char *text, size_t size)
{
	if (ROW(row)->count > ROW(row)->untimed + 1)
		strip_text(text, size, ROW(row)->spread, KERNEL_SPREAD);
}

static void flop_text(const struct table *table, const void *row, char *text, size_t size)
{
	char rate[FMT_MAX];

	snprintf(text, size, "%s", ROW(row)->flop_per_s ?
		 fmt_gflop(rate, ROW(row)->flop_per_s) : "–");
}

static void class_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", kernel_kind_name((enum kernel_kind)ROW(row)->class.kind));
}

static void type_text(const struct table *table, const void *row, char *text, size_t size)
{
	snprintf(text, size, "%s", kernel_type_name((enum kernel_type)ROW(row)->class.type));
}

/* Whether on tensor cores: of what might be. */
static void tensor_text(const struct table *table, const void *row, char *text, size_t size)
{
	static const char *const words[] = { "", "no", "yes" };

	snprintf(text, size, "%s", words[ROW(row)->class.tensor % 3]);
}

static void occupancy_text(const struct table *table, const void *row, char *text, size_t size)
{
	char share[FMT_MAX];

	snprintf(text, size, "%s", ROW(row)->occupancy_milli < 0 ? "–" :
		 fmt_share(share, (uint64_t)ROW(row)->occupancy_milli, 1000));
}

static void limit_text(const struct table *table, const void *row, char *text, size_t size)
{
	occupancy_limits(text, size, ROW(row)->limits);
}

static int by_class(const void *a, const void *b)
{
	return table_compare_text(kernel_kind_name((enum kernel_kind)ROW(a)->class.kind),
				  kernel_kind_name((enum kernel_kind)ROW(b)->class.kind));
}

static int by_type(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->class.type, ROW(b)->class.type);
}

static int by_tensor(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->class.tensor, ROW(b)->class.tensor);
}

static int by_occupancy(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->occupancy_milli, ROW(b)->occupancy_milli);
}

static int by_name(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->name, ROW(b)->name);
}

static int by_device(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->device_id, ROW(b)->device_id);
}

static int by_count(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->count, ROW(b)->count);
}

static int by_total(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->total_ns, ROW(b)->total_ns);
}

static int by_mean(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->mean_ns, ROW(b)->mean_ns);
}

static int by_min(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->min_ns, ROW(b)->min_ns);
}

static int by_max(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->max_ns, ROW(b)->max_ns);
}

static int by_p99(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->p99_ns, ROW(b)->p99_ns);
}

static int by_op(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->op, ROW(b)->op);
}

static int by_flop(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->flop_per_s, ROW(b)->flop_per_s);
}

static uint64_t identity(const void *row)
{
	return table_mix((uintptr_t)ROW(row)->name, ROW(row)->device_id, 2);
}

static enum role bar_role(const void *row)
{
	return ROLE_WORK_MATMUL + (ROW(row)->work > WORK_NONE && ROW(row)->work < WORK_COUNT
				   ? ROW(row)->work - WORK_MATMUL : WORK_OTHER - WORK_MATMUL);
}

static bool bad(const void *row)
{
	return ROW(row)->failed > 0;
}

/* Where a kernel has no geometry that a vendor's rules are known for, four are left out;
 * where nobody tells what it has to compute, the last. */
#define COLUMNS(of_gpus) \
	{"kernel", "kernel", 22, 28, 44, false, false, 0, name_text, by_name, NULL}, \
	{"device", "device", 6, 0, 0, false, false, 8, device_text, by_device, NULL}, \
	{"class", "class", 11, 0, 0, false, false, 4, class_text, by_class, NULL}, \
	of_gpus \
	{"count", "count", 9, 0, 0, true, true, 1, count_text, by_count, NULL}, \
	{"total", "total", 9, 0, 0, true, true, 0, total_text, by_total, NULL}, \
	{"share of it", NULL, 14, 14, 20, false, false, 2, share_text, NULL, part}, \
	{"avg", "avg", 8, 0, 0, true, true, 3, mean_text, by_mean, NULL}, \
	{"min", "min", 8, 0, 0, true, true, 9, min_text, by_min, NULL}, \
	{"max", "max", 8, 0, 0, true, true, 7, max_text, by_max, NULL}, \
	{"p99", "p99", 9, 0, 0, true, true, 5, p99_text, by_p99, NULL}, \
	{"min … max", NULL, 16, 0, 0, false, false, 11, spread_text, NULL, NULL}, \
	{"over the run", NULL, 16, 0, 0, false, false, 10, trend_text, NULL, NULL}, \
	{"op", "op", 16, 28, 44, false, false, 4, op_text, by_op, NULL}, \
	{"GFLOP/s", "flops", 9, 0, 0, true, true, 4, flop_text, by_flop, NULL},
#define OF_GPUS \
	{"type", "type", 4, 0, 0, false, false, 6, type_text, by_type, NULL}, \
	{"tensor", "tensor", 6, 0, 0, false, true, 6, tensor_text, by_tensor, NULL}, \
	{"occup", "occupancy", 5, 0, 0, true, false, 5, occupancy_text, by_occupancy, NULL}, \
	{"limited by", NULL, 13, 0, 0, false, false, 10, limit_text, NULL, NULL},

static const struct table_column columns[] = { COLUMNS() };
static const struct table_column gpu_columns[] = { COLUMNS(OF_GPUS) };

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))
#define KIND(list, n) { \
	.columns = (list), \
	.n_columns = (n), \
	.row_size = sizeof(struct kernel_line), \
	.empty = "no kernel has finished yet", \
	.identity = identity, \
	.bar = bar_role, \
	.bad = bad, \
}

static const struct table_kind kinds[2][2] = {	/* of GPUs, with the last */
	{ KIND(columns, N_OF(columns) - 1), KIND(columns, N_OF(columns)) },
	{ KIND(gpu_columns, N_OF(gpu_columns) - 1), KIND(gpu_columns, N_OF(gpu_columns)) },
};

static struct pane *kernels_open(struct view *view)
{
	struct kernels_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kinds[0][0], "total");
	return &pane->pane;
}

static void kernels_close(struct pane *pane)
{
	struct kernels_pane *kernels = (struct kernels_pane *)pane;

	table_teardown(&kernels->table);
	free(kernels);
}

static void fill_line(struct kernel_line *line, const struct kernel_row *row,
		      const struct kernel_trend *trends, size_t n_trends,
		      const struct device_row *devices, size_t n_devices)
{
	int64_t most = -1;
	size_t i;

	*line = (struct kernel_line){
		.name = row->name, .raw_name = row->raw_name, .device_id = row->device,
		.work = row->work, .class = row->class, .occupancy_milli = row->occupancy_milli,
		.limits = row->occupancy_limits,
		.count = row->count, .failed = row->failed, .untimed = row->untimed,
		.approx = row->approx > 0, .n_ops = row->n_ops,
		.total_ns = row->total_ns, .mean_ns = row->mean_ns, .min_ns = row->min_ns,
		.max_ns = row->max_ns, .p99_ns = row->p99_ns,
		.flop_per_s = row->flop_ns > 0 ? flop_per_s(row->flop, row->flop_ns) : 0,
	};
	memcpy(line->spread, row->spread, sizeof(line->spread));
	for (i = 0; i < n_trends; i++) {
		if (trends[i].raw_name != row->raw_name || trends[i].device != row->device)
			continue;
		line->n_trend = trends[i].n;
		memcpy(line->trend_ns, trends[i].mean_ns, sizeof(line->trend_ns));
	}
	panes_device_label(line->device, sizeof(line->device), devices, n_devices, row->device);
	for (i = 0; i < row->n_ops; i++) {
		if (row->ops[i].total_ns <= most)
			continue;
		most = row->ops[i].total_ns;
		line->op = row->ops[i].name;
		line->how = row->ops[i].how;
	}
}

/* What is sorted by stays. */
static void choose_kind(struct table *table, bool gpu, bool flop)
{
	const char *key = table->kind->columns[table->sort].key;
	bool reverse = table->reverse;

	if (table->kind == &kinds[gpu][flop])
		return;
	table->kind = &kinds[gpu][flop];
	for (size_t i = 0; i < table->kind->n_columns; i++)
		if (table->kind->columns[i].key == key)
			table->sort = i;
	table->reverse = reverse;
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

	if (panes_stands(view, &p->taken))
		return;
	n_trends = model_kernel_trends(view->model, &trends);
	n_devices = model_devices(view->model, &devices);
	count = model_kernels(view->model, &rows);
	lines = count ? xreallocarray(NULL, count, sizeof(*lines)) : NULL;
	for (i = 0; i < count; i++) {
		fill_line(&lines[i], &rows[i], trends, n_trends, devices, n_devices);
		total += part(&lines[i]);
		flop |= lines[i].flop_per_s > 0;
		gpu |= lines[i].occupancy_milli >= 0;
	}
	choose_kind(&p->table, gpu, flop);
	p->n_classes = report_classes(view->model, UINT32_MAX, p->classes, &p->classes_ns);
	free(trends);
	model_kernels_free(rows, count);
	free(devices);
	table_take(&p->table, lines, count, total);
}

/* Where the time goes, by class: the last line. */
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
		return panes_about(view, "pk", line->raw_name);
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	return panes_find_event(view, line->name, ROW_QUEUE, line->device_id);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(ROW(row)->name, key) == 0;
}

static bool kernels_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct kernels_pane *)pane)->table, is_row, key);
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
};
