/* SPDX-License-Identifier: MIT */
#include "tui/report/sections.h"

#include <stdlib.h>
#include <string.h>

#include "model/columns/copies.h"
#include "model/columns/kernels.h"
#include "model/columns/ops.h"
#include "model/query/optree.h"
#include "tui/base/json.h"
#include "tui/draw/sheet.h"

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
	return columns_compare_i64(((const struct kernel_line *)b)->row.total_ns,
				   ((const struct kernel_line *)a)->row.total_ns);
}

static int report_copies_by_total(const void *a, const void *b)
{
	return columns_compare_i64(((const struct copy_line *)b)->row.total_ns,
				   ((const struct copy_line *)a)->row.total_ns);
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
	  .place = 7 },
	{ .key = "kernel_classes", .always = true, .rows = &snapshot_of_classes,
	  .members = report_class_members, .text = report_classes_text, .place = 8 },
	{ .key = "copies", .always = true, .rows = &snapshot_of_copies,
	  .compare = report_copies_by_total, .text_most = 15, .place = 9 },
	{ .key = "ops", .always = true, .rows = &snapshot_of_ops, .members = report_op_members,
	  .keep = report_keep_op, .text = report_ops_text, .place = 5 },
	{ .key = "ranges", .rows = &snapshot_of_ops, .members = report_op_members,
	  .keep = report_keep_range },
	{ .key = "scopes", .rows = &snapshot_of_scopes, .keep = report_keep_scope,
	  .members = report_scope_members },
	{ .key = "lines", .rows = &snapshot_of_sources, .members = report_source_members,
	  .json_most = 500, .text_most = 12, .place = 6 },
	{ .key = "source", .json = report_source_json },
	{ .key = "calls", .always = true, .rows = &snapshot_of_calls },
	{ .key = "waits", .rows = &snapshot_of_waits, .text_most = 12, .place = 11 },
	{ .key = "graph_launches", .rows = &snapshot_of_replays, .members = report_replay_members,
	  .text_most = 12, .place = 10 },
	{ .key = "steps", .json = report_steps_json, .text = report_steps_text, .place = 3 },
	{ .key = "critical_path", .json = report_path_json },
	{ .key = "findings", .json = report_findings_json, .text = report_findings_text,
	  .place = 4 },
	{ .key = "memory", .always = true, .rows = &snapshot_of_memory,
	  .members = report_memory_members, .place = 12 },
	{ .rows = &snapshot_of_chunks, .place = 13 },
	{ .key = "input_stages", .rows = &snapshot_of_stages, .place = 15 },
	{ .key = "counters", .rows = &snapshot_of_counters, .text_most = 20, .place = 14 },
	{ .key = "pools", .rows = &snapshot_of_pools, .place = 16 },
	{ .key = "flows", .rows = &snapshot_of_flows, .text_most = 15, .place = 17 },
	{ .key = "flows", .rows = &snapshot_of_edges },
	{ .key = "compiles", .always = true, .rows = &snapshot_of_compiles },
	{ .key = "messages", .always = true, .rows = &snapshot_of_messages,
	  .text = report_messages_text, .place = 18 },
};
const size_t report_n_sections = sizeof(report_sections) / sizeof(report_sections[0]);

/* ---- text and JSON of all of them ---- */

static void report_section_text(const struct report_section *section, struct model *model,
				FILE *out)
{
	struct sheet sheet = { 0 };
	void *rows;
	size_t count = snapshot_take(section->rows, model, &rows);

	if (count && section->compare)
		qsort(rows, count, section->rows->size, section->compare);
	report_table(&sheet, section->rows->columns, &(struct report_rows) {
		.rows = rows, .size = section->rows->size, .count = count,
		.most = section->text_most,
	});
	report_sheet(&sheet, out);
	snapshot_release(section->rows, rows, count);
}

void report_sections_text(struct model *model, FILE *out)
{
	for (unsigned place = 1; place <= report_n_sections; place++)
		for (size_t i = 0; i < report_n_sections; i++)
			if (report_sections[i].place != place)
				continue;
			else if (report_sections[i].text)
				report_sections[i].text(model, out);
			else
				report_section_text(&report_sections[i], model, out);
}

/* open: the key of the array that was begun and not ended, NULL: none. Returns the same. */
static const char *report_section_json(const struct report_section *section,
				       struct model *model, struct json *json, const char *open)
{
	void *rows;
	size_t count = snapshot_take(section->rows, model, &rows), written = 0;
	const char *row = rows;

	if (section->always)
		json_key_array(json, open = section->key);
	for (size_t i = 0; i < count; i++, row += section->rows->size) {
		if (section->keep && !section->keep(row))
			continue;
		if (section->json_most && written++ == section->json_most)
			break;
		if (!open)
			json_key_array(json, open = section->key);
		json_object(json);
		if (section->rows->columns)
			report_row_json(json, section->rows->columns, row);
		if (section->members)
			section->members(json, model, rows, i);
		json_end(json);
	}
	snapshot_release(section->rows, rows, count);
	return open;
}

void report_sections_json(struct json *json, struct model *model)
{
	const char *open = NULL;

	for (size_t i = 0; i < report_n_sections; i++) {
		const struct report_section *section = &report_sections[i];

		if (open && (!section->key || strcmp(open, section->key))) {
			json_end(json);
			open = NULL;
		}
		if (section->json)
			section->json(json, model);
		else if (section->key)
			open = report_section_json(section, model, json, open);
	}
	if (open)
		json_end(json);
}
