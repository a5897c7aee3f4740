/* SPDX-License-Identifier: MIT */
#include "tui/filters/filters_rows.h"
#include "tui/panes/ops_columns.h"

#include <stdio.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/work.h"
#include "tui/panes/ops_tree.h"

#define LINE(row) ((const struct op_line *)(row))
#define ROW(row) ((const struct op_row *)(row))

/* ---- texts ---- */

static void name_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct op_line *line = row;
	const char *mark = "  ";

	if (line->id && line->branch && ascii)
		mark = line->folded ? "+ " : "- ";
	else if (line->id && line->branch)
		mark = line->folded ? "▸ " : "▾ ";
	snprintf(text, size, "%*s%s%s", line->id ? 2 * (int)(line->depth < 12 ? line->depth : 12) : 0,
		 "", line->id ? mark : "", ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void type_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *type = ROW(row)->type;

	if (!type || !*type)
		type = ROW(row)->is_range ? "range" : framework_name(ROW(row)->framework);
	snprintf(text, size, "%s", type);
}

/* "train.py:88", and how many more. */
static void source_text(const void *row, bool ascii, char *text, size_t size)
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

static int by_source(const void *a, const void *b)
{
	int order = columns_compare_text(ROW(a)->file, ROW(b)->file);

	return order ? order : columns_compare_u64(ROW(a)->line, ROW(b)->line);
}

static int by_name(const void *a, const void *b)
{
	return columns_compare_text(ROW(a)->name, ROW(b)->name);
}

static int by_type(const void *a, const void *b)
{
	return columns_compare_text(ROW(a)->type, ROW(b)->type);
}

static void strip(const int64_t *ns, size_t n, char *text, size_t size)
{
	uint64_t values[TREND_POINTS];

	for (size_t i = 0; i < n; i++)
		values[i] = ns[i] > 0 ? (uint64_t)ns[i] : 0;
	table_strip(text, size, values, n);
}

/* What it took of a step, over the run: from left to right. */
static void device_trend_text(const void *row, bool ascii, char *text, size_t size)
{
	if (LINE(row)->trend)
		strip(LINE(row)->trend->device_ns, LINE(row)->trend->n, text, size);
}

static void self_trend_text(const void *row, bool ascii, char *text, size_t size)
{
	if (LINE(row)->trend)
		strip(LINE(row)->trend->op_ns, LINE(row)->trend->n, text, size);
}

/* ---- numbers ---- */

/* NAME_value: the number, known where CONDITION holds of the row. */
#define VALUE(name, number, condition) \
static bool name##_value(const void *row, int64_t *value) \
{ \
	const struct op_line *line = row; \
	const struct op_row *op = &line->op; \
\
	*value = (int64_t)(number); \
	(void)op; \
	return condition; \
}
VALUE(calls, op->count, true)
VALUE(self, op->self_ns, op->count > 0)
VALUE(total, op->total_ns, op->count > 0)
VALUE(device, op->device_ns, op->kernels + op->copies > 0)
VALUE(device_average, op->count ? op->device_ns / (int64_t)op->count : 0,
      op->count && op->kernels + op->copies)
VALUE(average, op->count ? op->total_ns / (int64_t)op->count : 0, op->count > 0)
VALUE(least, op->min_ns, op->count > 0)
VALUE(max, op->max_ns, op->count > 0)
VALUE(p50, op->p50_ns, op->count > 0)
VALUE(p99, op->p99_ns, op->count > 0)
VALUE(kernels, op->kernels, op->kernels > 0)
VALUE(copied, op->copy_bytes, op->copies > 0)
VALUE(waits, line->wait_ns, line->wait_ns > 0)
/* Handed to a thread pool: until a thread took them, all together. */
VALUE(queued, op->wait_ns, op->handed > 0)
VALUE(latency, op->latencies ? op->latency_ns / (int64_t)op->latencies : 0, op->latencies > 0)

/* From log buckets: an estimate. */
static void estimate(bool (*get)(const void *row, int64_t *value), const void *row, char *text,
		     size_t size)
{
	char time[FMT_MAX];
	int64_t value;

	snprintf(text, size, "–");
	if (get(row, &value))
		snprintf(text, size, "≈%s", fmt_time(time, value));
}

static void p50_text(const void *row, bool ascii, char *text, size_t size)
{
	estimate(p50_value, row, text, size);
}

static void p99_text(const void *row, bool ascii, char *text, size_t size)
{
	estimate(p99_value, row, text, size);
}

