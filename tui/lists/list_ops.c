/* SPDX-License-Identifier: MIT */
/* lp: ops and ranges, their calls, their self time and what they launched. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/ops.h"
#include "tui/lists/list_internal.h"
#include "tui/draw/places.h"

#define ROWS_AT_ONCE 1024u		/* rows that are handled before other threads get a turn */

static const struct list_flag flags[] = {
	{ 'n', "node_name_filter", LIST_REGEX, "name", NULL },
	{ 't', "op_type_filter", LIST_REGEX, "type", NULL },
	{ 'd', "device_name_filter", LIST_REGEX, "device", NULL },
	{ 'f', "file_path_filter", LIST_REGEX, "file", NULL },
	{ 0, "min_lineno", LIST_NUMBER, "from line", NULL },
	{ 0, "max_lineno", LIST_NUMBER, "before line", NULL },
	{ 'e', "execution_time", LIST_TIMES, "mean", NULL },
	{ 'o', "op_time", LIST_TIMES, "total", NULL },
	LIST_FLAG_WHERE,
	LIST_FLAGS_COMMON,
};

const struct list_kind list_profile_kind = LIST_KIND_OF_ROWS(flags, &op_list_columns);

/* ---- on which device ---- */

/* Names of ops with kernels on the wanted devices, sorted by address: the strings belong to the
 * model. */
struct on_device {
	const char **names;		/* owned */
	size_t n, cap;
};

static int by_address(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

static void find_on_device(struct on_device *on, struct model *model,
			   const struct list_options *options, const struct list_places *places)
{
	struct kernel_row *rows;
	size_t n = model_kernels(model, &rows);

	for (size_t i = 0; i < n; i++) {
		if (!list_device_fits(options, places, rows[i].device))
			continue;
		for (size_t k = 0; k < rows[i].n_ops; k++) {
			grow(&on->names, &on->cap, on->n, sizeof(*on->names));
			on->names[on->n++] = rows[i].ops[k].name;
		}
	}
	model_kernels_free(rows, n);
	if (on->n)
		qsort(on->names, on->n, sizeof(*on->names), by_address);
}

static bool is_on_device(const struct on_device *on, const char *name)
{
	return on->n && bsearch(&name, on->names, on->n, sizeof(*on->names), by_address);
}

/* ---- rows ---- */

static bool line_fits(const struct list_options *options, const struct op_row *row)
{
	const struct list_given *first = list_given_word(options, "min_lineno");
	const struct list_given *end = list_given_word(options, "max_lineno");

	return (!first || (row->file && row->line >= first->number)) &&
	       (!end || (row->file && row->line < end->number));
}

static enum filter_known field(const void *line, enum filter_field by, struct filter_value *value)
{
	return columns_filter(&op_list_columns, line, by, value);
}

static bool list_ops_row_fits(const struct list_options *options, const struct op_line *line,
			      const struct on_device *on)
{
	const struct op_row *row = &line->op;

	return list_matches(options, 'n', row->name, row->raw_name) &&
	       list_matches(options, 't', row->type, NULL) &&
	       list_matches(options, 'f', row->file, NULL) && line_fits(options, row) &&
	       list_within(options, 'e', row->mean_ns) &&
	       list_within(options, 'o', row->total_ns) &&
	       list_wants(options, field, line) &&
	       (!list_given(options, 'd') || is_on_device(on, row->name));
}

static void list_ops_dress(struct list *list, const struct table_column *column,
			   struct list_cell *cell, const void *row, void *arg)
{
	const struct op_row *op = &((const struct op_line *)row)->op;

	if (!strcmp(column->key, "op"))
		list_link(cell, "ni", op->raw_name);
	else if (!strcmp(column->key, "source"))
		list_link_source(list, cell, op->file, op->line);
}

/* Says how much of the device time is attributed to an op, and how many ops have a source line. */
static void list_ops_say_coverage(struct page *page, const struct model_status *status,
				  const struct op_row *rows, size_t n)
{
	size_t lines = 0;
	char text[FMT_MAX];

	for (size_t i = 0; i < n; i++)
		lines += rows[i].file != NULL;
	if (!n)
		return;
	page_add(page, ROLE_MUTED, 0, "coverage: ");
	if (status->device_ns > 0)
		page_add(page, ROLE_MUTED, 0, "%s of the devices' time has an op, ",
			 fmt_share(text, (uint64_t)status->op_ns, (uint64_t)status->device_ns));
	page_say(page, ROLE_MUTED, 0, "%zu of %zu ops have a source line; device time is of what "
		 "an op launched itself, without the ops it called", lines, n);
}

bool page_list_profile(const struct page_call *call, struct page *page)
{
	struct on_device on = { .n = 0 };
	struct model_status status;
	struct list_options options;
	struct list_places places;
	struct op_row *rows;
	struct list list;
	bool devices;
	size_t n;

	if (!list_parse(call, &list_profile_kind, &options))
		return false;
	list_begin(&list, &list_profile_kind);
	model_lock(call->model);
	devices = places_devices(call->model);
	n = model_ops(call->model, &rows);
	list_places_take(&places, call->model);
	model_status(call->model, &status);
	if (list_given(&options, 'd'))
		find_on_device(&on, call->model, &options, &places);
	model_unlock(call->model);
	list.row_columns = op_columns(devices, OPS_LIST);
	list.by = devices ? "device-time" : "self";
	list.whole_is = devices ? "all ops' device time" : "all ops' self time";
	list.whole_value = LIST_TIME;
	list.empty = "no op or range yet: frameworks, NVTX and ITT ranges appear here";
	for (size_t i = 0; i < n; i++) {
		struct op_line line = { .op = rows[i] };

		if (i % ROWS_AT_ONCE == 0)
			page_rest(call, 900);
		list.whole += devices ? rows[i].device_ns : rows[i].self_ns;
		if (list_ops_row_fits(&options, &line, &on))
			list_row(&list, &line, list_ops_dress, NULL);
	}
	list_print(&list, call, &options, "ops", n, page);
	list_ops_say_coverage(page, &status, rows, n);
	list_options_release(&options);
	list_places_release(&places);
	free(on.names);
	free(rows);
	return true;
}
