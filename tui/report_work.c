/* SPDX-License-Identifier: MIT */
/* What launches cost and the critical path, in the report. */
#include <stdlib.h>

#include "model/query-work.h"
#include "model/base/util.h"
#include "tui/json.h"
#include "tui/report.h"

#define PARTS_TOLD 20u			/* names of the path */

static void time_known(struct json *json, const char *key, int64_t ns)
{
	if (ns >= 0)
		json_key_int(json, key, ns);
}

static void write_queue(struct json *json, const struct queue_work *work)
{
	json_key_object(json, "launch");
	json_key_uint(json, "count", work->launches);
	time_known(json, "call_p50_ns", work->call_p50_ns);
	time_known(json, "call_p99_ns", work->call_p99_ns);
	time_known(json, "call_max_ns", work->call_max_ns);
	time_known(json, "delay_p50_ns", work->delay_p50_ns);
	time_known(json, "delay_p99_ns", work->delay_p99_ns);
	time_known(json, "delay_max_ns", work->delay_max_ns);
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

void report_queue_json(struct json *json, struct model *model, uint32_t queue)
{
	struct queue_work *work;
	size_t count;

	model_lock(model);
	count = model_queue_work(model, &work);
	model_unlock(model);
	for (size_t i = 0; i < count; i++)
		if (work[i].queue == queue)
			write_queue(json, &work[i]);
	free(work);
}

/* The kinds in the order of their share. */
static size_t by_share(const struct critical_path *path, enum path_kind order[PATH_KINDS])
{
	size_t n = 0;

	for (int kind = 0; kind < PATH_KINDS; kind++) {
		size_t at = n;

		if (path->ns[kind] <= path->whole_ns / 1000)
			continue;
		for (; at > 0 && path->ns[order[at - 1]] < path->ns[kind]; at--)
			order[at] = order[at - 1];
		order[at] = (enum path_kind)kind;
		n++;
	}
	return n;
}

void report_path_text(struct model *model, FILE *out)
{
	enum path_kind order[PATH_KINDS];
	struct critical_path path;
	struct path_part *parts;
	char share[FMT_MAX];
	size_t n;

	model_lock(model);
	model_critical(model, &path, 0, &parts);
	model_unlock(model);
	free(parts);
	n = path.steps ? by_share(&path, order) : 0;
	if (!n)
		return;
	fputs("  critical path  ", out);
	for (size_t i = 0; i < n && i < 6; i++)
		fprintf(out, "%s%s %s", i ? " · " : "", path_kind_name(order[i]),
			fmt_share(share, (uint64_t)path.ns[order[i]], (uint64_t)path.whole_ns));
	fputc('\n', out);
}

void report_path_json(struct json *json, struct model *model)
{
	struct critical_path path;
	struct path_part *parts;
	size_t count;

	model_lock(model);
	count = model_critical(model, &path, PARTS_TOLD, &parts);
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
			if (parts[i].name)
				json_key_string(json, "name", parts[i].name);
			json_key_int(json, "ns", parts[i].ns);
			json_key_uint(json, "count", parts[i].count);
			json_end(json);
		}
		json_end(json);
		json_end(json);
	}
	free(parts);
}
