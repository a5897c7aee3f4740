/* SPDX-License-Identifier: MIT */
#include "tui/report/sections.h"

#include <stdlib.h>

#include "model/base/util.h"
#include "model/columns/copies.h"
#include "model/columns/kernels.h"
#include "model/columns/ops.h"
#include "model/query/optree.h"
#include "tui/draw/places.h"

/* ---- which rows JSON has ---- */

static bool report_keep_op(const void *row)
{
	return !((const struct op_line *)row)->op.is_range;
}

static bool report_keep_range(const void *row)
{
	return ((const struct op_line *)row)->op.is_range;
}

static bool report_keep_scope(const void *row)
{
	return ((const struct optree_row *)row)->is_scope;
}

/* ---- the order of rows in the text ---- */

static int report_kernels_by_total(const void *a, const void *b)
{
	const struct kernel_line *x = a, *y = b;

	return DESCENDING(x, y, row.total_ns);
}

static int report_copies_by_total(const void *a, const void *b)
{
	const struct copy_line *x = a, *y = b;

	return DESCENDING(x, y, row.total_ns);
}

/* ---- names in the text ---- */

static void report_label_copies(struct model *model, void *rows, size_t count)
{
	struct copy_line *lines = rows;
	struct queue_row *queues;
	size_t n;

	model_lock(model);
	n = model_queues(model, &queues);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (lines[i].row.queue != UINT32_MAX)
			places_queue_label(lines[i].queue, sizeof(lines[i].queue), queues, n,
					   lines[i].row.queue);
	free(queues);
}

/* ---- the sections ---- */

const struct report_section report_sections[] = {
	{ .key = "trust", .json = report_trust_json, .text = report_trust_text, .place = 1 },
	{ .key = "processes", .always = true, .rows = &snapshot_of_processes,
	  .members = report_process_members },
	{ .key = "devices", .always = true, .rows = &snapshot_of_devices,
	  .members = report_device_members, .text = report_devices_text, .place = 2 },
	{ .key = "queues", .always = true, .rows = &snapshot_of_queues,
	  .members = report_queue_members },
	{ .key = "kernels", .always = true, .rows = &snapshot_of_kernels,
	  .members = report_kernel_members, .compare = report_kernels_by_total, .text_most = 15,
	  .place = 8 },
	{ .key = "kernel_classes", .always = true, .rows = &snapshot_of_classes,
	  .members = report_class_members, .text = report_classes_text, .place = 9 },
	{ .key = "copies", .always = true, .rows = &snapshot_of_copies,
	  .compare = report_copies_by_total, .label = report_label_copies,
	  .text_most = 15, .place = 10 },
	{ .key = "ops", .always = true, .rows = &snapshot_of_ops, .members = report_op_members,
	  .keep = report_keep_op, .text = report_ops_text, .place = 6 },
	{ .key = "ranges", .rows = &snapshot_of_ops, .members = report_op_members,
	  .keep = report_keep_range },
	{ .key = "scopes", .rows = &snapshot_of_scopes, .keep = report_keep_scope,
	  .members = report_scope_members },
	{ .key = "lines", .rows = &snapshot_of_sources, .members = report_source_members,
	  .json_most = 500, .text_most = 12, .place = 7 },
	{ .key = "source", .json = report_source_json },
	{ .key = "calls", .always = true, .rows = &snapshot_of_calls },
	{ .key = "waits", .rows = &snapshot_of_waits, .text_most = 12, .place = 12 },
	{ .key = "graph_launches", .rows = &snapshot_of_replays, .members = report_replay_members,
	  .text_most = 12, .place = 11 },
	{ .key = "steps", .json = report_steps_json, .text = report_steps_text, .place = 3 },
	{ .key = "requests", .rows = &snapshot_of_requests, .place = 4 },
	{ .key = "critical_path", .json = report_path_json },
	{ .key = "findings", .json = report_findings_json, .text = report_findings_text,
	  .place = 5 },
	{ .key = "memory", .always = true, .rows = &snapshot_of_memory,
	  .members = report_memory_members, .place = 13 },
	{ .rows = &snapshot_of_chunks, .place = 14 },
	{ .key = "input_stages", .rows = &snapshot_of_stages, .place = 16 },
	{ .key = "counters", .rows = &snapshot_of_counters, .text_most = 20, .place = 15 },
	{ .key = "pools", .rows = &snapshot_of_pools, .place = 17 },
	{ .key = "flows", .rows = &snapshot_of_flows, .text_most = 15, .place = 18 },
	{ .key = "flows", .rows = &snapshot_of_edges },
	{ .key = "compiles", .always = true, .rows = &snapshot_of_compiles },
	{ .key = "messages", .always = true, .rows = &snapshot_of_messages,
	  .text = report_messages_text, .place = 19 },
};
const size_t report_n_sections = sizeof(report_sections) / sizeof(report_sections[0]);
