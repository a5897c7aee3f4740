/* SPDX-License-Identifier: MIT */
/* diff: compares two steps, ranges or runs; the largest differences come first. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keymap/file.h"
#include "model/base/util.h"
#include "tui/base/json_read.h"
#include "tui/draw/page_call.h"
#include "tui/pages/page_side.h"
#include "tui/draw/places.h"
#include "tui/report/report.h"
#include "tui/run/reports.h"

#define PARTS_SAID 4			/* most parts named in the sentence */

enum { BEFORE, AFTER, SIDES };

/* The items of one name on both sides; NULL where a side has none. */
struct pair {
	const struct side_item *item[SIDES];
};

struct pairs {
	struct pair *list;		/* owned */
	size_t n;
};

static int64_t ns_of(const struct side_item *item)
{
	return item ? item->ns : 0;
}

static int64_t change(const struct pair *pair)
{
	return ns_of(pair->item[AFTER]) - ns_of(pair->item[BEFORE]);
}

static const struct side_item *any(const struct pair *pair)
{
	return pair->item[AFTER] ? pair->item[AFTER] : pair->item[BEFORE];
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b)
{
	const struct side_item *x = *(const struct side_item *const *)a;
	const struct side_item *y = *(const struct side_item *const *)b;
	int order = (int)x->table - (int)y->table;

	if (!order)
		order = compare_text(x->raw ? x->raw : x->name, y->raw ? y->raw : y->name);
	return order ? order : compare_text(x->shape, y->shape);
}

static int by_change(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int64_t dx = llabs(change(x)), dy = llabs(change(y));

	if (dx != dy)
		return dx > dy ? -1 : 1;
	if (any(x)->ns != any(y)->ns)
		return any(x)->ns > any(y)->ns ? -1 : 1;
	return compare_text(any(x)->name, any(y)->name);
}

static const struct side_item **sorted(const struct side *side)
{
	const struct side_item **list = xcalloc(side->n + 1, sizeof(const struct side_item *));

	for (size_t i = 0; i < side->n; i++)
		list[i] = &side->items[i];
	qsort(list, side->n, sizeof(*list), by_name);
	return list;
}

static void page_diff_join_rows(const struct side *sides, struct pairs *out)
{
	const struct side_item **a = sorted(&sides[BEFORE]), **b = sorted(&sides[AFTER]);
	size_t i = 0, k = 0;

	*out = (struct pairs) {
		.list = xcalloc(sides[BEFORE].n + sides[AFTER].n + 1, sizeof(*out->list)),
	};
	while (i < sides[BEFORE].n || k < sides[AFTER].n) {
		int order = i == sides[BEFORE].n ? 1 : k == sides[AFTER].n ? -1 :
			by_name(&a[i], &b[k]);
		struct pair *pair = &out->list[out->n++];

		pair->item[BEFORE] = order <= 0 ? a[i++] : NULL;
		pair->item[AFTER] = order >= 0 ? b[k++] : NULL;
	}
	free(a);
	free(b);
	qsort(out->list, out->n, sizeof(*out->list), by_change);
}

/* ---- the first sentence ---- */

/* Formats a ratio with three significant digits: "1.15×", "0.0345×", "<0.01×". */
static char *ratio(char text[FMT_MAX], int64_t before, int64_t after)
{
	double times = before > 0 ? (double)after / (double)before : 0;

	if (before <= 0 || after <= 0)
		snprintf(text, FMT_MAX, "%s", before > 0 ? "gone" : after > 0 ? "new" : "");
	else if (times < 0.01)
		snprintf(text, FMT_MAX, "<0.01×");
	else
		snprintf(text, FMT_MAX, "%.*f×", times < 0.0995 ? 4 : times < 0.995 ? 3 :
			 times < 9.995 ? 2 : times < 99.95 ? 1 : 0, times);
	return text;
}

static enum side_table parts_table(const struct side *sides)
{
	return side_has(&sides[BEFORE], SIDE_CLASS) && side_has(&sides[AFTER], SIDE_CLASS) ?
	       SIDE_CLASS : SIDE_DEVICE;
}

/* Names the parts that are a twentieth of the difference or more; the line has been started. */
static void page_diff_say_parts(struct page *page, const struct side *sides,
				const struct pairs *pairs)
{
	enum side_table table = parts_table(sides);
	int64_t whole = llabs(sides[AFTER].length_ns - sides[BEFORE].length_ns);
	char time[FMT_MAX];
	int said = 0;

	for (size_t i = 0; i < pairs->n && said < PARTS_SAID; i++) {
		const struct side_item *item = any(&pairs->list[i]);
		int64_t ns = change(&pairs->list[i]);

		if (item->table != table || !ns || (said && llabs(ns) < whole / 20) ||
		    llabs(ns) < sides[BEFORE].length_ns / 1000)
			continue;
		page_add(page, said ? ROLE_DEFAULT : ROLE_ACCENT, 0, "%s%s %s in %s",
			 said ? ", " : ": ", fmt_time(time, llabs(ns)), ns > 0 ? "more" : "less",
			 item->name);
		said++;
	}
	page_end(page);
}

