/* SPDX-License-Identifier: MIT */
/* le: single executions of ops, kernels, copies and ranges, and of everything else that is on the
 * timeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/executions.h"
#include "tui/filters/filters_span.h"
#include "tui/lists/list_internal.h"
#include "tui/draw/places.h"

#define KINDS "kernel copy fill op range compile graph other wait"

static const struct list_flag flags[] = {
	{ 'n', "name_filter", LIST_REGEX, "name", NULL },
	{ 'k', "kind", LIST_WORD, "kind", KINDS },
	{ 'p', "op_filter", LIST_REGEX, "op", NULL },
	{ 't', "op_type_filter", LIST_REGEX, "type", NULL },
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL },
	{ 'q', "queue_filter", LIST_REGEX, "queue", NULL },
	{ 'T', "thread_filter", LIST_REGEX, "thread", NULL },
	{ 'S', "step", LIST_NUMBER, "step", NULL },
	{ 'e', "execution_time", LIST_TIMES, "duration", NULL },
	{ 'o', "start_time", LIST_TIMES, "start", NULL },
	{ 'b', "bytes", LIST_SIZES, "bytes", NULL },
	{ 'x', "failed", LIST_SWITCH, "failed", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

static const struct list_column columns[] = {
	{ .key = "duration", .sum = LIST_SUM },
	{ .key = "start", .rising = true },
	{ .key = "step", .rising = true },
	{ .key = "kind" },
	{ .key = "where", .title = "thread or queue" },
	{ .key = "bytes", .sum = LIST_SUM, .optional = true },
	{ .key = "rate", .optional = true },
	{ .key = "op" },
	{ .key = "name", .sum = LIST_SUM_TEXT },
};

const struct list_kind list_executions_kind = LIST_KIND(flags, columns, 1);

/* The data that is needed to decide about a row, a name or an execution. */
struct le {
	const struct page_call *call;
	const struct list_options *options;
	const char *name;		/* the name or a part of it; NULL: any name */
	bool whole;
	struct list_places places;
	struct step_row *steps;		/* owned, by start */
	size_t n_steps;
	int64_t base_ns;
};

/* ---- what is wanted ---- */

static const struct filter *filter_of(const struct le *le)
{
	const struct list_given *given = list_given(le->options, 'w');

	return given ? given->filter : NULL;
}

/* Whether the filter may match an execution of that name, in any row. */
static bool name_wanted(const struct le *le, const char *name, const char *raw)
{
	const struct filter *filter = filter_of(le);
	bool may = !filter;

	for (enum row_kind row = 0; row <= ROW_GRAPH && !may; row++)
		may = filters_may_name(filter, row, name, raw);
	return may;
}

static bool name_fits(void *arg, const char *name, const char *raw)
{
	const struct le *le = arg;

	if (le->name && (le->whole ? strcmp(name, le->name) && strcmp(raw, le->name) :
				     !strstr(name, le->name) && !strstr(raw, le->name)))
		return false;
	return list_matches(le->options, 'n', name, raw) && name_wanted(le, name, raw);
}

static bool op_fits(void *arg, const char *name, const char *raw)
{
	return list_matches(((const struct le *)arg)->options, 'p', name, raw);
}

static bool row_fits(void *arg, const struct model_row *row)
{
	const struct le *le = arg;
	bool device = row->kind == ROW_QUEUE || row->kind == ROW_COPY || row->kind == ROW_GRAPH;

	if (filter_of(le) && !filters_may_name(filter_of(le), row->kind, NULL, NULL))
		return false;
	if ((list_given(le->options, 'd') || list_given(le->options, 'q')) && !device)
		return false;
	if (list_given(le->options, 'T'))
		return row->kind == ROW_THREAD && list_matches(le->options, 'T', row->label, NULL);
	if (!device)
		return true;
	return list_device_fits(le->options, &le->places,
				list_queue_device(&le->places, row->queue)) &&
	       list_queue_fits(le->options, &le->places, row->queue);
}

