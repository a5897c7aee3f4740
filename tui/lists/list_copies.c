/* SPDX-License-Identifier: MIT */
/* lc: copies by direction, device and queue. pc: one kind of them, by op, with the longest
 * copies. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/copies.h"
#include "model/query/time.h"
#include "tui/filters/filters_rows.h"
#include "tui/draw/labels.h"
#include "tui/lists/list_internal.h"
#include "tui/draw/places.h"
#include "tui/pages/range_take.h"

#define LOOK_MOST 20000000u
#define OP_WIDTH 32

#define COPY_FLAGS \
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL }, \
	{ 'q', "queue_filter", LIST_REGEX, "queue", NULL }, \
	{ 'p', "op_filter", LIST_REGEX, "op", NULL }, \
	{ 'e', "execution_time", LIST_TIMES, "mean", NULL }, \
	{ 'b', "bytes", LIST_SIZES, "each", NULL }, \
	{ 'a', "memory", LIST_WORD, "memory", "pageable pinned mixed" }

static const struct list_flag flags[] = {
	{ 't', "direction_filter", LIST_REGEX, "direction", NULL },
	COPY_FLAGS, LIST_FLAG_WHERE, LIST_FLAGS_COMMON,
};

const struct list_kind list_copies_kind = LIST_KIND_OF_ROWS(flags, &copy_columns);

static void list_copies_take_parts(struct list_copies *copies, const struct page_call *call,
				   const struct model_status *status)
{
	struct range_ask ask = {
		.model = call->model, .t0 = status->first_ns, .t1 = status->last_ns + 1,
		.only_copies = true, .most = LOOK_MOST, .expected = status->events + 1,
		.turns = call->turns,
		.by = RANGE_BY_OP | RANGE_BY_QUEUE | RANGE_BY_DEVICE | RANGE_BY_DIRECTION,
	};
	struct range_state state;

	if (status->first_ns > status->last_ns)
		return;
	copies->n = range_take(&ask, &copies->parts, &state);
	copies->whole = state.whole && !state.folded;
	copies->count = state.spans;
}

void list_copies_take(struct list_copies *copies, const struct page_call *call)
{
	struct model_status status;

	memset(copies, 0, sizeof(*copies));
	model_lock(call->model);
	list_places_take(&copies->places, call->model);
	model_status(call->model, &status);
	model_unlock(call->model);
	list_copies_take_parts(copies, call, &status);
}

void list_copies_release(struct list_copies *copies)
{
	list_places_release(&copies->places);
	free(copies->parts);
}

struct lc {
	const struct list_options *options;
	struct list_copies kept;	/* copies by op, of those that are kept in detail */
	uint64_t best[DIR_COUNT];	/* bytes/s, over all queues */
};

/* ---- rows ---- */

static bool is_part_of(const struct range_part *part, const struct copy_row *row)
{
	return part->queue == row->queue && part->direction == row->direction;
}

static bool op_fits(const struct lc *lc, const struct copy_row *row)
{
	bool any = !list_given(lc->options, 'p');

	for (size_t i = 0; i < lc->kept.n && !any; i++)
		any = is_part_of(&lc->kept.parts[i], row) &&
		      list_matches(lc->options, 'p', lc->kept.parts[i].op, NULL);
	return any;
}

static uint64_t timed(const struct copy_row *row)
{
	return row->count - row->untimed;
}

static enum filter_known field(const void *line, enum filter_field by, struct filter_value *value)
{
	return columns_filter(&copy_columns, line, by, value);
}

/* Rows with both kinds of memory fit whichever kind is asked for. */
static bool memory_fits(const struct lc *lc, const struct copy_line *line)
{
	const struct list_given *given = list_given(lc->options, 'a');

	return !given || (line->memory && (!strcmp(line->memory, given->text) ||
					   !strcmp(line->memory, "mixed")));
}

static bool list_copies_row_fits(const struct lc *lc, const struct copy_line *line)
{
	const struct copy_row *row = &line->row;

	return list_matches(lc->options, 't', direction_name(row->direction), NULL) &&
	       list_device_fits(lc->options, &lc->kept.places, row->device) &&
	       list_queue_fits(lc->options, &lc->kept.places, row->queue) &&
		       memory_fits(lc, line) &&
	       (!list_given(lc->options, 'e') ||
		(timed(row) && list_within(lc->options, 'e',
					   row->total_ns / (int64_t)timed(row)))) &&
	       list_within(lc->options, 'b', row->count ? (int64_t)(row->bytes / row->count) : 0) &&
	       op_fits(lc, row) && list_wants(lc->options, field, line);
}

