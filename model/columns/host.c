/* SPDX-License-Identifier: MIT */
#include "model/columns/host.h"

#include <string.h>

#include "model/base/util.h"

#define LINE(row) ((const struct host_line *)(row))
#define ROW(line) (&LINE(line)->row)
#define AT(name) TABLE_MEMBER(struct host_line, name)

static const char *known_text(const char *text)
{
	return *text ? text : NULL;
}

struct host_line *host_lines_of(const struct host_line_row *rows, size_t count)
{
	struct host_line *lines = count ? xcalloc(count, sizeof(*lines)) : NULL;
	bool waits = false;

	for (size_t i = 0; i < count; i++)
		waits |= rows[i].waited_ns > 0;
	for (size_t i = 0; i < count; i++) {
		struct host_line_row *row = &lines[i].row;

		*row = rows[i];
		row->file = known_text(row->file);
		row->function = known_text(row->function);
		row->what = known_text(row->what);
		lines[i].waits = waits;
	}
	return lines;
}

uint64_t host_line_part(const void *row)
{
	int64_t ns = LINE(row)->waits ? ROW(row)->waited_ns : ROW(row)->ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static const char *host_state_words(const void *row)
{
	return doing_name(ROW(row)->doing);
}

static void host_state_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *what = ROW(row)->what;

	snprintf(text, size, "%s%s%s", doing_name(ROW(row)->doing), what ? " " : "",
		 what ? what : "");
}

static void host_source_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *file = ROW(row)->file, *base = file ? strrchr(file, '/') : NULL;

	base = base ? base + 1 : file;
	if (file && ROW(row)->line)
		snprintf(text, size, "%s:%u", base, ROW(row)->line);
	else
		snprintf(text, size, "%s", file ? base : "–");
}

static int host_compare_source(const void *a, const void *b)
{
	int order = columns_compare_text(ROW(a)->file, ROW(b)->file);

	return order ? order : columns_compare_u64(ROW(a)->line, ROW(b)->line);
}

static const struct table_column columns[] = {
	{ .key = "state", .words = host_state_words, .text = host_state_text,
	  .width = 10, .want = 16, .most = 36, .csv = 2,
	  .filter = TABLE_FILTER(NAME), .other = AT(row.what),
	  .help = "what the thread did, and what it waited for where that is known" },
	{ .key = "source", .member = AT(row.file), .text = host_source_text,
	  .compare = host_compare_source, .width = 14, .want = 20, .most = 32,
	  .help = "line of the program at which it did that" },
	{ .key = "function", .member = AT(row.function),
	  .width = 10, .want = 16, .most = 36, .rank = 6, .csv = 6,
	  .help = "function of the line" },
	{ .key = "pid", .unit = UNIT_NUMBER, .member = AT(row.pid), .width = 8, .rank = 5,
	  .csv = 1, .filter = TABLE_FILTER(PID),
	  .help = "process of the thread; shown where there are several" },
	{ .key = "waited", .unit = UNIT_TIME, .member = AT(row.waited_ns), .needs = AT(waits),
	  .flags = TABLE_SUMS | TABLE_FILES_ZERO, .width = 9, .csv = 7,
	  .filter = TABLE_FILTER(WAIT),
	  .help = "time for which devices waited for the thread at this line, each for itself" },
	{ .key = "share", .unit = UNIT_SHARE, .part = host_line_part,
	  .width = 14, .want = 14, .most = 20, .rank = 3,
	  .help = "share of all waited time; of all time while no device has waited" },
	{ .key = "total", .unit = UNIT_TIME, .member = AT(row.ns), .flags = TABLE_SUMS,
	  .width = 9, .rank = 2, .csv = 8, .filter = TABLE_FILTER(TOTAL),
	  .help = "time for which threads were seen there, whether a device waited or not" },
	{ .key = "looks", .unit = UNIT_COUNT, .member = AT(row.looks), .flags = TABLE_SUMS,
	  .width = 8, .rank = 7, .csv = 9, .filter = TABLE_FILTER(COUNT),
	  .help = "number of looks that saw it" },
	/* files and filters only */
	{ .key = "what", .member = AT(row.what), .csv = 3,
	  .help = "what it waited for: a file, a call" },
	{ .key = "file", .member = AT(row.file), .csv = 4, .filter = TABLE_FILTER(FILE),
	  .help = "source file of the line" },
	{ .key = "line", .unit = UNIT_NUMBER, .member = AT(row.line), .needs = AT(row.line),
	  .csv = 5, .filter = TABLE_FILTER(LINE), .help = "its number" },
};

const struct table_columns host_columns = {
	.name = "host",
	TABLE_COLUMNS_OF(columns, 3),
	.kind = -1,
};
