/* SPDX-License-Identifier: MIT */
/* step: how the time of one step was spent, compared with the other steps; idle times in it and
 * their causes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/range.h"
#include "model/query/time.h"
#include "model/query/work.h"
#include "tui/pages/page_parts.h"
#include "tui/pages/range_take.h"
#include "tui/report/report.h"
#include "tui/draw/step_ranks.h"
#include "tui/timeline/when.h"

#define BAR 16
#define PARTS_SHOWN 10u
#define HOST_PLACES 4			/* lines on what the host did, for each class */
#define SPANS_MOST 5000000u		/* most spans that are read for a page */

struct step_page {
	struct page *page;
	struct page_book book;
	struct step_stats stats;
	struct step_row *rows;		/* owned */
	size_t n, at;
	struct step_ranks ranks;
	bool stacks;			/* the page has a link to its call stacks */
};

/* ---- among all steps ---- */

static size_t slower_ones(const struct step_page *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->rows[i].dur_ns > s->rows[s->at].dur_ns;
	return n;
}

/* "+0.5 ms", "-12 µs" */
static const char *difference(char *out, size_t size, int64_t ns)
{
	char text[FMT_MAX];

	snprintf(out, size, "%s%s", ns > 0 ? "+" : "", fmt_time(text, ns));
	return out;
}

static void page_step_add_length(struct step_page *s)
{
	const struct step_row *row = &s->rows[s->at];
	char time[FMT_MAX], median[FMT_MAX], more[FMT_MAX + 2], at[48];
	size_t slower = slower_ones(s);

	page_label(s->page, "took");
	page_add(s->page, row->outlier ? ROLE_ACCENT : ROLE_DEFAULT, ATTR_BOLD, "%s",
		 fmt_time_fine(time, row->dur_ns));
	page_add(s->page, ROLE_DEFAULT, 0, "   %s compared with the median (p50) of %s",
		 difference(more, sizeof(more), row->dur_ns - s->stats.p50_ns),
		 fmt_time(median, s->stats.p50_ns));
	if (slower && s->at == s->ranks.slowest)
		page_add(s->page, ROLE_MUTED, 0, "   the slowest after the warm-up");
	else if (slower)
		page_add(s->page, ROLE_MUTED, 0, "   %zu of %zu %s took longer", slower, s->n,
			 step_nouns(s->stats.passes));
	else
		page_add(s->page, ROLE_MUTED, 0, "   the slowest of %zu", s->n);
	page_add(s->page, ROLE_WARN, 0, "%s%s%s", row->warm_up ? "   warm-up" : "",
		 row->compiled ? "   compiled" : "", row->outlier ? "   an outlier" : "");
	page_end(s->page);
	page_label(s->page, "at");
	page_when(at, sizeof(at), &s->book, row->start_ns, row->dur_ns);
	page_say(s->page, ROLE_DEFAULT, 0, "%s   %s from %s", at,
		 step_nouns(s->stats.passes),
		 s->stats.source ? s->stats.source : "?");
}

static void page_step_add_ways(struct step_page *s)
{
	const struct step_row *rows = s->rows;
	int64_t end = rows[s->at].start_ns + rows[s->at].dur_ns;
	struct { const char *text; bool there; size_t which; } ways[] = {
		{ "previous", s->at > 0, s->at - 1 }, { "next", s->at + 1 < s->n, s->at + 1 },
		{ "slowest", s->at != s->ranks.slowest, s->ranks.slowest },
		{ "median", s->at != s->ranks.median, s->ranks.median },
	};

	page_label(s->page, "go to");
	page_show_time(s->page, "show on the timeline", &s->book, rows[s->at].start_ns, end);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		char number[24];

		if (!ways[i].there)
			continue;
		snprintf(number, sizeof(number), "%" PRId64, rows[ways[i].which].number);
		page_add(s->page, ROLE_MUTED, 0, "   ");
		page_to(s->page, ways[i].text, "step", number, NULL);
	}
	page_end(s->page);
}

/* Adds links to more pages about the step. */
static void page_step_add_more(struct step_page *s)
{
	char number[24], median[24];

	snprintf(number, sizeof(number), "%" PRId64, s->rows[s->at].number);
	snprintf(median, sizeof(median), "%" PRId64, s->rows[s->ranks.median].number);
	page_label(s->page, "also");
	page_to(s->page, "its range", "range", "step", number, NULL);
	page_add(s->page, ROLE_MUTED, 0, "   ");
	if (s->at != s->ranks.median)
		page_to(s->page, "how it differs from the median", "diff", "step", median,
			"step", number, NULL);
	page_end(s->page);
}

