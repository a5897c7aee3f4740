/* SPDX-License-Identifier: MIT */
/* device: its properties, its work, the causes of its idle time, and what runs on it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/cores.h"
#include "model/query/counters.h"
#include "model/query/memory.h"
#include "model/query/time.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/places.h"
#include "tui/report/report.h"

#define KERNELS_SHOWN 12u
#define BAR 20

static void page_device_add_word(struct page *page, const char *before, const char *text)
{
	if (text && *text)
		page_add(page, ROLE_DEFAULT, 0, "%s%s", before, text);
}

static void page_device_add_limits(struct page *page, const struct device_row *row)
{
	const struct device_limits *l = &row->limits;
	char text[FMT_MAX];

	if (!l->threads && !l->bandwidth && !l->shared)
		return;
	page_label(page, "limits");
	if (l->capability)
		page_add(page, ROLE_DEFAULT, 0, "capability %" PRIu32 ".%" PRIu32 "   ",
			 l->capability / 10, l->capability % 10);
	if (l->threads)
		page_add(page, ROLE_DEFAULT, 0, "a unit: %" PRIu32 " threads, %" PRIu32 " blocks, "
			 "%s registers, ", l->threads, l->blocks, fmt_count(text, l->registers));
	if (l->shared)
		page_add(page, ROLE_DEFAULT, 0, "%s shared   ", fmt_bytes(text, l->shared));
	if (l->bandwidth)
		page_add(page, ROLE_DEFAULT, 0, "memory at most %s", fmt_rate(text, l->bandwidth));
	page_end(page);
}

static void page_device_add_identity(struct page *page, const struct device_row *row)
{
	char text[FMT_MAX];

	page_label(page, "device");
	page_add(page, ROLE_DEFAULT, 0, "%s", row->name && *row->name ? row->name : "?");
	page_device_add_word(page, "   ", row->api);
	page_device_add_word(page, "   ", row->vendor);
	page_device_add_word(page, "   driver ", row->driver);
	page_device_add_word(page, "   at ", row->address);
	page_device_add_word(page, "   host ", row->host);
	page_end(page);
	page_label(page, "has");
	page_add(page, ROLE_DEFAULT, 0, "%" PRIu32 " units", row->units);
	if (row->clock_mhz)
		page_add(page, ROLE_DEFAULT, 0, "   %" PRIu32 " MHz", row->clock_mhz);
	if (row->memory_bytes)
		page_add(page, ROLE_DEFAULT, 0, "   %s of memory",
			 fmt_bytes(text, row->memory_bytes));
	page_end(page);
	page_device_add_limits(page, row);
	page_label(page, "used by");
	for (size_t i = 0; i < row->n_pids && i < 16; i++) {
		page_add(page, ROLE_MUTED, 0, "%s", i ? "   " : "");
		page_to_process(page, row->pids[i]);
	}
	page_say(page, ROLE_MUTED, 0, "%s", row->n_pids > 16 ? "   and more" : row->n_pids ? "" :
		 "none");
	page_label(page, "clock");
	if (row->clock_known)
		page_say(page, row->clock_violations ? ROLE_WARN : ROLE_DEFAULT, 0,
			 "%s, to ±%s%s", clock_quality_name(row->clock_quality),
			 fmt_time(text, row->clock_error_ns),
			 row->clock_violations ? ": some launches or waits contradict it" : "");
	else
		page_say(page, ROLE_WARN, 0, "unknown: times are estimates");
}

static void page_device_add_share(struct page *page, const char *name, int64_t ns, int64_t whole,
				  enum role role)
{
	char time[FMT_MAX], share[FMT_MAX];

	page_add(page, ROLE_DEFAULT, 0, "  %-18s", name);
	page_cell(page, ROLE_DEFAULT, 10, fmt_time(time, ns));
	page_cell(page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(ns),
						   report_positive(whole)));
	page_add(page, ROLE_MUTED, 0, "  ");
	page_bar(page, role, report_positive(ns), report_positive(whole), BAR);
	page_end(page);
}

/* kernels + copies - both + idle = whole time; idle time is split by cause as far as the causes are
 * final. */
