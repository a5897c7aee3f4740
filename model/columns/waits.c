/* SPDX-License-Identifier: MIT */
/* Waits for devices, and graphs that are launched as one. */
#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/replays.h"
#include "model/query/waits.h"

#define AT(name) TABLE_MEMBER(struct wait_row, name)

static void wait_place_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct wait_row *wait = row;
	const char *base = strrchr(wait->file, '/');

	snprintf(text, size, "%.40s:%u", base ? base + 1 : wait->file, wait->line);
}

static const struct table_column waits[] = {
	{ .title = "waits", .member = AT(call), .want = 1, .list = 1, .report = 1, .json = "name" },
	{ .title = "op", .member = AT(op), .link = "ni", .want = 1, .list = 2, .report = 2,
	  .json = "op" },
	{ .title = "line", .member = AT(file), .needs = AT(file), .text = wait_place_text,
	  .link = "ps", .list = 3, .report = 3, .json = "file" },
	{ .unit = UNIT_NUMBER, .member = AT(line), .needs = AT(file), .json = "line" },
	{ .member = AT(function), .json = "function" },
	{ .title = "count", .unit = UNIT_COUNT, .member = AT(count), .list = 4, .report = 4,
	  .json = "count" },
	{ .title = "total", .unit = UNIT_TIME, .member = AT(total_ns), .list = 5, .report = 5,
	  .json = "total_ns" },
	{ .title = "max", .unit = UNIT_TIME, .member = AT(max_ns), .list = 6, .report = 6,
	  .json = "max_ns" },
	{ .title = "stalls", .unit = UNIT_COUNT, .member = AT(stalls), .list = 7, .report = 7,
	  .json = "stalls" },
	{ .title = "idle after", .unit = UNIT_TIME, .member = AT(idle_ns), .needs = AT(stalls),
	  .flags = TABLE_FILES_ZERO, .list = 8, .report = 8, .json = "idle_ns" },
	{ .unit = UNIT_TIME, .member = AT(saved_ns), .json = "saved_ns" },
};

const struct table_columns wait_columns = {
	.name = "waits", TABLE_COLUMNS_OF(waits, 0), .unknown = "-",
};

#undef AT
#define AT(name) TABLE_MEMBER(struct replay_row, name)
#define ROW(row) ((const struct replay_row *)(row))

static bool replay_launches(const void *row, int64_t *value)
{
	*value = (int64_t)(ROW(row)->launches + ROW(row)->whole);
	return true;
}

static bool replay_mean(const void *row, int64_t *value)
{
	*value = ROW(row)->total_ns / (int64_t)(ROW(row)->launches + ROW(row)->whole);
	return true;
}

static void replay_nodes_text(const void *row, bool ascii, char *text, size_t size)
{
	char tenths[FMT_MAX];

	snprintf(text, size, "%s", fmt_tenths(tenths, ROW(row)->nodes * 10 / ROW(row)->launches));
}

/* Per launch, where nodes are known. */
static const struct table_column replays[] = {
	{ .title = "graphs", .member = AT(name), .link = "graphs", .want = 1, .list = 1,
	  .report = 1, .json = "name" },
	{ .title = "launched by", .member = AT(op), .link = "ni", .want = 1, .list = 2,
	  .report = 2, .json = "op" },
	{ .title = "launches", .unit = UNIT_COUNT, .value = replay_launches, .list = 3,
	  .report = 3, .json = "count" },
	{ .unit = UNIT_COUNT, .member = AT(whole), .json = "whole" },
	{ .unit = UNIT_TIME, .member = AT(total_ns), .json = "total_ns" },
	{ .unit = UNIT_TIME, .member = AT(min_ns), .json = "min_ns" },
	{ .title = "max", .unit = UNIT_TIME, .member = AT(max_ns), .list = 6, .report = 6,
	  .json = "max_ns" },
	{ .title = "nodes", .member = AT(nodes), .needs = AT(launches), .flags = TABLE_RIGHT,
	  .text = replay_nodes_text, .list = 4, .report = 4, .json = "nodes" },
	{ .title = "mean", .unit = UNIT_TIME, .value = replay_mean, .list = 5, .report = 5 },
	{ .unit = UNIT_TIME, .member = AT(busy_ns), .needs = AT(launches), .json = "busy_ns" },
	{ .title = "gaps", .unit = UNIT_TIME, .member = AT(gap_ns), .per = AT(launches),
	  .list = 7, .report = 7 },
	{ .unit = UNIT_TIME, .member = AT(gap_ns), .needs = AT(launches), .json = "gap_ns" },
	{ .title = "longest", .unit = UNIT_TIME, .member = AT(max_gap_ns), .needs = AT(launches),
	  .list = 8, .report = 8, .json = "max_gap_ns" },
	{ .title = "call", .unit = UNIT_TIME, .member = AT(call_ns), .per = AT(launches),
	  .list = 9, .report = 9 },
	{ .unit = UNIT_TIME, .member = AT(call_ns), .needs = AT(launches), .json = "call_ns" },
};

const struct table_columns replay_columns = {
	.name = "graphs", TABLE_COLUMNS_OF(replays, 0), .unknown = "-",
};
