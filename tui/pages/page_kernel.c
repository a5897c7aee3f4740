/* SPDX-License-Identifier: MIT */
/* pk: one kernel: its properties, how it was launched, and the occupancy that follows from that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/launch.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define NAMES_SHOWN 30u
#define LAUNCHES_SHOWN 40u
#define OPS_SHOWN 12u
#define QUEUES_SHOWN 8u

/* A kernel may be listed on several devices. */
static bool page_kernel_fits(const struct kernel_row *row, const char *text, bool whole)
{
	return whole ? !strcmp(row->raw_name, text) || !strcmp(row->name, text) :
	       strstr(row->raw_name, text) || strstr(row->name, text);
}

static void page_kernel_add_class(struct page *page, const struct kernel_row *row)
{
	struct kernel_class class = row->class;

	page_add(page, ROLE_MUTED, 0, "%-9s", "class");
	page_add(page, ROLE_DEFAULT, 0, "%s", kernel_kind_name((enum kernel_kind)class.kind));
	if (class.type != NUMBER_UNKNOWN)
		page_add(page, ROLE_DEFAULT, 0, "   %s",
			 kernel_type_name((enum kernel_type)class.type));
	if (class.tensor != TENSOR_UNKNOWN)
		page_add(page, class.tensor == TENSOR_USED ? ROLE_GOOD : ROLE_WARN, 0, "   %s",
			 class.tensor == TENSOR_USED ? "tensor cores" : "no tensor cores");
	page_say(page, ROLE_MUTED, 0, "   by its name");
}

static void page_kernel_add_runs(struct page *page, const struct kernel_row *row, int64_t whole_ns)
{
	char total[FMT_MAX], text[FMT_MAX], share[FMT_MAX];

	page_add(page, ROLE_MUTED, 0, "%-9s", "ran");
	page_add(page, ROLE_DEFAULT, 0, "%s", fmt_many(text, row->count, "time"));
	if (row->count > row->untimed) {
		page_add(page, ROLE_DEFAULT, 0, "   total %s, %s of its device's kernel time",
			 fmt_time(total, row->total_ns),
			 fmt_share(share, report_positive(row->total_ns),
				   report_positive(whole_ns)));
		page_end(page);
		page_add(page, ROLE_MUTED, 0, "%-9s", "");
		page_add(page, ROLE_DEFAULT, 0, "mean %s", fmt_time(text, row->mean_ns));
		page_add(page, ROLE_DEFAULT, 0, "   min %s", fmt_time(text, row->min_ns));
		page_add(page, ROLE_DEFAULT, 0, "   p50 ≈%s", fmt_time(text, row->p50_ns));
		page_add(page, ROLE_DEFAULT, 0, "   p99 ≈%s", fmt_time(text, row->p99_ns));
		page_add(page, ROLE_DEFAULT, 0, "   max %s", fmt_time(text, row->max_ns));
	}
	if (row->max_ns > row->min_ns && row->count > row->untimed) {
		page_end(page);
		page_label(page, "");
		page_spark(page, ROLE_WORK_OTHER, row->spread, KERNEL_SPREAD);
		page_add(page, ROLE_MUTED, 0, "  from min to max, how many in equal parts");
	}
	if (row->failed)
		page_add(page, ROLE_BAD, 0, "   %s failed", fmt_count(text, row->failed));
	page_end(page);
}

static void size_cell(struct sheet *sheet, const uint64_t size[3], uint32_t dims)
{
	while (dims > 1 && size[dims - 1] == 1)
		dims--;
	if (!size[0])
		sheet_cell(sheet, "%s", "–");
	else if (dims < 2)
		sheet_cell(sheet, "%" PRIu64, size[0]);
	else if (dims < 3)
		sheet_cell(sheet, "%" PRIu64 "×%" PRIu64, size[0], size[1]);
	else
		sheet_cell(sheet, "%" PRIu64 "×%" PRIu64 "×%" PRIu64, size[0], size[1], size[2]);
}

/* What is known of any launch, so that columns without any value are left out. */
struct known {
	bool geometry, taken, occupancy;
	const char *why;		/* why there is no occupancy */
};

static struct known what_is_known(const struct kernel_launch *launches, size_t n)
{
	struct known known = { .why = launches[0].occupancy.unknown };

	for (size_t i = 0; i < n; i++) {
		known.geometry |= launches[i].grid[0] || launches[i].block[0];
		known.taken |= launches[i].registers || launches[i].shared_static ||
			       launches[i].shared_dynamic;
		known.occupancy |= !launches[i].occupancy.unknown;
	}
	return known;
}