static void page_device_add_time(struct page *page, struct model *model,
				 const struct device_row *whole)
{
	struct device_row seen = *whole, *row = &seen;
	struct device_unseen unseen;
	struct idle_gap idle;
	char text[FMT_MAX], name[40];

	model_device_as_seen(model, row, &idle, &unseen);
	if (row->span_ns <= 0) {
		page_heading(page, "time");
		page_say(page, ROLE_MUTED, 0, "  nothing has run on it yet");
		return;
	}
	page_heading(page, "time: %s from its first work to its last",
		     fmt_time(text, row->span_ns));
	if (unseen.paused_ns > unseen.taken_ns)
		page_say(page, ROLE_MUTED, 0, "  excluding %s in which the level was off",
			 fmt_time(text, unseen.paused_ns - unseen.taken_ns));
	if (unseen.taken_ns > 0)
		page_say(page, ROLE_MUTED, 0,
			 "  excluding %s in which the program's own profiler had the device",
			 fmt_time(text, unseen.taken_ns));
	if (unseen.lost_ns > 0 && !unseen.rough)
		page_say(page, ROLE_MUTED, 0, "  excluding %s in which events were lost",
			 fmt_time(text, unseen.lost_ns));
	page_device_add_share(page, "kernels", row->kernel_ns, row->span_ns, ROLE_WORK_OTHER);
	page_device_add_share(page, "copies", row->copy_ns, row->span_ns, ROLE_WORK_COPY);
	page_device_add_share(page, "both at once", row->overlap_ns, row->span_ns, ROLE_WORK_COPY);
	page_device_add_share(page, "idle", row->span_ns - row->busy_ns, row->span_ns,
			      ROLE_CONTEXT);
	if (row->api && !strcmp(row->api, "cpu"))
		return;
	if (idle.end_ns <= idle.start_ns)
		return;
	for (int c = 0; c < IDLE_COUNT; c++) {
		if (idle.ns[c] <= 0)
			continue;
		snprintf(name, sizeof(name), "  for %s", idle_name((enum idle_cause)c));
		page_device_add_share(page, name, idle.ns[c], row->span_ns, ROLE_ACCENT);
	}
	page_add(page, ROLE_MUTED, 0, "  what makes it wait: ");
	page_to(page, "waits", "waits", NULL);
	page_end(page);
}

static void page_device_add_cores(struct page *page, const struct page_book *book,
				  const struct device_row *row)
{
	struct cores_use use;
	char share[FMT_MAX], time[FMT_MAX];

	if (!row->api || strcmp(row->api, "cpu") ||
	    !model_cores(book->model, book->status.first_ns, book->status.last_ns, &use) ||
	    use.span_ns <= 0)
		return;
	page_label(page, "cores");
	page_add(page, ROLE_DEFAULT, 0, "busy %s of %" PRIu32,
		 fmt_tenths(share, (uint64_t)((__int128)use.busy_ns * 10 / use.span_ns)),
		 row->units);
	page_add(page, ROLE_DEFAULT, 0, "   no op %s",
		 fmt_share(share, report_positive(use.span_ns - use.any_ns),
			   (uint64_t)use.span_ns));
	page_add(page, ROLE_DEFAULT, 0, "   input wait %s",
		 fmt_share(share, report_positive(use.input_ns), (uint64_t)use.span_ns));
	if (use.top)
		page_add(page, ROLE_DEFAULT, 0, "   %s %s", use.top, fmt_time(time, use.top_ns));
	page_end(page);
}

static void page_device_add_bandwidth(struct page *page, const struct page_book *book,
				      uint32_t device)
{
	char bytes[FMT_MAX], mean[FMT_MAX], best[FMT_MAX], count[FMT_MAX];
	struct bandwidth_row *rows;
	size_t n = model_bandwidth(book->model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].device != device)
			continue;
		if (!any)
			page_heading(page, "copies");
		any = true;
		page_add(page, ROLE_DEFAULT, 0, "  %-6s", direction_name(rows[i].direction));
		page_add(page, ROLE_DEFAULT, 0, "%s   %s   mean %s   best %s",
			 fmt_many(count, rows[i].count, "time"), fmt_bytes(bytes, rows[i].bytes),
			 fmt_rate(mean, rows[i].mean_bytes_per_s),
			 fmt_rate(best, rows[i].best_bytes_per_s));
		if (rows[i].step_bytes)
			page_add(page, ROLE_MUTED, 0, "   %s a %s",
				 fmt_bytes(bytes, rows[i].step_bytes),
				 step_noun(book->status.passes));
		page_end(page);
	}
	free(rows);
}

