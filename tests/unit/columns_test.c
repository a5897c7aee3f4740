/* SPDX-License-Identifier: MIT */
/* What the entries of model/columns say about a value, in the text and in JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/columns/columns.h"
#include "tests/unit/test.h"
#include "tui/base/json.h"
#include "tui/draw/sheet.h"
#include "tui/report/report.h"

struct thing {
	const char *name, *unit;
	uint32_t device;
	uint64_t count, stalls;
	int64_t total_ns, wait_ns;
};

#define AT(member) TABLE_MEMBER(struct thing, member)

static const struct table_column column_list[] = {
	{ .title = "thing", .member = AT(name), .want = 1, .list = 1, .report = 1, .json = "name" },
	{ .title = "device", .unit = UNIT_NUMBER, .member = AT(device), .flags = TABLE_OR_NONE,
	  .list = 2, .report = 3, .json = "device" },
	{ .title = "mean", .unit = UNIT_TIME, .member = AT(total_ns), .per = AT(count),
	  .report = 2, .json = "mean_ns" },
	{ .title = "wait", .unit = UNIT_TIME, .member = AT(wait_ns), .needs = AT(stalls),
	  .flags = TABLE_IF_ANY, .report = 4, .json = "wait_ns" },
	{ .member = AT(unit), .flags = TABLE_FILES_ZERO, .json = "unit" },
	{ .unit = UNIT_COUNT, .member = AT(stalls), .flags = TABLE_IF_ANY, .json = "stalls" },
};
static const struct table_columns columns = {
	.name = "things", TABLE_COLUMNS_OF(column_list, 0), .unknown = "-",
};

static const struct thing known = { "a", "", 3, 4, 1, 4000, 0 };
static const struct thing unknown = { NULL, NULL, UINT32_MAX, 0, 0, 4000, 7 };

static char *json_of(const struct thing *thing)
{
	struct json json;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	json_init(&json, out);
	json_object(&json);
	report_row_json(&json, &columns, thing);
	json_end(&json);
	json_finish(&json);
	fclose(out);
	return text;
}

static char *table_of(const struct thing *things, size_t count, enum columns_place place)
{
	struct sheet sheet = { 0 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK(out);
	report_table(&sheet, &columns, &(struct report_rows) {
		.rows = things, .size = sizeof(*things), .count = count, .most = 2, .place = place,
	});
	sheet_print(&sheet, 80, out);
	fclose(out);
	return text;
}

TEST(columns_know_what_was_observed)
{
	int64_t value;

	CHECK(columns_value(&column_list[2], &known, &value) && value == 1000);
	CHECK(!columns_value(&column_list[2], &unknown, &value));
	CHECK(columns_value(&column_list[1], &known, &value) && value == 3);
	CHECK(!columns_value(&column_list[1], &unknown, &value));
	/* a 0 that was measured is a value */
	CHECK(columns_value(&column_list[3], &known, &value) && value == 0);
	CHECK(!columns_value(&column_list[3], &unknown, &value));
}

TEST(columns_in_json_leave_out_what_is_unknown)
{
	char *text = json_of(&known);

	CHECK(strstr(text, "\"name\": \"a\"") && strstr(text, "\"device\": 3"));
	CHECK(strstr(text, "\"mean_ns\": 1000") && strstr(text, "\"wait_ns\": 0"));
	CHECK(strstr(text, "\"unit\": \"\"") && strstr(text, "\"stalls\": 1"));
	free(text);
	text = json_of(&unknown);
	CHECK(!strchr(text, '"'));
	free(text);
}

TEST(columns_in_text_stand_in_the_order_of_their_place)
{
	const struct thing things[] = { known, unknown, known };
	char *text = table_of(things, 3, COLUMNS_REPORT);

	CHECK_STR(text, "things     mean  device  wait\n"
			"  a     1.00 µs       3  0 ns\n"
			"  -           -       -     -\n"
			"  … 1 more\n");
	free(text);
	/* the page's: other columns, its own heading */
	text = table_of(things, 2, COLUMNS_LIST);
	CHECK_STR(text, "thing  device\n"
			"  a         3\n"
			"  -         -\n");
	free(text);
	/* no row has a wait */
	text = table_of(&unknown, 1, COLUMNS_REPORT);
	CHECK(!strstr(text, "wait"));
	free(text);
}
