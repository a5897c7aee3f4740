/* SPDX-License-Identifier: MIT */
/* Parts of the page of one execution: its properties, and how it compares with all others of its
 * name. */
#include "tui/pages/page_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/launch.h"
#include "model/query/time.h"
#include "tui/report/report.h"

#define HOST_PLACES 4	/* lines on what the host did, for each cause */

/* ---- what it is ---- */

static void print_size(char *text, size_t size, const uint64_t n[3], uint32_t dims)
{
	size_t at = 0;

	while (dims > 1 && n[dims - 1] == 1)
		dims--;
	for (uint32_t i = 0; i < dims && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%" PRIu64, i ? "×" : "", n[i]);
}

/* Adds the resources and the occupancy, from the launches of that name with the same geometry. */
static void add_occupancy(struct event_page *e, const uint64_t grid[3], const uint64_t block[3])
{
	struct kernel_launch *list;
	uint32_t device = e->row ? e->row->device : UINT32_MAX;
	size_t n = model_kernel_launches(e->book->model, e->span->raw_name, device, &list);
	char text[FMT_MAX], limits[64];

	for (size_t i = 0; i < n; i++) {
		const struct kernel_launch *l = &list[i];
		const struct occupancy *o = &l->occupancy;

		if (memcmp(l->grid, grid, sizeof(l->grid)) || l->block[0] != block[0] ||
		    l->block[1] != block[1] || l->block[2] != block[2])
			continue;
		if (l->registers)
			page_add(e->page, ROLE_DEFAULT, 0, "   %" PRIu32 " regs   %s shared",
				 l->registers, fmt_bytes(text, (uint64_t)l->shared_static +
							 l->shared_dynamic));
		if (o->unknown)
			page_add(e->page, ROLE_MUTED, 0, "   occupancy – (%s)", o->unknown);
		else
			page_add(e->page, ROLE_DEFAULT, 0, "   occupancy %s (limit: %s)   %" PRIu64
				 ".%" PRIu64 " waves", fmt_share(text, o->warps, o->warps_max),
				 occupancy_limits(limits, sizeof(limits), o->limits),
				 o->waves_milli / 1000, o->waves_milli / 100 % 10);
		break;
	}
	free(list);
}

void event_add_shape(struct event_page *e)
{
	const struct span *span = e->span;
	uint64_t grid[3] = { 1, 1, 1 }, block[3] = { 1, 1, 1 };
	char text[96];

	if (!span->dims || span->dims > 3)
		return;
	page_label(e->page, "shape");
	for (uint32_t i = 0; i < span->dims; i++) {
		block[i] = span->local[i];
		grid[i] = span->local[i] ? (span->global[i] + span->local[i] - 1) / span->local[i] :
					   span->global[i];
	}
	if (span->api && !strcmp(span->api, "cuda") && block[0]) {
		print_size(text, sizeof(text), grid, span->dims);
		page_add(e->page, ROLE_DEFAULT, 0, "grid %s", text);
		print_size(text, sizeof(text), block, span->dims);
		page_add(e->page, ROLE_DEFAULT, 0, "   block %s", text);
	} else {
		print_size(text, sizeof(text), span->global, span->dims);
		page_add(e->page, ROLE_DEFAULT, 0, "global %s", text);
		print_size(text, sizeof(text), block, span->dims);
		page_add(e->page, ROLE_DEFAULT, 0, "   local %s", block[0] ? text : "–");
	}
	if (span->kind == COMMAND_KERNEL)
		add_occupancy(e, grid, block);
	page_end(e->page);
}

void event_add_work(struct event_page *e)
{
	const struct span *span = e->span;
	char text[FMT_MAX];

	if (span->bytes) {
		page_label(e->page, "moved");
		page_add(e->page, ROLE_DEFAULT, 0, "%s", fmt_all_bytes(text, span->bytes));
		if (e->dur_ns > 0 && !span->open && span->direction != DIR_MAP &&
		    span->direction != DIR_UNMAP)
			page_add(e->page, ROLE_DEFAULT, 0, "   %s%s", event_about(span),
				 fmt_rate(text, bytes_per_s(span->bytes, e->dur_ns)));
		page_say(e->page, ROLE_DEFAULT, 0, "   %s", direction_name(span->direction));
	}
	if (span->kind == COMMAND_KERNEL && span->class.kind != KERNEL_OTHER) {
		page_label(e->page, "class");
		page_add(e->page, ROLE_DEFAULT, 0, "%s %s",
			 kernel_kind_name((enum kernel_kind)span->class.kind),
			 kernel_type_name((enum kernel_type)span->class.type));
		if (span->class.tensor != TENSOR_UNKNOWN)
			page_add(e->page, ROLE_DEFAULT, 0, "   %s",
				 span->class.tensor == TENSOR_USED ? "tensor cores" :
				 "no tensor cores");
		page_say(e->page, ROLE_MUTED, 0, "   by its name");
	}
	if (span->shape || span->flop) {
		page_label(e->page, "problem");
		page_add(e->page, ROLE_DEFAULT, 0, "%s", span->shape ? span->shape : "");
		if (span->flop && e->dur_ns > 0)
			page_add(e->page, ROLE_DEFAULT, 0, "   %s%s GFLOP/s", event_about(span),
				 fmt_gflop(text, flop_per_s(span->flop, e->dur_ns)));
		page_end(e->page);
	}
	if (span->row_kind == ROW_GRAPH) {
		page_label(e->page, "nodes");
		page_add(e->page, ROLE_DEFAULT, 0, "%" PRIu32 "   ", span->kernels);
		page_to(e->page, "all launches of it", "graphs", span->name, NULL);
		page_end(e->page);
	}
	if (span->clock_error_ns > 1000) {
		page_label(e->page, "clock");
		page_say(e->page, ROLE_MUTED, 0, "its times are known to ±%s",
			 fmt_time(text, span->clock_error_ns));
	}
}

/* ---- among all of its name ---- */

struct among {
	uint64_t count;
	int64_t mean, p50, p99, min, max, total;
};

static void say_among(struct event_page *e, const struct among *a, const uint64_t *spread,
		      int64_t whole_ns, const char *whole)
{
	char mean[FMT_MAX], p50[FMT_MAX], p99[FMT_MAX], max[FMT_MAX], total[FMT_MAX],
		share[FMT_MAX];
	int64_t ns = e->dur_ns;

	page_label(e->page, "here");
	page_add(e->page, ns > a->p99 && a->count > 1 ? ROLE_ACCENT : ROLE_DEFAULT, 0, "%s%s",
		 event_about(e->span), fmt_time(total, ns));
	page_add(e->page, ROLE_DEFAULT, 0, "   of %s: mean %s   p50 ≈%s   p99 ≈%s   max %s",
		 fmt_many(share, a->count, "run"), fmt_time(mean, a->mean),
		 fmt_time(p50, a->p50), fmt_time(p99, a->p99), fmt_time(max, a->max));
	page_add(e->page, ROLE_DEFAULT, 0, "   total %s", fmt_time(total, a->total));
	if (whole_ns > 0)
		page_add(e->page, ROLE_MUTED, 0, "   %s of %s",
			 fmt_share(share, report_positive(a->total), report_positive(whole_ns)),
			 whole);
	page_end(e->page);
	if (!spread || a->max <= a->min)
		return;
	page_label(e->page, "");
	page_spark(e->page, ROLE_WORK_OTHER, spread, KERNEL_SPREAD);
	page_say(e->page, ROLE_MUTED, 0, "   %s … %s, equal parts", fmt_time(mean, a->min),
		 fmt_time(max, a->max));
}

void event_add_among_kernels(struct event_page *e)
{
	struct kernel_row *rows;
	size_t n = model_kernels(e->book->model, &rows), at = n;
	int64_t whole_ns = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].device == e->row->device)
			whole_ns += rows[i].total_ns;
		if (rows[i].device == e->row->device &&
		    !strcmp(rows[i].raw_name, e->span->raw_name))
			at = i;
	}
	if (at < n && rows[at].count > rows[at].untimed) {
		struct among a = { rows[at].count, rows[at].mean_ns, rows[at].p50_ns,
				   rows[at].p99_ns, rows[at].min_ns, rows[at].max_ns,
				   rows[at].total_ns };

		say_among(e, &a, rows[at].spread, whole_ns, "kernel time");
		page_label(e->page, "");
		page_to_kernel(e->page, "the kernel", e->span->raw_name);
		page_end(e->page);
	}
	model_kernels_free(rows, n);
}

