/* SPDX-License-Identifier: MIT */
/* Thread pools, and the stages of input pipelines. */
#include <inttypes.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/input.h"
#include "model/query/pools.h"

#define ROW(row) ((const struct pool_row *)(row))
#define AT(name) TABLE_MEMBER(struct pool_row, name)

static void pool_busy_text(const void *row, bool ascii, char *text, size_t size)
{
	char share[FMT_MAX];

	snprintf(text, size, "%s", fmt_share(share, (uint64_t)ROW(row)->busy_ns,
					     (uint64_t)ROW(row)->alive_ns));
}

/* So many wait on average: their waits by the time in which they did (Little's law). */
static void pool_depth_text(const void *row, bool ascii, char *text, size_t size)
{
	int64_t span_ns = ROW(row)->span_ns;
	int64_t tenths = span_ns > 0 ? (int64_t)((__int128)ROW(row)->wait_ns * 10 / span_ns) : 0;

	snprintf(text, size, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

static const struct table_column pools[] = {
	{ .title = "pool", .report_title = "thread pool", .member = AT(name), .want = 1,
	  .list = 1, .report = 1, .json = "name" },
	{ .unit = UNIT_NUMBER, .member = AT(pid), .json = "pid" },
	{ .title = "threads", .unit = UNIT_NUMBER, .member = AT(threads), .list = 2, .report = 2,
	  .json = "threads" },
	{ .title = "busy", .needs = AT(alive_ns), .text = pool_busy_text, .flags = TABLE_RIGHT,
	  .list = 3, .report = 3 },
	{ .title = "closures", .unit = UNIT_COUNT, .member = AT(closures), .list = 9, .report = 4,
	  .json = "closures" },
	{ .title = "waiting", .needs = AT(alive_ns), .text = pool_depth_text,
	  .flags = TABLE_RIGHT, .list = 10 },
	{ .unit = UNIT_COUNT, .member = AT(with_ops), .json = "closures_with_ops" },
	{ .unit = UNIT_TIME, .member = AT(busy_ns), .json = "busy_ns" },
	{ .unit = UNIT_TIME, .member = AT(alive_ns), .json = "alive_ns" },
	{ .unit = UNIT_TIME, .member = AT(span_ns), .json = "span_ns" },
	{ .unit = UNIT_COUNT, .member = AT(timed), .json = "waits" },
	{ .title = "waited", .unit = UNIT_TIME, .member = AT(wait_ns), .needs = AT(timed),
	  .flags = TABLE_FILES_ZERO, .report = 5, .json = "wait_ns" },
	{ .unit = UNIT_TIME, .member = AT(max_wait_ns), .json = "max_wait_ns" },
	{ .title = "ops", .unit = UNIT_COUNT, .member = AT(ops), .list = 4, .report = 6,
	  .json = "ops" },
	{ .title = "waited", .unit = UNIT_TIME, .member = AT(op_wait_ns), .needs = AT(ops),
	  .list = 5, .report = 7, .json = "op_wait_ns" },
	{ .title = "longest", .unit = UNIT_TIME, .member = AT(op_max_wait_ns), .needs = AT(ops),
	  .list = 8, .report = 10, .json = "op_max_wait_ns" },
	{ .title = "p50", .unit = UNIT_TIME, .member = AT(op_p50_ns), .needs = AT(ops),
	  .list = 6, .report = 8, .json = "op_wait_p50_ns" },
	{ .title = "p99", .unit = UNIT_TIME, .member = AT(op_p99_ns), .needs = AT(ops),
	  .list = 7, .report = 9, .json = "op_wait_p99_ns" },
};

const struct table_columns pool_columns = { .name = "pools", TABLE_COLUMNS_OF(pools, 0) };
const struct table_columns pool_page_columns = {
	.name = "pools", TABLE_COLUMNS_OF(pools, 0), .unknown = "-",
};

#undef AT
#undef ROW
#define ROW(row) ((const struct input_row *)(row))
#define AT(name) TABLE_MEMBER(struct input_row, name)

static void stage_name_text(const void *row, bool ascii, char *text, size_t size)
{
	int indent = ROW(row)->depth < 10 ? (int)ROW(row)->depth * 2 : 20;

	snprintf(text, size, "%*s%s", indent, "", ROW(row)->parent ? ROW(row)->name :
		 ROW(row)->path);
}

static void stage_buffer_text(const void *row, bool ascii, char *text, size_t size)
{
	int32_t room = ROW(row)->buffer, filled = ROW(row)->buffered;

	if (filled < 0)
		snprintf(text, size, room < 0 ? "auto" : "of %" PRId32, room);
	else if (room < 0)
		snprintf(text, size, "%" PRId32, filled);
	else
		snprintf(text, size, "%" PRId32 " of %" PRId32, filled, room);
}

static bool stage_is_parallel(const void *row)
{
	return ROW(row)->parent && ROW(row)->parallelism > 0;
}

static bool stage_is_tuned(const void *row)
{
	return ROW(row)->parallelism_set < 0;
}

static const struct table_column stages[] = {
	{ .title = "input stage", .member = AT(path), .text = stage_name_text, .want = 1,
	  .report = 1, .json = "path" },
	{ .member = AT(what), .json = "what" },
	{ .unit = UNIT_NUMBER, .member = AT(pid), .json = "pid" },
	{ .unit = UNIT_NUMBER, .member = AT(depth), .json = "depth" },
	{ .title = "calls", .unit = UNIT_COUNT, .member = AT(calls), .report = 2, .json = "calls" },
	{ .title = "total", .unit = UNIT_TIME, .member = AT(total_ns), .report = 3,
	  .json = "total_ns" },
	{ .title = "own work", .unit = UNIT_TIME, .member = AT(work_ns), .report = 4 },
	{ .unit = UNIT_TIME, .member = AT(self_ns), .json = "self_ns" },
	{ .title = "wait", .unit = UNIT_TIME, .member = AT(wait_ns), .needs = AT(wait_ns),
	  .flags = TABLE_FILES_ZERO, .report = 5, .json = "wait_ns" },
	{ .unit = UNIT_TIME, .member = AT(busy_ns), .json = "busy_ns" },
	{ .unit = UNIT_TIME, .member = AT(max_ns), .json = "max_ns" },
	{ .title = "holds", .unit = UNIT_TIME, .member = AT(held_ns), .report = 9,
	  .json = "held_ns" },
	{ .title = "per call", .unit = UNIT_TIME, .member = AT(total_ns), .per = AT(calls),
	  .report = 8, .json = "mean_ns" },
	{ .unit = UNIT_BYTES, .member = AT(bytes), .needs = AT(bytes), .json = "bytes" },
	{ .title = "at once", .unit = UNIT_NUMBER, .member = AT(parallelism),
	  .known = stage_is_parallel, .report = 6 },
	{ .unit = UNIT_NUMBER, .member = AT(parallelism), .flags = TABLE_OR_NONE,
	  .json = "parallelism" },
	{ .member = AT(parallelism_set), .known = stage_is_tuned, .flags = TABLE_YES_NO,
	  .json = "parallelism_tuned" },
	{ .title = "buffer", .needs = AT(buffer), .text = stage_buffer_text,
	  .flags = TABLE_RIGHT, .report = 7 },
	{ .unit = UNIT_NUMBER, .member = AT(buffer), .needs = AT(buffer), .flags = TABLE_OR_NONE,
	  .json = "buffer" },
	{ .unit = UNIT_NUMBER, .member = AT(buffered), .flags = TABLE_OR_NONE, .json = "buffered" },
};

const struct table_columns stage_columns = { .name = "input stage", TABLE_COLUMNS_OF(stages, 0) };
