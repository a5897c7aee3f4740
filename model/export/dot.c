/* SPDX-License-Identifier: MIT */
/*
 * The graph of ops as Graphviz reads it: an edge for each pair of ops between
 * which data went, with how often and how much. Only what somebody told of
 * (query-flows.h) is an edge.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/query-flows.h"
#include "model/query.h"

static void put_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\"\\\n");
		put_utf8(out, text, n);
		if (!text[n])
			break;
		fputs(text[n] == '\n' ? "\\n" : text[n] == '"' ? "\\\"" : "\\\\", out);
		n++;
	}
	putc('"', out);
}

static void put_edge(FILE *out, const struct edge_row *edge)
{
	char bytes[FMT_MAX], latency[FMT_MAX];

	putc('\t', out);
	put_quoted(out, edge->source);
	fputs(" -> ", out);
	put_quoted(out, edge->destination);
	fprintf(out, " [weight=%" PRIu64 ", label=\"%" PRIu64 "x", edge->count, edge->count);
	if (edge->bytes)
		fprintf(out, ", %s", fmt_bytes(bytes, edge->bytes));
	if (edge->measured && edge->latency_p50_ns >= 0)
		fprintf(out, ", waits %s", fmt_time(latency, edge->latency_p50_ns));
	fputs("\"];\n", out);
}

bool dot_write(const struct foreign_options *options, struct foreign_result *result,
	       char *error, size_t size)
{
	struct edge_row *edges;
	FILE *out = options->out;
	size_t n;

	if (options->from_ns != INT64_MIN) {
		snprintf(error, size, "the graph is of the whole run: leave out 'last'");
		return false;
	}
	model_lock(options->model);
	n = model_edges(options->model, &edges);
	model_unlock(options->model);
	if (n)
		fputs("digraph ops {\n\trankdir=LR;\n\tnode [shape=box];\n", out);
	for (size_t i = 0; i < n; i++) {
		if (!edges[i].source || !edges[i].destination)
			continue;
		put_edge(out, &edges[i]);
		result->written++;
	}
	if (n)
		fputs("}\n", out);
	free(edges);
	if (!result->written) {
		snprintf(error, size, "there is no graph: nobody told which op takes whose data");
		return false;
	}
	if (!ferror(out))
		return true;
	snprintf(error, size, "%s", strerror(errno));
	return false;
}