void event_add_among_ops(struct event_page *e)
{
	struct op_row *rows;
	size_t n = model_ops(e->book->model, &rows), at = n;

	for (size_t i = 0; i < n && at == n; i++)
		if (!strcmp(rows[i].raw_name, e->span->raw_name))
			at = i;
	if (at < n && rows[at].count) {
		struct among a = { rows[at].count, rows[at].mean_ns, rows[at].p50_ns,
				   rows[at].p99_ns, rows[at].min_ns, rows[at].max_ns,
				   rows[at].total_ns };

		say_among(e, &a, NULL, 0, "");
		if (rows[at].file) {
			page_label(e->page, "source");
			page_to_line(e->page, rows[at].file, rows[at].line, NULL);
			page_end(e->page);
		}
	}
	free(rows);
}

void event_add_among_copies(struct event_page *e)
{
	struct copy_row *rows;
	size_t n = model_copies(e->book->model, &rows);
	char count[FMT_MAX], bytes[FMT_MAX], mean[FMT_MAX], peak[FMT_MAX];

	for (size_t i = 0; i < n; i++) {
		if (rows[i].queue != e->row->queue || rows[i].direction != e->span->direction)
			continue;
		page_label(e->page, "here");
		page_add(e->page, ROLE_DEFAULT, 0, "one of %s on this queue   %s in all",
			 fmt_count(count, rows[i].count), fmt_bytes(bytes, rows[i].bytes));
		if (rows[i].mean_bytes_per_s)
			page_add(e->page, ROLE_DEFAULT, 0, "   mean %s   best %s",
				 fmt_rate(mean, rows[i].mean_bytes_per_s),
				 fmt_rate(peak, rows[i].peak_bytes_per_s));
		page_say(e->page, rows[i].pinned ? ROLE_DEFAULT : ROLE_MUTED, 0, "   %s pinned",
			 rows[i].pinned ? fmt_count(count, rows[i].pinned) : "none known to be");
		break;
	}
	free(rows);
}

