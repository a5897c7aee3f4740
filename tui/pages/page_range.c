/* SPDX-License-Identifier: MIT */
/* range: what ran in a range of time, the idle times and their causes, and what grew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/memory.h"
#include "model/query/time.h"
#include "tui/pages/page_parts.h"
#include "tui/pages/page_side.h"
#include "tui/draw/pane.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"

#define STEPS_SAID 6
#define THREADS_SAID 12
#define DEVICES_SAID 16

static char *share_of(char text[FMT_MAX], int64_t part, int64_t whole)
{
	return fmt_share(text, part > 0 ? (uint64_t)part : 0, whole > 0 ? (uint64_t)whole : 0);
}

/* ---- head ---- */

static void page_range_add_ways(struct page *page, const struct side *side, int64_t base_ns)
{
	char *words[3];
	const char *argv[4] = { "diff", NULL, NULL, NULL };

	side_show(page, "show it", &side->when, base_ns);
	page_add(page, ROLE_DEFAULT, 0, "   ");
	side_words(&side->when, base_ns, words);
	argv[1] = words[0];
	argv[2] = words[1];
	page_link(page, "compared with the median step", words[1] ? 3 : 2, argv);
	side_words_free(words);
	page_end(page);
}

static void page_range_add_steps(struct page *page, struct model *model, const struct side *side)
{
	struct step_list steps = { .rows = NULL };
	char number[24];
	const char *argv[] = { "range", "step", number };
	size_t from, n = 0;

	model_lock(model);
	model_steps_update(model, &steps);
	model_unlock(model);
	from = steps_from(&steps, side->when.t0);
	if (from && steps.rows[from - 1].start_ns + steps.rows[from - 1].dur_ns > side->when.t0)
		from--;
	while (from + n < steps.n && steps.rows[from + n].start_ns < side->when.t1)
		n++;
	if (n && !side->when.is_step) {
		page_add(page, ROLE_MUTED, 0, "steps    ");
		for (size_t i = 0; i < n && i < STEPS_SAID; i++) {
			snprintf(number, sizeof(number), "%" PRId64, steps.rows[from + i].number);
			page_link(page, number, 3, argv);
			page_add(page, ROLE_DEFAULT, 0, " ");
		}
		if (n > STEPS_SAID)
			page_add(page, ROLE_MUTED, 0, "… to %" PRId64 ", %zu in all",
				 steps.rows[from + n - 1].number, n);
		page_end(page);
	}
	step_list_release(&steps);
}

/* ---- devices ---- */

static void page_range_add_idle(struct page *page, const struct idle_gap *idle, int64_t whole)
{
	char text[FMT_MAX];
	int64_t last = INT64_MAX;
	bool first = true;

	for (int i = 0; i < IDLE_COUNT; i++) {
		int most = -1;

		for (int c = 0; c < IDLE_COUNT; c++)
			if (idle->ns[c] < last && idle->ns[c] > whole / 1000 &&
			    (most < 0 || idle->ns[c] > idle->ns[most]))
				most = c;
		if (most < 0)
			break;
		last = idle->ns[most];
		page_add(page, ROLE_DEFAULT, 0, "%s %s %s", first ? ":" : " ·",
			 idle_name((enum idle_cause)most), share_of(text, last, whole));
		first = false;
	}
}

static void page_range_add_device(struct page *page, struct model *model, const struct side *side,
				  const char *label, uint32_t id)
{
	int64_t whole = side->length_ns;
	struct idle_gap idle;
	struct device_row row;
	char text[FMT_MAX], copies[FMT_MAX], gap[FMT_MAX];
	bool known, why;

	model_lock(model);
	known = model_device_window(model, id, side->when.t0, side->when.t1, &row);
	why = model_idle_window(model, id, side->when.t0, side->when.t1, &idle);
	model_unlock(model);
	if (!known)
		return;
	page_add(page, ROLE_TITLE, 0, "%-8s", label);
	page_add(page, ROLE_DEFAULT, 0, " kernels %s   copies %s",
		 share_of(text, row.kernel_ns, whole), share_of(copies, row.copy_ns, whole));
	if (row.overlap_ns)
		page_add(page, ROLE_DEFAULT, 0, " (%s under kernels)",
			 share_of(text, row.overlap_ns, whole));
	page_add(page, ROLE_DEFAULT, 0, "   idle %s",
		 share_of(gap, row.span_ns - row.busy_ns, whole));
	if (why)
		page_range_add_idle(page, &idle, whole);
	page_end(page);
}

