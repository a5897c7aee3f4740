/* SPDX-License-Identifier: MIT */
/* Source lines, and the scopes of ops. */
#include <string.h>

#include "model/columns/plain.h"
#include "model/query/optree.h"

#define ROW(row) ((const struct source_place *)(row))
#define AT(name) TABLE_MEMBER(struct source_place, name)
#define COST(name) AT(line.cost.name)

static void source_place_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *base = strrchr(ROW(row)->file, '/');

	snprintf(text, size, "%s:%u", base ? base + 1 : ROW(row)->file, ROW(row)->line.line);
}

static bool source_has_kernels(const void *row)
{
	return ROW(row)->line.cost.kernels + ROW(row)->line.cost.cpu_kernels > 0;
}

static bool source_kernel_time(const void *row, int64_t *value)
{
	*value = ROW(row)->line.cost.device_ns + ROW(row)->line.cost.cpu_ns;
	return true;
}

static bool source_is_scaled(const void *row)
{
	return ROW(row)->line.cost.seen < ROW(row)->line.cost.calls;
}

static const char *source_op(const void *row)
{
	return ROW(row)->line.n_op ? ROW(row)->line.op[0].name : NULL;
}

static const struct table_column lines[] = {
	{ .member = AT(file), .text = source_place_text, .want = 1, .report = 1, .json = "file" },
	{ .unit = UNIT_NUMBER, .member = AT(line.line), .json = "line" },
	{ .member = AT(line.function), .json = "function" },
	{ .title = "calls", .unit = UNIT_COUNT, .member = COST(calls), .report = 2,
	  .flags = TABLE_SCALED, .json = "calls" },
	{ .unit = UNIT_COUNT, .member = COST(seen), .known = source_is_scaled, .json = "seen" },
	{ .title = "total", .unit = UNIT_TIME, .member = COST(total_ns), .report = 3,
	  .flags = TABLE_SCALED, .json = "total_ns" },
	{ .title = "self", .unit = UNIT_TIME, .member = COST(self_ns), .report = 4,
	  .flags = TABLE_SCALED, .json = "self_ns" },
	{ .title = "kernels", .unit = UNIT_TIME, .value = source_kernel_time,
	  .known = source_has_kernels, .flags = TABLE_SCALED, .report = 5 },
	{ .unit = UNIT_TIME, .member = COST(device_ns), .json = "device_ns" },
	{ .unit = UNIT_COUNT, .member = COST(kernels), .json = "kernels" },
	{ .unit = UNIT_TIME, .member = COST(cpu_ns), .json = "cpu_ns" },
	{ .unit = UNIT_COUNT, .member = COST(cpu_kernels), .json = "cpu_kernels" },
	{ .unit = UNIT_COUNT, .member = COST(copies), .json = "copies" },
	{ .unit = UNIT_BYTES, .member = COST(copy_bytes), .json = "copy_bytes" },
	{ .unit = UNIT_BYTES, .member = COST(allocated_bytes), .json = "allocated_bytes" },
	{ .unit = UNIT_COUNT, .member = COST(backward), .needs = COST(backward),
	  .json = "backward" },
	{ .title = "backward", .unit = UNIT_TIME, .member = COST(backward_ns),
	  .needs = COST(backward), .flags = TABLE_IF_ANY | TABLE_SCALED, .report = 6,
	  .json = "backward_ns" },
	{ .title = "mostly", .words = source_op, .want = 1, .report = 7 },
};

const struct table_columns source_columns = {
	.name = "source lines", TABLE_COLUMNS_OF(lines, 0), .scaled = source_is_scaled,
};

#undef AT
#define AT(name) TABLE_MEMBER(struct optree_row, name)

static bool scope_is_scaled(const void *row)
{
	return ((const struct optree_row *)row)->seen < ((const struct optree_row *)row)->count;
}

static const struct table_column scopes[] = {
	{ .member = AT(type), .json = "type" },
	{ .unit = UNIT_COUNT, .member = AT(count), .json = "ops" },
	{ .unit = UNIT_COUNT, .member = AT(seen), .known = scope_is_scaled, .json = "seen" },
	{ .unit = UNIT_TIME, .member = AT(total_ns), .json = "total_ns" },
	{ .unit = UNIT_TIME, .member = AT(self_ns), .json = "self_ns" },
	{ .unit = UNIT_TIME, .member = AT(device_ns), .json = "device_ns" },
	{ .unit = UNIT_TIME, .member = AT(device_self_ns), .json = "device_self_ns" },
	{ .unit = UNIT_COUNT, .member = AT(kernels), .json = "kernels" },
};

const struct table_columns scope_columns = { .name = "scopes", TABLE_COLUMNS_OF(scopes, 0) };