static void find_best(struct lc *lc, const struct copy_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].peak_bytes_per_s > lc->best[rows[i].direction])
			lc->best[rows[i].direction] = rows[i].peak_bytes_per_s;
}

/* Adds the op that launched most of the copies, and the number of ops. */
static void list_copies_dress_op(struct list *list, const struct lc *lc,
				 const struct copy_line *line, struct list_cell *cell)
{
	char fitted[LABEL_MAX];
	size_t n = 0;

	for (size_t i = 0; i < lc->kept.n; i++)
		n += is_part_of(&lc->kept.parts[i], &line->row) && lc->kept.parts[i].op;
	if (!line->op)
		return;
	label_fit_middle(fitted, sizeof(fitted), line->op, OP_WIDTH, false);
	cell->text = n > 1 ? list_keep(list, "%s +%zu", fitted, n - 1) :
		     list_keep(list, "%s", fitted);
	list_link(cell, "ni", line->op);
}

static void list_copies_add_place(struct list *list, const struct lc *lc, uint32_t device,
				  uint32_t queue)
{
	struct list_cell *cell = list_name(list, list_device(list, &lc->kept.places, device));

	if (cell->text)
		list_link(cell, "device", list_keep(list, "%u", device));
	cell = list_name(list, list_queue(list, &lc->kept.places, queue));
	if (cell->text)
		list_link(cell, "queue", list_keep(list, "%u", queue));
}

/* If the row has copies with both kinds of memory, says how many were pageable. */
static void list_copies_dress_memory(struct list *list, const struct copy_line *line,
				     struct list_cell *cell)
{
	char count[FMT_MAX];

	if (!line->memory || !strcmp(line->memory, "pinned"))
		return;
	if (line->row.pinned)
		cell->text = list_keep(list, "%s pageable",
				       fmt_count(count, line->row.count - line->row.pinned));
	cell->role = ROLE_WARN;
}

/* "h2d", "p2p → gpu1". */
static void list_copies_dress_direction(struct list *list, const struct lc *lc,
					const struct copy_line *line, struct list_cell *cell)
{
	const char *name = direction_name(line->row.direction);
	char *quoted;

	name = *name ? name : "copy";
	cell->value = LIST_NAME;
	cell->text = list_keep(list, "%s%s%s", name, *line->peer ? " → " : "", line->peer);
	cell->role = line->row.failed ? ROLE_BAD : ROLE_DEFAULT;
	cell->link[0] = "pc";
	cell->link[1] = name;
	cell->link[2] = "-q";
	quoted = list_regex_quote(list_queue(list, &lc->kept.places, line->row.queue));
	cell->link[3] = list_keep(list, "%s", quoted);
	free(quoted);
}

static void list_copies_dress(struct list *list, const struct table_column *column,
			      struct list_cell *cell, const void *row, void *arg)
{
	const struct copy_line *line = row;
	bool device = !strcmp(column->key, "device"), queue = !strcmp(column->key, "queue");

	if ((device || queue) && cell->text) {
		cell->text = list_keep(list, "%s", cell->text);
		list_link(cell, column->key, list_keep(list, "%u", device ? line->row.device :
						       line->row.queue));
	} else if (!strcmp(column->key, "memory")) {
		list_copies_dress_memory(list, line, cell);
	} else if (!strcmp(column->key, "op")) {
		list_copies_dress_op(list, arg, line, cell);
	} else if (!strcmp(column->key, "direction")) {
		list_copies_dress_direction(list, arg, line, cell);
	}
}

static void line_of_copies(struct copy_line *line, const struct lc *lc, const struct copy_row *row)
{
	const struct list_places *places = &lc->kept.places;

	copy_line_init(line, row);
	line->device_name = list_device_label(places, row->device, line->device,
					      sizeof(line->device));
	list_device_label(places, row->peer, line->peer, sizeof(line->peer));
	if (row->queue != UINT32_MAX)
		places_queue_label(line->queue, sizeof(line->queue), places->queues,
				  places->n_queues, row->queue);
	line->best_bytes_per_s = lc->best[row->direction];
	for (size_t i = 0; i < lc->kept.n && !line->op; i++)
		if (is_part_of(&lc->kept.parts[i], row))
			line->op = lc->kept.parts[i].op;
}

