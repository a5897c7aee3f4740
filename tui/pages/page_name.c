/* SPDX-License-Identifier: MIT */
/* name: all events of one name: their durations, where and when they ran, what launched them, and
 * the outliers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/name.h"
#include "tui/pages/page_parts.h"
#include "tui/draw/pane.h"
#include "tui/report/report.h"

#define SLICE 20000u	/* spans that are read while the lock is held once: under a millisecond */
#define SPANS_MOST UINT64_C(40000000)	/* most spans that are read for a page */
#define PARTS 64u
#define PLACES_SHOWN 16u
#define OPS_SHOWN 12u

struct name_page {
	struct page *page;
	struct page_book book;
	const char *name;
	struct name_sum sum;
	int64_t bounds[PARTS];
	size_t n_bounds;
	size_t steps_a_part;		/* 0: the parts have equal durations */
};

/* Divides the steps into PARTS equal parts; without steps, the time. */
static void page_name_make_parts(struct name_page *n, struct model *model)
{
	int64_t first = n->book.status.first_ns, last = n->book.status.last_ns;
	struct step_stats stats;
	struct step_row *rows;
	size_t steps = model_steps(model, &stats, &rows);

	n->steps_a_part = (steps + PARTS - 1) / PARTS;
	for (size_t i = 0; i < steps; i += n->steps_a_part)
		n->bounds[n->n_bounds++] = rows[i].start_ns;
	free(rows);
	for (; !steps && last > first && n->n_bounds < PARTS; n->n_bounds++)
		n->bounds[n->n_bounds] = first + (int64_t)((__int128)(last - first) *
							   (int64_t)n->n_bounds / PARTS);
}

static void walk_all(struct name_page *n, const struct page_call *call, struct name_walk **walk)
{
	struct model *model = call->model;
	uint64_t all;
	bool more = true;

	model_lock(model);
	page_book_take(&n->book, model);
	all = n->book.status.events ? n->book.status.events : 1;
	page_name_make_parts(n, model);
	*walk = name_walk_new(model, n->name, n->bounds, n->n_bounds);
	model_unlock(model);
	for (uint64_t looked = 0; more && looked < SPANS_MOST; looked += SLICE) {
		model_lock(model);
		more = name_walk_step(*walk, SLICE);
		model_unlock(model);
		more = page_rest(call, looked < all ? (unsigned)(looked * 1000 / all) : 999) &&
			more;
	}
}

/* ---- what is said ---- */

static void page_name_add_times(struct name_page *n)
{
	char count[FMT_MAX], total[FMT_MAX], mean[FMT_MAX], p50[FMT_MAX], p99[FMT_MAX];
	char min[FMT_MAX], max[FMT_MAX];
	const struct name_sum *sum = &n->sum;

	page_label(n->page, "ran");
	page_add(n->page, ROLE_DEFAULT, 0, "%s   total %s", fmt_many(count, sum->count, "time"),
		 fmt_time(total, sum->total_ns));
	if (sum->count)
		page_add(n->page, ROLE_DEFAULT, 0, "   mean %s   min %s   p50 ≈%s   p99 ≈%s   max "
			 "%s", fmt_time(mean, sum->total_ns / (int64_t)sum->count),
			 fmt_time(min, sum->min_ns), fmt_time(p50, sum->p50_ns),
			 fmt_time(p99, sum->p99_ns), fmt_time(max, sum->max_ns));
	page_end(n->page);
	if (sum->count > 1 && sum->max_ns > sum->min_ns) {
		page_label(n->page, "duration");
		page_spark(n->page, ROLE_WORK_OTHER, sum->spread, NAME_SPREAD);
		page_say(n->page, ROLE_MUTED, 0, "  %s … %s, how many in equal parts",
			 fmt_time(min, sum->min_ns), fmt_time(max, sum->max_ns));
	}
	if (sum->open) {
		page_label(n->page, "now");
		page_add(n->page, ROLE_DEFAULT, 0, "%s not finished: ",
			 fmt_count(count, sum->open));
		page_to_event(n->page, "one of them", sum->open_one.ref);
		page_end(n->page);
	}
}

