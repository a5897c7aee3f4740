/* SPDX-License-Identifier: MIT */
/* lk: kernels by name and device, with their time, their runs and the ops that launched them. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/kernels.h"
#include "tui/draw/labels.h"
#include "tui/lists/list_internal.h"

static const struct list_flag flags[] = {
	{ 'n', "kernel_name_filter", LIST_REGEX, "name", NULL },
	{ 't', "class_filter", LIST_REGEX, "class", NULL },
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL },
	{ 'q', "queue_filter", LIST_REGEX, "queue", NULL },
	{ 'p', "op_filter", LIST_REGEX, "op", NULL },
	{ 'e', "execution_time", LIST_TIMES, "mean", NULL },
	{ 'o', "total_time", LIST_TIMES, "total", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

const struct list_kind list_kernels_kind = LIST_KIND_OF_ROWS(flags, &kernel_columns);

#define OP_WIDTH 36

static bool op_fits(const struct list_options *options, const struct kernel_row *row)
{
	bool any = !list_given(options, 'p');

	for (size_t i = 0; i < row->n_ops && !any; i++)
		any = list_matches(options, 'p', row->ops[i].name, NULL);
	return any;
}

/* If a kernel ran on several queues, only its runs on the wanted queues count. If these are not all
 * of its runs, its shortest and longest run are unknown. */
static bool list_kernels_take_queues(const struct list_options *options,
				     const struct list_places *places, struct kernel_row *row)
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
	if (kept < row->n_queues) {
		row->count = count;
		row->total_ns = total_ns;
		row->mean_ns = count ? total_ns / (int64_t)count : 0;
		row->min_ns = -1;
	}
	return kept > 0 || !row->n_queues;
}

static enum filter_known field(const void *line, enum filter_field by, struct filter_value *value)
{
	return columns_filter(&kernel_columns, line, by, value);
}

static bool list_kernels_row_fits(const struct list_options *options,
				  const struct list_places *places, const struct kernel_row *row,
				  const struct kernel_line *line)
{
	return list_matches(options, 'n', row->name, row->raw_name) &&
	       list_matches(options, 't', kernel_kind_name((enum kernel_kind)row->class.kind),
			    NULL) &&
	       list_device_fits(options, places, row->device) && op_fits(options, row) &&
	       list_within(options, 'e', row->mean_ns) &&
	       list_within(options, 'o', row->total_ns) && list_wants(options, field, line);
}

static void list_kernels_dress_op(struct list *list, const struct kernel_line *line,
				  struct list_cell *cell)
{
	char fitted[LABEL_MAX];

	if (!line->op)
		return;
	label_fit_middle(fitted, sizeof(fitted), line->op, OP_WIDTH, false);
	cell->text = line->row.n_ops > 1 ?
		     list_keep(list, "%s +%zu", fitted, line->row.n_ops - 1) :
		     list_keep(list, "%s", fitted);
	list_link(cell, "ni", line->op);
}

static void list_kernels_dress(struct list *list, const struct table_column *column,
			       struct list_cell *cell, const void *row, void *arg)
{
	const struct kernel_line *line = row;

	if (!strcmp(column->key, "device") && cell->text) {
		cell->text = list_keep(list, "%s", cell->text);
		list_link(cell, "device", list_keep(list, "%u", line->row.device));
	} else if (!strcmp(column->key, "op")) {
		list_kernels_dress_op(list, line, cell);
	} else if (!strcmp(column->key, "kernel")) {
		cell->role = line->row.failed ? ROLE_BAD : ROLE_DEFAULT;
		list_link(cell, "pk", line->row.raw_name);
	}
}

static void list_kernels_say_coverage(struct page *page, const struct model_status *status)
{
	char launch[FMT_MAX], op[FMT_MAX];

	if (status->device_ns > 0)
		page_say(page, ROLE_MUTED, 0, "coverage: a launch is known for %s of the devices' "
			 "time, an op for %s", fmt_share(launch, (uint64_t)status->launched_ns,
					    (uint64_t)status->device_ns),
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
		struct kernel_line line;

		list.whole += rows[i].total_ns;
		if (!list_kernels_take_queues(&options, &places, &rows[i]))
			continue;
		kernel_line_init(&line, &rows[i]);
		line.device_name = list_device_label(&places, rows[i].device, line.device,
						     sizeof(line.device));
		if (list_kernels_row_fits(&options, &places, &rows[i], &line))
			list_row(&list, &line, list_kernels_dress, NULL);
	}
	list_print(&list, call, &options, "kernels", n, page);
	list_kernels_say_coverage(page, &status);
	list_options_release(&options);
	list_places_release(&places);
	model_kernels_free(rows, n);
	return true;
}