static void taken_cells(struct sheet *sheet, const struct kernel_launch *l)
{
	char text[FMT_MAX], more[FMT_MAX];

	sheet_cell(sheet, l->registers ? "%" PRIu32 : "–", l->registers);
	if (!l->shared_static && !l->shared_dynamic)
		sheet_cell(sheet, "%s", l->registers ? "0" : "–");
	else if (!l->shared_dynamic)
		sheet_cell(sheet, "%s", fmt_bytes(text, l->shared_static));
	else
		sheet_cell(sheet, "%s+%s", l->shared_static ? fmt_bytes(text, l->shared_static) :
			   "0", fmt_bytes(more, l->shared_dynamic));
}

static void occupancy_cells(struct sheet *sheet, const struct occupancy *o)
{
	char text[FMT_MAX], limits[64];

	if (o->unknown) {
		for (int i = 0; i < 4; i++)
			sheet_cell(sheet, "%s", i == 1 ? o->unknown : "–");
		return;
	}
	sheet_cell(sheet, "%s", fmt_share(text, o->warps, o->warps_max));
	sheet_cell(sheet, "%s", occupancy_limits(limits, sizeof(limits), o->limits));
	sheet_cell(sheet, "%s", fmt_tenths(text, o->waves_milli / 100));
	sheet_cell(sheet, "%s", o->tail_milli ? fmt_share(text, o->tail_milli, 1000) : "0");
}

static void launch_columns(struct sheet *sheet, const struct known *known)
{
	sheet_column(sheet, "grid", SHEET_LEFT, 0);
	sheet_column(sheet, "block", SHEET_LEFT, 0);
	if (known->taken) {
		sheet_column(sheet, "registers", SHEET_RIGHT, 0);
		sheet_column(sheet, "shared", SHEET_RIGHT, 0);
	}
	sheet_column(sheet, "runs", SHEET_RIGHT, 0);
	sheet_column(sheet, "total", SHEET_RIGHT, 0);
	if (known->occupancy) {
		sheet_column(sheet, "occupancy", SHEET_RIGHT, 0);
		sheet_column(sheet, "limit", SHEET_LEFT, 12);
		sheet_column(sheet, "waves", SHEET_RIGHT, 0);
		sheet_column(sheet, "tail", SHEET_RIGHT, 0);
	}
}

static void page_kernel_say_unknown(struct page *page, const struct known *known)
{
	if (known->occupancy)
		page_say(page, ROLE_MUTED, 0, "occupancy: share of a multiprocessor's warps that "
			 "fit at once; tail: share of all slots empty in the last wave");
	else
		page_say(page, ROLE_MUTED, 0, "unknown: %s%soccupancy, as %s",
			 known->geometry ? "" : "grid and block, ",
			 known->taken ? "" : "registers and shared memory of a block, ",
			 known->why);
}

static void page_kernel_add_launches(struct page *page, const struct kernel_launch *launches,
				     size_t n)
{
	struct sheet sheet = { 0 };
	struct known known;
	char text[FMT_MAX];

	if (!n)
		return;
	known = what_is_known(launches, n);
	page_end(page);
	if (known.geometry || known.taken) {
		launch_columns(&sheet, &known);
		for (size_t i = 0; i < n && i < LAUNCHES_SHOWN; i++) {
			const struct kernel_launch *l = &launches[i];
			const uint64_t block[] = { l->block[0], l->block[1], l->block[2] };

			size_cell(&sheet, l->grid, l->dims);
			size_cell(&sheet, block, l->dims);
			if (known.taken)
				taken_cells(&sheet, l);
			sheet_cell(&sheet, "%s", fmt_count(text, l->count));
			sheet_cell(&sheet, "%s", l->timed ? fmt_time(text, l->total_ns) : "–");
			if (known.occupancy)
				occupancy_cells(&sheet, &l->occupancy);
		}
		sheet.more = n > LAUNCHES_SHOWN ? n - LAUNCHES_SHOWN : 0;
		page_sheet(page, &sheet, REPORT_PAGE_WIDTH);
	}
	page_kernel_say_unknown(page, &known);
}

