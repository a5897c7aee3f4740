/* SPDX-License-Identifier: MIT */
/* `where` of tables, against a plain walk over all rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/command_call.h"
#include "tests/unit/test.h"
#include "tui/table/table.h"

struct row {
	uint64_t id;
	int64_t dur_ns;
	unsigned depth;
	bool wanted;
};

static uint64_t identity(const void *row)
{
	return ((const struct row *)row)->id;
}

static uint64_t part(const void *row)
{
	return (uint64_t)((const struct row *)row)->dur_ns;
}

static unsigned depth(const void *row)
{
	return ((const struct row *)row)->depth;
}

static bool value(const void *row, int64_t *out)
{
	*out = ((const struct row *)row)->dur_ns;
	return true;
}

static void text(const void *row, bool ascii, char *to, size_t size)
{
	snprintf(to, size, "row %llu", (unsigned long long)identity(row));
}

static enum filter_known field(const void *row, enum filter_field by, struct filter_value *out)
{
	return by == FILTER_BY_DUR ? filter_number(out, ((const struct row *)row)->dur_ns) :
				     FILTER_UNKNOWN;
}

static const struct table_column column_list[] = {
	{ "name", "name", 10, 20, 30, 0, UNIT_TEXT, 0, .text = text, .help = "" },
	{ "dur", "dur", 10, 0, 0, 0, UNIT_TIME, 0, .value = value, .help = "" },
	{ "share", "share", 10, 0, 0, 0, UNIT_SHARE, 0, .part = part, .help = "" },
};

static const struct table_columns columns = {
	.name = "test", TABLE_COLUMNS_OF(column_list, 0), .kind = -1,
};

#define KIND \
	.columns = &columns, .row_size = sizeof(struct row), .empty = "nothing", \
	.identity = identity

static const struct table_kind flat = { KIND, .field = field, .depth = depth };
static const struct table_kind closed = { KIND };

static unsigned where(struct table *table, struct view *view, const char *line)
{
	const char *argv[] = { "where", line };
	struct command_call call = call_of(line ? 2 : 1, argv);

	view->status[0] = '\0';
	view->status_error = false;
	return table_command(table, view, &call);
}

static struct row *random_rows(size_t n)
{
	struct row *rows = xcalloc(n ? n : 1, sizeof(*rows));
	unsigned in = 0;

	for (size_t i = 0; i < n; i++) {
		in = (unsigned)(test_random() % (in + 2));
		rows[i] = (struct row){ i + 1, (int64_t)(test_random() % 9) * 1000, in, false };
	}
	return rows;
}

TEST(table_where_keeps_what_is_wanted)
{
	for (int round = 0; round < 50; round++) {
		size_t n = test_random() % 40, wanted = 0, at = 0;
		struct row *rows = random_rows(n);
		struct view view = { .t1_ns = 1 };
		struct table table;

		for (size_t i = 0; i < n; i++)
			wanted += rows[i].dur_ns > 4000;
		table_setup(&table, &flat, "dur");
		CHECK(where(&table, &view, "dur > 4us") == OUT_REDRAW);
		table_take(&table, rows, n, 1000000);
		CHECK_INT(table.count, wanted);
		CHECK_INT(table.all, n);
		table_order(&table);
		for (size_t i = 0; i < wanted; i++) {
			const struct row *row = table_row(&table, table.order[i]);

			CHECK(row->dur_ns > 4000);
			CHECK(!i || row->dur_ns <= ((const struct row *)
						    table_row(&table, table.order[i - 1]))->dur_ns);
			at += row->id;
		}
		for (size_t i = 0; i < n; i++) {
			const struct row *row = table_row(&table, i);

			at -= row->dur_ns > 4000 ? row->id : 0;
		}
		CHECK_INT(at, 0);	/* each of them, once */
		where(&table, &view, NULL);
		CHECK_INT(table.count, n);
		CHECK(!table.where);
		table_teardown(&table);
	}
}

/* Of a tree what leads to a wanted row is kept: by looking at all that is below each. */
TEST(table_where_keeps_the_way_in_a_tree)
{
	for (int round = 0; round < 200; round++) {
		size_t n = test_random() % 30, kept = 0;
		struct row *rows = random_rows(n);
		struct view view = { .t1_ns = 1 };
		struct table table;

		for (size_t i = 0; i < n; i++) {
			rows[i].wanted = rows[i].dur_ns > 6000;
			for (size_t j = i + 1; j < n && rows[j].depth > rows[i].depth; j++)
				rows[i].wanted |= rows[j].dur_ns > 6000;
			kept += rows[i].wanted;
		}
		table_setup(&table, &flat, "dur");
		table.given = true;
		where(&table, &view, "dur > 6us");
		table_take(&table, rows, n, 1);
		CHECK_INT(table.count, kept);
		table_order(&table);
		for (size_t i = 0; i < kept; i++) {
			const struct row *row = table_row(&table, table.order[i]);

			CHECK(row->wanted);
			CHECK(!i || row->id > ((const struct row *)
					       table_row(&table, table.order[i - 1]))->id);
		}
		table_teardown(&table);
	}
}

TEST(table_where_knows_shares_and_says_what_is_wrong)
{
	char said[200];
	struct view view = { .t1_ns = 1 };
	struct table table;
	struct row *rows = xcalloc(2, sizeof(*rows));

	rows[0] = (struct row){ 1, 900, 0, false };
	rows[1] = (struct row){ 2, 100, 0, false };
	table_setup(&table, &flat, "dur");
	table_take(&table, rows, 2, 1000);
	where(&table, &view, "share >= 90%");
	CHECK_INT(table.count, 1);
	CHECK_INT(identity(table_current(&table)), 1);
	where(&table, &view, "dru > 1ms");
	CHECK(view.status_error);
	CHECK_STR(view.status, "at 1: no field 'dru', did you mean 'dur'");
	CHECK_INT(table.count, 1);	/* as it was */
	where(&table, &view, "dur > 1s");
	CHECK_INT(table.count, 0);
	CHECK(!table_current(&table));
	table_say_none(&table, said, sizeof(said));
	CHECK_STR(said, "no row matches; where alone shows all of them");
	where(&table, &view, "dur > 1ns & cost > 1s");
	CHECK_INT(table.count, 0);
	table_say_none(&table, said, sizeof(said));
	CHECK_STR(said,
		  "no row here has 'cost' (filters: what there is); where alone shows all of them");
	where(&table, &view, NULL);
	CHECK_INT(table.count, 2);
	where(&table, &view, NULL);
	CHECK(strstr(view.status, "all rows are shown"));
	table_teardown(&table);
	table_setup(&table, &closed, "dur");
	where(&table, &view, "dur > 1s");
	CHECK_STR(view.status, "rows of this pane cannot be filtered");
	table_teardown(&table);
}
