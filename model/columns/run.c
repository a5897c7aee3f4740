/* SPDX-License-Identifier: MIT */
/* Processes, queues, API calls, what was compiled, messages, and kernels by class. */
#include "model/columns/plain.h"
#include "model/query/class.h"
#include "model/query/query.h"

#define AT(name) TABLE_MEMBER(struct process_row, name)

static bool process_has_status(const void *row)
{
	const struct process_row *process = row;

	return process->exited && !process->exit_signal;
}

static const struct table_column processes[] = {
	{ .key = "pid", .unit = UNIT_NUMBER, .member = AT(pid), .csv = 1, .json = "pid" },
	{ .key = "parent", .unit = UNIT_NUMBER, .member = AT(parent), .flags = TABLE_IF_ANY,
	  .csv = 2, .json = "parent" },
	{ .key = "host", .member = AT(host_name), .csv = 3, .json = "host" },
	{ .key = "rank", .unit = UNIT_NUMBER, .member = AT(rank), .flags = TABLE_OR_NONE,
	  .csv = 5, .json = "rank" },
	{ .key = "command", .member = AT(command), .csv = 4, .json = "command" },
	{ .key = "exited", .member = AT(exited), .flags = TABLE_YES_NO, .csv = 6 },
	{ .key = "signal", .unit = UNIT_NUMBER, .member = AT(exit_signal),
	  .needs = AT(exit_signal), .csv = 8, .json = "signal" },
	{ .unit = UNIT_NUMBER, .member = AT(exit_status), .known = process_has_status,
	  .flags = TABLE_OR_NONE, .json = "exit_status" },
	{ .key = "status", .unit = UNIT_NUMBER, .member = AT(exit_status), .needs = AT(exited),
	  .flags = TABLE_OR_NONE, .csv = 7 },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct queue_row, name)

static const struct table_column queues[] = {
	{ .key = "queue", .unit = UNIT_NUMBER, .member = AT(id), .csv = 1, .json = "id" },
	{ .key = "number", .unit = UNIT_NUMBER, .member = AT(number), .csv = 4,
	  .json = "number" },
	{ .key = "pid", .unit = UNIT_NUMBER, .member = AT(pid), .csv = 3, .json = "pid" },
	{ .unit = UNIT_NUMBER, .member = AT(device), .json = "device" },
	{ .key = "device", .unit = UNIT_NUMBER, .member = AT(device), .flags = TABLE_OR_NONE,
	  .csv = 5 },
	{ .key = "name", .member = AT(name), .csv = 2, .json = "name" },
	{ .key = "in-order", .member = AT(in_order), .flags = TABLE_YES_NO, .csv = 6,
	  .json = "in_order" },
	{ .member = AT(fallback), .needs = AT(fallback), .flags = TABLE_YES_NO, .json = "default" },
	{ .unit = UNIT_NUMBER, .member = AT(priority), .needs = AT(priority), .json = "priority" },
	{ .key = "kernels", .unit = UNIT_COUNT, .member = AT(kernels), .csv = 7,
	  .json = "kernels" },
	{ .key = "copies", .unit = UNIT_COUNT, .member = AT(copies), .csv = 8, .json = "copies" },
	{ .key = "failed", .unit = UNIT_COUNT, .member = AT(failed), .flags = TABLE_IF_ANY,
	  .csv = 9, .json = "failed" },
	{ .key = "busy", .unit = UNIT_TIME, .member = AT(busy_ns), .csv = 10, .json = "busy_ns" },
	{ .key = "delay-p50", .unit = UNIT_TIME, .member = AT(delay_p50_ns),
	  .flags = TABLE_OR_NONE, .csv = 11, .json = "delay_p50_ns" },
	{ .key = "delay-p99", .unit = UNIT_TIME, .member = AT(delay_p99_ns),
	  .flags = TABLE_OR_NONE, .csv = 12, .json = "delay_p99_ns" },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct kernel_class_row, name)

static const char *class_kind(const void *row)
{
	return kernel_kind_name(((const struct kernel_class_row *)row)->kind);
}

static bool class_has_time(const void *row)
{
	const struct kernel_class_row *class = row;

	return class->count > class->untimed;
}

static const struct table_column classes[] = {
	{ .unit = UNIT_NUMBER, .member = AT(device), .json = "device" },
	{ .words = class_kind, .json = "class" },
	{ .unit = UNIT_COUNT, .member = AT(count), .json = "count" },
	{ .unit = UNIT_TIME, .member = AT(total_ns), .known = class_has_time, .json = "total_ns" },
	{ .unit = UNIT_TIME, .member = AT(tensor_ns), .needs = AT(tensor_ns),
	  .flags = TABLE_OR_NONE, .json = "tensor_core_ns" },
	{ .unit = UNIT_TIME, .member = AT(simt_ns), .needs = AT(simt_ns), .flags = TABLE_OR_NONE,
	  .json = "no_tensor_core_ns" },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct call_row, name)

static const struct table_column calls[] = {
	{ .key = "call", .member = AT(name), .csv = 1, .json = "name" },
	{ .key = "count", .unit = UNIT_COUNT, .member = AT(count), .csv = 2, .json = "count" },
	{ .key = "total", .unit = UNIT_TIME, .member = AT(total_ns), .needs = AT(timed),
	  .csv = 4, .json = "total_ns" },
	{ .key = "max", .unit = UNIT_TIME, .member = AT(max_ns), .needs = AT(timed),
	  .csv = 5, .json = "max_ns" },
	{ .key = "errors", .unit = UNIT_COUNT, .member = AT(errors), .csv = 3, .json = "errors" },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct compile_row, name)

static const struct table_column compiles[] = {
	{ .member = AT(what), .json = "what" },
	{ .member = AT(cause), .json = "cause" },
	{ .unit = UNIT_COUNT, .member = AT(count), .json = "count" },
	{ .unit = UNIT_COUNT, .member = AT(failed), .needs = AT(failed), .json = "failed" },
	{ .unit = UNIT_TIME, .member = AT(total_ns), .json = "total_ns" },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct message_row, name)

static const char *message_level(const void *row)
{
	static const char *const levels[] = { "info", "warning", "error" };
	int level = ((const struct message_row *)row)->level;

	return levels[level < 0 || level > 2 ? 2 : level];
}

static const struct table_column messages[] = {
	{ .words = message_level, .json = "level" },
	{ .member = AT(text), .flags = TABLE_FILES_ZERO, .json = "text" },
};

const struct table_columns process_columns = { .name = "processes",
					       TABLE_COLUMNS_OF(processes, 0) };
const struct table_columns queue_columns = { .name = "queues", TABLE_COLUMNS_OF(queues, 0) };
const struct table_columns kernel_class_columns = { .name = "classes",
						    TABLE_COLUMNS_OF(classes, 0) };
const struct table_columns call_columns = { .name = "calls", TABLE_COLUMNS_OF(calls, 0) };
const struct table_columns compile_columns = { .name = "compiles", TABLE_COLUMNS_OF(compiles, 0) };
const struct table_columns message_columns = { .name = "messages", TABLE_COLUMNS_OF(messages, 0) };