uint64_t ops_cost(const void *row, bool devices)
{
	int64_t ns = devices ? ROW(row)->device_ns : ROW(row)->self_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t device_part(const void *row)
{
	return ops_cost(row, true);
}

static uint64_t self_part(const void *row)
{
	return ops_cost(row, false);
}

/* Of a branch; by scope an op's is its self time. */
static uint64_t total_part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

/* ---- kinds ---- */

#define NAME_COLUMNS(title, type_rank) \
	{title, "op", 24, 42, 64, 0, .text = name_text, .compare = by_name, \
	 .help = "the op, the user's range, or in a tree what it is part of"}, \
	{"type", "type", 8, 18, 24, type_rank, .text = type_text, .compare = by_type, \
	 .help = "the op's type as its framework names it, else the framework"}, \
	{"calls", "calls", 9, 0, 0, 2, UNIT_COUNT, TABLE_SUMS, .value = calls_value, \
	 .help = "how often it ran"}
#define SELF_COLUMN \
	{"self", "self", 9, 0, 0, 1, UNIT_TIME, TABLE_SUMS, .value = self_value, \
	 .help = "time in the op itself on the host, without the ops it called"}
#define DEVICE_COLUMN(rank, of) \
	{"device time", "device-time", 13, 0, 0, rank, UNIT_TIME, of, .value = device_value, \
	 .help = "time of kernels and copies it launched, all of them added"}
#define SHARE_COLUMN(title, rank, get, of) \
	{title, "share", 14, 14, 20, rank, UNIT_SHARE, .part = get, \
	 .help = "its part of " of " of all ops"}
#define AVERAGE_COLUMN(title, rank, get, of) \
	{title, "avg", 9, 0, 0, rank, UNIT_TIME, 0, .value = get, .help = of " per call"}
#define MAX_COLUMN(rank) \
	{"max call", "max", 9, 0, 0, rank, UNIT_TIME, 0, .value = max_value, \
	 .help = "its longest call on the host, with the ops it called"}
#define KERNELS_COLUMN(rank) \
	{"kernels", "kernels", 9, 0, 0, rank, UNIT_COUNT, TABLE_SUMS, .value = kernels_value, \
	 .help = "kernels it launched"}
#define COPIED_COLUMN \
	{"copied", "copied", 9, 0, 0, 9, UNIT_BYTES, TABLE_SUMS | TABLE_ASKED, .value = copied_value, \
	 .help = "bytes of the copies it launched"}
/* Of trees; a list has it so that one may choose it there too. */
#define WAITS_COLUMN \
	{"waits", "waits", 9, 0, 0, 7, UNIT_TIME, 0, .value = waits_value, \
	 .help = "time in it and the ops it called during which the host waited for a device"}
#define TOTAL_COLUMN(rank, how) \
	{"total", "total", 9, 0, 0, rank, UNIT_TIME, how, .value = total_value, \
	 .help = "time on the host with all the ops it called"}

/* Queued and latency: of programs that hand ops to thread pools. */
#define LIST_COLUMNS(share_title, share_part, share_of, avg_title, avg_value, avg_of, trend_text) { \
	NAME_COLUMNS("op", 5), \
	SELF_COLUMN, \
	TOTAL_COLUMN(6, TABLE_ASKED), \
	DEVICE_COLUMN(0, TABLE_SUMS), \
	SHARE_COLUMN(share_title, 3, share_part, share_of), \
	AVERAGE_COLUMN(avg_title, 4, avg_value, avg_of), \
	{"min call", "min", 9, 0, 0, 9, UNIT_TIME, TABLE_ASKED, .value = least_value, \
	 .help = "its shortest call on the host, with the ops it called"}, \
	{"p50 call", "p50", 9, 0, 0, 9, UNIT_TIME, TABLE_ASKED, .value = p50_value, \
	 .text = p50_text, .help = "half of its calls took no longer: an estimate"}, \
	{"p99 call", "p99", 9, 0, 0, 9, UNIT_TIME, TABLE_ASKED, .value = p99_value, \
	 .text = p99_text, .help = "99 of 100 calls took no longer: an estimate"}, \
	MAX_COLUMN(6), \
	KERNELS_COLUMN(7), \
	COPIED_COLUMN, \
	WAITS_COLUMN, \
	{"queued", "queued", 9, 0, 0, 6, UNIT_TIME, TABLE_SUMS, .value = queued_value, \
	 .help = "after it was handed to a thread pool, until a thread took it; all calls added"}, \
	{"latency", "latency", 9, 0, 0, 8, UNIT_TIME, 0, .value = latency_value, \
	 .help = "from the end of its last input to its start, on average"}, \
	{"over the run", "trend", 16, 0, 0, 10, .text = trend_text, \
	 .help = avg_of " of all its calls per step (or second), from the start of the run to now"}, \
	{"source", "source", 14, 20, 28, 9, .text = source_text, .compare = by_source, \
	 .help = "the line of the program it comes from, of several the one with most time"}, \
}

