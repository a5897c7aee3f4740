/* SPDX-License-Identifier: MIT */
/* queues: the work of each queue, how long it waited, and how much was waiting. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/work.h"
#include "model/query/query.h"
#include "tui/draw/page_call.h"
#include "tui/draw/places.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

static void time_cell(struct sheet *sheet, int64_t ns)
{
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", ns >= 0 ? fmt_time(text, ns) : "");
}

/* The figures of launches that have been analysed so far; NULL if there are none. */
static void work_cells(struct sheet *sheet, const struct queue_work *work)
{
	char text[FMT_MAX];

	time_cell(sheet, work ? work->call_p50_ns : -1);
	time_cell(sheet, work ? work->delay_p50_ns : -1);
	time_cell(sheet, work ? work->delay_p99_ns : -1);
	if (!work || work->watched_ns <= 0) {
		sheet_cell(sheet, "%s", "");
		sheet_cell(sheet, "%s", "");
		return;
	}
	sheet_cell(sheet, "%s", fmt_tenths(text, work->depth_milli / 100));
	sheet_cell(sheet, "%" PRIu32, work->depth_max);
}

/* Says that work on a single stream never overlaps with other work on it. */
static void say_default(struct page *page, const struct queue_row *rows, size_t n,
			const struct device_row *devices, size_t n_devices)
{
	char device[12];

	for (size_t d = 0; d < n_devices; d++) {
		uint64_t fallback = 0, other = 0;

		for (size_t i = 0; i < n; i++)
			if (rows[i].device == devices[d].id)
				*(rows[i].fallback ? &fallback : &other) +=
					rows[i].kernels + rows[i].copies;
		if (!fallback || other)
			continue;
		places_device_label(device, sizeof(device), devices, n_devices, devices[d].id);
		page_say(page, ROLE_WARN, 0, "all work of %s goes to the default stream: no two "
			 "parts of it run at the same time", device);
	}
}

bool page_queues(const struct page_call *call, struct page *page)
{
	struct sheet sheet = { 0 };
	struct device_row *devices;
	struct queue_row *rows;
	struct queue_work *work;
	size_t n, n_work, n_devices;
	char text[FMT_MAX], device[12], name[80], number[16];

	model_lock(call->model);
	n = model_queues(call->model, &rows);
	n_work = model_queue_work(call->model, &work);
	n_devices = model_devices(call->model, &devices);
	model_unlock(call->model);
	sheet_column(&sheet, "queue", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "device", SHEET_LEFT, 0);
	sheet_column(&sheet, "kernels", SHEET_RIGHT, 0);
	sheet_column(&sheet, "copies", SHEET_RIGHT, 0);
	sheet_column(&sheet, "busy", SHEET_RIGHT, 0);
	sheet_column(&sheet, "call p50", SHEET_RIGHT, 0);
	sheet_column(&sheet, "delay p50", SHEET_RIGHT, 0);
	sheet_column(&sheet, "p99", SHEET_RIGHT, 0);
	sheet_column(&sheet, "depth", SHEET_RIGHT, 0);
	sheet_column(&sheet, "most", SHEET_RIGHT, 0);
	for (size_t i = 0; i < n; i++) {
		const struct queue_work *of = NULL;

		for (size_t k = 0; k < n_work && !of; k++)
			of = work[k].queue == rows[i].id ? &work[k] : NULL;
		places_queue_label(name, sizeof(name), rows, n, rows[i].id);
		places_device_label(device, sizeof(device), devices, n_devices, rows[i].device);
		snprintf(number, sizeof(number), "%" PRIu32, rows[i].id);
		sheet_cell(&sheet, "%s", name);
		sheet_link(&sheet, "queue", number);
		snprintf(number, sizeof(number), "%" PRIu32, rows[i].device);
		sheet_cell(&sheet, "%s", device);
		if (rows[i].device != UINT32_MAX)
			sheet_link(&sheet, "device", number);
		sheet_cell(&sheet, "%s", fmt_count(text, rows[i].kernels));
		sheet_cell(&sheet, "%s", fmt_count(text, rows[i].copies));
		time_cell(&sheet, rows[i].busy_ns);
		work_cells(&sheet, of);
	}
	page_title(page, "queues");
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no queue has been seen");
	page_sheet(page, &sheet, REPORT_PAGE_WIDTH);
	say_default(page, rows, n, devices, n_devices);
	free(rows);
	free(work);
	free(devices);
	return true;
}
