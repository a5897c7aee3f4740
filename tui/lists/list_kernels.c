/* SPDX-License-Identifier: MIT */
/* lk: kernels by name and device, with what they took, by how many runs, for which op. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/launch.h"
#include "tui/filters/filters_rows.h"
#include "tui/draw/labels.h"
#include "tui/lists/list_internal.h"

static const struct list_flag flags[] = {
	{ 'n', "kernel_name_filter", LIST_REGEX, "name", NULL },
	{ 't', "class_filter", LIST_REGEX, "class", NULL },
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL },
	{ 'q', "queue_filter", LIST_REGEX, "queue", NULL },
	{ 'p', "op_filter", LIST_REGEX, "op", NULL },
	{ 'e', "execution_time", LIST_TIMES, "avg", NULL },
	{ 'o', "total_time", LIST_TIMES, "total", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

static const struct list_column columns[] = {
	{ "count", "runs", LIST_SUM, false, false },
	{ "total", NULL, LIST_SUM, false, false },
	{ "share", NULL, LIST_SUM, false, false },
	{ "avg", NULL, LIST_SUM_NONE, false, false },
	{ "min", NULL, LIST_SUM_NONE, false, false },
	{ "max", NULL, LIST_SUM_NONE, false, false },
	{ "p99", NULL, LIST_SUM_NONE, false, false },
	{ "occupancy", "occup", LIST_SUM_NONE, false, true },
	{ "device", NULL, LIST_SUM_NONE, false, false },
	{ "class", NULL, LIST_SUM_NONE, false, false },
	{ "op", NULL, LIST_SUM_NONE, false, false },
	{ "kernel", NULL, LIST_SUM_TEXT, false, false },
};

const struct list_kind list_kernels_kind = LIST_KIND(flags, columns, 0);

#define OP_WIDTH 36

static bool op_fits(const struct list_options *options, const struct kernel_row *row)
{
	bool any = !list_given(options, 'p');

	for (size_t i = 0; i < row->n_ops && !any; i++)
		any = list_matches(options, 'p', row->ops[i].name, NULL);
	return any;
}

/* Of a kernel on several queues only what ran on those wanted counts; *part: that is less
 * than all, and how its times are spread is not known. */
static bool take_queues(const struct list_options *options, const struct list_places *places,
			struct kernel_row *row, bool *part)
{
	uint64_t count = 0;
	int64_t total_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < row->n_queues; i++) {
		if (!list_queue_fits(options, places, row->queues[i].queue))
			continue;
		count += row->queues[i].count;
		total_ns += row->queues[i].total_ns;
		kept++;
	}
	*part = kept < row->n_queues;
	if (*part) {
		row->count = count;
		row->total_ns = total_ns;
		row->mean_ns = count ? total_ns / (int64_t)count : 0;
	}
	return kept > 0 || !row->n_queues;
}

struct asked {
	const struct kernel_row *row;
	char device[16];
	const char *full;		/* its name; NULL not known */
};

static enum filter_known field(const void *arg, enum filter_field by, struct filter_value *value)
{
	const struct asked *asked = arg;

	return by == FILTER_BY_DEVICE ? filter_words(value, asked->device, asked->full) :
	       filters_kernel(asked->row, by, value);
}

static bool wanted(const struct list_options *options, const struct list_places *places,
		   const struct kernel_row *row)
{
	struct asked asked = { .row = row };

	asked.full = list_device_label(places, row->device, asked.device, sizeof(asked.device));
	return list_wants(options, field, &asked);
}

static bool fits(const struct list_options *options, const struct list_places *places,
		 const struct kernel_row *row)
{
	return list_matches(options, 'n', row->name, row->raw_name) &&
	       list_matches(options, 't', kernel_kind_name((enum kernel_kind)row->class.kind),
			    NULL) &&
	       list_device_fits(options, places, row->device) && op_fits(options, row) &&
	       list_within(options, 'e', row->mean_ns) &&
	       list_within(options, 'o', row->total_ns) && wanted(options, places, row);
}

