/* SPDX-License-Identifier: MIT */
/* Pane 2: kernels, by what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/launch.h"
#include "model/query/work.h"
#include "model/base/util.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/report/report.h"

#define CLASSES_FROM 8			/* lines of the pane from which on there is one for them */

struct kernels_pane {
	struct pane pane;
	struct table table;
	struct report_share classes[KERNEL_KINDS];	/* time by class, of all devices */
	size_t n_classes;
	int64_t classes_ns;
	uint64_t taken;			/* places_stands() */
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
	int64_t total_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns;
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

static bool timed(const void *row)
{
	return ROW(row)->count > ROW(row)->untimed;
}

#define VALUE(name, number, condition) \
static bool name##_value(const void *row, int64_t *value) \
{ \
	*value = (int64_t)(number); \
	return condition; \
}
VALUE(count, ROW(row)->count, true)
VALUE(total, ROW(row)->total_ns, timed(row))
VALUE(mean, ROW(row)->mean_ns, timed(row))
VALUE(min, ROW(row)->min_ns, timed(row))
VALUE(max, ROW(row)->max_ns, timed(row))
VALUE(p50, ROW(row)->p50_ns, timed(row))
VALUE(p99, ROW(row)->p99_ns, timed(row))
VALUE(flop, ROW(row)->flop_per_s, ROW(row)->flop_per_s > 0)
VALUE(occupancy, ROW(row)->occupancy_milli, ROW(row)->occupancy_milli >= 0)
VALUE(failed, ROW(row)->failed, true)

/* Times of kernels of which some were only bracketed by the host carry "~", estimates "≈". */
static void time_text(const void *row, bool (*get)(const void *row, int64_t *value), bool estimate,
		      char *text, size_t size)
{
	char time[FMT_MAX];
	int64_t ns;

	snprintf(text, size, "–");
	if (get(row, &ns))
		snprintf(text, size, "%s%s", estimate ? "≈" : ROW(row)->approx ? "~" : "",
			 fmt_time(time, ns));
}

#define TIME(name, estimate) \
static void name##_text(const struct table *table, const void *row, char *text, size_t size) \
{ \
	time_text(row, name##_value, estimate, text, size); \
}
TIME(total, false)
TIME(mean, false)
TIME(min, false)
TIME(max, false)
TIME(p50, true)			/* percentiles come from log buckets */
TIME(p99, true)

static uint64_t part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
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

/* How long it took, over the run: from left to right. */
static void trend_text(const struct table *table, const void *row, char *text, size_t size)
{
	uint64_t values[TREND_POINTS];

	for (uint32_t i = 0; i < ROW(row)->n_trend; i++)
		values[i] = (uint64_t)ROW(row)->trend_ns[i];
	table_strip(text, size, values, ROW(row)->n_trend);
}

/* How often it took so long: from the shortest to the longest. */
static void spread_text(const struct table *table, const void *row, char *text, size_t size)
{
	if (ROW(row)->count > ROW(row)->untimed + 1)
		table_strip(text, size, ROW(row)->spread, KERNEL_SPREAD);
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

static int by_name(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->name, ROW(b)->name);
}

static int by_device(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->device_id, ROW(b)->device_id);
}

static int by_op(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->op, ROW(b)->op);
}

static enum filter_known field(const void *row, enum filter_field by, struct filter_value *value)
{
	const struct kernel_line *line = ROW(row);
	bool timed = line->count > line->untimed;