static void page_diff_say_main(struct page *page, const struct side *sides,
			       const struct pairs *pairs)
{
	int64_t before = sides[BEFORE].length_ns, after = sides[AFTER].length_ns,
		ns = after - before;
	char a[FMT_MAX], b[FMT_MAX], d[FMT_MAX], r[FMT_MAX];
	bool mean = sides[BEFORE].is_report;

	if (before <= 0 || after <= 0) {
		page_say(page, ROLE_TITLE, 0, "%s and %s do not both have steps, so sums are of "
			 "whole runs", sides[AFTER].title, sides[BEFORE].title);
		return;
	}
	if (!ns)
		page_say(page, ROLE_TITLE, 0, "%s took as long as %s", sides[AFTER].title,
			 sides[BEFORE].title);
	else
		page_say(page, ROLE_TITLE, 0, "%s took %s %s than %s", sides[AFTER].title,
			 fmt_time(d, llabs(ns)), ns > 0 ? "longer" : "less", sides[BEFORE].title);
	page_add(page, ROLE_DEFAULT, 0, "%s%s, was %s (%s)", fmt_time_fine(a, after),
		 mean ? " a step" : "", fmt_time_fine(b, before), ratio(r, before, after));
	page_diff_say_parts(page, sides, pairs);
}

/* ---- tables ---- */

/* Formats how often something happened in a mean step: "3", "0.25". */
static char *times(char text[FMT_MAX], const struct side_item *item)
{
	uint64_t milli = item ? item->count_milli : 0;

	if (milli % 1000 == 0 || milli >= 100000)
		return fmt_count(text, milli / 1000);
	snprintf(text, FMT_MAX, "%" PRIu64 ".%02" PRIu64, milli / 1000, milli % 1000 / 10);
	return text;
}

static void signed_time(char text[FMT_MAX + 1], int64_t ns)
{
	text[0] = ns > 0 ? '+' : ' ';
	fmt_time(text + (ns > 0), ns);
}

static void page_diff_add_pair(struct page *page, const struct pair *pair, bool counted)
{
	const struct side_item *a = pair->item[BEFORE], *b = pair->item[AFTER];
	char text[FMT_MAX + 1], other[FMT_MAX], both[2 * FMT_MAX + 4];
	int64_t ns = change(pair);

	page_cell(page, ROLE_DEFAULT, 10, a ? fmt_time(text, a->ns) : "–");
	page_cell(page, ROLE_DEFAULT, 10, b ? fmt_time(text, b->ns) : "–");
	signed_time(text, ns);
	page_cell(page, ns > 0 ? ROLE_WARN : ns < 0 ? ROLE_GOOD : ROLE_MUTED, 11, text);
	page_cell(page, ROLE_DEFAULT, 8, ratio(text, ns_of(a), ns_of(b)));
	both[0] = '\0';
	if (counted)
		snprintf(both, sizeof(both), "%s→%s", a ? times(text, a) : "0",
			 b ? times(other, b) : "0");
	if (counted && a && b && a->count_milli == b->count_milli)
		snprintf(both, sizeof(both), "%s", times(text, a));
	page_cell(page, ROLE_MUTED, counted ? 11 : 0, both);
	page_add(page, ROLE_DEFAULT, 0, "  ");
	side_name(page, any(pair), b != NULL || !any(pair)->raw);
	if (any(pair)->bytes)
		page_add(page, ROLE_MUTED, 0, "  %s→%s", fmt_bytes(text, a ? a->bytes : 0),
			 fmt_bytes(other, b ? b->bytes : 0));
	page_end(page);
}

/* Rows that are equal on both sides are only counted. */
static void page_diff_add_table(struct page *page, const struct pairs *pairs, enum side_table table,
				size_t most)
{
	bool counted = table != SIDE_CLASS && table != SIDE_DEVICE && table != SIDE_HOST;
	size_t shown = 0, more = 0, same = 0;
	int64_t rest = 0;
	char text[FMT_MAX + 1];

	for (size_t i = 0; i < pairs->n; i++) {
		const struct pair *pair = &pairs->list[i];

		if (any(pair)->table != table)
			continue;
		if (!change(pair) && pair->item[BEFORE] && pair->item[AFTER]) {
			same++;
			continue;
		}
		if (shown == most) {
			more++;
			rest += change(pair);
			continue;
		}
		if (!shown++) {
			page_say(page, ROLE_DEFAULT, 0, "%s", "");
			page_say(page, ROLE_COLUMN, 0, "%10s%10s%11s%8s%s  %s", "before", "after",
				 "difference", "ratio", counted ? "       runs" : "",
				 side_table_title(table));
		}
		page_diff_add_pair(page, pair, counted);
	}
	signed_time(text, rest);
	if (more)
		page_say(page, ROLE_MUTED, 0, "    … %zu more, %s together (-a: all)", more,
			 text[0] == ' ' ? text + 1 : text);
	if (same && shown)
		page_say(page, ROLE_MUTED, 0, "    … %zu that took the same", same);
}

