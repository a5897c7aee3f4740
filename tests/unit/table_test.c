/* SPDX-License-Identifier: MIT */
/* The generic table: order, cursor, columns, and that it stays in its area. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/command_call.h"
#include "tests/unit/test.h"
#include "tui/table/table.h"

struct row {
	const char *name;
	uint64_t cost;
};

static void name_text(const void *row, bool ascii, char *text, size_t size)
{
	snprintf(text, size, "%s", ((const struct row *)row)->name);
}

static int by_name(const void *a, const void *b)
{
	return columns_compare_text(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static uint64_t part(const void *row)
{
	return ((const struct row *)row)->cost;
}

static uint64_t identity(const void *row)
{
	return table_mix((uintptr_t)((const struct row *)row)->name, 0, 0);
}

static bool cost_value(const void *row, int64_t *value)
{
	*value = (int64_t)((const struct row *)row)->cost;
	return true;
}

static const struct table_column column_list[] = {
	{ "name", "name", 8, 12, 20, 0, .text = name_text, .compare = by_name, .help = "who" },
	{ "cost", "cost", 6, 0, 0, 0, UNIT_NUMBER, TABLE_SUMS, .value = cost_value,
	  .help = "how much" },
	{ "share", "share", 14, 14, 20, 2, UNIT_SHARE, .part = part, .help = "of all" },
	{ "rare", "rare", 6, 0, 0, 6, UNIT_NUMBER, 0, .value = cost_value, .help = "again" },
};

static const struct table_columns columns = {
	.name = "test", TABLE_COLUMNS_OF(column_list, 0), .kind = -1,
};

static const struct table_kind kind = {
	.columns = &columns,
	.row_size = sizeof(struct row),
	.empty = "nothing here yet",
	.identity = identity,
};

static const char *const names[] = {
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
};

static void take(struct table *table, size_t count, uint64_t (*cost)(size_t i))
{
	struct row *rows = count ? xreallocarray(NULL, count, sizeof(*rows)) : NULL;
	size_t i;

	for (i = 0; i < count; i++)
		rows[i] = (struct row){names[i % 10], cost(i)};
	table_take(table, rows, count, 100);
}

static uint64_t rising(size_t i)
{
	return i;
}

static uint64_t falling(size_t i)
{
	return 1000 - i;
}

static uint64_t equal(size_t i)
{
	return 7;
}

static const char *current(struct table *table)
{
	const struct row *row = table_current(table);

	return row ? row->name : "";
}

static unsigned command(struct table *table, const char *name, const char *argument)
{
	const char *argv[] = {name, argument, NULL};
	struct command_call call = call_of(argument ? 2 : 1, argv);
	struct view view;

	memset(&view, 0, sizeof(view));
	return table_command(table, &view, &call);
}

TEST(table_sorts_by_any_column)
{
	struct table table;

	table_setup(&table, &kind, "cost");
	take(&table, 10, rising);
	CHECK_STR(current(&table), "kappa");
	CHECK(command(&table, "reverse", NULL) == OUT_REDRAW);
	CHECK_STR(current(&table), "alpha");
	CHECK(command(&table, "sort", "name") == OUT_REDRAW);
	command(&table, "last-row", NULL);
	CHECK_STR(current(&table), "zeta");
	command(&table, "first-row", NULL);
	command(&table, "next-sort", NULL);
	CHECK_STR(current(&table), "kappa");
	CHECK(command(&table, "sort", "colour") == OUT_REDRAW);
	CHECK_STR(current(&table), "kappa");
	CHECK(command(&table, "zoom-in", NULL) == OUT_UNKNOWN);
	table_teardown(&table);
}

TEST(table_order_is_stable)
{
	struct table table;
	int i;

	table_setup(&table, &kind, "cost");
	take(&table, 10, equal);
	for (i = 0; i < 10; i++) {
		CHECK_STR(current(&table), names[i]);
		command(&table, "row-down", NULL);
	}
	table_teardown(&table);
}

/* The cursor stays on its row when the order changes, on the first line it
 * stays the first line. */
