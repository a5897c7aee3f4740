/* SPDX-License-Identifier: MIT */
#include "model/columns/ops.h"

#include <string.h>

#include "model/base/util.h"

#define LINE(row) ((const struct op_line *)(row))
#define ROW(line) (&LINE(line)->op)
#define AT(name) TABLE_MEMBER(struct op_line, name)

/* ---- what is known of a row ---- */

static bool op_has_launched(const void *row)
{
	return ROW(row)->kernels + ROW(row)->copies > 0;
}

static bool op_is_scaled(const void *row)
{
	return ROW(row)->seen < ROW(row)->count;
}

/* ---- numbers ---- */

uint64_t op_line_cost(const struct op_row *row, bool devices)
{
	int64_t ns = devices ? row->device_ns : row->self_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t op_device_part(const void *row)
{
	return op_line_cost(ROW(row), true);
}

static uint64_t op_self_part(const void *row)
{
	return op_line_cost(ROW(row), false);
}

/* Of a branch; by scope an op's is its self time. */
static uint64_t op_total_part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

/* ---- texts ---- */

static void op_name_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct op_line *line = row;
	const char *mark = "  ";
	int indent = line->id ? 2 * (int)(line->depth < 12 ? line->depth : 12) : 0;

	if (line->id && line->branch && ascii)
		mark = line->folded ? "+ " : "- ";
	else if (line->id && line->branch)
		mark = line->folded ? "▸ " : "▾ ";
	snprintf(text, size, "%*s%s%s", indent, "", line->id ? mark : "",
		 ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void op_type_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *type = ROW(row)->type;

	if (!type || !*type)
		type = ROW(row)->is_range ? "range" : framework_name(ROW(row)->framework);
	snprintf(text, size, "%s", type);
}

/* "train.py:88", and how many more. */
static void op_source_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *file = ROW(row)->file, *slash = file ? strrchr(file, '/') : NULL;
	char more[24] = "";

	if (ROW(row)->lines > 1)
		snprintf(more, sizeof(more), " +%u", ROW(row)->lines - 1);
	if (file)
		snprintf(text, size, "%s:%u%s", slash ? slash + 1 : file, ROW(row)->line, more);
	else
		snprintf(text, size, "%s", "");
}

static void op_from_text(const void *row, bool ascii, char *text, size_t size)
{
	snprintf(text, size, "%s%s", framework_name(ROW(row)->framework),
		 ROW(row)->is_range ? " range" : "");
}

static const char *op_framework(const void *row)
{
	return ROW(row)->framework ? framework_name(ROW(row)->framework) : NULL;
}

static int op_compare_source(const void *a, const void *b)
{
	int order = columns_compare_text(ROW(a)->file, ROW(b)->file);

	return order ? order : columns_compare_u64(ROW(a)->line, ROW(b)->line);
}

/* What it took of a step, over the run: from left to right. */
static size_t op_series(const int64_t *ns, size_t n, uint64_t values[TABLE_SERIES_MAX])
{
	for (size_t i = 0; i < n; i++)
		values[i] = ns[i] > 0 ? (uint64_t)ns[i] : 0;
	return n;
}

static size_t op_device_trend(const void *row, uint64_t values[TABLE_SERIES_MAX])
{
	const struct op_trend *trend = LINE(row)->trend;

	return trend ? op_series(trend->device_ns, trend->n, values) : 0;
}

static size_t op_self_trend(const void *row, uint64_t values[TABLE_SERIES_MAX])
{
	const struct op_trend *trend = LINE(row)->trend;

	return trend ? op_series(trend->op_ns, trend->n, values) : 0;
}

static enum filter_known op_filter(const void *row, enum filter_field field,
				   struct filter_value *value)
{
	switch (field) {
	case FILTER_BY_OP: return filter_words(value, ROW(row)->name, ROW(row)->raw_name);
	case FILTER_BY_KIND:
		return filter_number(value, ROW(row)->is_range ? FILTER_RANGE : FILTER_OP);
	default: return FILTER_UNKNOWN;
	}
}

/* ---- the columns, each with what differs between the shapes ---- */

