/* SPDX-License-Identifier: MIT */
/* queue: one queue: its work, how long it waits, and what it spends its time on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/work.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/places.h"
#include "tui/report/report.h"

#define KERNELS_SHOWN 12u

static void page_queue_add_kind(struct page *page, const struct page_book *book,
				const struct queue_row *row)
{
	page_label(page, "queue");
	page_to_device(page, book, row->device);
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to_process(page, row->pid);
	page_add(page, ROLE_DEFAULT, 0, "   %s", row->in_order ? "in order" : "out of order");
	if (row->fallback)
		page_add(page, ROLE_DEFAULT, 0, "   the default queue");
	if (row->priority)
		page_add(page, ROLE_DEFAULT, 0, "   priority %" PRId32 " (lower is more urgent)",
			 row->priority);
	if (row->forced)
		page_add(page, ROLE_MUTED, 0, "   its profiling was switched on by tftop");
	else if (!row->profiled)
		page_add(page, ROLE_MUTED, 0, "   without times of its own");
	page_end(page);
}

static void page_queue_add_counts(struct page *page, const struct page_book *book,
				  const struct queue_row *row)
{
	const struct device_row *device = page_device_of(book, row->device);
	char kernels[FMT_MAX], copies[FMT_MAX], busy[FMT_MAX], share[FMT_MAX];

	page_label(page, "ran");
	page_add(page, ROLE_DEFAULT, 0, "%s", fmt_many(kernels, row->kernels,
							      "kernel"));
	page_add(page, ROLE_DEFAULT, 0, "   %s   busy %s", fmt_many(copies, row->copies, "copy"),
		 fmt_time(busy, row->busy_ns));
	if (device && device->span_ns > 0)
		page_add(page, ROLE_MUTED, 0, ", %s of its device's time",
			 fmt_share(share, report_positive(row->busy_ns),
				   report_positive(device->span_ns)));
	if (row->failed)
		page_add(page, ROLE_BAD, 0, "   %s failed", fmt_count(copies, row->failed));
	if (row->in_flight)
		page_add(page, ROLE_DEFAULT, 0, "   %" PRIu32 " on their way", row->in_flight);
	page_end(page);
}

static void page_queue_add_work(struct page *page, struct model *model, uint32_t queue)
{
	char p50[FMT_MAX], p99[FMT_MAX], most[FMT_MAX], depth[FMT_MAX], share[FMT_MAX];
	struct queue_work *rows, *row = NULL;
	size_t n = model_queue_work(model, &rows);

	for (size_t i = 0; i < n && !row; i++)
		row = rows[i].queue == queue ? &rows[i] : NULL;
	if (!row) {
		page_label(page, "launches");
		page_say(page, ROLE_MUTED, 0, "none has settled yet");
		free(rows);
		return;
	}
	if (row->call_p50_ns >= 0) {
		page_label(page, "calls");
		page_say(page, ROLE_DEFAULT, 0, "p50 %s   p99 %s   longest %s   of the host, to "
			 "launch work", fmt_time(p50, row->call_p50_ns),
			 fmt_time(p99, row->call_p99_ns), fmt_time(most, row->call_max_ns));
	}
	if (row->delay_p50_ns >= 0) {
		page_label(page, "delay");
		page_say(page, ROLE_DEFAULT, 0, "p50 %s   p99 %s   longest %s   from the end of "
			 "the call to the start", fmt_time(p50, row->delay_p50_ns),
			 fmt_time(p99, row->delay_p99_ns), fmt_time(most, row->delay_max_ns));
	}
	if (row->watched_ns > 0) {
		page_label(page, "depth");
		page_say(page, ROLE_DEFAULT, 0, "launched and not started: mean %s, at most "
			 "%" PRIu32 "   empty %s of the time",
			 fmt_tenths(depth, row->depth_milli / 100), row->depth_max,
			 fmt_share(share, report_positive(row->empty_ns),
				   report_positive(row->watched_ns)));
	}
	if (row->shorter) {
		page_label(page, "short");
		page_say(page, ROLE_WARN, 0, "%s of %s ran shorter than their launch call took",
			 fmt_count(p50, row->shorter), fmt_many(p99, row->kernels, "kernel"));
	}
	free(rows);
}

static void page_queue_add_copies(struct page *page, struct model *model, uint32_t queue)
{
	char count[FMT_MAX], bytes[FMT_MAX], mean[FMT_MAX], peak[FMT_MAX], time[FMT_MAX];
	struct copy_row *rows;
	size_t n = model_copies(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].queue != queue)
			continue;
		if (!any)
			page_heading(page, "copies and fills");
		any = true;
		page_add(page, ROLE_DEFAULT, 0, "  %-6s", direction_name(rows[i].direction));
		page_add(page, ROLE_DEFAULT, 0, "%s   %s   %s",
			 fmt_many(count, rows[i].count, "time"), fmt_bytes(bytes, rows[i].bytes),
			 fmt_time(time, rows[i].total_ns));
		if (rows[i].mean_bytes_per_s)
			page_add(page, ROLE_DEFAULT, 0, "   mean %s   best %s",
				 fmt_rate(mean, rows[i].mean_bytes_per_s),
				 fmt_rate(peak, rows[i].peak_bytes_per_s));
		page_end(page);
	}
	free(rows);
}

struct part { const struct kernel_row *row; uint64_t count; int64_t ns; };

static int by_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->ns == y->ns ? 0 : x->ns > y->ns ? -1 : 1;
}

static void page_queue_add_kernels(struct page *page, struct model *model, uint32_t queue)
{
	struct kernel_row *rows;
	size_t n = model_kernels(model, &rows), found = 0;
	struct part *parts = xcalloc(n, sizeof(*parts));
	char time[FMT_MAX], count[FMT_MAX], share[FMT_MAX];
	int64_t whole = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < rows[i].n_queues; k++) {
			if (rows[i].queues[k].queue != queue)
				continue;
			parts[found++] = (struct part) { &rows[i], rows[i].queues[k].count,
							 rows[i].queues[k].total_ns };
			whole += rows[i].queues[k].total_ns;
			break;
		}
	if (found)
		qsort(parts, found, sizeof(*parts), by_time);
	if (found)
		page_heading(page, "kernels, by time here");
	for (size_t i = 0; i < found && i < KERNELS_SHOWN; i++) {
		page_cell(page, ROLE_DEFAULT, 11, fmt_time(time, parts[i].ns));
		page_cell(page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(parts[i].ns),
							   report_positive(whole)));
		page_cell(page, ROLE_MUTED, 11, fmt_count(count, parts[i].count));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_kernel(page, parts[i].row->name, parts[i].row->raw_name);
		page_end(page);
	}
	if (found > KERNELS_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", found - KERNELS_SHOWN);
	free(parts);
	model_kernels_free(rows, n);
}

static void page_queue_add_ways(struct page *page, const struct page_book *book, uint32_t queue)
{
	bool any = false;

	page_blank(page);
	page_label(page, "go to");
	for (size_t i = 0; i < book->n_rows; i++) {
		const struct model_row *row = &book->rows[i];
		struct span_ref ref;

		if (row->queue != queue || (row->kind != ROW_QUEUE && row->kind != ROW_COPY &&
					    row->kind != ROW_GRAPH))
			continue;
		page_add(page, ROLE_MUTED, 0, "%s%s: ", any ? "   " : "",
			 row->kind == ROW_COPY ? direction_name(row->direction) :
			 row->kind == ROW_GRAPH ? "graphs" : "kernels");
		page_show_row(page, "row", row->id);
		if (model_span_longest(book->model, row->id, LANE_ALL, book->status.first_ns,
				       book->status.last_ns + 1, &ref)) {
			page_add(page, ROLE_MUTED, 0, " ");
			page_to_event(page, "longest", ref);
		}
		if (model_span_prev(book->model, row->id, LANE_ALL, INT64_MAX, &ref)) {
			page_add(page, ROLE_MUTED, 0, " ");
			page_to_event(page, "last", ref);
		}
		any = true;
	}
	if (any)
		page_add(page, ROLE_MUTED, 0, "   ");
	page_to(page, "all queues", "queues", NULL);
	page_end(page);
}

bool page_queue(const struct page_call *call, struct page *page)
{
	struct page_book book;
	char label[80];
	uint32_t queue;
	bool found;

	model_lock(call->model);
	page_book_take(&book, call->model);
	found = page_find_queue(call, &book, &queue);
	if (found) {
		places_queue_label(label, sizeof(label), book.queues, book.n_queues, queue);
		page_title(page, "%s", label);
		page_say(page, ROLE_TITLE, ATTR_BOLD, "%s", label);
		page_queue_add_kind(page, &book, &book.queues[queue]);
		page_queue_add_counts(page, &book, &book.queues[queue]);
		page_queue_add_work(page, call->model, queue);
		page_queue_add_copies(page, call->model, queue);
		page_queue_add_kernels(page, call->model, queue);
		page_queue_add_ways(page, &book, queue);
	}
	model_unlock(call->model);
	page_book_release(&book);
	return found;
}
