/* SPDX-License-Identifier: MIT */
/* Columns that are chosen, scrolled, clicked; sums, marked rows, what came since `pin`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/command_call.h"
#include "tests/unit/test.h"
#include "tui/table/column_choice.h"
#include "tui/draw/mouse.h"
#include "tui/table/table.h"

struct row {
	uint64_t id;
	int64_t calls, time;		/* time < 0: not observed */
};

#define ROW(of) ((const struct row *)(of))

static void name_text(const void *row, bool ascii, char *text, size_t size)
{
	snprintf(text, size, "row, \"%llu\"", (unsigned long long)ROW(row)->id);
}

static bool calls_value(const void *row, int64_t *value)
{
	*value = ROW(row)->calls;
	return true;
}

static bool time_value(const void *row, int64_t *value)
{
	*value = ROW(row)->time;
	return *value >= 0;
}

static uint64_t part(const void *row)
{
	return ROW(row)->time > 0 ? (uint64_t)ROW(row)->time : 0;
}

static uint64_t identity(const void *row)
{
	return ROW(row)->id;
}

static const struct table_column column_list[] = {
	{ "name", "name", 12, 0, 0, 0, .text = name_text, .help = "who" },
	{ "calls", "calls", 8, 0, 0, 2, UNIT_COUNT, TABLE_SUMS | TABLE_SCALED,
	  .value = calls_value, .help = "how often" },
	{ "time", "time", 9, 0, 0, 1, UNIT_TIME, TABLE_SUMS, .value = time_value,
	  .help = "how long" },
	{ "share", "share", 10, 0, 0, 3, UNIT_SHARE, .part = part, .help = "of all time" },
	{ "rare", "rare", 8, 0, 0, 4, UNIT_TIME, TABLE_ASKED, .value = time_value,
	  .help = "again" },
};

/* Not all calls of this row were seen. */
static bool is_scaled(const void *row)
{
	return ROW(row)->id == 500;
}

static const struct table_columns columns = {
	.name = "test", TABLE_COLUMNS_OF(column_list, 0), .kind = -1, .scaled = is_scaled,
};

static const struct table_kind kind = {
	.columns = &columns,
	.row_size = sizeof(struct row), .empty = "nothing", .identity = identity,
	.count_key = "calls", .cost_key = "time",
};

static struct view view;

static void take(struct table *table, const struct row *rows, size_t n)
{
	struct row *copy = xreallocarray(NULL, n, sizeof(*copy));
	uint64_t total = 0;

	memcpy(copy, rows, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		total += part(&rows[i]);
	table_take(table, copy, n, total);
}

static unsigned command(struct table *table, const char *name, const char *argument)
{
	const char *argv[] = {name, argument, NULL};
	struct command_call call = call_of(argument ? 2 : 1, argv);

	view.status[0] = '\0';
	return table_command(table, &view, &call);
}

/* The lines of a picture; at most 16 of 200 bytes. */
static void draw(struct table *table, int width, char lines[16][200])
{
	struct grid grid;
	FILE *file = tmpfile();

	grid_init(&grid, width, 12);
	table_draw(table, &view, grid_area(&grid), true);
	grid_save(&grid, file, false);
	rewind(file);
	for (int i = 0; i < 16; i++) {
		if (!fgets(lines[i], 200, file))
			lines[i][0] = '\0';
		lines[i][strcspn(lines[i], "\n")] = '\0';
	}
	fclose(file);
	grid_release(&grid);
}

static bool choose(struct column_choices *choices, const char *a, const char *b, char *error)
{
	const char *argv[] = {a, b};

	return column_choices_apply(choices, "test", &kind, b ? 2 : 1, argv, error, 200);
}

static const char *shown(struct table *table)
{
	static char text[200];
	unsigned char list[TABLE_COLUMNS_MAX];
	size_t n = table_shown(table, list), at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
				       table_column(table, list[i])->key);
	return text;
}

static const struct row three[] = {{1, 10, 3000}, {2, 20, 1000}, {3, 30, -1}};