#define NAME_COLUMN(title_) \
	{ .title = title_, .key = "op", .member = AT(op.name), .text = op_name_text, \
	  .width = 24, .want = 42, .most = 64, \
	  .list = 11, .report = 1, .csv = 1, .json = "name", \
	  .filter = TABLE_FILTER(NAME), .other = AT(op.raw_name), \
	  .help = "the op, the user's range, or in a tree the scope that it belongs to" }
#define TYPE_COLUMN(rank_) \
	{ .key = "type", .member = AT(op.type), .text = op_type_text, \
	  .width = 8, .want = 18, .most = 24, .rank = rank_, \
	  .list = 9, .csv = 2, .json = "type", .filter = TABLE_FILTER(TYPE), \
	  .help = "type of the op as its framework names it, else the framework" }
#define CALLS_COLUMN \
	{ .key = "calls", .unit = UNIT_COUNT, .member = AT(op.count), \
	  .flags = TABLE_SUMS | TABLE_SCALED, \
	  .width = 9, .rank = 2, \
	  .list = 1, .report = 3, .csv = 5, .json = "count", .filter = TABLE_FILTER(COUNT), \
	  .help = "number of calls" }
#define SELF_COLUMN \
	{ .key = "self", .unit = UNIT_TIME, .member = AT(op.self_ns), .needs = AT(op.count), \
	  .flags = TABLE_SUMS | TABLE_SCALED | TABLE_FILES_ZERO, .width = 9, .rank = 1, \
	  .list = 2, .report = 5, .csv = 7, .json = "self_ns", .filter = TABLE_FILTER(SELF), \
	  .help = "time on the host in the op itself, without the ops that it called" }
#define TOTAL_COLUMN(rank_, flags_) \
	{ .key = "total", .unit = UNIT_TIME, .member = AT(op.total_ns), .needs = AT(op.count), \
	  .flags = flags_ | TABLE_SCALED | TABLE_FILES_ZERO, .width = 9, .rank = rank_, \
	  .list = 3, .report = 4, .csv = 6, .json = "total_ns", .filter = TABLE_FILTER(TOTAL), \
	  .help = "time on the host with all the ops that it called" }
#define DEVICE_COLUMN(rank_, flags_) \
	{ .title = "device time", .key = "device-time", .unit = UNIT_TIME, \
	  .member = AT(op.device_ns), .known = op_has_launched, \
	  .flags = flags_ | TABLE_SCALED | TABLE_FILES_ZERO, .width = 13, .rank = rank_, \
	  .list = 4, .report = 6, .csv = 8, .filter = TABLE_FILTER(DEVICE_TIME), \
	  .help = "sum of the durations of the kernels and copies that it launched" }
#define SHARE_COLUMN(rank_, part_, known_, of) \
	{ .key = "share", .unit = UNIT_SHARE, .part = part_, .known = known_, \
	  .width = 14, .want = 14, .most = 20, .rank = rank_, .list = 5, .report = 7, \
	  .help = "share of the " of " of all ops" }
#define MEAN_COLUMN(rank_, flags_, was_) \
	{ .key = "mean", .was = was_, .unit = UNIT_TIME, .member = AT(op.total_ns), \
	  .per = AT(op.count), .flags = flags_, .width = 9, .rank = rank_, \
	  .list = 6, .csv = 9, .json = "mean_ns", .filter = TABLE_FILTER(MEAN), \
	  .help = "mean duration of a call on the host, with the ops that it called" }
#define DEVICE_MEAN_COLUMN(rank_, flags_, was_) \
	{ .title = "per call", .key = "device-mean", .was = was_, .unit = UNIT_TIME, \
	  .member = AT(op.device_ns), .per = AT(op.count), \
	  .known = op_has_launched, .flags = flags_, \
	  .width = 9, .rank = rank_, \
	  .help = "mean device time of a call" }
#define MAX_COLUMN(rank_, title_) \
	{ .title = title_, .key = "max", .unit = UNIT_TIME, .member = AT(op.max_ns), \
	  .needs = AT(op.count), .width = 9, .rank = rank_, .csv = 11, .json = "max_ns", \
	  .filter = TABLE_FILTER(MAX), \
	  .help = "duration of the longest call on the host, with the ops that it called" }
#define KERNELS_COLUMN(rank_) \
	{ .key = "kernels", .unit = UNIT_COUNT, .member = AT(op.kernels), \
	  .flags = TABLE_SUMS | TABLE_SCALED | TABLE_DASH, .width = 9, .rank = rank_, \
	  .list = 8, .csv = 14, .filter = TABLE_FILTER(KERNELS), \
	  .help = "number of kernels that it launched" }
