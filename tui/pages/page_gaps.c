/* SPDX-License-Identifier: MIT */
/* gaps: the idle times of a row, the longest first, their causes, and the events before and after
 * them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/gaps.h"
#include "model/query/time.h"
#include "tui/pages/page_parts.h"
#include "tui/pages/page_side.h"
#include "tui/draw/pane.h"
#include "tui/timeline/when.h"

#define GAPS 20
#define GAPS_MOST 1000
#define CAUSE 28			/* columns of the cause */

struct gaps_page {
	struct page *page;
	struct page_book book;
	const struct model_row *row;	/* in the book */
	uint32_t lane;
	struct when when;
};

static bool has_causes(enum row_kind kind)
{
	return kind == ROW_DEVICE || kind == ROW_QUEUE || kind == ROW_COPY;
}

/* "host 69 %", or "sleep loader.py:25" where it is known what the host did most of the time.
 * Returns whether anything of that is known. */
static bool page_gaps_cause(struct model *model, uint32_t device, const struct idle_gap *idle,
			    char *text, size_t size)
{
	enum idle_cause most = idle_most(idle);
	struct host_time_row *rows;
	size_t n = model_idle_host(model, device, idle, &rows);
	char share[FMT_MAX];
	const char *file;

	snprintf(text, size, "%s %s", idle_name(most), fmt_share(share, (uint64_t)idle->ns[most],
		 (uint64_t)(idle->end_ns - idle->start_ns)));
	if (n && rows[0].class == most && rows[0].ns > idle->ns[most] / 2 && *rows[0].file) {
		file = path_last(rows[0].file);
		snprintf(text, size, "%s%s%s %.24s:%u", most == IDLE_HOST ? "" : idle_name(most),
			 most == IDLE_HOST ? "" : " ", doing_name(rows[0].doing), file,
			 rows[0].line);
	}
	free(rows);
	return n > 0;
}

/* Adds the cause, as a link to the call stacks of that time if threads were looked at in it. */
static void page_gaps_add_cause(struct gaps_page *g, const struct row_gap *gap)
{
	int64_t length = gap->end_ns - gap->start_ns;
	char cause[80] = "–", range[64];
	struct idle_gap idle;
	bool known = false;

	if (model_idle_at(g->book.model, g->row->device, gap->start_ns + length / 2, &idle))
		known = page_gaps_cause(g->book.model, g->row->device, &idle, cause,
					sizeof(cause));
	if (!known) {
		page_cell(g->page, ROLE_ACCENT, -CAUSE, cause);
		return;
	}
	snprintf(range, sizeof(range), "%" PRId64 "ns..%" PRId64 "ns",
		 gap->start_ns - g->book.base_ns, gap->end_ns - g->book.base_ns);
	page_to(g->page, cause, "stacks", range, NULL);
	page_role(g->page, ROLE_ACCENT);
	page_add(g->page, ROLE_DEFAULT, 0, "%*s", CAUSE > text_width(cause) ?
		 CAUSE - text_width(cause) : 0, "");
}

/* Adds a link to the event of the row that starts at that time, or that started last before it. */
static void page_gaps_add_event(struct gaps_page *g, int64_t t_ns, bool after)
{
	struct model *model = g->book.model;
	struct span_ref ref;
	struct span span;

	if (!(after ? model_span_next(model, g->row->id, g->lane, t_ns - 1, &ref) :
		      model_span_prev(model, g->row->id, g->lane, t_ns, &ref)) ||
	    !model_span(model, ref, &span)) {
		page_add(g->page, ROLE_MUTED, 0, "–");
		return;
	}
	page_to_event(g->page, span.name, span.ref);
}