static void page_device_add_queues(struct page *page, const struct page_book *book, uint32_t device)
{
	char busy[FMT_MAX], kernels[FMT_MAX], copies[FMT_MAX];
	bool any = false;

	for (size_t i = 0; i < book->n_queues; i++) {
		const struct queue_row *row = &book->queues[i];

		if (row->device != device)
			continue;
		if (!any)
			page_heading(page, "queues: busy, kernels, copies");
		any = true;
		page_cell(page, ROLE_DEFAULT, 11, fmt_time(busy, row->busy_ns));
		page_cell(page, ROLE_DEFAULT, 10, fmt_count(kernels, row->kernels));
		page_cell(page, ROLE_DEFAULT, 10, fmt_count(copies, row->copies));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_queue(page, book, row->id);
		page_end(page);
	}
}

static void page_device_add_memory(struct page *page, struct model *model, uint32_t device)
{
	char live[FMT_MAX], peak[FMT_MAX];
	struct memory_row *rows;
	size_t n = model_memory(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].device != device)
			continue;
		if (!any)
			page_heading(page, "memory: now, at the peak");
		any = true;
		page_cell(page, ROLE_DEFAULT, 11, fmt_bytes(live, rows[i].live_bytes));
		page_cell(page, ROLE_DEFAULT, 11, fmt_bytes(peak, rows[i].peak_bytes));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to(page, rows[i].allocator, "allocator", rows[i].allocator, NULL);
		page_end(page);
	}
	free(rows);
}

static void page_device_add_sensors(struct page *page, struct model *model, uint32_t device)
{
	char min[FMT_MAX], mean[FMT_MAX], max[FMT_MAX], last[FMT_MAX];
	struct counter_row *rows;
	size_t n = model_counters(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].device != device)
			continue;
		if (!any)
			page_heading(page, "counters: last, mean, least and highest");
		any = true;
		page_cell(page, ROLE_DEFAULT, 13, fmt_counter(last, rows[i].last, rows[i].unit));
		page_cell(page, ROLE_MUTED, 13, fmt_counter(mean, rows[i].mean, rows[i].unit));
		page_cell(page, ROLE_MUTED, 13, fmt_counter(min, rows[i].min, rows[i].unit));
		page_cell(page, ROLE_MUTED, 13, fmt_counter(max, rows[i].max, rows[i].unit));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to(page, rows[i].name, "counters", rows[i].name, NULL);
		page_end(page);
	}
	free(rows);
}

static void page_device_add_kernels(struct page *page, struct model *model, uint32_t device)
{
	char time[FMT_MAX], share[FMT_MAX], count[FMT_MAX];
	struct kernel_row *rows;
	size_t n = model_kernels(model, &rows), shown = 0;
	int64_t whole = 0;

	for (size_t i = 0; i < n; i++)
		whole += rows[i].device == device ? rows[i].total_ns : 0;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].device != device || shown++ >= KERNELS_SHOWN)
			continue;
		if (shown == 1)
			page_heading(page, "kernels, by time");
		page_cell(page, ROLE_DEFAULT, 11, fmt_time(time, rows[i].total_ns));
		page_cell(page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(rows[i].total_ns),
							   report_positive(whole)));
		page_cell(page, ROLE_MUTED, 11, fmt_count(count, rows[i].count));
		page_add(page, ROLE_MUTED, 0, "  ");
		page_to_kernel(page, rows[i].name, rows[i].raw_name);
		page_end(page);
	}
	if (shown > KERNELS_SHOWN)
		page_say(page, ROLE_MUTED, 0, "  %zu more", shown - KERNELS_SHOWN);
	model_kernels_free(rows, n);
}

bool page_device(const struct page_call *call, struct page *page)
{
	const struct device_row *row;
	const struct model_row *line;
	struct page_book book;
	char label[16];
	uint32_t device;
	bool found;

	model_lock(call->model);
	page_book_take(&book, call->model);
	found = page_find_device(call, &book, &device);
	if (found) {
		row = page_device_of(&book, device);
		places_device_label(label, sizeof(label), book.devices, book.n_devices, device);
		page_title(page, "%s", label);
		page_add(page, ROLE_TITLE, ATTR_BOLD, "%s", label);
		line = page_row_of_device(&book, device);
		if (line) {
			page_add(page, ROLE_MUTED, 0, "   ");
			page_show_row(page, "show on the timeline", line->id);
		}
		page_end(page);
		page_device_add_identity(page, row);
		page_device_add_cores(page, &book, row);
		page_device_add_time(page, call->model, row);
		page_device_add_queues(page, &book, device);
		page_device_add_bandwidth(page, &book, device);
		page_device_add_memory(page, call->model, device);
		page_device_add_sensors(page, call->model, device);
		page_device_add_kernels(page, call->model, device);
	}
	model_unlock(call->model);
	page_book_release(&book);
	return found;
}