static const struct kernel_op *most_of(const struct kernel_row *row)
{
	const struct kernel_op *most = NULL;

	for (size_t i = 0; i < row->n_ops; i++)
		if (row->ops[i].name && (!most || row->ops[i].total_ns > most->total_ns))
			most = &row->ops[i];
	return most;
}

static void add_op(struct list *list, const struct kernel_row *row)
{
	const struct kernel_op *op = most_of(row);
	char fitted[LABEL_MAX];

	if (!op) {
		list_add(list, LIST_NONE, 0);
		return;
	}
	label_fit_middle(fitted, sizeof(fitted), op->name, OP_WIDTH, false);
	list_link(list_name(list, row->n_ops > 1 ?
			    list_keep(list, "%s +%zu", fitted, row->n_ops - 1) :
			    list_keep(list, "%s", fitted)), "ni", op->name);
}

static void add_row(struct list *list, const struct list_places *places,
		    const struct kernel_row *row, bool part)
{
	bool timed = row->count > row->untimed;
	struct list_cell *cell;

	list_add(list, LIST_COUNT, (int64_t)row->count);
	list_time(list, row->total_ns, timed, false)->approx = row->approx;
	list_add(list, timed ? LIST_SHARE : LIST_NONE, row->total_ns);
	list_time(list, row->mean_ns, timed, false)->approx = row->approx;
	list_time(list, row->min_ns, timed && !part, false)->approx = row->approx;
	list_time(list, row->max_ns, timed && !part, false)->approx = row->approx;
	list_time(list, row->p99_ns, timed && !part, true);
	list_add(list, row->occupancy_milli >= 0 ? LIST_MILLI : LIST_NONE, row->occupancy_milli);
	cell = list_name(list, list_device(list, places, row->device));
	if (cell->text)
		list_link(cell, "device", list_keep(list, "%u", row->device));
	list_name(list, kernel_kind_name((enum kernel_kind)row->class.kind));
	add_op(list, row);
	cell = list_name(list, row->name);
	cell->role = row->failed ? ROLE_BAD : ROLE_DEFAULT;
	list_link(cell, "pk", row->raw_name);
}

static void say_coverage(struct page *page, const struct model_status *status)
{
	char launch[FMT_MAX], op[FMT_MAX];

	if (status->device_ns > 0)
		page_say(page, ROLE_MUTED, 0, "coverage: of the devices' time %s has a launch, %s an op",
			 fmt_share(launch, (uint64_t)status->launched_ns, (uint64_t)status->device_ns),
			 fmt_share(op, (uint64_t)status->op_ns, (uint64_t)status->device_ns));
}

bool page_list_kernels(const struct page_call *call, struct page *page)
{
	struct model_status status;
	struct list_options options;
	struct list_places places;
	struct kernel_row *rows;
	struct list list;
	size_t n;

	if (!list_parse(call, &list_kernels_kind, &options))
		return false;
	list_begin(&list, &list_kernels_kind);
	model_lock(call->model);
	n = model_kernels(call->model, &rows);
	list_places_take(&places, call->model);
	model_status(call->model, &status);
	model_unlock(call->model);
	list.by = "total";
	list.whole_is = "all kernels' time";
	list.whole_value = LIST_TIME;
	list.empty = "no kernel has finished yet; `ri` says which probes are active";
	for (size_t i = 0; i < n; i++) {
		bool part;

		list.whole += rows[i].total_ns;
		if (take_queues(&options, &places, &rows[i], &part) &&
		    fits(&options, &places, &rows[i]))
			add_row(&list, &places, &rows[i], part);
	}
	list_print(&list, call, &options, "kernels", n, page);
	say_coverage(page, &status);
	list_options_release(&options);
	list_places_release(&places);
	model_kernels_free(rows, n);
	return true;
}