/* ---- what its time went to ---- */

static void page_step_add_part(struct page *page, const char *name, int64_t ns, int64_t whole,
			       int64_t mean, bool means)
{
	char time[FMT_MAX], share[FMT_MAX], other[FMT_MAX], more[FMT_MAX + 2];

	page_add(page, ROLE_DEFAULT, 0, "  %-12s", name);
	page_cell(page, ROLE_DEFAULT, 10, fmt_time(time, ns));
	page_cell(page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(ns),
						   report_positive(whole)));
	page_add(page, ROLE_MUTED, 0, "  ");
	page_bar(page, ROLE_WORK_OTHER, report_positive(ns), report_positive(whole), BAR);
	if (means) {
		page_cell(page, ROLE_MUTED, 11, fmt_time(other, mean));
		page_cell(page, ns - mean > whole / 20 ? ROLE_ACCENT : ROLE_DEFAULT, 12,
			  difference(more, sizeof(more), ns - mean));
	}
	page_end(page);
}

static void page_step_add_stacks(struct step_page *s)
{
	char number[24];

	if (s->stacks)
		return;
	s->stacks = true;
	snprintf(number, sizeof(number), "%" PRId64, s->rows[s->at].number);
	page_add(s->page, ROLE_MUTED, 0, "  what threads did in it: ");
	page_to(s->page, "call stacks", "stacks", "step", number, NULL);
	page_end(s->page);
}

static void page_step_add_breakdown(struct step_page *s)
{
	struct host_time_row *rows;
	struct step_breakdown own, mean;
	size_t n;
	bool means = model_step_breakdown_mean(s->book.model, &mean) > 0;
	char text[FMT_MAX], more[FMT_MAX];

	if (!model_step_breakdown(s->book.model, s->rows[s->at].start_ns, &own)) {
		page_heading(s->page, "what its time went to");
		page_say(s->page, ROLE_MUTED, 0, "  unknown: it has not settled yet, or its "
			 "details were discarded");
		return;
	}
	page_heading(s->page, "%-14s%10s%8s  %*s%11s%12s", "its time", "here", "share", BAR, "",
		     means ? "mean" : "", means ? "more" : "");
	n = model_step_host(s->book.model, &own, &rows);
	for (int c = 0; c < STEP_CLASS_COUNT; c++) {
		if (!own.ns[c] && (!means || !mean.ns[c]))
			continue;
		page_step_add_part(s->page, step_class_name((enum step_class)c), own.ns[c],
				   own.dur_ns, mean.ns[c], means);
		page_add_host(s->page, rows, n, c, own.ns[c], own.dur_ns, HOST_PLACES);
	}
	free(rows);
	if (n)
		page_step_add_stacks(s);
	if (own.lost)
		page_say(s->page, ROLE_BAD, 0, "  %s of it lost: what happened then is missing "
			 "here", fmt_many(text, own.lost, "event"));
	if (own.copy_ns)
		page_say(s->page, ROLE_DEFAULT, 0, "  copies ran %s, %s of it under kernels",
			 fmt_time(text, own.copy_ns), fmt_time(more, own.copy_hidden_ns));
	if (own.comm_ns)
		page_say(s->page, ROLE_DEFAULT, 0, "  communication ran %s, %s of it under kernels",
			 fmt_time(text, own.comm_ns), fmt_time(more, own.comm_hidden_ns));
	if (own.h2d_bytes)
		page_say(s->page, ROLE_DEFAULT, 0, "  h2d %s", fmt_all_bytes(text, own.h2d_bytes));
	if (own.d2h_bytes)
		page_say(s->page, ROLE_DEFAULT, 0, "  d2h %s", fmt_all_bytes(text, own.d2h_bytes));
	if (own.d2d_bytes)
		page_say(s->page, ROLE_DEFAULT, 0, "  d2d %s", fmt_all_bytes(text, own.d2d_bytes));
}

static void page_step_add_path(struct step_page *s)
{
	struct critical_path own, mean;
	struct path_part *parts = NULL;
	struct host_time_row *rows;
	size_t n;

	if (!model_critical_step(s->book.model, s->rows[s->at].start_ns, &own) || own.whole_ns <= 0)
		return;
	model_critical(s->book.model, &mean, 1, &parts);
	free(parts);
	page_heading(s->page, "%-14s%10s%8s  %*s%11s%12s", "waited for", "here", "share", BAR, "",
		     "mean", "more");
	n = model_critical_step_host(s->book.model, s->rows[s->at].start_ns, &rows);
	for (int k = 0; k < PATH_KINDS; k++) {
		if (!own.ns[k] && (mean.whole_ns <= 0 || !mean.ns[k]))
			continue;
		page_step_add_part(s->page, path_kind_label((enum path_kind)k), own.ns[k],
				   own.whole_ns, mean.ns[k], mean.whole_ns > 0);
		page_add_host(s->page, rows, n, k, own.ns[k], own.whole_ns, HOST_PLACES);
	}
	free(rows);
	if (n)
		page_step_add_stacks(s);
}