static void page_range_add_devices(struct page *page, struct model *model, const struct side *side)
{
	struct device_row *rows;
	size_t n, shown = 0, left = 0;
	char label[12];

	model_lock(model);
	n = model_devices(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].busy_ns <= 0)
			continue;
		if (shown++ >= DEVICES_SAID) {
			left++;
			continue;
		}
		places_device_label(label, sizeof(label), rows, n, rows[i].id);
		page_range_add_device(page, model, side, label, rows[i].id);
	}
	if (left)
		page_say(page, ROLE_MUTED, 0, "… %zu more devices", left);
	free(rows);
}

/* ---- tables ---- */

static int by_ns(const void *a, const void *b)
{
	const struct side_item *x = a, *y = b;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void page_range_add_item(struct page *page, const struct side_item *item, int64_t sum)
{
	char text[FMT_MAX];

	page_cell(page, ROLE_DEFAULT, 10, fmt_time(text, item->ns));
	page_cell(page, ROLE_DEFAULT, 8, share_of(text, item->ns, sum));
	page_cell(page, ROLE_DEFAULT, 9, item->count_milli ?
		  fmt_count(text, item->count_milli / 1000) : "");
	page_add(page, ROLE_DEFAULT, 0, "  ");
	side_name(page, item, true);
	if (item->bytes && item->table == SIDE_COPY)
		page_add(page, ROLE_MUTED, 0, "  %s", fmt_rate(text,
							       bytes_per_s(item->bytes, item->ns)));
	if (item->bytes)
		page_add(page, ROLE_MUTED, 0, "  %s", fmt_bytes(text, item->bytes));
	page_end(page);
}

/* Items are sorted by table, then by time. */
static void page_range_add_table(struct page *page, const struct side *side, enum side_table table,
				 size_t most)
{
	int64_t sum = table == SIDE_CLASS ? side->length_ns : side_sum(side, table), rest = 0;
	size_t shown = 0, more = 0;
	char text[FMT_MAX];

	for (size_t i = 0; i < side->n; i++) {
		const struct side_item *item = &side->items[i];

		if (item->table != table || (!item->ns && !item->bytes && !item->count_milli))
			continue;
		if (shown == most) {
			more++;
			rest += item->ns;
			continue;
		}
		if (!shown++) {
			page_say(page, ROLE_DEFAULT, 0, "%s", "");
			page_say(page, ROLE_COLUMN, 0, "      time   share     runs  %s",
				 side_table_title(table));
		}
		page_range_add_item(page, item, sum);
	}
	if (more)
		page_say(page, ROLE_MUTED, 0, "    … %zu more, %s together (-a: all)", more,
			 fmt_time(text, rest));
}

/* ---- threads, memory ---- */

struct busy { const char *label; uint32_t pid, tid; int64_t busy_ns; bool pool; };

static int by_busy(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->busy_ns != y->busy_ns)
		return x->busy_ns > y->busy_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static size_t page_range_take_threads(struct model *model, const struct side *side,
				      struct busy **out)
{
	struct model_row *rows;
	struct range_sum sum;
	size_t n, k = 0;

	model_lock(model);
	n = model_rows(model, &rows);
	*out = xcalloc(n + 1, sizeof(**out));
	for (size_t i = 0; i < n; i++) {
		if ((rows[i].kind != ROW_THREAD || !rows[i].tid) ||
		    !model_range(model, rows[i].id, 0, side->when.t0, side->when.t1, &sum) ||
		    !sum.busy_ns)
			continue;
		(*out)[k++] = (struct busy) { rows[i].label, rows[i].pid, rows[i].tid, sum.busy_ns,
					      false };
	}
	model_unlock(model);
	free(rows);
	qsort(*out, k, sizeof(**out), by_busy);
	return k;
}

static void page_range_add_threads(struct page *page, struct model *model, const struct side *side)
{
	struct busy *list;
	size_t n = page_range_take_threads(model, side, &list);
	char text[FMT_MAX], tid[16], pid[16];
	const char *argv[] = { "thread", tid, pid };

	if (n) {
		page_say(page, ROLE_DEFAULT, 0, "%s", "");
		page_say(page, ROLE_COLUMN, 0, "      busy   share of the range  threads");
	}
	for (size_t i = 0; i < n && i < THREADS_SAID; i++) {
		snprintf(tid, sizeof(tid), "%u", list[i].tid);
		snprintf(pid, sizeof(pid), "%u", list[i].pid);
		page_cell(page, ROLE_DEFAULT, 10, fmt_time(text, list[i].busy_ns));
		page_cell(page, ROLE_DEFAULT, 8, share_of(text, list[i].busy_ns, side->length_ns));
		page_add(page, ROLE_DEFAULT, 0, "           ");
		page_link(page, list[i].label, 3, argv);
		page_add(page, ROLE_MUTED, 0, "  %s", tid);
		page_end(page);
	}
	if (n > THREADS_SAID)
		page_say(page, ROLE_MUTED, 0, "    … %zu more", n - THREADS_SAID);
	free(list);
}

static void page_range_add_memory(struct page *page, struct model *model, const struct side *side)
{
	struct memory_row *rows;
	struct memory_column a, b;
	bool any = false;
	size_t n;
	char before[FMT_MAX], after[FMT_MAX], grown[FMT_MAX];
	const char *argv[] = { "allocator", NULL };

	model_lock(model);
	n = model_memory(model, &rows);
	for (size_t i = 0; i < n; i++) {
		uint64_t more;

		model_memory_columns(model, rows[i].account, side->when.t0, side->when.t0 + 1, 1,
				     &a);
		model_memory_columns(model, rows[i].account, side->when.t1 - 1, side->when.t1, 1,
				     &b);
		if (!a.known || !b.known || a.mean == b.mean)
			continue;
		if (!any) {
			page_say(page, ROLE_DEFAULT, 0, "%s", "");
			page_say(page, ROLE_COLUMN, 0, "  at its start      its end       change  "
				 "memory");
		}
		any = true;
		more = b.mean > a.mean ? b.mean - a.mean : a.mean - b.mean;
		page_cell(page, ROLE_DEFAULT, 14, fmt_bytes(before, a.mean));
		page_cell(page, ROLE_DEFAULT, 13, fmt_bytes(after, b.mean));
		page_add(page, b.mean > a.mean ? ROLE_WARN : ROLE_GOOD, 0, "%*s%s",
			 b.mean > a.mean ? (int)(12 - strlen(fmt_bytes(grown, more))) :
			 (int)(12 - strlen(fmt_bytes(grown, more))), b.mean > a.mean ? "+" : "-",
			 grown);
		page_add(page, ROLE_DEFAULT, 0, "  ");
		argv[1] = rows[i].allocator;
		page_link(page, rows[i].allocator, 2, argv);
		page_end(page);
	}
	model_unlock(model);
	free(rows);
}

/* ---- the command ---- */

static void page_range_make_page(struct page *page, struct model *model, const struct side *side,
				 int64_t base_ns, size_t most)
{
	char t[FMT_MAX], d[FMT_MAX];

	page_title(page, "%s", side->title);
	page_add(page, ROLE_TITLE, 0, "%s", side->title);
	page_add(page, ROLE_DEFAULT, 0, "   %s, starts at %s", fmt_time_fine(d, side->length_ns),
		 fmt_time_fine(t, side->when.t0 - base_ns));
	page_end(page);
	page_range_add_ways(page, side, base_ns);
	side_say_rest(page, side, base_ns);
	page_range_add_steps(page, model, side);
	page_range_add_devices(page, model, side);
	for (int table = 0; table < SIDE_TABLES; table++)
		if (table != SIDE_DEVICE)
			page_range_add_table(page, side, (enum side_table)table, most);
	page_range_add_threads(page, model, side);
	page_range_add_memory(page, model, side);
	if (!side->n)
		page_say(page, ROLE_MUTED, 0, "nothing was seen in this time: no device worked and "
			 "no op ran; try a wider range, or another place");
}

bool page_range(const struct page_call *call, struct page *page)
{
	struct when_asks asks = { call->model, call->view };
	struct model_status status;
	struct when when;
	struct side side;
	const char *argv[4] = { "range", NULL, NULL, NULL };
	const char *words[4];
	char *again[3];
	int argc = 0, at = 0;
	bool all = false;

	for (int i = 1; i < call->argc && argc < 4; i++)
		if (!strcmp(call->argv[i], "-a"))
			all = true;
		else
			words[argc++] = call->argv[i];
	if (!argc)
		words[argc++] = call->view && call->view->measure.shown ? "measured" : "window";
	if (!when_range(&asks, argc, words, &at, &when, call->error, call->error_size))
		return false;
	if (at < argc) {
		snprintf(call->error, call->error_size, "one range only, not also '%.40s'",
			 words[at]);
		return false;
	}
	model_lock(call->model);
	model_status(call->model, &status);
	model_unlock(call->model);
	side_of_range(&side, call->model, &when, call->turns);
	if (side.n)
		qsort(side.items, side.n, sizeof(*side.items), by_ns);
	page_range_make_page(page, call->model, &side, places_base_ns(&status),
			     all ? SIZE_MAX : SIDE_ROWS);
	side_words(&when, places_base_ns(&status), again);
	at = 1;
	for (int i = 0; again[i]; i++)
		argv[at++] = again[i];
	if (all)
		argv[at++] = "-a";
	page_remade_by(page, at, argv);
	side_words_free(again);
	side_release(&side);
	return true;
}