static void page_name_add_parts(struct name_page *n)
{
	uint64_t totals[PARTS], means[PARTS], most = 0, mean_most = 0;
	char text[FMT_MAX];

	if (!n->sum.count || n->n_bounds < 2)
		return;
	for (size_t i = 0; i < n->n_bounds; i++) {
		const struct name_part *part = &n->sum.parts[i];

		totals[i] = report_positive(part->total_ns);
		means[i] = part->count ? totals[i] / part->count : 0;
		most = totals[i] > most ? totals[i] : most;
		mean_most = means[i] > mean_most ? means[i] : mean_most;
	}
	page_label(n->page, n->steps_a_part ? "by step" : "by time");
	page_spark(n->page, ROLE_WORK_OTHER, totals, n->n_bounds);
	page_say(n->page, ROLE_MUTED, 0, "  sums, at most %s", fmt_time(text, (int64_t)most));
	page_label(n->page, "");
	page_spark(n->page, ROLE_WORK_OTHER, means, n->n_bounds);
	page_add(n->page, ROLE_MUTED, 0, "  means, at most %s", fmt_time(text, (int64_t)mean_most));
	if (n->steps_a_part > 1)
		page_add(n->page, ROLE_MUTED, 0, ", %zu steps each", n->steps_a_part);
	page_end(n->page);
}

static void to_place(struct name_page *n, const struct name_place *place)
{
	const struct model_row *row = page_row(&n->book, place->row);

	if (!row)
		page_add(n->page, ROLE_MUTED, 0, "–");
	else if (row->kind == ROW_THREAD && row->tid)
		page_to_thread(n->page, row->label, row->pid, row->tid);
	else if (row->kind == ROW_THREAD || row->kind == ROW_COMPILE)
		page_to_process(n->page, row->pid);
	else
		page_to_queue(n->page, &n->book, row->queue);
	if (row && row->kind == ROW_COPY)
		page_add(n->page, ROLE_MUTED, 0, " %s", direction_name(row->direction));
	if (row && row->kind != ROW_THREAD && row->kind != ROW_COMPILE) {
		page_add(n->page, ROLE_MUTED, 0, " of ");
		page_to_device(n->page, &n->book, row->device);
	}
}

static void page_name_add_places(struct name_page *n)
{
	char total[FMT_MAX], share[FMT_MAX], count[FMT_MAX];

	if (n->sum.n_places)
		page_heading(n->page, "     total   share      times  where");
	for (size_t i = 0; i < n->sum.n_places && i < PLACES_SHOWN; i++) {
		const struct name_place *place = &n->sum.places[i];

		page_cell(n->page, ROLE_DEFAULT, 10, fmt_time(total, place->total_ns));
		page_cell(n->page, ROLE_DEFAULT, 8, fmt_share(share,
							      report_positive(place->total_ns),
							      report_positive(n->sum.total_ns)));
		page_cell(n->page, ROLE_MUTED, 11, fmt_count(count, place->count));
		page_add(n->page, ROLE_MUTED, 0, "  ");
		to_place(n, place);
		page_add(n->page, ROLE_MUTED, 0, "   ");
		page_to_event(n->page, "longest", place->longest.ref);
		page_add(n->page, ROLE_MUTED, 0, " %s", fmt_time(total, place->longest.dur_ns));
		page_end(n->page);
	}
	if (n->sum.n_places > PLACES_SHOWN)
		page_say(n->page, ROLE_MUTED, 0, "  %zu more rows", n->sum.n_places - PLACES_SHOWN);
}

