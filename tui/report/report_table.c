/* SPDX-License-Identifier: MIT */
/* Rows that have columns (model/columns), as a table of the report and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "model/base/util.h"
#include "model/columns/columns.h"
#include "tui/base/json.h"
#include "tui/draw/grid.h"
#include "tui/draw/labels.h"
#include "tui/draw/page.h"
#include "tui/draw/sheet.h"
#include "tui/report/report.h"

/* ---- text ---- */

char *report_bar(char out[REPORT_BAR_CELLS * 3 + 1], uint64_t part, uint64_t whole)
{
	uint64_t eighths = whole ? (part >= whole ? REPORT_BAR_CELLS * 8 :
		(uint64_t)((unsigned __int128)part * REPORT_BAR_CELLS * 8 / whole)) : 0;
	size_t used = 0;

	for (; eighths; eighths -= eighths < 8 ? eighths : 8) {
		uint32_t ch = 0x2588 + (eighths < 8 ? 8 - (uint32_t)eighths : 0);

		used += (size_t)text_encode(ch, out + used);
	}
	out[used] = '\0';
	return out;
}

/* Whether a value is as good as none: a 0 that is a dash, or that stands for what did not occur.
 * Where another member says that it was observed, a 0 is a value. */
static bool report_hides(const struct table_column *column, int64_t value)
{
	return !value && ((column->flags & TABLE_DASH) ||
			  ((column->flags & TABLE_IF_ANY) && !column->needs.type));
}

static bool report_any_value(const struct table_column *column, const struct report_rows *rows)
{
	const char *row = rows->rows;
	int64_t value;

	for (size_t i = 0; i < rows->count; i++, row += rows->size)
		if (columns_value(column, row, &value) && (value || column->needs.type))
			return true;
	return false;
}

/* The columns there, less those that no row has anything for. */
static size_t report_columns(const struct table_columns *columns, const struct report_rows *rows,
			     const struct table_column *out[TABLE_COLUMNS_MAX])
{
	size_t n = columns_at(columns, rows->place, out), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!(out[i]->flags & TABLE_IF_ANY) || report_any_value(out[i], rows))
			out[kept++] = out[i];
	return kept;
}

static void report_add_heading(struct sheet *sheet, const struct table_columns *columns,
			       const struct table_column *column, enum columns_place place)
{
	bool left = column == columns->column || (!columns_is_numeric(column) &&
						  !(column->flags & TABLE_RIGHT));
	const char *title = columns_title(column);

	if (place == COLUMNS_REPORT && column->report_title)
		title = column->report_title;
	else if (place == COLUMNS_REPORT && column == columns->column)
		title = columns->name;
	sheet_column(sheet, title, left ? SHEET_LEFT : SHEET_RIGHT,
		     left && column->want ? REPORT_NAME_LEAST : 0);
	if (column->part)
		sheet_column(sheet, NULL, SHEET_LEFT, 0);
}

static void report_add_share(struct sheet *sheet, const struct table_column *column,
			     const void *row, uint64_t total)
{
	char text[FMT_MAX], blocks[REPORT_BAR_CELLS * 3 + 1];
	bool known = columns_is_known(column, row);
	uint64_t part = known ? column->part(row) : 0;

	sheet_cell(sheet, "%s", known ? fmt_share(text, part, total) : "");
	sheet_cell(sheet, "%s", report_bar(blocks, part, total));
}

static void report_add_text(struct sheet *sheet, const struct table_columns *columns,
			    const struct table_column *column, const void *row)
{
	const char *words = columns_words(column, row);
	char text[LABEL_MAX];
	int64_t value;

	if (column->text && columns_is_known(column, row) &&
	    (words || !columns_is_numeric(column))) {
		column->text(row, false, text, sizeof(text));
		sheet_cell(sheet, "%s", text);
	} else if (!words && columns_value(column, row, &value)) {
		sheet_cell(sheet, "%" PRId64, value);
	} else {
		sheet_cell(sheet, "%s", words ? words : columns->unknown ? columns->unknown : "");
	}
	if (column->link && words)
		sheet_link(sheet, column->link, words);
}

static void report_add_number(struct sheet *sheet, const struct table_columns *columns,
			      const struct table_column *column, const void *row)
{
	char text[LABEL_MAX];
	int64_t value;

	if (!columns_value(column, row, &value) || report_hides(column, value)) {
		sheet_cell(sheet, "%s", columns->unknown ? columns->unknown : "");
		return;
	}
	columns_print(text, sizeof(text), column->unit, value);
	/* The report does not mark columns that are always estimates. */
	sheet_cell(sheet, "%s%s", columns_is_scaled(columns, column, row) ? "≈" :
		   columns_is_approximate(columns, column, row) ? "~" : "", text);
	if (column->link)
		sheet_link(sheet, column->link, text);
}

static uint64_t report_total(const struct table_column *column, const struct report_rows *rows)
{
	const char *row = rows->rows;
	uint64_t total = 0;

	for (size_t i = 0; i < rows->count; i++, row += rows->size)
		total += column->part(row);
	return total;
}

void report_table(struct sheet *sheet, const struct table_columns *columns,
		  const struct report_rows *rows)
{
	const struct table_column *shown[TABLE_COLUMNS_MAX];
	size_t n = report_columns(columns, rows, shown);
	size_t most = rows->most && rows->most < rows->count ? rows->most : rows->count;
	uint64_t total[TABLE_COLUMNS_MAX] = { 0 };
	const char *row = rows->rows;

	for (size_t c = 0; c < n; c++) {
		report_add_heading(sheet, columns, shown[c], rows->place);
		if (shown[c]->part)
			total[c] = report_total(shown[c], rows);
	}
	for (size_t i = 0; i < most; i++, row += rows->size)
		for (size_t c = 0; c < n; c++)
			if (shown[c]->part)
				report_add_share(sheet, shown[c], row, total[c]);
			else if (shown[c]->unit == UNIT_TEXT)
				report_add_text(sheet, columns, shown[c], row);
			else
				report_add_number(sheet, columns, shown[c], row);
	sheet->more = rows->count - most;
}

void report_page_table(struct page *page, const struct table_columns *columns,
		       const struct report_rows *rows)
{
	struct report_rows all = *rows;
	struct sheet sheet = { 0 };

	all.place = COLUMNS_LIST;
	report_table(&sheet, columns, &all);
	page_sheet(page, &sheet, REPORT_PAGE_WIDTH);
}

/* ---- JSON ---- */

static void report_column_json(struct json *json, const struct table_column *column,
			       const void *row)
{
	const char *words = column->unit == UNIT_TEXT ? columns_words(column, row) : NULL;
	int64_t value;

	if (words) {
		if (*words || (column->flags & TABLE_FILES_ZERO))
			json_key_string(json, column->json, words);
	} else if (columns_file_value(column, row, &value)) {
		if (column->flags & TABLE_YES_NO) {
			json_key_bool(json, column->json, value != 0);
		} else if (column->unit == UNIT_SHARE) {
			json_key(json, column->json);
			json_share(json, (uint64_t)value, 1000);
		} else if (!report_hides(column, value)) {
			json_key_int(json, column->json, value);
		}
	}
}

void report_row_json(struct json *json, const struct table_columns *columns, const void *row)
{
	for (size_t i = 0; i < columns->n + columns->beyond; i++)
		if (columns->column[i].json)
			report_column_json(json, &columns->column[i], row);
}