TEST(table_cursor_follows_its_row)
{
	struct table table;

	table_setup(&table, &kind, "cost");
	take(&table, 10, rising);
	command(&table, "row-down", "2");
	CHECK_STR(current(&table), "theta");
	take(&table, 10, falling);
	CHECK_STR(current(&table), "theta");
	command(&table, "first-row", NULL);
	CHECK_STR(current(&table), "alpha");
	take(&table, 10, rising);
	CHECK_STR(current(&table), "kappa");
	command(&table, "last-row", NULL);
	take(&table, 3, rising);
	CHECK(table_current(&table) != NULL);
	take(&table, 0, rising);
	CHECK(table_current(&table) == NULL);
	command(&table, "row-down", NULL);
	table_teardown(&table);
}

/* All sizes, inside a larger grid: nothing is written outside of the area. */
TEST(table_stays_in_its_area)
{
	static const int widths[] = { 1, 2, 3, 9, 17, 30, 60, 80, 120, 300 };
	static const int heights[] = { 1, 2, 3, 5, 24, 100 };
	struct table table;
	size_t w, h, count;

	table_setup(&table, &kind, "cost");
	for (w = 0; w < 10; w++)
		for (h = 0; h < 6; h++)
			for (count = 0; count <= 30; count += 6) {
				struct view view;
				struct grid grid;
				int x, y;

				memset(&view, 0, sizeof(view));
				view.ascii = count % 12 == 0;
				view.colour = w % 2 == 0;
				take(&table, count, rising);
				command(&table, "last-row", NULL);
				grid_init(&grid, widths[w] + 2, heights[h] + 2);
				area_fill(grid_area(&grid), 0, 0, grid.width, grid.height, '@',
					  ROLE_DEFAULT, ROLE_DEFAULT, 0);
				table_draw(&table, &view,
					   area_sub(grid_area(&grid), 1, 1, widths[w], heights[h]),
					   true);
				for (y = 0; y < grid.height; y++)
					for (x = 0; x < grid.width; x++)
						if (!x || !y || x == grid.width - 1 ||
						    y == grid.height - 1)
							CHECK(grid.cells[y * grid.width + x].ch ==
							      '@');
				grid_release(&grid);
			}
	table_teardown(&table);
}

static void draw_line(struct table *table, int width, int y, char *out, size_t size)
{
	struct view view;
	struct grid grid;
	FILE *file;
	int line;

	memset(&view, 0, sizeof(view));
	grid_init(&grid, width, 8);
	table_draw(table, &view, grid_area(&grid), true);
	file = tmpfile();
	grid_save(&grid, file, false);
	rewind(file);
	for (line = 0; line <= y; line++)
		if (!fgets(out, (int)size, file))
			out[0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	fclose(file);
	grid_release(&grid);
}

TEST(table_drops_columns_when_narrow)
{
	struct table table;
	char line[512];

	table_setup(&table, &kind, "cost");
	take(&table, 30, rising);
	draw_line(&table, 80, 0, line, sizeof(line));
	CHECK(strstr(line, "name") && strstr(line, "cost ▾") && strstr(line, "share") &&
	      strstr(line, "rare"));
	draw_line(&table, 42, 0, line, sizeof(line));
	CHECK(strstr(line, "share") && !strstr(line, "rare"));
	draw_line(&table, 20, 0, line, sizeof(line));
	CHECK(strstr(line, "name") && strstr(line, "cost") && !strstr(line, "share"));
	draw_line(&table, 80, 7, line, sizeof(line));
	CHECK_STR(line, " … 24 more of 30          435");
	take(&table, 0, rising);
	draw_line(&table, 80, 1, line, sizeof(line));
	CHECK_STR(line, " nothing here yet");
	table_teardown(&table);
}