TEST(table_columns_are_chosen)
{
	struct column_choices *choices = column_choices_new();
	char error[200] = "", lines[16][200];
	struct table table;

	view.column_choices = choices;
	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	draw(&table, 100, lines);
	CHECK_STR(shown(&table), "name calls time share");
	CHECK(choose(choices, "+rare", "-calls", error));
	CHECK_STR(shown(&table), "name time share rare");
	CHECK(choose(choices, "rare,time", NULL, error));
	CHECK_STR(shown(&table), "name rare time");
	CHECK(choose(choices, "+calls", NULL, error));
	CHECK_STR(shown(&table), "name rare time calls");
	CHECK(choose(choices, "-rare", "+rare", error));
	CHECK_STR(shown(&table), "name rare time calls");
	CHECK(choose(choices, "reset", NULL, error));
	CHECK_STR(shown(&table), "name calls time share");
	/* all or nothing */
	CHECK(!choose(choices, "-time", "+timer", error));
	CHECK(strstr(error, "no column 'timer' in test; there are: name calls time share rare"));
	CHECK(!choose(choices, "-name", NULL, error) && strstr(error, "cannot be hidden"));
	CHECK(!choose(choices, "time,,calls", NULL, error));
	CHECK(!choose(choices, "+", NULL, error));
	CHECK_STR(shown(&table), "name calls time share");
	/* what there is nothing for is not shown, whoever wants it */
	CHECK(choose(choices, "+rare", NULL, error));
	table_offer(&table, "rare", false);
	CHECK_STR(shown(&table), "name calls time share");
	view.column_choices = NULL;
	column_choices_free(choices);
	table_teardown(&table);
}

TEST(table_says_dropped_columns_and_scrolls)
{
	struct table table;
	char lines[16][200];

	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	draw(&table, 60, lines);
	CHECK(!strchr(lines[0], '+'));
	command(&table, "columns-right", NULL);
	CHECK_STR(view.status, "all its columns are shown");
	draw(&table, 30, lines);
	CHECK(strstr(lines[0], "time") && !strstr(lines[0], "calls") && strstr(lines[0], "+2"));
	command(&table, "columns-right", NULL);
	command(&table, "columns-right", NULL);
	draw(&table, 30, lines);
	CHECK(strstr(lines[0], "name") && strstr(lines[0], "share") && !strstr(lines[0], "time"));
	command(&table, "columns-right", NULL);
	CHECK_STR(view.status, "these are the last columns");
	for (int i = 0; i < 3; i++)
		command(&table, "columns-left", NULL);
	CHECK_STR(view.status, "these are the first columns");
	/* the one that is sorted by stays */
	command(&table, "sort", "calls");
	draw(&table, 24, lines);
	CHECK(strstr(lines[0], "calls ▾") && !strstr(lines[0], "time"));
	table_teardown(&table);
}

TEST(table_sorts_what_was_not_observed_last)
{
	struct table table;

	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	command(&table, "last-row", NULL);
	CHECK(ROW(table_current(&table))->id == 3);
	command(&table, "reverse", NULL);
	command(&table, "last-row", NULL);
	CHECK(ROW(table_current(&table))->id == 3);
	command(&table, "first-row", NULL);
	CHECK(ROW(table_current(&table))->id == 2);
	/* by a share as by what it is the share of */
	command(&table, "sort", "share");
	CHECK(ROW(table_current(&table))->id == 1);
	command(&table, "sort", "calls");
	command(&table, "prev-sort", NULL);
	CHECK(table.sort == 2);		/* over the shown ones, shares and names left out */
	command(&table, "next-sort", NULL);
	CHECK(table.sort == 1);
	table_teardown(&table);
}

TEST(table_adds_up)
{
	struct row rows[40];
	struct table table;
	char lines[16][200];
	int64_t calls = 0, time = 0, some = 0;

	table_setup(&table, &kind, "calls");
	for (int i = 0; i < 40; i++) {
		rows[i] = (struct row){100 + (uint64_t)i, i * 7 % 13, i % 3 ? i : -1};
		calls += rows[i].calls;
		time += rows[i].time > 0 ? rows[i].time : 0;
	}
	take(&table, rows, 40);
	for (int i = 0; i < 3; i++) {
		some += ROW(table_current(&table))->calls;
		command(&table, "pick", NULL);
	}
	draw(&table, 60, lines);
	CHECK(table.sums.rows == 40 && table.sums.value[1] == calls && table.sums.value[2] == time);
	CHECK(table.picked.rows == 3 && table.picked.value[1] == some);
	CHECK(strstr(lines[10], "… 31 more of 40") && strstr(lines[11], "3 marked"));
	/* they stay marked when rows come and go, and order changes */
	rows[0].calls = 1000;
	take(&table, rows, 30);
	command(&table, "sort", "time");
	draw(&table, 60, lines);
	some = 0;
	for (int i = 0; i < 30; i++)
		some += table_is_marked(&table, &rows[i]) ? rows[i].calls : 0;
	CHECK(table.picked.value[1] == some && table.n_marked == 3);
	command(&table, "pick-none", NULL);
	draw(&table, 60, lines);
	CHECK(!table.picked.rows && !strstr(lines[11], "marked"));
	/* a sum with an estimate in it is one */
	CHECK(!strstr(lines[11], "≈"));
	rows[29] = (struct row){500, 7, 7};
	take(&table, rows, 30);
	command(&table, "first-row", NULL);
	draw(&table, 60, lines);
	CHECK(strstr(lines[11], "≈") && strstr(lines[11], "≈") == strrchr(lines[11], '\xe2'));
	table_teardown(&table);
}