/* ---- lc ---- */

static void list_copies_begin(struct list *list)
{
	list_begin(list, &list_copies_kind);
	list->by = "total";
	list->whole_is = "all copies' time";
	list->whole_value = LIST_TIME;
	list->empty = "no copy has finished yet";
}

static void list_copies_say_ops(struct page *page, const struct lc *lc)
{
	char text[FMT_MAX];

	page_say(page, ROLE_MUTED, 0, "of best: the mean rate as a share of the rate of the "
		 "fastest single copy seen in that direction, on any queue");
	if (!lc->kept.whole && lc->kept.n)
		page_say(page, ROLE_WARN, 0, "≈ ops are known only of the %s kept in detail",
			 fmt_many(text, lc->kept.count, "copy"));
}

static size_t list_copies_take_rows(struct lc *lc, const struct page_call *call,
				    struct copy_row **rows)
{
	size_t n;

	list_copies_take(&lc->kept, call);
	model_lock(call->model);
	n = model_copies(call->model, rows);
	model_unlock(call->model);
	find_best(lc, *rows, n);
	return n;
}

bool page_list_copies(const struct page_call *call, struct page *page)
{
	struct list_options options;
	struct lc lc = { .options = &options };
	struct copy_row *rows;
	struct list list;
	size_t n;

	if (!list_parse(call, &list_copies_kind, &options))
		return false;
	n = list_copies_take_rows(&lc, call, &rows);
	list_copies_begin(&list);
	for (size_t i = 0; i < n; i++) {
		struct copy_line line;

		list.whole += rows[i].total_ns;
		line_of_copies(&line, &lc, &rows[i]);
		if (list_copies_row_fits(&lc, &line))
			list_row(&list, &line, list_copies_dress, &lc);
	}
	list_print(&list, call, &options, "kinds of copies", n, page);
	if (n)
		list_copies_say_ops(page, &lc);
	list_copies_release(&lc.kept);
	free(rows);
	list_options_release(&options);
	return true;
}

/* ---- pc ---- */