/* ---- who was idle ---- */

static void page_step_add_idle(struct step_page *s)
{
	int64_t t0 = s->rows[s->at].start_ns, t1 = t0 + s->rows[s->at].dur_ns;
	char text[FMT_MAX], share[FMT_MAX];
	bool any = false;

	for (size_t i = 0; i < s->book.n_devices; i++) {
		const struct device_row *device = &s->book.devices[i];
		struct device_row window;
		struct idle_gap gap;
		int64_t idle;

		if (!device->busy_ns || (device->api && !strcmp(device->api, "cpu")) ||
		    !model_device_window(s->book.model, device->id, t0, t1, &window))
			continue;
		if (!any)
			page_heading(s->page, "devices in it");
		any = true;
		idle = window.span_ns - window.busy_ns;
		page_add(s->page, ROLE_DEFAULT, 0, "  ");
		page_to_device(s->page, &s->book, device->id);
		page_add(s->page, ROLE_DEFAULT, 0, "   kernels %s",
			 fmt_share(share, report_positive(window.kernel_ns), (uint64_t)(t1 - t0)));
		page_add(s->page, ROLE_DEFAULT, 0, "   copies %s",
			 fmt_share(share, report_positive(window.copy_ns), (uint64_t)(t1 - t0)));
		page_add(s->page, ROLE_DEFAULT, 0, "   idle %s", fmt_time(text, idle));
		if (model_idle_window(s->book.model, device->id, t0, t1, &gap))
			for (int c = 0; c < IDLE_COUNT; c++)
				if (gap.ns[c] > idle / 50)
					page_add(s->page, ROLE_MUTED, 0, "   %s %s",
						 idle_name((enum idle_cause)c),
						 fmt_time(text, gap.ns[c]));
		page_end(s->page);
	}
}

/* ---- what ran in it ---- */

static void page_step_add_range_part(struct step_page *s, const struct range_part *part, int64_t ns,
				     int64_t whole)
{
	char time[FMT_MAX], share[FMT_MAX], count[FMT_MAX];

	page_cell(s->page, ROLE_DEFAULT, 12, fmt_time(time, ns));
	page_cell(s->page, ROLE_DEFAULT, 8, fmt_share(share, report_positive(ns),
						      report_positive(whole)));
	page_cell(s->page, ROLE_MUTED, 8, fmt_count(count, part->count));
	page_add(s->page, ROLE_MUTED, 0, "  ");
	if (part->kind == RANGE_KERNEL)
		page_to_kernel(s->page, part->name, part->raw_name);
	else if (part->kind == RANGE_COPY)
		page_to_name(s->page, direction_name(part->direction),
			     direction_name(part->direction));
	else
		page_to_name(s->page, part->name, part->raw_name);
	page_add(s->page, ROLE_MUTED, 0, "   ");
	page_to_event(s->page, "longest", part->longest);
	page_add(s->page, ROLE_MUTED, 0, " %s", fmt_time(time, part->longest_ns));
	if (part->bytes)
		page_add(s->page, ROLE_MUTED, 0, "   %s", fmt_bytes(count, part->bytes));
	page_end(s->page);
}

static int by_self(const void *a, const void *b)
{
	const struct range_part *x = a, *y = b;

	return x->self_ns == y->self_ns ? 0 : x->self_ns > y->self_ns ? -1 : 1;
}

static void page_step_add_kind(struct step_page *s, struct range_part *parts, size_t n,
			       enum range_kind kind, const char *heading)
{
	int64_t whole = s->rows[s->at].dur_ns;
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		if (parts[i].kind != kind || all++ >= PARTS_SHOWN)
			continue;
		if (!shown++)
			page_heading(s->page, "%s", heading);
		page_step_add_range_part(s, &parts[i],
					 kind == RANGE_OP ? parts[i].self_ns : parts[i].time_ns,
					 whole);
	}
	if (all > shown)
		page_say(s->page, ROLE_MUTED, 0, "  %zu more", all - shown);
}