static void page_gaps_add_gap(struct gaps_page *g, const struct row_gap *gap)
{
	int64_t length = gap->end_ns - gap->start_ns;
	char text[FMT_MAX], at[48];

	page_cell(g->page, ROLE_DEFAULT, 10, fmt_time(text, length));
	page_add(g->page, ROLE_DEFAULT, 0, "  ");
	page_when(at, sizeof(at), &g->book, gap->start_ns, length);
	page_show_time(g->page, at, &g->book, gap->start_ns, gap->end_ns);
	page_add(g->page, ROLE_DEFAULT, 0, "%*s", text_width(at) < 13 ? 15 - text_width(at) : 2,
		 "");
	if (has_causes(g->row->kind))
		page_gaps_add_cause(g, gap);
	page_gaps_add_event(g, gap->start_ns, false);
	page_add(g->page, ROLE_MUTED, 0, " → ");
	page_gaps_add_event(g, gap->end_ns, true);
	page_end(g->page);
}

/* Times before the start of the run and after its end are not idle times. */
static void keep_to_run(struct gaps_page *g)
{
	const struct model_status *status = &g->book.status;

	if (g->when.t0 < status->first_ns)
		g->when.t0 = status->first_ns < g->when.t1 ? status->first_ns : g->when.t1;
	if (g->when.t1 > status->last_ns)
		g->when.t1 = status->last_ns > g->when.t0 ? status->last_ns : g->when.t0;
}

/* Adds how much of the time lies before the first event of the row, or after the last one: these
 * are between no two events, and so no gaps below. */
static void page_gaps_add_ends(struct gaps_page *g)
{
	struct model *model = g->book.model;
	int64_t first_ns = g->when.t1, last_ns = g->when.t0;
	char before[FMT_MAX], after[FMT_MAX];
	struct span_ref ref;
	struct span span;

	if (model_span_next(model, g->row->id, g->lane, g->when.t0 - 1, &ref) &&
	    model_span(model, ref, &span) && span.start_ns < first_ns)
		first_ns = span.start_ns;
	if (model_span_prev(model, g->row->id, g->lane, g->when.t0, &ref) &&
	    model_span(model, ref, &span))
		first_ns = g->when.t0;
	if (model_span_prev(model, g->row->id, g->lane, g->when.t1, &ref) &&
	    model_span(model, ref, &span) && span.end_ns > last_ns)
		last_ns = span.end_ns;
	if (model_span_next(model, g->row->id, g->lane, g->when.t1 - 1, &ref))
		last_ns = g->when.t1;
	if (first_ns <= g->when.t0 && last_ns >= g->when.t1)
		return;
	page_say(g->page, ROLE_DEFAULT, 0, "%s of it before the row's first event, %s after its "
		 "last", fmt_time(before, first_ns - g->when.t0),
		 fmt_time(after, last_ns < g->when.t1 ? g->when.t1 - last_ns : 0));
}

static void page_gaps_add_gaps(struct gaps_page *g, size_t most)
{
	struct row_gap *gaps = xcalloc(most, sizeof(*gaps));
	char idle[FMT_MAX], whole[FMT_MAX], share[FMT_MAX];
	struct range_sum sum;
	bool more = false;
	size_t n;

	n = model_gaps_longest(g->book.model, g->row->id, g->lane, g->when.t0, g->when.t1, most,
			       gaps, &more);
	if (model_range(g->book.model, g->row->id, g->lane, g->when.t0, g->when.t1, &sum))
		page_say(g->page, ROLE_TITLE, 0, "%s had nothing to do for %s of %s (%s), %s",
			 g->row->label, fmt_time(idle, g->when.t1 - g->when.t0 - sum.busy_ns),
			 fmt_time(whole, g->when.t1 - g->when.t0),
			 fmt_share(share, (uint64_t)(g->when.t1 - g->when.t0 - sum.busy_ns),
				   (uint64_t)(g->when.t1 - g->when.t0)), g->when.title);
	page_gaps_add_ends(g);
	if (g->book.status.folded_ns > g->when.t0)
		page_say(g->page, ROLE_WARN, 0, "where the oldest details were discarded, gaps are "
			 "unknown");
	page_blank(g->page);
	if (n)
		page_say(g->page, ROLE_COLUMN, 0, "    length  at             %-*sbetween",
			 has_causes(g->row->kind) ? CAUSE : 0,
			 has_causes(g->row->kind) ? "most of it is" : "");
	else
		page_say(g->page, ROLE_MUTED, 0, "no gap between two events of this row begins in "
			 "this time: a wider range (gaps run), or another row (j, k)");
	for (size_t i = 0; i < n; i++)
		page_gaps_add_gap(g, &gaps[i]);
	if (more)
		page_say(g->page, ROLE_MUTED, 0, "    … and shorter ones (-n N shows N)");
	free(gaps);
}

