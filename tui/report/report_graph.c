/* SPDX-License-Identifier: MIT */
/* The report on graphs: how the ops that ran were found in them, and their lines. */
#include <inttypes.h>

#include "model/base/util.h"
#include "model/query/graph.h"
#include "tui/base/json.h"
#include "tui/report/report.h"

static struct graph_counts counts_of(struct model *model)
{
	struct graph_counts counts;

	model_lock(model);
	model_graph_counts(model, &counts);
	model_unlock(model);
	return counts;
}

void report_graph_json(struct json *json, struct model *model)
{
	static const char *const rules[GRAPH_RULES] = {
		"none", "exact", "inlined", "lowered", "result", "suffix",
	}, *const lines[GRAPH_LINES] = { "none", "exact", "name", "call", "first", "edge" };
	struct graph_counts counts = counts_of(model);

	if (!counts.nodes)
		return;
	json_key_object(json, "graphs");
	json_key_uint(json, "graphs", counts.graphs);
	json_key_uint(json, "nodes", counts.nodes);
	json_key_uint(json, "edges", counts.edges);
	json_key_uint(json, "ops", counts.ops);
	json_key_object(json, "joined");
	for (int i = 0; i < GRAPH_RULES; i++)
		json_key_uint(json, rules[i], counts.joined[i]);
	json_end(json);
	json_key_object(json, "lines");
	for (int i = 0; i < GRAPH_LINES; i++)
		json_key_uint(json, lines[i], counts.lines[i]);
	json_end(json);
	json_end(json);
}

void report_graph_text(struct model *model, FILE *out)
{
	struct graph_counts counts = counts_of(model);
	uint64_t rule = counts.ops - counts.lines[GRAPH_LINE_EXACT] - counts.lines[GRAPH_LINE_NONE];
	char a[FMT_MAX], b[FMT_MAX], c[FMT_MAX], d[FMT_MAX];

	if (counts.ops)
		fprintf(out, "  source lines  of %s: %s exact, %s by rule, %s none\n",
			fmt_many(a, counts.ops, "op"),
			fmt_share(b, counts.lines[GRAPH_LINE_EXACT], counts.ops),
			fmt_share(c, rule, counts.ops),
			fmt_share(d, counts.lines[GRAPH_LINE_NONE], counts.ops));
}
