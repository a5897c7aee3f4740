/* SPDX-License-Identifier: MIT */
#include "tui/lists/list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"

#define GAP 2
#define CELL_MAX (FMT_MAX + 8)

static struct list_column list_column_of(const struct table_columns *rows,
					 const struct table_column *column)
{
	return (struct list_column) {
		.key = column->key, .was = column->was, .title = column->title,
		.sum = column == rows->column ? LIST_SUM_TEXT :
		       column->part || (column->flags & TABLE_SUMS) ? LIST_SUM : LIST_SUM_NONE,
		.optional = column->flags & TABLE_IF_ANY,
	};
}

size_t list_kind_columns(const struct list_kind *kind, struct list_column out[LIST_COLUMNS_MAX])
{
	const struct table_column *columns[TABLE_COLUMNS_MAX];
	size_t n = kind->rows ? columns_at(kind->rows, COLUMNS_LIST, columns) : kind->n_columns;

	for (size_t i = 0; i < n && i < LIST_COLUMNS_MAX; i++)
		out[i] = kind->rows ? list_column_of(kind->rows, columns[i]) : kind->columns[i];
	return n < LIST_COLUMNS_MAX ? n : LIST_COLUMNS_MAX;
}

void list_begin(struct list *list, const struct list_kind *kind)
{
	memset(list, 0, sizeof(*list));
	list->n_columns = list_kind_columns(kind, list->columns);
	list->row_columns = kind->rows;
}

void list_release(struct list *list)
{
	for (size_t i = 0; i < list->n_kept; i++)
		free(list->kept[i]);
	free(list->kept);
	free(list->cells);
	memset(list, 0, sizeof(*list));
}

struct list_cell *list_add(struct list *list, enum list_value value, int64_t number)
{
	struct list_cell *cell;

	grow(&list->cells, &list->cap, list->n, sizeof(*list->cells));
	cell = &list->cells[list->n++];
	*cell = (struct list_cell){ .value = value, .number = number, .role = ROLE_DEFAULT };
	return cell;
}

struct list_cell *list_name(struct list *list, const char *text)
{
	struct list_cell *cell = list_add(list, text ? LIST_NAME : LIST_NONE, 0);

	cell->text = text;
	return cell;
}

static const enum list_value list_values[] = {
	[UNIT_NUMBER] = LIST_PLAIN, [UNIT_COUNT] = LIST_COUNT, [UNIT_TIME] = LIST_TIME,
	[UNIT_BYTES] = LIST_BYTES, [UNIT_RATE] = LIST_RATE, [UNIT_SHARE] = LIST_MILLI,
};

static struct list_cell *list_add_of(struct list *list, const struct table_column *column,
				     const void *row)
{
	struct list_cell *cell;
	int64_t number = 0;
	bool known;

	if (column->unit == UNIT_TEXT)
		return list_name(list, columns_words(column, row));
	if (column->part) {
		known = !column->known || column->known(row);
		number = (int64_t)column->part(row);
		return list_add(list, known ? LIST_SHARE : LIST_NONE, number);
	}
	known = columns_value(column, row, &number) && (number || !(column->flags & TABLE_DASH));
	cell = list_add(list, known ? list_values[column->unit] : LIST_NONE, number);
	cell->rough = (column->flags & TABLE_ESTIMATE) ||
		      columns_is_scaled(list->row_columns, column, row);
	cell->approx = !cell->rough && *columns_mark(list->row_columns, column, row);
	return cell;
}

void list_row(struct list *list, const void *row, list_dress *dress, void *arg)
{
	const struct table_column *columns[TABLE_COLUMNS_MAX];
	size_t n = columns_at(list->row_columns, COLUMNS_LIST, columns);

	for (size_t i = 0; i < n; i++)
		dress(list, columns[i], list_add_of(list, columns[i], row), row, arg);
}

const char *list_keep(struct list *list, const char *format, ...)
{
	struct strbuf text;
	va_list args;

	strbuf_init(&text);
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	grow(&list->kept, &list->cap_kept, list->n_kept, sizeof(*list->kept));
	return list->kept[list->n_kept++] = strbuf_detach(&text);
}

/* ---- order ---- */

static size_t find_column(const struct list_column *columns, size_t n, const char *key)
{
	size_t found = n, length = strlen(key);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(columns[i].key, key))
			return i;
	for (size_t i = 0; i < n; i++)
		if (columns[i].was && !strcmp(columns[i].was, key))
			return i;
	/* Accepts an abbreviation that only one column has. */
	for (size_t i = 0; i < n && length; i++)
		if (!strncmp(columns[i].key, key, length)) {
			if (found < n)
				return n;
			found = i;
		}
	return found;
}