/* Adds what ran in the step: ops by self time, all else by time. */
static void page_step_add_ran(struct step_page *s, const struct page_call *call)
{
	int64_t t0 = s->rows[s->at].start_ns, dur = s->rows[s->at].dur_ns;
	struct range_ask ask = {
		.model = call->model, .t0 = t0, .t1 = t0 + (dur > 0 ? dur : 1), .most = SPANS_MOST,
		.expected = SPANS_MOST, .turns = call->turns,
		.by = RANGE_BY_NAME | RANGE_BY_DIRECTION,
	};
	struct range_part *parts;
	struct range_state state;
	size_t n = range_take(&ask, &parts, &state);

	page_step_add_kind(s, parts, n, RANGE_KERNEL, s->stats.passes ?
			   "kernels in it: time, of the pass, runs" :
			   "kernels in it: time, of the step, runs");
	page_step_add_kind(s, parts, n, RANGE_COPY, "copies in it");
	page_step_add_kind(s, parts, n, RANGE_COMPILE, "compiled in it");
	if (n)
		qsort(parts, n, sizeof(*parts), by_self);
	page_step_add_kind(s, parts, n, RANGE_OP, "ops and ranges in it, by their own time");
	if (!state.whole)
		page_say(s->page, ROLE_WARN, 0, "  only a part of it was looked at: it has more "
			 "than %u events", (unsigned)SPANS_MOST);
	if (state.folded)
		page_say(s->page, ROLE_WARN, 0, "  its details were discarded (--memory-limit): "
			 "only sums are left");
	free(parts);
}

/* Finds the requested step among the steps that exist now. */
static bool find_step(const struct page_call *call, struct step_page *s, const struct when *when)
{
	for (s->at = 0; s->at < s->n; s->at++)
		if (s->rows[s->at].number == when->step && s->rows[s->at].start_ns == when->t0)
			break;
	if (s->at < s->n)
		s->ranks = step_ranks(s->rows, s->n);
	else
		snprintf(call->error, call->error_size, "step %" PRId64 " was discarded",
			 when->step);
	return s->at < s->n;
}

/* The time between two steps is in none of them: what the mean one went to. */
static void page_step_add_between(struct step_page *s)
{
	struct host_time_row *rows;
	struct step_breakdown mean;
	char title[40];
	uint64_t steps;
	size_t n;

	model_lock(s->book.model);
	steps = model_step_between(s->book.model, &mean, &rows, &n);
	model_unlock(s->book.model);
	if (steps && mean.dur_ns > 0) {
		snprintf(title, sizeof(title), "between %s", step_nouns(s->stats.passes));
		page_heading(s->page, "%-14s%10s%8s", title, "mean", "share");
		for (int c = 0; c < STEP_CLASS_COUNT; c++) {
			if (!mean.ns[c])
				continue;
			page_step_add_part(s->page, step_class_name((enum step_class)c), mean.ns[c],
					   mean.dur_ns, 0, false);
			page_add_host(s->page, rows, n, c, mean.ns[c], mean.dur_ns, HOST_PLACES);
		}
	}
	free(rows);
}

/* "slowest" may be another step later; the page continues to show the step that it was opened
 * for. */
static void page_step_remember(struct step_page *s)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, s->rows[s->at].number);
	page_remade_by(s->page, 2, (const char *const[]){ "step", number });
}

static void page_step_make(struct step_page *s)
{
	page_step_remember(s);
	page_title(s->page, "%s %" PRId64, step_noun(s->stats.passes),
		   s->rows[s->at].number);
	page_say(s->page, ROLE_TITLE, ATTR_BOLD, "%s %" PRId64, step_noun(s->stats.passes),
		 s->rows[s->at].number);
	page_step_add_length(s);
	page_step_add_ways(s);
	page_step_add_more(s);
	page_step_add_breakdown(s);
	page_step_add_path(s);
	page_step_add_idle(s);
}

bool page_step(const struct page_call *call, struct page *page)
{
	struct when_asks asks = { call->model, call->view };
	struct step_page s = { .page = page };
	struct when when;
	bool found;

	if (!when_step(&asks, call->argv[1], &when, call->error, call->error_size))
		return false;
	model_lock(call->model);
	page_book_take(&s.book, call->model);
	s.n = model_steps(call->model, &s.stats, &s.rows);
	found = find_step(call, &s, &when);
	if (found)
		page_step_make(&s);
	model_unlock(call->model);
	if (found) {
		page_step_add_ran(&s, call);
		page_step_add_between(&s);
	}
	page_book_release(&s.book);
	free(s.rows);
	return found;
}