TEST(table_says_what_came_since)
{
	static const struct row later[] = {{1, 11, 3000}, {2, 20, 1500}, {4, 5, 250}, {3, 33, -1}};
	struct table table;
	char lines[16][200];
	int64_t count, cost;
	struct strbuf text;

	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	CHECK(command(&table, "sort", "since") == OUT_REDRAW && strstr(view.status, "no column"));
	table_pin(&table);
	take(&table, later, 4);
	CHECK(table_since(&table, &later[0], &count, &cost) && count == 1 && cost == 0);
	CHECK(table_since(&table, &later[1], &count, &cost) && count == 0 && cost == 500);
	CHECK(table_since(&table, &later[2], &count, &cost) && count == 5 && cost == 250);
	CHECK(!table_since(&table, &later[3], &count, &cost) && count == 3);
	/* of the table's own rows it is remembered, wherever they are put */
	for (int turn = 0; turn < 2; turn++) {
		CHECK(table.n_since == table.count && table.count == 4);
		for (size_t i = 0; i < table.count; i++) {
			struct row row = *ROW(table_row(&table, i));
			bool known = table_since(&table, table_row(&table, i), &count, &cost);
			int64_t again, cost_again;

			CHECK(known == table_since(&table, &row, &again, &cost_again));
			CHECK(count == again && cost == cost_again);
			CHECK(count == (row.id == 4 ? 5 : row.id == 3 ? 3 : row.id == 1));
		}
		take(&table, later, 4);
	}
	CHECK_STR(shown(&table), "name calls time share since-calls since since-share");
	command(&table, "sort", "since");
	CHECK(ROW(table_current(&table))->id == 2);
	draw(&table, 100, lines);
	CHECK(strstr(lines[1], "500 ns") && strstr(lines[1], "67 %"));
	strbuf_init(&text);		/* what is searched: columns of words, none of these */
	table_line(&table, 0, &text);
	CHECK_STR(text.data, "row, \"2\" ");
	strbuf_release(&text);
	table_unpin(&table);
	CHECK_STR(shown(&table), "name calls time share");
	draw(&table, 100, lines);
	CHECK(table.sort == 2);		/* what is left to sort by */
	table_teardown(&table);
}

TEST(table_is_written)
{
	static const char *const want[] = {
		"name\tcalls\ttime_ns\tshare\trare_ns\n"
		"row, \"1\"\t10\t3000\t0.750\t3000\nrow, \"2\"\t20\t1000\t0.250\t1000\n"
		"row, \"3\"\t30\t\t\t\n",
		"name,calls,time_ns,share,rare_ns\n\"row, \"\"2\"\"\",20,1000,0.250,1000\n",
	};
	struct table table;

	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	for (int commas = 0; commas < 2; commas++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		if (commas) {
			command(&table, "row-down", NULL);
			command(&table, "pick", NULL);
		}
		table_write(&table, out, commas);
		fclose(out);
		CHECK_STR(text, want[commas]);
		free(text);
	}
	table_teardown(&table);
}

static unsigned click(struct table *table, enum mouse_what what, int x, int y)
{
	struct mouse mouse = {.what = what, .button = 1, .x = x, .y = y};

	return table_mouse(table, &view, &mouse);
}

TEST(table_follows_the_mouse)
{
	struct table table;
	char lines[16][200];

	table_setup(&table, &kind, "time");
	take(&table, three, 3);
	table.above = 2;
	draw(&table, 60, lines);
	CHECK(click(&table, MOUSE_PRESS, 5, 4) == OUT_REDRAW);
	CHECK(ROW(table_current(&table))->id == 2);
	CHECK(click(&table, MOUSE_DOUBLE, 5, 3) & OUT_RUN_COMMAND);
	CHECK_STR(view.run_command, "open");
	CHECK(ROW(table_current(&table))->id == 1);
	CHECK(click(&table, MOUSE_PRESS, table.layout.x[1], 2) == OUT_REDRAW);
	CHECK(table.sort == 1 && table.reverse);
	click(&table, MOUSE_PRESS, table.layout.x[1], 2);
	CHECK(table.sort == 1 && !table.reverse);
	CHECK(click(&table, MOUSE_WHEEL_DOWN, 5, 5) == OUT_UNKNOWN);
	/* nothing is there */
	CHECK(click(&table, MOUSE_PRESS, 5, 9) == OUT_NONE);
	CHECK(click(&table, MOUSE_PRESS, 5, -7) == OUT_NONE);
	CHECK(click(&table, MOUSE_PRESS, 5, 0) == OUT_NONE);
	CHECK(click(&table, MOUSE_PRESS, 59, 2) == OUT_NONE);
	table_teardown(&table);
}
