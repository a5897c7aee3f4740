/* SPDX-License-Identifier: MIT */
/* What launches cost, what kernels compute and the critical path, in the report. */
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/work.h"
#include "tui/base/json.h"
#include "tui/report/sections.h"

#define PARTS_TOLD 20u			/* names of the path */
#define TYPES_TOLD 8			/* types of its ops */
#define TYPES_LEAST 100			/* that are so small a part are not */

static void write_queue(struct json *json, const struct queue_work *work)
{
	json_key_object(json, "launch");
	json_key_uint(json, "count", work->launches);
	json_time_if(json, "call_p50_ns", work->call_p50_ns);
	json_time_if(json, "call_p99_ns", work->call_p99_ns);
	json_time_if(json, "call_max_ns", work->call_max_ns);
	json_time_if(json, "delay_p50_ns", work->delay_p50_ns);
	json_time_if(json, "delay_p99_ns", work->delay_p99_ns);
	json_time_if(json, "delay_max_ns", work->delay_max_ns);
	json_key_uint(json, "kernels_shorter_than_launch", work->shorter);
	json_end(json);
	if (work->watched_ns <= 0)
		return;
	json_key_object(json, "depth");
	json_key_int(json, "span_ns", work->watched_ns);
	json_key(json, "mean");
	json_share(json, work->depth_milli, 1000);
	json_key_uint(json, "max", work->depth_max);
	json_key_int(json, "empty_ns", work->empty_ns);
	json_key_int(json, "full_ns", work->full_ns);
	json_end(json);
}

void report_queue_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct queue_row *row = (const struct queue_row *)rows + at;
	struct queue_work *work;
	size_t count;

	model_lock(model);
	count = model_queue_work(model, &work);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (work[i].queue == row->id)
			write_queue(json, &work[i]);
	free(work);
}

/* What a type of ops is on the path is all that doing without it could save. */
static void types_text(const struct path_part *types, size_t count, int64_t whole_ns,
		       const char *word, FILE *out)
{
	char time[FMT_MAX], share[FMT_MAX];

	for (size_t i = 0; i < count && i < TYPES_TOLD; i++)
		if (types[i].name && types[i].ns * TYPES_LEAST >= whole_ns)
			fprintf(out, "    %-44s %9s a %s %6s\n", types[i].name,
				fmt_time(time, types[i].ns), word,
				fmt_share(share, (uint64_t)types[i].ns, (uint64_t)whole_ns));
}

static const char *path_name(int kind)
{
	return path_kind_name((enum path_kind)kind);
}

static const char *path_label(int kind)
{
	return path_kind_label((enum path_kind)kind);
}

void report_path_text(struct model *model, FILE *out)
{
	struct report_share shares[PATH_KINDS];
	struct critical_path path;
	struct path_part *parts, *types;
	struct host_time_row *rows;
	struct model_status status;
	size_t n_types, n;

	model_lock(model);
	model_status(model, &status);
	model_critical(model, &path, 0, &parts);
	n_types = model_critical_types(model, &types);
	n = model_critical_host(model, &rows);
	model_unlock(model);
	free(parts);
	for (int kind = 0; kind < PATH_KINDS; kind++)
		shares[kind] = (struct report_share) { path_kind_label((enum path_kind)kind),
						       path.ns[kind] };
	if (path.steps && path.whole_ns > 0) {
		report_shares("  critical path  ", shares, PATH_KINDS, path.whole_ns, out);
		report_host_lines(rows, n, &(struct report_host) {
			.ns = path.ns, .whole_ns = path.whole_ns, .label = path_label,
		}, out);
		types_text(types, n_types, path.whole_ns, step_noun(status.passes), out);
	}
	free(types);
	free(rows);
}

static void write_types(struct json *json, const struct path_part *types, size_t count)
{
	json_key_array(json, "types");
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_text_if(json, "type", types[i].name);
		json_key_int(json, "ns", types[i].ns);
		json_key_uint(json, "count", types[i].count);
		json_end(json);
	}
	json_end(json);
}

void report_path_json(struct json *json, struct model *model)
{
	struct critical_path path;
	struct path_part *parts, *types;
	struct host_time_row *rows;
	size_t count, n_types, n;

	model_lock(model);
	count = model_critical(model, &path, PARTS_TOLD, &parts);
	n_types = model_critical_types(model, &types);
	n = model_critical_host(model, &rows);
	model_unlock(model);
	if (path.whole_ns > 0) {
		json_key_object(json, "critical_path");
		json_key_uint(json, "steps", path.steps);
		json_key_int(json, "whole_ns", path.whole_ns);
		json_key_object(json, "ns");
		for (int kind = 0; kind < PATH_KINDS; kind++)
			json_key_int(json, path_kind_name((enum path_kind)kind), path.ns[kind]);
		json_end(json);
		json_key_array(json, "parts");
		for (size_t i = 0; i < count; i++) {
			json_object(json);
			json_key_string(json, "kind", path_kind_name(parts[i].kind));
			json_text_if(json, "name", parts[i].name);
			json_key_int(json, "ns", parts[i].ns);
			json_key_uint(json, "count", parts[i].count);
			json_end(json);
		}
		json_end(json);
		if (n_types)
			write_types(json, types, n_types);
		report_host_json(json, rows, n, "kind", path_name);
		json_end(json);
	}
	free(types);
	free(rows);
	free(parts);
}

void report_flop(struct json *json, const struct kernel_row *row)
{
	if (!row->n_shapes)
		return;
	json_key_uint(json, "flop", row->flop);
	if (row->flop_ns > 0)
		json_key_uint(json, "flop_per_s", flop_per_s(row->flop, row->flop_ns));
	json_key_array(json, "shapes");
	for (size_t k = 0; k < row->n_shapes; k++) {
		json_object(json);
		json_text_if(json, "shape", row->shapes[k].text);
		json_key_uint(json, "flop", row->shapes[k].flop);
		json_key_uint(json, "count", row->shapes[k].count);
		json_key_int(json, "total_ns", row->shapes[k].total_ns);
		json_end(json);
	}
	json_end(json);
}