bool list_sort_check(const struct page_call *call, const struct list_options *options,
		     const struct list_kind *kind)
{
	const struct list_given *given = list_given(options, 's');
	struct list_column columns[LIST_COLUMNS_MAX];
	size_t n_columns = list_kind_columns(kind, columns);
	struct strbuf all;

	if (!given || find_column(columns, n_columns, given->text) < n_columns)
		return true;
	strbuf_init(&all);
	for (size_t i = 0; i < n_columns; i++)
		strbuf_addf(&all, "%s%s", i ? ", " : "", columns[i].key);
	snprintf(call->error, call->error_size, "-s wants a column, not '%.40s': %s", given->text,
		 all.data);
	strbuf_release(&all);
	return false;
}

struct order {
	size_t column;
	bool names, rising;
};

/* A row and its original position: equal rows stay in that order. */
struct list_place {
	const struct list_cell *cells;
	size_t at;
};

static int list_compare_rows(const void *a, const void *b, void *arg)
{
	const struct list_place *p = a, *q = b;
	const struct order *order = arg;
	const struct list_cell *x = &p->cells[order->column], *y = &q->cells[order->column];
	int by;

	/* Unknown values come last in both directions. */
	if (!x->value != !y->value)
		return x->value ? -1 : 1;
	by = !x->value ? 0 : order->names ? strcmp(x->text, y->text) :
	     (x->number > y->number) - (x->number < y->number);
	if (!order->rising)
		by = -by;
	return by ? by : p->at < q->at ? -1 : p->at > q->at;
}

static bool holds_names(const struct list *list, size_t column)
{
	for (size_t k = column; k < list->n; k += list->n_columns)
		if (list->cells[k].value != LIST_NONE)
			return list->cells[k].value == LIST_NAME;
	return false;
}

/* Text sorts ascending, numbers descending, unless the column says otherwise or -r is given. */
static bool rises(const struct list *list, size_t column, bool reverse)
{
	return (list->columns[column].rising || holds_names(list, column)) != reverse;
}

static struct list_place *list_sorted_rows(const struct list *list, size_t column, bool reverse)
{
	size_t rows = list->n / list->n_columns;
	struct list_place *places = xcalloc(rows, sizeof(*places));
	struct order order = { column, false, false };

	for (size_t i = 0; i < rows; i++)
		places[i] = (struct list_place){ list->cells + i * list->n_columns, i };
	if (column < list->n_columns && rows) {
		order.names = holds_names(list, column);
		order.rising = rises(list, column, reverse);
		qsort_r(places, rows, sizeof(*places), list_compare_rows, &order);
	} else if (reverse) {
		for (size_t i = 0; i < rows; i++)
			places[i].cells = list->cells + (rows - 1 - i) * list->n_columns;
	}
	return places;
}

/* ---- text ---- */

static char *number_text(char text[FMT_MAX], enum list_value value, int64_t number, int64_t whole)
{
	uint64_t n = number > 0 ? (uint64_t)number : 0;

	switch (value) {
	case LIST_COUNT: return fmt_count(text, n);
	case LIST_TIME: return fmt_time(text, number);
	case LIST_BYTES: return fmt_bytes(text, n);
	case LIST_RATE: return fmt_rate(text, n);
	case LIST_SHARE: return fmt_share(text, n, whole > 0 ? (uint64_t)whole : 0);
	case LIST_MILLI: return fmt_share(text, n, 1000);
	case LIST_WHEN:
		snprintf(text, FMT_MAX, "%" PRId64 ".%06d s", number / 1000000000,
			 (int)(number % 1000000000 / 1000));
		return text;
	case LIST_PLAIN:
		snprintf(text, FMT_MAX, "%" PRId64, number);
		return text;
	default: return text;
	}
}

static const char *cell_text(const struct list *list, const struct list_cell *cell,
			     char text[CELL_MAX])
{
	char number[FMT_MAX];

	if (cell->value == LIST_NAME)
		return cell->text;
	if (cell->value == LIST_NONE)
		return "–";
	snprintf(text, CELL_MAX, "%s%s", cell->approx ? "~" : cell->rough ? "≈" : "",
		 number_text(number, cell->value, cell->number, list->whole));
	return text;
}

/* The widths that the columns need, and the content of the last line. */
struct shape {
	int width[LIST_COLUMNS_MAX];
	struct list_cell total[LIST_COLUMNS_MAX];
	bool left[LIST_COLUMNS_MAX];
	bool hidden[LIST_COLUMNS_MAX];
	bool totals;
};