static void page_diff_add_side(struct page *page, const char *name, const struct side *side,
			       int64_t base_ns)
{
	char t[FMT_MAX], d[FMT_MAX];
	char *words[3];
	const char *argv[4] = { "range", NULL, NULL, NULL };

	page_add(page, ROLE_MUTED, 0, "%s ", name);
	if (side->is_report) {
		page_add(page, ROLE_DEFAULT, 0, "%s", side->title);
		if (side->per)
			page_add(page, ROLE_MUTED, 0, "   mean of %" PRIu64 " steps, %s each",
				 side->per, fmt_time_fine(d, side->length_ns));
		page_end(page);
		return;
	}
	side_words(&side->when, base_ns, words);
	argv[1] = words[0];
	argv[2] = words[1];
	page_link(page, side->title, words[1] ? 3 : 2, argv);
	page_add(page, ROLE_MUTED, 0, "   at %s, %s   ", fmt_time_fine(t, side->when.t0 - base_ns),
		 fmt_time_fine(d, side->length_ns));
	side_words_free(words);
	side_show(page, "show", &side->when, base_ns);
	page_end(page);
}

/* Whether the classes of the devices add anything: with one device, they repeat the classes of the
 * step. */
static bool says_more(const struct side *sides, enum side_table table)
{
	if (table != SIDE_CLASS && table != SIDE_DEVICE)
		return true;
	if (table == SIDE_CLASS || parts_table(sides) == SIDE_DEVICE)
		return table == parts_table(sides);
	for (size_t i = 0; i < sides[AFTER].n; i++)
		if (sides[AFTER].items[i].table == SIDE_DEVICE)
			return strcmp(sides[AFTER].items[i].name, "kernels") != 0;
	return false;
}

static void page_diff_make_page(struct page *page, const struct side *sides, int64_t base_ns,
				size_t most)
{
	struct pairs pairs;

	page_title(page, "diff %s, %s", sides[BEFORE].title, sides[AFTER].title);
	page_diff_join_rows(sides, &pairs);
	page_diff_say_main(page, sides, &pairs);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_diff_add_side(page, "before", &sides[BEFORE], base_ns);
	page_diff_add_side(page, "after ", &sides[AFTER], base_ns);
	for (int i = 0; i < SIDES; i++)
		side_say_rest(page, &sides[i], base_ns);
	for (int table = 0; table < SIDE_TABLES; table++)
		if (says_more(sides, (enum side_table)table))
			page_diff_add_table(page, &pairs, (enum side_table)table, most);
	free(pairs.list);
}

/* ---- runs ---- */

static struct json_node *read_report(const char *path, char *error, size_t size)
{
	const char *why;
	FILE *file = file_open(path, &why);
	struct json_node *node = NULL;
	struct strbuf text;
	char data[65536];
	size_t n = 0;

	if (!file) {
		snprintf(error, size, "cannot read '%s': %s", path, why);
		return NULL;
	}
	strbuf_init(&text);
	while (text.length <= REPORT_BYTES_MAX && (n = fread(data, 1, sizeof(data), file)) > 0)
		strbuf_add(&text, data, n);
	if (ferror(file))
		snprintf(error, size, "cannot read '%s': %s", path, strerror(EIO));
	else if (text.length > REPORT_BYTES_MAX)
		snprintf(error, size, "'%s' is too long for a report (%u MiB at most)", path,
			 REPORT_BYTES_MAX >> 20);
	else if (!(node = json_read(text.data, text.length)))
		snprintf(error, size, "'%s' is not JSON: diff needs a report of tftop "
			 "(--json=FILE)", path);
	fclose(file);
	strbuf_release(&text);
	return node;
}

/* For a recording, the report was made before the command runs: tui/loop/diff_loop.c. */
static struct json_node *kept_report(const struct page_call *call, const char *path)
{
	const struct report_kept *kept = reports_find(call->reports, path);
	struct json_node *node = kept ? json_read(kept->text, kept->length) : NULL;

	if (!node)
		snprintf(call->error, call->error_size,
			 "the report of '%.100s' is no longer kept: diff makes it again", path);
	return node;
}

