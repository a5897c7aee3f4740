/* SPDX-License-Identifier: MIT */
#include "model/columns/kernels.h"

#include <string.h>

#include "model/base/util.h"
#include "model/query/class.h"
#include "model/query/launch.h"

#define LINE(row) ((const struct kernel_line *)(row))
#define ROW(line) (&LINE(line)->row)
#define AT(name) TABLE_MEMBER(struct kernel_line, name)

void kernel_line_init(struct kernel_line *line, const struct kernel_row *row)
{
	int64_t most = -1;

	memset(line, 0, sizeof(*line));
	line->row = *row;
	line->row.queues = NULL;
	line->row.ops = NULL;
	line->row.shapes = NULL;
	for (size_t i = 0; i < row->n_ops; i++) {
		if (!row->ops[i].name || row->ops[i].total_ns <= most)
			continue;
		most = row->ops[i].total_ns;
		line->op = row->ops[i].name;
		line->how = row->ops[i].how;
	}
}

/* ---- what is known of a row ---- */

static bool kernel_has_type(const void *row)
{
	return ROW(row)->class.type != NUMBER_UNKNOWN;
}

static bool kernel_has_tensor(const void *row)
{
	return ROW(row)->class.tensor != TENSOR_UNKNOWN;
}

static bool kernel_has_time(const void *row)
{
	return ROW(row)->count > ROW(row)->untimed;
}

/* Not of a part of its runs. */
static bool kernel_has_spread(const void *row)
{
	return kernel_has_time(row) && ROW(row)->min_ns >= 0;
}

static bool kernel_has_flop(const void *row)
{
	return ROW(row)->flop > 0 && ROW(row)->flop_ns > 0;
}

static bool kernel_is_approximate(const void *row)
{
	return ROW(row)->approx > 0;
}

/* ---- values and texts ---- */

static bool kernel_type(const void *row, int64_t *value)
{
	*value = ROW(row)->class.type;
	return true;
}

static bool kernel_tensor(const void *row, int64_t *value)
{
	*value = ROW(row)->class.tensor == TENSOR_USED;
	return true;
}

static bool kernel_flop(const void *row, int64_t *value)
{
	*value = (int64_t)flop_per_s(ROW(row)->flop, ROW(row)->flop_ns);
	return true;
}

uint64_t kernel_line_part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

static const char *kernel_class_words(const void *row)
{
	return kernel_kind_name((enum kernel_kind)ROW(row)->class.kind);
}

static const char *kernel_type_words(const void *row)
{
	return kernel_type_name((enum kernel_type)ROW(row)->class.type);
}