static void sum_up(struct list *list, struct shape *shape)
{
	size_t rows = list->n / list->n_columns;

	for (size_t c = 0; c < list->n_columns; c++) {
		struct list_cell *total = &shape->total[c];

		if (list->columns[c].sum == LIST_SUM_TEXT) {
			*total = (struct list_cell){
				.value = LIST_NAME, .text = list_keep(list, "total of %zu", rows),
			};
			continue;
		}
		for (size_t i = 0; i < rows && list->columns[c].sum == LIST_SUM; i++) {
			const struct list_cell *cell = &list->cells[i * list->n_columns + c];

			if (cell->value == LIST_NONE)
				continue;
			total->value = cell->value;
			total->approx |= cell->approx;
			if (__builtin_add_overflow(total->number, cell->number, &total->number))
				total->number = INT64_MAX;
			shape->totals = true;
		}
	}
	shape->totals &= rows > 1;
}

static const char *title_of(const struct list *list, size_t column)
{
	const struct list_column *c = &list->columns[column];

	return c->title ? c->title : c->key;
}

static int title_width(const struct list *list, size_t column, size_t by)
{
	return text_width(title_of(list, column)) + (column == by ? 2 : 0);
}

static bool has_values(const struct list *list, size_t column)
{
	for (size_t k = column; k < list->n; k += list->n_columns)
		if (list->cells[k].value != LIST_NONE)
			return true;
	return false;
}

static void list_measure_columns(const struct list *list, const struct list_place *places,
				 size_t shown, size_t by, struct shape *shape)
{
	char text[CELL_MAX];

	for (size_t c = 0; c < list->n_columns; c++) {
		int widest = title_width(list, c, by);

		shape->left[c] = holds_names(list, c);
		shape->hidden[c] = list->columns[c].optional && c != by && !has_values(list, c);
		for (size_t i = 0; i <= shown; i++) {
			const struct list_cell *cell = i < shown ? &places[i].cells[c] :
						       &shape->total[c];
			int width = i == shown && !shape->totals ? 0 :
				    text_width(cell_text(list, cell, text));

			if (width > widest)
				widest = width;
		}
		shape->width[c] = widest;
	}
}

static void pad(struct page *page, int columns)
{
	if (columns > 0)
		page_add(page, ROLE_DEFAULT, 0, "%*s", columns, "");
}

static void link_of(struct page *page, const struct list_cell *cell, const char *text)
{
	int argc = 0;

	while (argc < LIST_LINK_WORDS && cell->link[argc])
		argc++;
	page_link(page, text, argc, cell->link);
	if (cell->role != ROLE_DEFAULT)
		page->parts[page->n_parts - 1].role = cell->role;
}

static void list_print_cell(struct page *page, const struct list *list, const struct shape *shape,
			    size_t c, const struct list_cell *cell)
{
	char buf[CELL_MAX];
	const char *text = cell_text(list, cell, buf);
	int room = shape->width[c] - text_width(text);
	enum role role = cell->value == LIST_NONE ? ROLE_MUTED : (enum role)cell->role;

	if (shape->hidden[c])
		return;
	pad(page, c ? GAP : 0);
	if (!shape->left[c])
		pad(page, room);
	if (!cell->link[0]) {
		page_add(page, role, 0, "%s", text);
	} else {
		link_of(page, cell, text);
		if (c + 1 == list->n_columns)
			page_main(page);
	}
	if (shape->left[c] && c + 1 < list->n_columns)
		pad(page, room);
}

/* ---- lines ---- */

/* A heading links to the same command, sorted by that column; if the list is sorted by it already,
 * in reverse order. */
static void link_title(struct page *page, const struct page_call *call, const char *key,
		       bool turn, const char *text)
{
	const char *argv[WORDS_MAX];
	int argc = 0;
	struct page_part *made;

	for (int i = 0; i < call->argc && argc + 4 < WORDS_MAX; i++) {
		const char *word = call->argv[i];

		if (!strcmp(word, "-s") || !strcmp(word, "--sort_by")) {
			i++;
			continue;
		}
		if (strcmp(word, "-r") && strcmp(word, "--reverse") &&
		    strncmp(word, "--sort_by=", 10))
			argv[argc++] = word;
	}
	argv[argc++] = "-s";
	argv[argc++] = key;
	if (turn)
		argv[argc++] = "-r";
	page_link(page, text, argc, argv);
	made = &page->parts[page->n_parts - 1];
	made->role = ROLE_COLUMN;
	made->attr = 0;
}