static const struct step_row *step_at(const struct le *le, int64_t ns)
{
	size_t at = FIRST_FROM(le->steps, le->n_steps, ns + 1);

	if (!at || ns >= le->steps[at - 1].start_ns + le->steps[at - 1].dur_ns)
		return NULL;
	return &le->steps[at - 1];
}

/* Also for device work: the step is the one in which it started, as in the list. */
static bool span_wanted(const struct le *le, const struct span *span)
{
	const struct filter *filter = filter_of(le);
	struct span in = *span;
	const struct step_row *step;

	if (!filter)
		return true;
	if (in.step < 0 && filter_asks(filter, FILTER_BY_STEP)) {
		step = step_at(le, in.start_ns);
		in.step = step ? step->number : -1;
	}
	return filters_span(filter, &in, le->base_ns);
}

static bool span_fits(void *arg, const struct span *span)
{
	const struct le *le = arg;

	if (list_given(le->options, 'x') && span->status >= 0)
		return false;
	return list_matches(le->options, 't', span->op_type, span->kind == COMMAND_KERNEL ?
			    kernel_kind_name((enum kernel_kind)span->class.kind) :
			    span->row_kind == ROW_COPY ? direction_name(span->direction) : NULL) &&
	       span_wanted(le, span);
}

static bool rest(void *arg, unsigned permille)
{
	return page_rest(((const struct le *)arg)->call, permille);
}

static unsigned kinds_wanted(const struct list_options *options)
{
	const struct list_given *given = list_given(options, 'k');

	for (unsigned bit = 1; given && bit <= EXECUTION_OTHER; bit <<= 1)
		if (!strcmp(execution_kind_name((enum execution_kind)bit), given->text))
			return bit;
	return EXECUTION_ALL;
}

static void narrow(struct execution_bounds *bounds, int64_t least, int64_t most)
{
	if (least > bounds->least)
		bounds->least = least;
	if (most < bounds->most)
		bounds->most = most;
}

static int64_t since(int64_t base_ns, int64_t ns)
{
	return ns == INT64_MIN || ns == INT64_MAX ? ns : base_ns + ns;
}

/* Time limits in the filter are used to skip whole chunks. */
static void narrow_by_filter(const struct le *le, struct execution_want *want)
{
	int64_t least, most;

	filter_bounds(filter_of(le), FILTER_BY_DUR, &least, &most);
	narrow(&want->dur_ns, least, most);
	filter_bounds(filter_of(le), FILTER_BY_START, &least, &most);
	narrow(&want->start_ns, since(le->base_ns, least), since(le->base_ns, most));
}

/* The limits that -S sets on the start time; returns false if there is no such step. */
static bool step_bounds(const struct page_call *call, const struct le *le,
			struct execution_bounds *start_ns)
{
	const struct list_given *given = list_given(le->options, 'S');

	for (size_t i = 0; given && i < le->n_steps; i++)
		if (le->steps[i].number == given->number) {
			narrow(start_ns, le->steps[i].start_ns,
			       le->steps[i].start_ns + le->steps[i].dur_ns - 1);
			return true;
		}
	if (!given)
		return true;
	if (le->n_steps)
		snprintf(call->error, call->error_size,
			 "no step %s: there are %" PRId64 " … %" PRId64, given->text,
			 le->steps[0].number, le->steps[le->n_steps - 1].number);
	else
		snprintf(call->error, call->error_size,
			 "no step %s: no steps were seen; -o takes times instead", given->text);
	return false;
}

/* Waits of threads are not listed as executions. */
static bool kind_is_here(const struct page_call *call, const struct list_options *options)
{
	const struct list_given *given = list_given(options, 'k');

	if (!given || strcmp(given->text, "wait"))
		return true;
	snprintf(call->error, call->error_size,
		 "waits are not listed one by one: 'waits' has them by call, op and line");
	return false;
}