static bool row_number(const struct page_call *call, const char *text, struct gaps_page *g)
{
	char *end;
	unsigned long row = strtoul(text, &end, 10), lane = LANE_ALL;

	if (*end == ':')
		lane = strtoul(end + 1, &end, 10);
	g->row = *end ? NULL : page_row(&g->book, (uint32_t)row);
	g->lane = (uint32_t)lane;
	if (!g->row)
		snprintf(call->error, call->error_size, "no row '%.40s': pages and lists name rows",
			 text);
	return g->row != NULL;
}

/* The arguments of the command: the range, the row and the number of gaps. */
struct gaps_words {
	const char *range[3], *row, *most;
	int n;
};

static bool page_gaps_take_words(const struct page_call *call, struct gaps_words *words)
{
	*words = (struct gaps_words) { .n = 0 };
	for (int i = 1; i < call->argc; i++) {
		const char *word = call->argv[i];

		if ((!strcmp(word, "-r") || !strcmp(word, "-n")) && i + 1 < call->argc) {
			*(word[1] == 'r' ? &words->row : &words->most) = call->argv[++i];
		} else if (word[0] == '-' || words->n == 3) {
			snprintf(call->error, call->error_size,
				 "not '%.40s': gaps [RANGE] [-r ROW] [-n "
				 "GAPS]", word);
			return false;
		} else {
			words->range[words->n++] = word;
		}
	}
	if (!words->n)
		words->range[words->n++] = "window";
	return true;
}

static void page_gaps_remember(struct gaps_page *g, const struct gaps_words *words)
{
	char *range[3], row[32];
	const char *argv[8] = { "gaps" };
	int n = 1;

	side_words(&g->when, g->book.base_ns, range);
	for (int i = 0; range[i]; i++)
		argv[n++] = range[i];
	if (g->lane == LANE_ALL)
		snprintf(row, sizeof(row), "%" PRIu32, g->row->id);
	else
		snprintf(row, sizeof(row), "%" PRIu32 ":%" PRIu32, g->row->id, g->lane);
	argv[n++] = "-r";
	argv[n++] = row;
	if (words->most) {
		argv[n++] = "-n";
		argv[n++] = words->most;
	}
	page_remade_by(g->page, n, argv);
	side_words_free(range);
}

bool page_gaps(const struct page_call *call, struct page *page)
{
	struct when_asks asks = { call->model, call->view };
	struct gaps_page g = { .page = page };
	struct gaps_words words;
	long most = GAPS;
	int at = 0;
	char *end = NULL;
	bool good;

	if (!page_gaps_take_words(call, &words))
		return false;
	if (words.most)
		most = strtol(words.most, &end, 10);
	if (most < 1 || most > GAPS_MOST || (end && *end)) {
		snprintf(call->error, call->error_size, "not a number from 1 to %d: '%.40s'",
			 GAPS_MOST, words.most);
		return false;
	}
	if (!when_range(&asks, words.n, words.range, &at, &g.when, call->error, call->error_size))
		return false;
	if (at < words.n) {
		snprintf(call->error, call->error_size, "one range only, not also '%.40s'",
			 words.range[at]);
		return false;
	}
	model_lock(call->model);
	page_book_take(&g.book, call->model);
	g.row = call->view ? page_row(&g.book, call->view->cursor_row) : NULL;
	g.lane = call->view ? call->view->cursor_lane : LANE_ALL;
	good = words.row ? row_number(call, words.row, &g) : g.row != NULL;
	if (!words.row && !good)
		snprintf(call->error, call->error_size,
			 "no row under the cursor: -r ROW, or j and k");
	if (good) {
		page_title(page, "gaps of %s", g.row->label);
		page_gaps_remember(&g, &words);
		keep_to_run(&g);
		page_gaps_add_gaps(&g, (size_t)most);
	}
	model_unlock(call->model);
	page_book_release(&g.book);
	return good;
}