static void page_name_add_ops(struct name_page *n)
{
	char total[FMT_MAX], share[FMT_MAX], count[FMT_MAX];

	if (n->sum.n_ops)
		page_heading(n->page, "     total   share      times  launched by");
	for (size_t i = 0; i < n->sum.n_ops && i < OPS_SHOWN; i++) {
		const struct name_op *op = &n->sum.ops[i];

		page_cell(n->page, ROLE_DEFAULT, 10, fmt_time(total, op->total_ns));
		page_cell(n->page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(op->total_ns),
							      report_positive(n->sum.total_ns)));
		page_cell(n->page, ROLE_MUTED, 11, fmt_count(count, op->count));
		page_add(n->page, ROLE_MUTED, 0, "  ");
		if (op->name)
			page_to_op(n->page, op->name);
		else
			page_add(n->page, ROLE_MUTED, 0, "no op");
		page_end(n->page);
	}
	if (n->sum.n_ops > OPS_SHOWN)
		page_say(n->page, ROLE_MUTED, 0, "  %zu more ops", n->sum.n_ops - OPS_SHOWN);
}

static void page_name_add_event(struct name_page *n, const char *what,
				const struct name_event *event)
{
	char time[FMT_MAX], at[48];

	page_add(n->page, ROLE_MUTED, 0, "  %-7s", what);
	page_cell(n->page, ROLE_DEFAULT, 10, fmt_time_fine(time, event->dur_ns));
	page_when(at, sizeof(at), &n->book, event->start_ns, event->dur_ns);
	page_add(n->page, ROLE_MUTED, 0, "  at ");
	page_to_event(n->page, at, event->ref);
	page_add(n->page, ROLE_MUTED, 0, "   ");
	page_show_event(n->page, "show", event->ref);
	page_end(n->page);
}

static void page_name_add_events(struct name_page *n)
{
	if (!n->sum.count)
		return;
	page_heading(n->page, "the slowest, the first, the last");
	for (size_t i = 0; i < n->sum.n_slow; i++)
		page_name_add_event(n, i ? "" : "slow", &n->sum.slow[i]);
	page_name_add_event(n, "first", &n->sum.first);
	page_name_add_event(n, "last", &n->sum.last);
}

/* Adds the links. Totals in the tables include events whose detail was dropped from the
 * timeline. */
static void page_name_add_ways(struct name_page *n, bool kernel, bool op)
{
	page_label(n->page, "go to");
	if (kernel)
		page_to(n->page, "the kernel", "pk", n->name, NULL);
	if (op)
		page_to(n->page, "the op", "ni", n->name, NULL);
	if (!kernel && !op)
		page_to(n->page, "copies", "pane", "copies", NULL);
	page_end(n->page);
}

static void page_name_make(struct name_page *n, struct model *model)
{
	char text[FMT_MAX];

	page_title(n->page, "all %s", n->name);
	page_say(n->page, ROLE_TITLE, ATTR_BOLD, "%s", n->name);
	page_name_add_times(n);
	page_name_add_parts(n);
	page_name_add_ways(n, model_has_kernel(model, n->name), model_has_op(model, n->name));
	if (!n->sum.whole)
		page_say(n->page, ROLE_WARN, 0, "only the first %s events of the timeline were "
			 "looked at", fmt_count(text, n->sum.spans));
	if (n->sum.folded)
		page_say(n->page, ROLE_WARN, 0, "older events may have been discarded "
			 "(--memory-limit): only the tables count them");
	page_name_add_places(n);
	page_name_add_ops(n);
	page_name_add_events(n);
}

bool page_name(const struct page_call *call, struct page *page)
{
	struct name_page n = { .page = page, .name = call->argv[1] };
	struct name_walk *walk;
	bool found;

	walk_all(&n, call, &walk);
	model_lock(call->model);
	name_walk_sum(walk, &n.sum);
	found = n.sum.count || n.sum.open || (n.sum.known &&
					      (model_has_kernel(call->model, n.name) ||
							      model_has_op(call->model, n.name)));
	if (found)
		page_name_make(&n, call->model);
	model_unlock(call->model);
	name_walk_free(walk);
	page_book_release(&n.book);
	if (!found)
		snprintf(call->error, call->error_size,
			 n.sum.known ? "no event called '%.80s' is on the "
			 "timeline" : "nothing is called '%.80s': names are taken whole; / finds "
			 "by a part", n.name);
	return found;
}