#define COPIED_COLUMN \
	{ .key = "copied", .unit = UNIT_BYTES, .member = AT(op.copy_bytes), \
	  .flags = TABLE_SUMS | TABLE_SCALED | TABLE_ASKED | TABLE_DASH, .width = 9, .rank = 9, \
	  .filter = TABLE_FILTER(BYTES), \
	  .help = "bytes of the copies that it launched" }
/* Of trees; a list has it so that one may choose it there too. */
#define WAITS_COLUMN \
	{ .key = "waits", .unit = UNIT_TIME, .member = AT(wait_ns), .needs = AT(wait_ns), \
	  .flags = TABLE_SCALED, .width = 9, .rank = 7, \
	  .help = "time in it and the ops that it called during which the host waited for a " \
		  "device" }

/* Of all shapes; not in panes. Trees have the mean here, for filters. */
#define BEYOND 9
#define TREE_BEYOND 10
#define COLUMNS_BEYOND \
	{ .key = "from", .report = 2, .text = op_from_text, \
	  .help = "the framework, and whether it is a range of the user" }, \
	{ .key = "raw-name", .member = AT(op.raw_name), .filter = TABLE_FILTER(RAW_NAME), \
	  .help = "name as the program or framework gave it" }, \
	{ .key = "framework", .words = op_framework, .csv = 3, .json = "framework", \
	  .help = "the framework" }, \
	{ .key = "range", .member = AT(op.is_range), .flags = TABLE_YES_NO, .csv = 4, \
	  .help = "whether it is a range of the user in which nothing was launched" }, \
	{ .key = "copies", .unit = UNIT_COUNT, .member = AT(op.copies), .csv = 15, \
	  .help = "number of copies that it launched" }, \
	{ .key = "copy-bytes", .unit = UNIT_BYTES, .member = AT(op.copy_bytes), .csv = 16, \
	  .help = "bytes of these" }, \
	{ .key = "seen", .unit = UNIT_COUNT, .member = AT(op.seen), .known = op_is_scaled, \
	  .json = "seen", \
	  .help = "number of calls that were seen, if fewer: the sums are estimates" }, \
	{ .key = "file", .member = AT(op.file), .filter = TABLE_FILTER(FILE), \
	  .help = "source file that it comes from" }, \
	{ .key = "line", .unit = UNIT_NUMBER, .member = AT(op.line), .needs = AT(op.file), \
	  .filter = TABLE_FILTER(LINE), .help = "line of it" }

/* Where a call's device time stands beside it, the longest call says that it is of the host. */
#define OPS_HOST_MAX "host max"

/* Queued and latency: of programs that hand ops to thread pools. */
#define LIST_COLUMNS(share, mean, device_mean, max_title, trend_, of) { \
	NAME_COLUMN(NULL), TYPE_COLUMN(5), CALLS_COLUMN, SELF_COLUMN, \
	TOTAL_COLUMN(6, TABLE_ASKED), DEVICE_COLUMN(0, TABLE_SUMS), share, mean, device_mean, \
	{ .key = "min", .unit = UNIT_TIME, .member = AT(op.min_ns), .needs = AT(op.count), \
	  .flags = TABLE_ASKED, .width = 9, .rank = 9, \
	  .csv = 10, .json = "min_ns", .filter = TABLE_FILTER(MIN), \
	  .help = "duration of the shortest call on the host, with the ops that it called" }, \
	{ .key = "p50", .unit = UNIT_TIME, .member = AT(op.p50_ns), .needs = AT(op.count), \
	  .flags = TABLE_ASKED | TABLE_ESTIMATE, .width = 9, .rank = 9, \
	  .csv = 12, .json = "p50_ns", .filter = TABLE_FILTER(P50), \
	  .help = "half of the calls took no longer; an estimate" }, \
	{ .key = "p99", .unit = UNIT_TIME, .member = AT(op.p99_ns), .needs = AT(op.count), \
	  .flags = TABLE_ASKED | TABLE_ESTIMATE, .width = 9, .rank = 9, \
	  .list = 7, .csv = 13, .json = "p99_ns", .filter = TABLE_FILTER(P99), \
	  .help = "99 of 100 calls took no longer; an estimate" }, \
	MAX_COLUMN(6, max_title), KERNELS_COLUMN(7), COPIED_COLUMN, WAITS_COLUMN, \
	{ .key = "queued", .unit = UNIT_TIME, .member = AT(op.wait_ns), .needs = AT(op.handed), \
	  .flags = TABLE_SUMS, .width = 9, .rank = 6, .filter = TABLE_FILTER(WAIT), \
	  .help = "time from when it was handed to a thread pool until a thread took it, " \
		  "sum of all calls" }, \
	{ .key = "latency", .unit = UNIT_TIME, .member = AT(op.latency_ns), \
	  .per = AT(op.latencies), .width = 9, .rank = 8, \
	  .help = "mean time from the end of its last input to its start" }, \
	{ .title = "over the run", .key = "trend", .series = trend_, .width = 16, .rank = 10, \
	  .help = of " of all its calls per step (or second), from the start of the run to now" }, \
	{ .key = "source", .member = AT(op.file), .text = op_source_text, \
	  .compare = op_compare_source, .width = 14, .want = 20, .most = 28, .rank = 9, \
	  .list = 10, \
	  .help = "line of the program that it comes from; of several the one with most time" }, \
	COLUMNS_BEYOND \
}