/* Trees: total is of all in a branch, self of what is right in it. */
#define TREE_COLUMNS(title, total_rank, device_rank, share_title, share_part, share_of, ...) { \
	NAME_COLUMNS(title, 6), \
	TOTAL_COLUMN(total_rank, 0), \
	SELF_COLUMN, \
	DEVICE_COLUMN(device_rank, 0), \
	SHARE_COLUMN(share_title, 4, share_part, share_of), \
	KERNELS_COLUMN(8), \
	COPIED_COLUMN, \
	__VA_ARGS__ \
}
#define CALL_COLUMNS(avg_title, avg_value, avg_of) \
	AVERAGE_COLUMN(avg_title, 5, avg_value, avg_of), \
	MAX_COLUMN(7), \
	WAITS_COLUMN

static const struct table_column device_list[] =
	LIST_COLUMNS("share of it", device_part, "the device time", "avg", device_average_value,
		     "device time", device_trend_text);
static const struct table_column device_calls[] =
	TREE_COLUMNS("op", 3, 0, "share of it", device_part, "the device time",
		     CALL_COLUMNS("avg", device_average_value, "device time"));
static const struct table_column device_scopes[] =
	TREE_COLUMNS("scope", 3, 0, "share of it", device_part, "the device time", );
static const struct table_column self_list[] =
	LIST_COLUMNS("share of self", self_part, "the self time", "avg call", average_value,
		     "time on the host", self_trend_text);
static const struct table_column self_calls[] =
	TREE_COLUMNS("op", 0, 4, "share of total", total_part, "the total time",
		     CALL_COLUMNS("avg call", average_value, "time on the host"));
static const struct table_column self_scopes[] =
	TREE_COLUMNS("scope", 0, 4, "share of total", total_part, "the total time", );

static uint64_t identity(const void *row)
{
	if (LINE(row)->id)
		return LINE(row)->id;
	return table_mix((uintptr_t)ROW(row)->name, (uintptr_t)ROW(row)->type,
			 (uint64_t)ROW(row)->framework + 1);
}

static unsigned depth(const void *row)
{
	return LINE(row)->depth;
}

/* Of a tree the same: what is there with all below is what is shown; how its times are
 * spread is not known. */
static enum filter_known field(const void *row, enum filter_field by, struct filter_value *value)
{
	bool spread = by == FILTER_BY_MIN || by == FILTER_BY_MAX || by == FILTER_BY_P50 ||
		      by == FILTER_BY_P99;

	if ((by == FILTER_BY_KIND && LINE(row)->is_scope) || (spread && LINE(row)->id))
		return FILTER_UNKNOWN;
	return filters_op(ROW(row), by, value);
}

static enum role bar_role(const void *row)
{
	return ROW(row)->is_range ? ROLE_WORK_RANGE : ROLE_WORK_OP;
}

#define OPS_COLUMNS(list) static const struct table_columns list##_columns = { \
	.name = "ops", TABLE_COLUMNS_OF(list, 0), .kind = -1, \
}
OPS_COLUMNS(device_list);
OPS_COLUMNS(device_calls);
OPS_COLUMNS(device_scopes);
OPS_COLUMNS(self_list);
OPS_COLUMNS(self_calls);
OPS_COLUMNS(self_scopes);

#define KIND(list, tree, cost) { \
	.nested = tree, \
	.count_key = "calls", \
	.cost_key = cost, \
	.columns = &list##_columns, \
	.row_size = sizeof(struct op_line), \
	.empty = "no op or range yet: frameworks, NVTX and ITT ranges appear here", \
	.identity = identity, \
	.field = field, \
	.depth = depth, \
	.bar = bar_role, \
}

const struct table_kind *ops_kind(bool devices, enum ops_shape shape)
{
	static const struct table_kind kinds[2][OPS_SHAPES] = {
		{
			KIND(self_list, false, "self"), KIND(self_calls, true, "self"),
			KIND(self_scopes, true, "self"),
		},
		{
			KIND(device_list, false, "device-time"),
			KIND(device_calls, true, "device-time"),
			KIND(device_scopes, true, "device-time"),
		},
	};

	return &kinds[devices][shape];
}
