/* SPDX-License-Identifier: MIT */
/* ls: source files with the work that belongs to them. */
#include <stdlib.h>

#include "model/query/lines.h"
#include "tui/lists/list_internal.h"

static const struct list_flag flags[] = {
	{ 'p', "path_filter", LIST_REGEX, "path", NULL },
	{ 'n', "node_name_filter", LIST_REGEX, "ops", NULL },
	{ 'e', "execution_time", LIST_TIMES, "time", NULL },
	{ 'u', "user", LIST_SWITCH, "without libraries", NULL },
	LIST_FLAGS_COMMON,
};

static const struct list_column columns[] = {
	{ .key = "lines", .sum = LIST_SUM },
	{ .key = "nodes", .sum = LIST_SUM },
	{ .key = "ran", .sum = LIST_SUM },
	{ .key = "calls", .sum = LIST_SUM },
	{ .key = "time" },	/* no sum: an op of two files is counted in both */
	{ .key = "self", .sum = LIST_SUM },
	{ .key = "share", .sum = LIST_SUM },
	{ .key = "device-time", .title = "device time", .sum = LIST_SUM },
	{ .key = "whose" },
	{ .key = "file", .sum = LIST_SUM_TEXT },
};

const struct list_kind list_source_kind = LIST_KIND(flags, columns, 0);

static bool list_sources_row_fits(const struct list_options *options, const struct source_row *row)
{
	return list_matches(options, 'p', row->file, NULL) &&
	       list_within(options, 'e', row->cost.total_ns) &&
	       !(list_given(options, 'u') && row->library);
}

static void list_sources_add_row(struct list *list, const struct source_row *row)
{
	bool scaled = row->cost.seen < row->cost.calls;

	list_add(list, LIST_COUNT, row->lines);
	list_add(list, LIST_COUNT, (int64_t)row->nodes);
	list_add(list, LIST_COUNT, (int64_t)row->ran);
	list_add(list, LIST_COUNT, (int64_t)row->cost.calls)->rough = scaled;
	list_time(list, row->cost.total_ns, true, scaled);
	list_time(list, row->cost.self_ns, true, scaled);
	list_add(list, LIST_SHARE, row->cost.self_ns);
	list_time(list, row->cost.device_ns, row->cost.kernels + row->cost.copies > 0, scaled);
	list_name(list, row->library ? "library" : "yours");
	list_link(list_name(list, row->file), "ps", row->file);
}

bool page_sources(const struct page_call *call, struct page *page)
{
	const struct list_given *ops;
	struct list_options options;
	struct source_row *rows;
	struct list list;
	size_t n;

	if (!list_parse(call, &list_source_kind, &options))
		return false;
	ops = list_given(&options, 'n');
	model_lock(call->model);
	n = model_sources(call->model, ops ? &ops->regex : NULL, &rows);
	model_unlock(call->model);
	list_begin(&list, &list_source_kind);
	list.order = "your files first, then by time";
	list.whole_is = "all files' self time";
	list.whole_value = LIST_TIME;
	list.empty = "no probe reported source lines; ri says which probes are active";
	for (size_t i = 0; i < n; i++) {
		list.whole += rows[i].cost.self_ns;
		if (list_sources_row_fits(&options, &rows[i]))
			list_sources_add_row(&list, &rows[i]);
	}
	list_print(&list, call, &options, "files", n, page);
	free(rows);
	list_options_release(&options);
	return true;
}