static void kernel_name_text(const void *row, bool ascii, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void kernel_tensor_text(const void *row, bool ascii, char *text, size_t size)
{
	static const char *const words[] = { "", "no", "yes" };

	snprintf(text, size, "%s", words[ROW(row)->class.tensor % 3]);
}

static void kernel_limit_text(const void *row, bool ascii, char *text, size_t size)
{
	occupancy_limits(text, size, ROW(row)->occupancy_limits);
}

static void kernel_op_text(const void *row, bool ascii, char *text, size_t size)
{
	char more[24] = "";

	if (ROW(row)->n_ops > 1)
		snprintf(more, sizeof(more), " +%zu", ROW(row)->n_ops - 1);
	if (LINE(row)->op)
		snprintf(text, size, "%s%s (%s)", LINE(row)->op, more, how_name(LINE(row)->how));
	else
		snprintf(text, size, "–%s", more);
}

/* How many runs took how long: from the shortest to the longest. */
static size_t kernel_spread(const void *row, uint64_t values[TABLE_SERIES_MAX])
{
	if (ROW(row)->count <= ROW(row)->untimed + 1)
		return 0;
	memcpy(values, ROW(row)->spread, sizeof(ROW(row)->spread));
	return KERNEL_SPREAD;
}

/* Mean durations over the run, from left to right. */
static size_t kernel_trend(const void *row, uint64_t values[TABLE_SERIES_MAX])
{
	for (uint32_t i = 0; i < LINE(row)->n_trend; i++)
		values[i] = (uint64_t)LINE(row)->trend_ns[i];
	return LINE(row)->n_trend;
}

static int kernel_compare_tensor(const void *a, const void *b)
{
	return columns_compare_i64(ROW(a)->class.tensor, ROW(b)->class.tensor);
}

_Static_assert(KERNEL_SPREAD <= TABLE_SERIES_MAX && TREND_POINTS <= TABLE_SERIES_MAX, "a strip");

/* Where a kernel has no geometry that a vendor's rules are known for, the pane leaves out type,
 * tensor, occupancy and limit; where nobody told what it has to compute, flops. */
static const struct table_column columns[] = {
	{ .key = "kernel", .member = AT(row.name), .text = kernel_name_text,
	  .width = 22, .want = 28, .most = 44,
	  .list = 12, .report = 1, .csv = 1, .json = "name",
	  .filter = TABLE_FILTER(NAME), .other = AT(row.raw_name),
	  .help = "name of the kernel, demangled and shortened" },
	{ .key = "device", .member = AT(device), .number = AT(row.device), .flags = TABLE_OR_NONE,
	  .width = 6, .rank = 8, .list = 9, .report = 2, .csv = 3, .json = "device",
	  .filter = TABLE_FILTER(DEVICE), .other = AT(device_name),
	  .help = "device that the kernel ran on" },
	{ .key = "class", .words = kernel_class_words, .width = 11, .rank = 4,
	  .list = 10, .json = "class", .filter = TABLE_FILTER(CLASS),
	  .help = "what the kernel computes, judged by its name" },
	{ .title = "type", .key = "dtype", .was = "type", .words = kernel_type_words,
	  .value = kernel_type, .known = kernel_has_type,
	  .width = 4, .rank = 6, .json = "dtype", .filter = TABLE_FILTER(DTYPE),
	  .help = "type of the numbers that the kernel computes with, judged by its name" },
	{ .key = "tensor", .value = kernel_tensor, .known = kernel_has_tensor,
	  .flags = TABLE_MOST_FIRST | TABLE_YES_NO, .text = kernel_tensor_text,
	  .compare = kernel_compare_tensor, .width = 6, .rank = 6, .json = "tensor_core",
	  .help = "whether the kernel runs on tensor cores, judged by its name" },
	{ .title = "occup", .key = "occupancy", .unit = UNIT_SHARE,
	  .member = AT(row.occupancy_milli),
	  .flags = TABLE_LEAST_FIRST | TABLE_IF_ANY | TABLE_OR_NONE, .width = 5, .rank = 5,
	  .list = 8, .json = "occupancy", .filter = TABLE_FILTER(OCCUPANCY),
	  .help = "threads that fit at once, as a share of those that the device can hold: "
		  "computed from the kernel's launches" },
	{ .title = "limited by", .key = "limit", .text = kernel_limit_text,
	  .width = 13, .rank = 10,
	  .help = "what keeps the occupancy from being higher" },
	{ .key = "count", .unit = UNIT_COUNT, .member = AT(row.count), .flags = TABLE_SUMS,
	  .width = 9, .rank = 1,
	  .list = 1, .report = 3, .csv = 4, .json = "count", .filter = TABLE_FILTER(COUNT),
	  .help = "number of runs" },
	{ .key = "total", .unit = UNIT_TIME, .member = AT(row.total_ns), .known = kernel_has_time,
	  .flags = TABLE_SUMS, .width = 9,
	  .list = 2, .report = 5, .csv = 6, .json = "total_ns", .filter = TABLE_FILTER(TOTAL),
	  .help = "sum of the durations of all runs; ~ where some are known from the host only" },
	{ .key = "share", .unit = UNIT_SHARE, .part = kernel_line_part, .known = kernel_has_time,
	  .width = 14, .want = 14, .most = 20, .rank = 2, .list = 3, .report = 10,
	  .help = "share of the total time of all kernels" },
	{ .key = "mean", .was = "avg", .unit = UNIT_TIME, .member = AT(row.mean_ns),
	  .known = kernel_has_time,
	  .width = 8, .rank = 3,
	  .list = 4, .report = 6, .csv = 7, .json = "mean_ns", .filter = TABLE_FILTER(MEAN),
	  .help = "mean duration of a run" },
	{ .key = "min", .unit = UNIT_TIME, .member = AT(row.min_ns), .known = kernel_has_spread,
	  .width = 8, .rank = 9,
	  .list = 5, .csv = 8, .json = "min_ns", .filter = TABLE_FILTER(MIN),
	  .help = "duration of the shortest run" },
	{ .key = "max", .unit = UNIT_TIME, .member = AT(row.max_ns), .known = kernel_has_spread,
	  .width = 8, .rank = 7,
	  .list = 6, .report = 8, .csv = 9, .json = "max_ns", .filter = TABLE_FILTER(MAX),
	  .help = "duration of the longest run" },
	{ .key = "p50", .unit = UNIT_TIME, .member = AT(row.p50_ns), .known = kernel_has_spread,
	  .flags = TABLE_ASKED | TABLE_ESTIMATE, .width = 9, .rank = 9,
	  .csv = 10, .json = "p50_ns", .filter = TABLE_FILTER(P50),
	  .help = "half of the runs took no longer; an estimate" },
	{ .key = "p99", .unit = UNIT_TIME, .member = AT(row.p99_ns), .known = kernel_has_spread,
	  .flags = TABLE_ESTIMATE, .width = 9, .rank = 5,
	  .list = 7, .report = 7, .csv = 11, .json = "p99_ns", .filter = TABLE_FILTER(P99),
	  .help = "99 of 100 runs took no longer; an estimate" },
	{ .title = "min … max", .key = "spread", .series = kernel_spread, .width = 16, .rank = 11,
	  .help = "how many runs took how long, from the shortest to the longest in equal steps" },
	{ .title = "over the run", .key = "trend", .series = kernel_trend, .width = 16, .rank = 10,
	  .help = "mean duration of a run from the start of the program to now, in parts of "
		  "equally many steps" },
	{ .key = "op", .member = AT(op), .text = kernel_op_text,
	  .width = 16, .want = 28, .most = 44, .rank = 4,
	  .list = 11, .csv = 12, .filter = TABLE_FILTER(OP),
	  .help = "the op that launched most of it, how many other ops did, and how that is "
		  "known" },
	{ .key = "failed", .unit = UNIT_COUNT, .member = AT(row.failed),
	  .flags = TABLE_SUMS | TABLE_ASKED | TABLE_IF_ANY, .width = 8, .rank = 11,
	  .report = 4, .csv = 5, .json = "failed", .filter = TABLE_FILTER(FAILED),
	  .help = "runs that ended with an error" },
	{ .title = "GFLOP/s", .key = "flops", .unit = UNIT_FLOPS, .value = kernel_flop,
	  .known = kernel_has_flop, .flags = TABLE_IF_ANY, .width = 9, .rank = 4,
	  .report = 9, .filter = TABLE_FILTER(FLOP),
	  .help = "floating-point operations that its problems need, divided by its time" },
	/* only in files */
	{ .key = "raw-name", .member = AT(row.raw_name),
	  .csv = 2, .json = "raw_name", .filter = TABLE_FILTER(RAW_NAME),
	  .help = "name of the kernel as the program gave it" },
	{ .key = "shape", .member = AT(row.shape), .json = "shape",
	  .help = "shape of the problem, where all runs have the same" },
	{ .unit = UNIT_COUNT, .member = AT(row.approx), .needs = AT(row.approx),
	  .json = "approximate" },
	{ .unit = UNIT_COUNT, .member = AT(row.untimed), .needs = AT(row.untimed),
	  .json = "untimed" },
};

const struct table_columns kernel_columns = {
	.name = "kernels",
	TABLE_COLUMNS_OF(columns, 4),
	.approximate = kernel_is_approximate,
	.kind = FILTER_KERNEL,
};