static const struct list_flag one_flags[] = {
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL },
	{ 'q', "queue_filter", LIST_REGEX, "queue", NULL },
	{ 'p', "op_filter", LIST_REGEX, "op", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

static const struct list_column one_columns[] = {
	{ .key = "count", .was = "copies", .sum = LIST_SUM },
	{ .key = "bytes", .sum = LIST_SUM },
	{ .key = "each" },
	{ .key = "total", .sum = LIST_SUM },
	{ .key = "mean", .was = "avg" },
	{ .key = "max", .was = "longest" },
	{ .key = "rate" },
	{ .key = "best", .title = "of best", .was = "of-best" },
	{ .key = "share", .sum = LIST_SUM },
	{ .key = "direction" },
	{ .key = "device" },
	{ .key = "queue" },
	{ .key = "op", .sum = LIST_SUM_TEXT },
};
const struct list_kind print_copies_kind = LIST_KIND(one_flags, one_columns, 1);

/* What pc was asked for: a direction, a queue or an op. */
enum what { WHAT_ALL, WHAT_DIRECTION, WHAT_QUEUE, WHAT_OP, WHAT_NONE };

static bool is_queue(const struct lc *lc, uint32_t queue, const char *text)
{
	struct list list;
	bool is;

	list_begin(&list, &print_copies_kind);
	is = queue != UINT32_MAX && !strcmp(list_queue(&list, &lc->kept.places, queue), text);
	list_release(&list);
	return is;
}

static enum what what_is(const struct lc *lc, const char *text, const struct copy_row *rows,
			 size_t n)
{
	if (!text)
		return WHAT_ALL;
	for (enum direction d = DIR_NONE + 1; d < DIR_COUNT; d++)
		if (!strcmp(direction_name(d), text))
			return WHAT_DIRECTION;
	for (size_t i = 0; i < n; i++)
		if (is_queue(lc, rows[i].queue, text))
			return WHAT_QUEUE;
	for (size_t i = 0; i < lc->kept.n; i++)
		if (lc->kept.parts[i].op && strstr(lc->kept.parts[i].op, text))
			return WHAT_OP;
	return WHAT_NONE;
}

static bool part_is(const struct lc *lc, enum what what, const char *text,
		    const struct range_part *part)
{
	switch (what) {
	case WHAT_DIRECTION:
		return !strcmp(direction_name(part->direction), text);
	case WHAT_QUEUE:
		return is_queue(lc, part->queue, text);
	case WHAT_OP:
		return part->op && strstr(part->op, text);
	default:
		return true;
	}
}

/* A row of pc, as filters see it. */
struct copies_part {
	const struct range_part *part;
	int64_t whole;			/* time of all copies */
	char device[16], queue[64];
	const char *device_name;
};

static enum filter_known part_field(const void *arg, enum filter_field by,
				    struct filter_value *value)
{
	const struct copies_part *of = arg;

	switch (by) {
	case FILTER_BY_DEVICE: return filter_words(value, of->device, of->device_name);
	case FILTER_BY_QUEUE: return filter_words(value, of->queue, NULL);
	default: return filters_copy_part(of->part, of->whole, by, value);
	}
}

static bool part_wanted(const struct lc *lc, const struct range_part *part, int64_t whole)
{
	struct copies_part of = { .part = part, .whole = whole };
	const struct list_places *places = &lc->kept.places;

	of.device_name = list_device_label(places, part->device, of.device, sizeof(of.device));
	places_queue_label(of.queue, sizeof(of.queue), places->queues, places->n_queues,
			  part->queue);
	return list_wants(lc->options, part_field, &of);
}

static bool part_fits(const struct lc *lc, enum what what, const struct range_part *part)
{
	return part_is(lc, what, lc->options->name, part) &&
	       list_device_fits(lc->options, &lc->kept.places, part->device) &&
	       list_queue_fits(lc->options, &lc->kept.places, part->queue) &&
	       list_matches(lc->options, 'p', part->op, NULL);
}

static void list_copies_add_part(struct list *list, const struct lc *lc,
				 const struct range_part *part)
{
	uint64_t done = part->count - part->open, best = lc->best[part->direction];
	uint64_t rate = part->direction == DIR_MAP || part->direction == DIR_UNMAP ? 0 :
			bytes_per_s(part->bytes, part->time_ns);
	struct list_cell *cell;

	list_add(list, LIST_COUNT, (int64_t)part->count);
	list_add(list, LIST_BYTES, (int64_t)part->bytes);
	list_add(list, done ? LIST_BYTES : LIST_NONE, done ? (int64_t)(part->bytes / done) : 0);
	list_add(list, LIST_TIME, part->time_ns);
	list_time(list, part->count ? part->time_ns / (int64_t)part->count : 0, part->count > 0,
		  false);
	list_link(list_add(list, LIST_TIME, part->longest_ns), "event",
		  list_keep(list, "%u:%u:%" PRIu64, part->longest.row, part->longest.lane,
			    part->longest.id));
	list_add(list, rate ? LIST_RATE : LIST_NONE, (int64_t)rate);
	list_add(list, rate && best ? LIST_MILLI : LIST_NONE,
		 best ? (int64_t)((__uint128_t)rate * 1000 / best) : 0);
	list_add(list, LIST_SHARE, part->time_ns);
	list_name(list, direction_name(part->direction));
	list_copies_add_place(list, lc, part->device, part->queue);
	cell = list_name(list, part->op);
	if (part->op)
		list_link(cell, "ni", part->op);
}

/* Says how the copies were distributed over the run, and how many used which kind of memory. */
static void list_copies_say_memory(struct page *page, const struct lc *lc,
				   const struct copy_row *rows, size_t n, enum what what)
{
	uint64_t host = 0, pinned = 0;
	char text[FMT_MAX], all[FMT_MAX], share[FMT_MAX];

	for (size_t i = 0; i < n; i++) {
		struct range_part like = { .direction = rows[i].direction, .queue = rows[i].queue,
					   .device = rows[i].device };

		if ((rows[i].direction != DIR_H2D && rows[i].direction != DIR_D2H) ||
		    what == WHAT_OP || !part_is(lc, what, lc->options->name,
									 &like))
			continue;
		host += rows[i].count;
		pinned += rows[i].pinned;
	}
	if (host)
		page_say(page, pinned < host ? ROLE_WARN : ROLE_DEFAULT, 0,
			 "pageable memory: %s of %s from or to the host, %s",
			 fmt_count(text, host - pinned), fmt_many(all, host, "copy"),
			 fmt_share(share, host - pinned, host));
}

static void list_copies_say_bandwidth(struct page *page, const struct page_call *call,
				      const struct lc *lc, enum what what)
{
	char mean[FMT_MAX], best[FMT_MAX], bytes[FMT_MAX];
	struct bandwidth_row *rows;
	struct model_status status;
	size_t n;

	model_lock(call->model);
	n = model_bandwidth(call->model, &rows);
	model_status(call->model, &status);
	model_unlock(call->model);
	for (size_t i = 0; i < n; i++) {
		struct list list;

		if (what == WHAT_DIRECTION &&
		    strcmp(direction_name(rows[i].direction), lc->options->name))
			continue;
		if (what == WHAT_QUEUE || what == WHAT_OP)
			break;
		list_begin(&list, &print_copies_kind);
		page_add(page, ROLE_MUTED, 0, "%s %s: %s while any ran, best %s", direction_name(
			 rows[i].direction), list_device(&list, &lc->kept.places, rows[i].device),
			 fmt_rate(mean, rows[i].mean_bytes_per_s),
			 fmt_rate(best, rows[i].best_bytes_per_s));
		if (rows[i].step_bytes)
			page_add(page, ROLE_MUTED, 0, ", %s a %s",
				 fmt_bytes(bytes, rows[i].step_bytes),
				 step_noun(status.passes));
		page_end(page);
		list_release(&list);
	}
	free(rows);
}

/* Links to the single executions. */
static void link_executions(struct page *page, const struct lc *lc, enum what what)
{
	const char *argv[] = { "le", "-k", "copy", NULL, NULL };
	char *quoted = what == WHAT_ALL ? NULL : list_regex_quote(lc->options->name);
	int argc = 3;

	if (what != WHAT_ALL) {
		if (what == WHAT_OP)
			/* a part of the name is sufficient */
			quoted[strlen(quoted) - 1] = '\0';
		argv[argc++] = what == WHAT_DIRECTION ? "-t" : what == WHAT_QUEUE ? "-q" : "-p";
		argv[argc++] = what == WHAT_OP ? quoted + 1 : quoted;
	}
	page_add(page, ROLE_MUTED, 0, "the longest copies: ");
	page_link(page, "le", argc, argv);
	page_end(page);
	free(quoted);
}

static bool fail(const struct page_call *call, const struct lc *lc, size_t n)
{
	if (n)
		snprintf(call->error, call->error_size,
			 "no copy in a direction, on a queue or of an "
			 "op '%.80s'; lc lists them", lc->options->name);
	else
		snprintf(call->error, call->error_size, "no copy has finished yet");
	return false;
}

static void list_copies_print_one(const struct page_call *call, struct lc *lc, enum what what,
				  const struct copy_row *rows, size_t n, struct page *page)
{
	struct list list;

	list_begin(&list, &print_copies_kind);
	list.by = "total";
	list.whole_is = "all copies' time";
	list.whole_value = LIST_TIME;
	list.empty = "no copy has finished yet";
	list.about = lc->options->name;
	for (size_t i = 0; i < lc->kept.n; i++)
		list.whole += lc->kept.parts[i].time_ns;
	for (size_t i = 0; i < lc->kept.n; i++) {
		if (part_fits(lc, what, &lc->kept.parts[i]) &&
		    part_wanted(lc, &lc->kept.parts[i], list.whole))
			list_copies_add_part(&list, lc, &lc->kept.parts[i]);
	}
	list_print(&list, call, lc->options, "kinds of copies", lc->kept.n, page);
	list_copies_say_memory(page, lc, rows, n, what);
	list_copies_say_bandwidth(page, call, lc, what);
	list_copies_say_ops(page, lc);
	link_executions(page, lc, what);
}

bool page_copies(const struct page_call *call, struct page *page)
{
	struct list_options options;
	struct lc lc = { .options = &options };
	struct copy_row *rows;
	enum what what;
	bool good;
	size_t n;

	if (!list_parse(call, &print_copies_kind, &options))
		return false;
	n = list_copies_take_rows(&lc, call, &rows);
	what = what_is(&lc, options.name, rows, n);
	good = what != WHAT_NONE;
	if (good)
		list_copies_print_one(call, &lc, what, rows, n, page);
	else
		fail(call, &lc, n);
	list_copies_release(&lc.kept);
	free(rows);
	list_options_release(&options);
	return good;
}