/*
 * -s start, bytes or duration decides which executions are looked for; -s with another column
 * only sorts those that were found.
 */
static void order_wanted(const struct list_options *options, struct execution_want *want)
{
	const struct list_given *given = list_given(options, 's');
	size_t length = given ? strlen(given->text) : 0;
	bool reverse = list_given(options, 'r') != NULL;

	want->rising = given ? false : reverse;
	if (given && !strncmp("start", given->text, length) && length > 2) {
		want->order = EXECUTIONS_BY_START;
		want->rising = !reverse;
	} else if (given && !strncmp("bytes", given->text, length)) {
		want->order = EXECUTIONS_BY_BYTES;
		want->rising = reverse;
	} else if (given && !strncmp("duration", given->text, length)) {
		want->rising = reverse;
	}
}

/* ---- rows ---- */

static void list_executions_add_step(struct list *list, const struct step_row *step)
{
	struct list_cell *cell = list_add(list, step ? LIST_PLAIN : LIST_NONE,
					  step ? step->number : 0);

	if (step)
		list_link(cell, "step", list_keep(list, "%" PRId64, step->number));
}

static void list_executions_add_where(struct list *list, const struct span *span)
{
	const char *place = span->kind == COMMAND_NONE ? span->thread : span->queue;

	if (!place)
		list_add(list, LIST_NONE, 0);
	else if (span->kind != COMMAND_NONE && span->device)
		list_name(list, list_keep(list, "%s %.*s", place, (int)strcspn(span->device, " "),
					  span->device));
	else
		list_name(list, list_keep(list, "%s", place));
}

static void list_executions_add_row(struct list *list, const struct le *le, const struct span *span)
{
	enum execution_kind kind = execution_kind(span);
	int64_t dur_ns = span->end_ns - span->start_ns;
	bool moved = span->row_kind == ROW_COPY && span->bytes;
	struct list_cell *cell = list_add(list, LIST_TIME, dur_ns);

	cell->approx = span->approx;
	if (span->open)
		cell->role = ROLE_WARN;
	list_add(list, LIST_WHEN, span->start_ns - le->base_ns)->approx = span->approx;
	list_executions_add_step(list, step_at(le, span->start_ns));
	list_name(list, list_keep(list, "%s%s%s%s", execution_kind_name(kind),
				  kind == EXECUTION_COPY && span->direction ? " " : "",
				  kind == EXECUTION_COPY ? direction_name(span->direction) : "",
				  span->open ? ", open" : ""));
	list_executions_add_where(list, span);
	list_add(list, moved ? LIST_BYTES : LIST_NONE, (int64_t)span->bytes);
	list_add(list, moved && dur_ns > 0 && !span->open ? LIST_RATE : LIST_NONE,
		 (int64_t)bytes_per_s(span->bytes, dur_ns))->approx = span->approx;
	cell = list_name(list, span->op);
	if (span->op)
		list_link(cell, "ni", span->op);
	cell = list_name(list, span->status < 0 ?
			 list_keep(list, "%s  failed (%d)", span->name, (int)span->status) :
			 span->name);
	cell->role = span->status < 0 ? ROLE_BAD : ROLE_DEFAULT;
	list_link(cell, "event", list_keep(list, "%u:%u:%" PRIu64, span->ref.row, span->ref.lane,
					   span->ref.id));
}

static void list_executions_say_rest(struct page *page, const struct executions *found,
				     const struct model_status *status)
{
	char text[FMT_MAX], when[FMT_MAX];

	if (found->folded)
		page_say(page, ROLE_WARN, 0, "≈ %s before %s discarded to stay within the memory "
			 "limit: lp, lk and lc count them, this list does not",
			 fmt_many(text, found->folded, "event"),
			 fmt_clock(when, status->folded_ns - places_base_ns(status)));
}

/* ---- the page ---- */

