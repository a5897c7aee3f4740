/* SPDX-License-Identifier: MIT */
#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/counters.h"

#define AT(name) TABLE_MEMBER(struct counter_row, name)

/* In the counter's own unit. */
#define VALUE(member) \
static void counter_##member##_text(const void *row, bool ascii, char *text, size_t size) \
{ \
	const struct counter_row *counter = row; \
	char value[FMT_MAX]; \
\
	snprintf(text, size, "%s", fmt_counter(value, counter->member, counter->unit)); \
}
VALUE(min)
VALUE(mean)
VALUE(max)
VALUE(last)

static const struct table_column counters[] = {
	{ .key = "counter", .member = AT(name), .link = "counters", .want = 1, .list = 1,
	  .report = 1, .csv = 1, .json = "name" },
	{ .key = "device", .unit = UNIT_NUMBER, .member = AT(device), .flags = TABLE_OR_NONE,
	  .link = "device", .list = 2, .report = 2, .csv = 2, .json = "device" },
	{ .title = "process", .key = "pid", .unit = UNIT_NUMBER, .member = AT(pid),
	  .link = "process", .list = 3, .report = 3, .csv = 3, .json = "pid" },
	{ .key = "unit", .member = AT(unit), .flags = TABLE_FILES_ZERO, .csv = 4, .json = "unit" },
	{ .key = "values", .unit = UNIT_COUNT, .member = AT(count), .list = 4, .report = 4,
	  .csv = 5, .json = "count" },
	{ .key = "least", .member = AT(min), .text = counter_min_text, .flags = TABLE_RIGHT,
	  .list = 5, .report = 5, .csv = 6, .json = "min" },
	{ .key = "mean", .member = AT(mean), .text = counter_mean_text, .flags = TABLE_RIGHT,
	  .list = 6, .report = 6, .csv = 7, .json = "mean" },
	{ .key = "highest", .member = AT(max), .text = counter_max_text, .flags = TABLE_RIGHT,
	  .list = 7, .report = 7, .csv = 8, .json = "max" },
	{ .key = "last", .member = AT(last), .text = counter_last_text, .flags = TABLE_RIGHT,
	  .list = 8, .report = 8, .csv = 9, .json = "last" },
};

const struct table_columns counter_columns = { .name = "counter", TABLE_COLUMNS_OF(counters, 0) };