/* ---- why its device did nothing before it ---- */

void event_add_idle(struct event_page *e)
{
	const struct span *span = e->span;
	struct host_time_row *rows;
	char length[FMT_MAX];
	struct idle_gap gap;
	int64_t idle = 0;
	size_t n;

	if (!model_idle_at(e->book->model, e->row->device, span->start_ns - 1, &gap))
		return;
	for (int c = 0; c < IDLE_COUNT; c++)
		idle += gap.ns[c];
	if (idle <= 0)
		return;
	page_label(e->page, "idle");
	page_to_device(e->page, e->book, e->row->device);
	page_add(e->page, ROLE_DEFAULT, 0, " did nothing for ");
	page_show_time(e->page, fmt_time(length, idle), e->book, gap.start_ns, span->start_ns);
	page_add(e->page, ROLE_DEFAULT, 0, " before it:");
	for (int c = 0; c < IDLE_COUNT; c++)
		if (gap.ns[c] > idle / 50)
			page_add(e->page, ROLE_DEFAULT, 0, "   %s %s",
				 idle_name((enum idle_cause)c), fmt_time(length, gap.ns[c]));
	page_end(e->page);
	n = model_idle_host(e->book->model, e->row->device, &gap, &rows);
	for (int c = 0; c < IDLE_COUNT; c++)
		page_add_host(e->page, rows, n, c, gap.ns[c], idle, HOST_PLACES);
	free(rows);
}