static bool asks_names(const struct filter *filter)
{
	return filter && (filter_asks(filter, FILTER_BY_NAME) ||
			  filter_asks(filter, FILTER_BY_RAW_NAME));
}

static void list_executions_look(const struct page_call *call, struct le *le,
				 struct execution_want *want, struct executions *found)
{
	const struct list_options *o = le->options;

	want->name = le->name || list_given(o, 'n') || asks_names(filter_of(le)) ?
		     search_new(call->model, SEARCH_NAME, name_fits, le) : NULL;
	want->op = list_given(o, 'p') ? search_new(call->model, SEARCH_OP, op_fits, le) : NULL;
	model_executions(call->model, want, found);
	model_lock(call->model);
	search_free(want->name);
	search_free(want->op);
	model_unlock(call->model);
}

static bool list_executions_find(const struct page_call *call, struct le *le,
				 struct executions *found)
{
	const struct list_options *o = le->options;
	const struct list_given *dur = list_given(o, 'e'), *start = list_given(o, 'o');
	const struct list_given *bytes = list_given(o, 'b');
	struct execution_want want = {
		.kinds = kinds_wanted(o), .dur_ns = EXECUTION_ANY, .start_ns = EXECUTION_ANY,
		.bytes = EXECUTION_ANY, .row = row_fits, .arg = le, .most = list_limit(o),
		.rest = rest,
	};

	if (!step_bounds(call, le, &want.start_ns))
		return false;
	if (list_given(o, 'x') || list_given(o, 't') || list_given(o, 'w'))
		want.span = span_fits;
	if (dur)
		want.dur_ns = (struct execution_bounds){ dur->range.least, dur->range.most };
	if (bytes)
		want.bytes = (struct execution_bounds){ bytes->range.least, bytes->range.most };
	if (start)
		narrow(&want.start_ns, since(le->base_ns, start->range.least),
		       since(le->base_ns, start->range.most));
	narrow_by_filter(le, &want);
	if (want.most > EXECUTIONS_MAX)
		want.most = EXECUTIONS_MAX;
	if (want.most < 1)
		want.most = 1;
	order_wanted(o, &want);
	le->whole = true;
	list_executions_look(call, le, &want, found);
	if (le->name && !found->n && !found->stopped) {
		free(found->spans);
		le->whole = false;
		list_executions_look(call, le, &want, found);
	}
	return true;
}

static void list_executions_print(const struct page_call *call, const struct le *le,
				  const struct executions *found, const struct model_status *status,
				  struct page *page)
{
	struct list list;

	list_begin(&list, &list_executions_kind);
	list.by = "duration";
	list.empty = status->events ? "-k, -d, -q and -T exclude every row of the timeline" :
		     "no event is on the timeline yet";
	list.more = found->more;
	list.about = le->name;
	for (size_t i = 0; i < found->n; i++)
		list_executions_add_row(&list, le, &found->spans[i]);
	list_print(&list, call, le->options, "executions", found->events, page);
	list_executions_say_rest(page, found, status);
}

bool page_list_executions(const struct page_call *call, struct page *page)
{
	struct list_options options;
	struct le le = { .call = call, .options = &options };
	struct executions found = { .n = 0 };
	struct model_status status;
	struct step_stats stats;
	bool good;

	if (!list_parse(call, &list_executions_kind, &options))
		return false;
	le.name = options.name;
	model_lock(call->model);
	list_places_take(&le.places, call->model);
	le.n_steps = model_steps(call->model, &stats, &le.steps);
	model_status(call->model, &status);
	model_unlock(call->model);
	le.base_ns = places_base_ns(&status);
	good = kind_is_here(call, &options) && list_executions_find(call, &le, &found);
	if (good)
		list_executions_print(call, &le, &found, &status, page);
	free(found.spans);
	free(le.steps);
	list_places_release(&le.places);
	list_options_release(&options);
	return good;
}