static bool side_of_file(const struct page_call *call, struct side *side, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct json_node *node;
	char why[128];

	*side = (struct side) { .items = NULL };
	node = reports_wants(path) ? kept_report(call, path) :
				     read_report(path, call->error, call->error_size);
	if (!node)
		return false;
	if (side_of_report(side, node, slash && slash[1] ? slash + 1 : path, why, sizeof(why)))
		return true;
	snprintf(call->error, call->error_size, "'%s' is %s", path, why);
	return false;
}

/* Both sides are made in the same way, so that they can be compared. */
static bool side_of_run(struct side *side, struct model *model, char *error, size_t size)
{
	static const struct report_run run = { .wall_ns = -1, .exit_status = -1 };
	struct json_node *node;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	*side = (struct side) { .items = NULL };
	if (!out) {
		snprintf(error, size, "no report of this run: %s", strerror(errno));
		return false;
	}
	report_json(model, &run, out);
	fclose(out);
	node = json_read(text, length);
	free(text);
	return side_of_report(side, node, "this run", error, size);
}

/* ---- the command ---- */

static bool is_file(const char *word)
{
	struct stat st;

	return !when_is_word(word) && (strchr(word, '/') || !stat(word, &st));
}

/* A bare number means a step here. */
static bool page_diff_take_side(const struct page_call *call, int argc, const char *const *argv,
				int *at, struct side *side)
{
	struct when_asks asks = { call->model, call->view };
	struct when when;
	const char *word = argv[*at];
	bool number = *word && !word[strspn(word, "0123456789")];

	if (is_file(word))
		return side_of_file(call, side, argv[(*at)++]);
	if (number ? !when_step(&asks, argv[(*at)++], &when, call->error, call->error_size) :
		     !when_range(&asks, argc, argv, at, &when, call->error, call->error_size))
		return false;
	side_of_range(side, call->model, &when, call->turns);
	return true;
}

static bool page_diff_take_word(const struct page_call *call, const char *word, struct side *side)
{
	int at = 0;

	return page_diff_take_side(call, 1, &word, &at, side);
}

/* A single step or range is compared with the median step, a single other run with the present
 * run. */
static bool page_diff_take_sides(const struct page_call *call, int argc, const char *const *argv,
				 struct side *sides)
{
	int at = 0, n = 0;

	while (at < argc && n < SIDES)
		if (!page_diff_take_side(call, argc, argv, &at, &sides[n++]))
			return false;
	if (at < argc) {
		snprintf(call->error, call->error_size,
			 "diff compares two, not also '%.40s'", argv[at]);
		return false;
	}
	if (n == 1 && sides[BEFORE].is_report)
		return side_of_run(&sides[AFTER], call->model, call->error, call->error_size);
	if (n < SIDES) {
		sides[AFTER] = sides[BEFORE];
		sides[BEFORE] = (struct side) { .items = NULL };
		if ((!n && !page_diff_take_word(call, "here", &sides[AFTER])) ||
		    !page_diff_take_word(call, "median", &sides[BEFORE]))
			return false;
	}
	if (sides[BEFORE].is_report == sides[AFTER].is_report)
		return true;
	snprintf(call->error, call->error_size, "a step or range cannot be compared with another "
		 "run; diff FILE compares that run with this one");
	return false;
}

/* Keeps the words that make the page again: steps by their numbers, ranges by their times. */
static void page_diff_remember_report(struct page *page, const struct side *sides, bool all,
				      int64_t base_ns)
{
	const char *argv[6] = { "diff" };
	char *words[SIDES][3];
	int n = 1;

	if (sides[AFTER].is_report)
		return;
	for (int i = 0; i < SIDES; i++) {
		side_words(&sides[i].when, base_ns, words[i]);
		for (int k = 0; words[i][k]; k++)
			argv[n++] = words[i][k];
	}
	if (all)
		argv[n] = "-a";
	page_remade_by(page, n + all, argv);
	for (int i = 0; i < SIDES; i++)
		side_words_free(words[i]);
}

bool page_diff(const struct page_call *call, struct page *page)
{
	struct side sides[SIDES] = { { .items = NULL }, { .items = NULL } };
	struct model_status status;
	const char *argv[8];
	int argc = 0;
	bool all = false, good;

	for (int i = 1; i < call->argc && argc < 8; i++)
		if (!strcmp(call->argv[i], "-a"))
			all = true;
		else
			argv[argc++] = call->argv[i];
	model_lock(call->model);
	model_status(call->model, &status);
	model_unlock(call->model);
	good = page_diff_take_sides(call, argc, argv, sides);
	if (good) {
		page_diff_make_page(page, sides, places_base_ns(&status),
				    all ? SIZE_MAX : SIDE_ROWS);
		page_diff_remember_report(page, sides, all, places_base_ns(&status));
	}
	side_release(&sides[BEFORE]);
	side_release(&sides[AFTER]);
	return good;
}