static void list_print_titles(struct page *page, const struct list *list, const struct shape *shape,
			      const struct page_call *call, size_t by, bool reverse)
{
	for (size_t c = 0; c < list->n_columns; c++) {
		char text[CELL_MAX];
		int room = shape->width[c] - title_width(list, c, by);

		if (shape->hidden[c])
			continue;
		snprintf(text, sizeof(text), "%s%s", title_of(list, c),
			 c != by ? "" : rises(list, c, reverse) ? " ▴" : " ▾");
		pad(page, c ? GAP : 0);
		if (!shape->left[c])
			pad(page, room);
		link_title(page, call, list->columns[c].key, c == by && !reverse, text);
		if (shape->left[c] && c + 1 < list->n_columns)
			pad(page, room);
	}
	page_end(page);
}

static void list_print_heading(struct page *page, const struct list *list,
			       const struct list_options *options, const char *what, size_t all,
			       size_t by)
{
	size_t rows = list->n / list->n_columns, plural = strcspn(what, " ");
	char text[FMT_MAX];

	page_add(page, ROLE_DEFAULT, ATTR_BOLD, "%s%s", list->more ? "first " : "",
		 fmt_count(text, rows));
	if (rows != all)
		page_add(page, ROLE_DEFAULT, ATTR_BOLD, " of %s", fmt_count(text, all));
	page_add(page, ROLE_DEFAULT, ATTR_BOLD, " %.*s%s", (int)plural - (all == 1), what,
		 /* singular: one op, one kind of copies, one tensor that moved */
		 what + plural);
	if (list->about)
		page_add(page, ROLE_DEFAULT, 0, " of %s", list->about);
	list_options_say(options, page);
	if (by < list->n_columns)
		page_add(page, ROLE_MUTED, 0, "   by %s", title_of(list, by));
	else if (list->order)
		page_add(page, ROLE_MUTED, 0, "   %s", list->order);
	if (list->whole_is)
		page_add(page, ROLE_MUTED, 0, "   share of %s: %s", list->whole_is,
			 number_text(text, list->whole_value, list->whole, 0));
	page_end(page);
}

static void list_print_rows(struct page *page, const struct list *list,
			    const struct list_place *places, size_t shown,
			    const struct shape *shape)
{
	for (size_t i = 0; i < shown; i++) {
		for (size_t c = 0; c < list->n_columns; c++)
			list_print_cell(page, list, shape, c, &places[i].cells[c]);
		page_end(page);
	}
}

static void list_print_totals(struct page *page, const struct list *list, const struct shape *shape)
{
	for (size_t c = 0; c < list->n_columns; c++) {
		const struct list_cell *cell = &shape->total[c];

		if (cell->value != LIST_NONE)
			list_print_cell(page, list, shape, c, cell);
		else if (!shape->hidden[c])
			pad(page, shape->width[c] + (c ? GAP : 0));
	}
	page_end(page);
}

void list_print(struct list *list, const struct page_call *call,
		const struct list_options *options, const char *what, size_t all,
		struct page *page)
{
	const struct list_given *given = list_given(options, 's');
	const char *key = given ? given->text : list->by;
	bool reverse = list_given(options, 'r') != NULL;
	size_t by = key ? find_column(list->columns, list->n_columns, key) : list->n_columns;
	size_t rows = list->n / list->n_columns, limit = list_limit(options);
	size_t shown = rows < limit ? rows : limit;
	struct list_place *places;
	struct shape shape = { .totals = false };
	char text[FMT_MAX];

	page_rest(call, 990);
	places = list_sorted_rows(list, by, reverse);
	sum_up(list, &shape);
	list_measure_columns(list, places, shown, by, &shape);
	page_rest(call, 995);
	list_print_heading(page, list, options, what, all, by);
	if (rows) {
		list_print_titles(page, list, &shape, call, by, reverse);
		list_print_rows(page, list, places, shown, &shape);
	} else {
		page_say(page, ROLE_MUTED, 0, "%s", all ? "none of them matches" : list->empty);
	}
	if (shape.totals)
		list_print_totals(page, list, &shape);
	if (rows > shown)
		page_say(page, ROLE_MUTED, 0, "… %s more: -l %zu shows them",
			 fmt_count(text, rows - shown), rows);
	else if (list->more)
		page_say(page, ROLE_MUTED, 0, "… more: -l %zu shows that many", shown * 4);
	free(places);
	list_release(list);
}