	switch (by) {
	case FILTER_BY_NAME: return filter_words(value, line->name, line->raw_name);
	case FILTER_BY_RAW_NAME: return filter_words(value, line->raw_name, NULL);
	case FILTER_BY_OP: return filter_words(value, line->op, NULL);
	case FILTER_BY_KIND: return filter_number(value, FILTER_KERNEL);
	case FILTER_BY_CLASS:
		return filter_words(value, kernel_kind_name((enum kernel_kind)line->class.kind), NULL);
	case FILTER_BY_DTYPE:
		return filter_words(value, kernel_type_name((enum kernel_type)line->class.type), NULL);
	case FILTER_BY_DEVICE: return filter_words(value, line->device, NULL);
	case FILTER_BY_COUNT: return filter_number(value, (int64_t)line->count);
	case FILTER_BY_FAILED: return filter_number(value, line->failed > 0);
	case FILTER_BY_APPROXIMATE: return filter_number(value, line->approx);
	case FILTER_BY_TOTAL: return filter_number_if(value, line->total_ns, timed);
	case FILTER_BY_DUR:
	case FILTER_BY_MEAN: return filter_number_if(value, line->mean_ns, timed);
	case FILTER_BY_MIN: return filter_number_if(value, line->min_ns, timed);
	case FILTER_BY_MAX: return filter_number_if(value, line->max_ns, timed);
	case FILTER_BY_P50: return filter_number_if(value, line->p50_ns, timed);
	case FILTER_BY_P99: return filter_number_if(value, line->p99_ns, timed);
	case FILTER_BY_OCCUPANCY:
		return filter_number_if(value, line->occupancy_milli * INT64_C(1000),
				    line->occupancy_milli >= 0);
	case FILTER_BY_FLOP:
		return filter_number_if(value, (int64_t)line->flop_per_s, line->flop_per_s > 0);
	default: return FILTER_UNKNOWN;
	}
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

/* Where a kernel has no geometry that a vendor's rules are known for, type to limit are
 * left out; where nobody tells what it has to compute, the last. */
static const struct table_column columns[] = {
	{"kernel", "kernel", 22, 28, 44, 0, .text = name_text, .compare = by_name,
	 .help = "the kernel, demangled and shortened"},
	{"device", "device", 6, 0, 0, 8, .text = device_text, .compare = by_device,
	 .help = "the device that it ran on"},
	{"class", "class", 11, 0, 0, 4, .text = class_text, .compare = by_class,
	 .help = "what it computes, by its name"},
	{"type", "type", 4, 0, 0, 6, .text = type_text, .compare = by_type,
	 .help = "the type of the numbers it computes with, by its name"},
	{"tensor", "tensor", 6, 0, 0, 6, UNIT_TEXT, TABLE_MOST_FIRST, .text = tensor_text,
	 .compare = by_tensor,
	 .help = "whether it runs on tensor cores, by its name; of what might only"},
	{"occup", "occupancy", 5, 0, 0, 5, UNIT_SHARE, TABLE_LEAST_FIRST, .value = occupancy_value,
	 .help = "threads that fit at once, of those that the device can hold: computed from its launches"},
	{"limited by", "limit", 13, 0, 0, 10, .text = limit_text,
	 .help = "what keeps its occupancy from being higher"},
	{"count", "count", 9, 0, 0, 1, UNIT_COUNT, TABLE_SUMS, .value = count_value,
	 .help = "how often it ran"},
	{"total", "total", 9, 0, 0, 0, UNIT_TIME, TABLE_SUMS, .value = total_value, .text = total_text,
	 .help = "time of all its runs added; ~ where some are known from the host only"},
	{"share of it", "share", 14, 14, 20, 2, UNIT_SHARE, .part = part,
	 .help = "its part of the time of all kernels"},
	{"avg", "avg", 8, 0, 0, 3, UNIT_TIME, 0, .value = mean_value, .text = mean_text,
	 .help = "time of a run, on average"},
	{"min", "min", 8, 0, 0, 9, UNIT_TIME, 0, .value = min_value, .text = min_text,
	 .help = "its shortest run"},
	{"max", "max", 8, 0, 0, 7, UNIT_TIME, 0, .value = max_value, .text = max_text,
	 .help = "its longest run"},
	{"p50", "p50", 9, 0, 0, 9, UNIT_TIME, TABLE_ASKED, .value = p50_value, .text = p50_text,
	 .help = "half of its runs took no longer: an estimate"},
	{"p99", "p99", 9, 0, 0, 5, UNIT_TIME, 0, .value = p99_value, .text = p99_text,
	 .help = "99 of 100 runs took no longer: an estimate"},
	{"min … max", "spread", 16, 0, 0, 11, .text = spread_text,
	 .help = "how many runs took how long, in equal parts from its shortest to its longest"},
	{"over the run", "trend", 16, 0, 0, 10, .text = trend_text,
	 .help = "mean time of a run, over equally many steps each, from the start of the run to now"},
	{"op", "op", 16, 28, 44, 4, .text = op_text, .compare = by_op,
	 .help = "the op that launched most of it, how many more, and how that is known"},
	{"failed", "failed", 8, 0, 0, 11, UNIT_COUNT, TABLE_SUMS | TABLE_ASKED, .value = failed_value,
	 .help = "runs that ended with an error"},
	{"GFLOP/s", "flops", 9, 0, 0, 4, UNIT_FLOPS, 0, .value = flop_value,
	 .help = "floating-point operations that its problems need, by its time"},
};

static const struct table_kind kind = {
	.pane = "kernels",
	.count_key = "count",
	.cost_key = "total",
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
	.row_size = sizeof(struct kernel_line),
	.empty = "no kernel has finished yet",
	.identity = identity,
	.field = field,
	.bar = bar_role,
	.bad = bad,
};

static void offer(struct table *table, bool gpu, bool flop)
{
	static const char *const of_gpus[] = { "type", "tensor", "occupancy", "limit" };

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
	return table_compare_u64(left->device, right->device);
}

/* trends: in the order of compare_trends(). */
static void fill_line(struct kernel_line *line, const struct kernel_row *row,
		      const struct kernel_trend *trends, size_t n_trends,
		      const struct device_row *devices, size_t n_devices)
{
	struct kernel_trend key = { .raw_name = row->raw_name, .device = row->device };
	const struct kernel_trend *trend;
	int64_t most = -1;
	size_t i;

	*line = (struct kernel_line){
		.name = row->name, .raw_name = row->raw_name, .device_id = row->device,
		.work = row->work, .class = row->class, .occupancy_milli = row->occupancy_milli,
		.limits = row->occupancy_limits,
		.count = row->count, .failed = row->failed, .untimed = row->untimed,
		.approx = row->approx > 0, .n_ops = row->n_ops,
		.total_ns = row->total_ns, .mean_ns = row->mean_ns, .min_ns = row->min_ns,
		.max_ns = row->max_ns, .p50_ns = row->p50_ns, .p99_ns = row->p99_ns,
		.flop_per_s = row->flop_ns > 0 ? flop_per_s(row->flop, row->flop_ns) : 0,
	};
	memcpy(line->spread, row->spread, sizeof(line->spread));
	trend = bsearch(&key, trends, n_trends, sizeof(*trends), compare_trends);
	if (trend) {
		line->n_trend = trend->n;
		memcpy(line->trend_ns, trend->mean_ns, sizeof(line->trend_ns));
	}
	places_device_label(line->device, sizeof(line->device), devices, n_devices, row->device);
	for (i = 0; i < row->n_ops; i++) {
		if (row->ops[i].total_ns <= most)
			continue;
		most = row->ops[i].total_ns;
		line->op = row->ops[i].name;
		line->how = row->ops[i].how;
	}
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
		fill_line(&lines[i], &rows[i], trends, n_trends, devices, n_devices);
		total += part(&lines[i]);
		flop |= lines[i].flop_per_s > 0;
		gpu |= lines[i].occupancy_milli >= 0;
	}
	offer(&p->table, gpu, flop);
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
		return places_about(view, "pk", line->raw_name);
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	return places_find_event(view, line->name, ROW_QUEUE, line->device_id);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(ROW(row)->name, key) == 0;
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
