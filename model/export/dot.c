/* SPDX-License-Identifier: MIT */
/*
 * The graph for Graphviz. Each graph that ran (query/graph.h) is a cluster that contains a
 * cluster for each device. Nodes have their type, source line and time. Edges say what a node
 * takes from another, and for how long it was waited for. In addition there is an edge for each
 * pair of ops between which a probe reported data (query/flows.h), with how often and how much.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/export/formats.h"
#include "model/query/flows.h"
#include "model/query/graph.h"
#include "model/query/query.h"

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

/* ---- the graphs that ran ---- */

/* Sorts by process, graph and device, so that the nodes of each are adjacent. */
static int by_place(const void *a, const void *b)
{
	const struct graph_node *p = a, *q = b;
	int order;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	order = strcmp(p->graph ? p->graph : "", q->graph ? q->graph : "");
	if (!order)
		order = strcmp(p->device ? p->device : "", q->device ? q->device : "");
	return order ? order : p->index < q->index ? -1 : p->index > q->index;
}

static bool same_graph(const struct graph_node *a, const struct graph_node *b)
{
	return a->pid == b->pid && !strcmp(a->graph ? a->graph : "", b->graph ? b->graph : "");
}

static bool same_device(const struct graph_node *a, const struct graph_node *b)
{
	return same_graph(a, b) && !strcmp(a->device ? a->device : "", b->device ? b->device : "");
}

/* Fills the node by its share of the time of its graph's costliest node; grey: it never ran. */
static void put_node(FILE *out, const struct graph_node *node, int64_t most_ns, struct strbuf *text)
{
	char total[FMT_MAX], mean[FMT_MAX];

	strbuf_reset(text);
	strbuf_addf(text, "%s\n%s", node->name ? node->name : "?", node->type);
	if (node->file && node->line)
		strbuf_addf(text, "\n%s:%" PRIu32, basename(node->file), node->line);
	if (node->count)
		strbuf_addf(text, "\n%" PRIu64 "x %s, mean %s", node->count,
			    fmt_time(total, node->total_ns), fmt_time(mean, node->mean_ns));
	fprintf(out, "\t\t\tn%" PRIu32 " [label=", node->index);
	put_quoted(out, text->data);
	if (node->file && node->line) {
		strbuf_reset(text);
		strbuf_addf(text, "%s:%" PRIu32 " %s", node->file, node->line,
			    node->function ? node->function : "");
		fputs(", tooltip=", out);
		put_quoted(out, text->data);
	}
	if (node->count)
		fprintf(out, ", fillcolor=\"0.08 %.3f 1.0\"];\n", most_ns > 0 ?
			(double)node->total_ns / (double)most_ns : 0.0);
	else
		fputs(", color=gray60, fontcolor=gray60];\n", out);
}

/* The inputs of a node; the edge of the input that it waited for most says how long. */
static void put_inputs(const struct foreign_options *options, const struct graph_node *node,
		       struct foreign_result *result)
{
	struct graph_edge *edges;
	char wait[FMT_MAX];
	size_t n;

	model_lock(options->model);
	n = model_graph_inputs(options->model, node->index, &edges);
	model_unlock(options->model);
	for (size_t i = 0; i < n; i++) {
		if (edges[i].node == GRAPH_NONE)
			continue;
		fprintf(options->out, "\tn%" PRIu32 " -> n%" PRIu32, edges[i].node, node->index);
		if (edges[i].control)
			fputs(" [style=dashed]", options->out);
		if (node->waits && edges[i].node == node->waited_for)
			fprintf(options->out, " [color=firebrick, label=\"waits %s\"]",
				fmt_time(wait, node->wait_p50_ns));
		fputs(";\n", options->out);
		result->written++;
	}
	free(edges);
}

static int64_t most_of_graph(const struct graph_node *first, size_t n)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < n && same_graph(first, &first[i]); i++)
		if (first[i].total_ns > most_ns)
			most_ns = first[i].total_ns;
	return most_ns;
}

static void put_clusters(FILE *out, const struct graph_node *nodes, size_t n)
{
	struct strbuf text;
	int64_t most_ns = 0;
	unsigned clusters = 0;

	strbuf_init(&text);
	for (size_t i = 0; i < n; i++) {
		if (!i || !same_graph(&nodes[i - 1], &nodes[i])) {
			strbuf_reset(&text);
			strbuf_addf(&text, "%s (process %" PRIu32 ")",
				    nodes[i].graph ? nodes[i].graph : "graph", nodes[i].pid);
			fprintf(out, "\tsubgraph cluster_%u {\n\t\tlabel=", clusters++);
			put_quoted(out, text.data);
			fputs(";\n", out);
			most_ns = most_of_graph(nodes + i, n - i);
		}
		if (!i || !same_device(&nodes[i - 1], &nodes[i])) {
			fprintf(out, "\t\tsubgraph cluster_%u {\n\t\t\tstyle=dotted; "
				"label=", clusters++);
			put_quoted(out, nodes[i].device ? nodes[i].device : "no device");
			fputs(";\n", out);
		}
		put_node(out, &nodes[i], most_ns, &text);
		if (i + 1 == n || !same_device(&nodes[i], &nodes[i + 1]))
			fputs("\t\t}\n", out);
		if (i + 1 == n || !same_graph(&nodes[i], &nodes[i + 1]))
			fputs("\t}\n", out);
	}
	strbuf_release(&text);
}

/* The texts that nodes borrow live as long as the model. */
static size_t take_nodes(struct model *model, struct graph_node **nodes)
{
	size_t n = 0, cap = 0;
	struct graph_node node;

	*nodes = NULL;
	model_lock(model);
	for (uint32_t i = 0; model_graph_node(model, i, &node); i++) {
		grow(nodes, &cap, n, sizeof(**nodes));
		(*nodes)[n++] = node;
	}
	model_unlock(model);
	if (n)
		qsort(*nodes, n, sizeof(**nodes), by_place);
	return n;
}

/* ---- the whole graph ---- */

bool dot_write(const struct foreign_options *options, struct foreign_result *result,
	       char *error, size_t size)
{
	struct graph_node *nodes;
	struct edge_row *edges;
	FILE *out = options->out;
	size_t n_nodes, n_edges;

	if (options->from_ns != INT64_MIN) {
		snprintf(error, size, "the graph covers the whole run: leave out 'last'");
		return false;
	}
	n_nodes = take_nodes(options->model, &nodes);
	model_lock(options->model);
	n_edges = model_edges(options->model, &edges);
	model_unlock(options->model);
	fputs("digraph tftop {\n\trankdir=LR;\n\tnode [shape=box, style=filled, "
	      "fillcolor=white];\n",
	      out);
	put_clusters(out, nodes, n_nodes);
	for (size_t i = 0; i < n_nodes; i++)
		put_inputs(options, &nodes[i], result);
	for (size_t i = 0; i < n_edges; i++) {
		if (!edges[i].source || !edges[i].destination)
			continue;
		put_edge(out, &edges[i]);
		result->written++;
	}
	fputs("}\n", out);
	free(nodes);
	free(edges);
	if (!n_nodes && !result->written) {
		snprintf(error, size, "there is no graph: no probe reported which op takes data "
			 "from which");
		return false;
	}
	if (!ferror(out))
		return true;
	snprintf(error, size, "%s", strerror(errno));
	return false;
}