static void page_kernel_add_ops(struct page *page, const struct kernel_row *row)
{
	char time[FMT_MAX], count[FMT_MAX];

	for (size_t i = 0; i < row->n_ops && i < OPS_SHOWN; i++) {
		page_add(page, ROLE_MUTED, 0, "%-9s", i ? "" : "ops");
		if (row->ops[i].name) {
			const char *argv[] = { "ni", row->ops[i].name };

			page_link(page, row->ops[i].name, 2, argv);
		} else {
			page_add(page, ROLE_MUTED, 0, "no op");
		}
		page_say(page, ROLE_MUTED, 0, "   %s   %s   %s",
			 fmt_many(count, row->ops[i].count, "time"),
			 fmt_time(time, row->ops[i].total_ns), how_name(row->ops[i].how));
	}
	if (row->n_ops > OPS_SHOWN)
		page_say(page, ROLE_MUTED, 0, "%-9s%zu more", "", row->n_ops - OPS_SHOWN);
}

static void page_kernel_add_kernel(struct page *page, const struct page_book *book,
				   const struct kernel_row *row, int64_t whole_ns)
{
	struct kernel_launch *launches;
	size_t n = model_kernel_launches(book->model, row->raw_name, row->device, &launches);

	if (page->n_lines)
		page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_title(page, "kernel %s", row->name);
	page_add(page, ROLE_TITLE, ATTR_BOLD, "%s   ", row->name);
	page_to_name(page, "all its runs", row->raw_name);
	page_end(page);
	if (strcmp(row->raw_name, row->name)) {
		page_add(page, ROLE_MUTED, 0, "%-9s", "kernel");
		page_say(page, ROLE_DEFAULT, 0, "%s", row->raw_name);
	}
	page_add(page, ROLE_MUTED, 0, "%-9s", "device");
	page_to_device(page, book, row->device);
	for (size_t i = 0; i < row->n_queues && i < QUEUES_SHOWN; i++) {
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to_queue(page, book, row->queues[i].queue);
	}
	page_end(page);
	page_kernel_add_class(page, row);
	page_kernel_add_runs(page, row, whole_ns);
	page_kernel_add_ops(page, row);
	page_kernel_add_launches(page, launches, n);
	free(launches);
}

/* Raw names are strings of the model, so pointers can be compared. */
static bool seen_before(const struct kernel_row *rows, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (rows[i].raw_name == rows[at].raw_name)
			return true;
	return false;
}

static void page_kernel_choose(struct page *page, const struct kernel_row *rows, size_t n,
			       const char *text, size_t matches)
{
	page_say(page, ROLE_DEFAULT, ATTR_BOLD, "%zu kernels match '%s'", matches, text);
	for (size_t i = 0, shown = 0; i < n && shown < NAMES_SHOWN; i++) {
		const char *argv[] = { "pk", rows[i].raw_name };

		if (!page_kernel_fits(&rows[i], text, false) || seen_before(rows, i))
			continue;
		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_link(page, rows[i].raw_name, 2, argv);
		page_end(page);
		shown++;
	}
	if (matches > NAMES_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", matches - NAMES_SHOWN);
}

/* Counts the kernels of exactly that name, else those that contain the text in their names. */
static size_t count_matches(const struct kernel_row *rows, size_t n, const char *text, bool whole)
{
	size_t matches = 0;

	for (size_t i = 0; i < n; i++)
		matches += page_kernel_fits(&rows[i], text, whole) && !seen_before(rows, i);
	return matches;
}

static int64_t kernel_ns(const struct kernel_row *rows, size_t n, uint32_t device)
{
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += rows[i].device == device ? rows[i].total_ns : 0;
	return ns;
}

bool page_kernel(const struct page_call *call, struct page *page)
{
	struct page_book book;
	struct kernel_row *rows;
	size_t n, matches;
	bool whole = true;

	model_lock(call->model);
	n = model_kernels(call->model, &rows);
	page_book_take(&book, call->model);
	matches = count_matches(rows, n, call->argv[1], true);
	if (!matches) {
		whole = false;
		matches = count_matches(rows, n, call->argv[1], false);
	}
	if (matches > 1 && !whole)
		page_kernel_choose(page, rows, n, call->argv[1], matches);
	for (size_t i = 0; i < n && (whole || matches == 1); i++) {
		if (!page_kernel_fits(&rows[i], call->argv[1], whole))
			continue;
		page_kernel_add_kernel(page, &book, &rows[i], kernel_ns(rows, n, rows[i].device));
	}
	model_unlock(call->model);
	if (!matches)
		snprintf(call->error, call->error_size, "no kernel has '%s' in its name",
			 call->argv[1]);
	model_kernels_free(rows, n);
	page_book_release(&book);
	return matches > 0;
}