/* Trees: total is of all in a branch, self of what is right in it. */
#define TREE_COLUMNS(title, total_rank, device_rank, share, ...) { \
	NAME_COLUMN(title), TYPE_COLUMN(6), CALLS_COLUMN, TOTAL_COLUMN(total_rank, 0), \
	SELF_COLUMN, DEVICE_COLUMN(device_rank, 0), share, KERNELS_COLUMN(8), COPIED_COLUMN, \
	__VA_ARGS__ \
	MEAN_COLUMN(0, 0, NULL), COLUMNS_BEYOND \
}

#define DEVICE_SHARE(rank) SHARE_COLUMN(rank, op_device_part, op_has_launched, "device time")

static const struct table_column device_list[] =
	LIST_COLUMNS(DEVICE_SHARE(3), MEAN_COLUMN(9, TABLE_ASKED, NULL),
		     DEVICE_MEAN_COLUMN(4, 0, "avg"), OPS_HOST_MAX, op_device_trend, "device time");
static const struct table_column device_calls[] =
	TREE_COLUMNS("op", 3, 0, DEVICE_SHARE(4), DEVICE_MEAN_COLUMN(5, 0, "avg"),
		     MAX_COLUMN(7, OPS_HOST_MAX), WAITS_COLUMN,);
static const struct table_column device_scopes[] =
	TREE_COLUMNS("scope", 3, 0, DEVICE_SHARE(4),);
static const struct table_column self_list[] =
	LIST_COLUMNS(SHARE_COLUMN(3, op_self_part, NULL, "self time"), MEAN_COLUMN(4, 0, "avg"),
		     DEVICE_MEAN_COLUMN(9, TABLE_ASKED, NULL), NULL, op_self_trend,
		     "time on the host");
static const struct table_column self_calls[] =
	TREE_COLUMNS("op", 0, 4, SHARE_COLUMN(4, op_total_part, NULL, "total time"),
		     MEAN_COLUMN(5, 0, "avg"), MAX_COLUMN(7, NULL), WAITS_COLUMN,);
static const struct table_column self_scopes[] =
	TREE_COLUMNS("scope", 0, 4, SHARE_COLUMN(4, op_total_part, NULL, "total time"),);

#define OPS(array, beyond) { \
	.name = "ops", TABLE_COLUMNS_OF(array, beyond), .kind = -1, .filter = op_filter, \
	.scaled = op_is_scaled, \
}
const struct table_columns op_list_columns = OPS(device_list, BEYOND);

const struct table_columns *op_columns(bool devices, enum ops_shape shape)
{
	static const struct table_columns columns[2][OPS_SHAPES] = {
		{ OPS(self_list, BEYOND), OPS(self_calls, TREE_BEYOND),
		  OPS(self_scopes, TREE_BEYOND) },
		{ { .n = 0 }, OPS(device_calls, TREE_BEYOND), OPS(device_scopes, TREE_BEYOND) },
	};

	return devices && shape == OPS_LIST ? &op_list_columns : &columns[devices][shape];
}
