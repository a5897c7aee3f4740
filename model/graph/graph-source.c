/* SPDX-License-Identifier: MIT */
/* Source files and their lines, with what was made of them. */
#include <stdlib.h>
#include <string.h>

#include "model/graph/graph.h"
#include "model/base/util.h"

static bool is_library(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python");
}

static int by_worth(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;

	if (x->library != y->library)
		return x->library ? 1 : -1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->file, y->file);
}

size_t model_sources(struct model *model, const regex_t *nodes, struct source_row **out)
{
	struct map rows = { .size = 0 };
	struct graph_node node;
	size_t n = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = 0; model_graph_node(model, i, &node); i++) {
		uint64_t key = node.lent == GRAPH_NONE ? 0 :
			names_resolve(&model->names, gnode_at(model->graphs, node.lent)->file);
		uint32_t at = map_get(&rows, key);

		if (!node.file || !node.line ||
		    (nodes && regexec(nodes, node.name, 0, NULL, 0)))
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)n;
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct source_row) {
				.file = node.file, .library = is_library(node.file),
			};
			map_set(&rows, key, at);
		}
		(*out)[at].nodes++;
		(*out)[at].ran += node.count > 0;
		(*out)[at].executions += node.count;
		add_ns(&(*out)[at].total_ns, node.total_ns);
	}
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), by_worth);
	return n;
}

/* Costlier nodes first. */
static void add_op(struct model *model, struct source_line *line, uint32_t node)
{
	const struct graph_use *uses = model->graphs->uses;
	const uint32_t most = sizeof(line->op) / sizeof(line->op[0]);
	uint32_t at = 0;

	while (at < most && line->op[at] != GRAPH_NONE &&
	       uses[line->op[at]].total_ns >= uses[node].total_ns)
		at++;
	if (at == most)
		return;
	memmove(&line->op[at + 1], &line->op[at], (most - 1 - at) * sizeof(line->op[0]));
	line->op[at] = node;
}

static int by_line(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

size_t model_source_lines(struct model *model, const char *file, struct source_line **out)
{
	struct map rows = { .size = 0 };
	struct graph_node node;
	size_t n = 0, cap = 0;

	*out = NULL;
	for (uint32_t i = 0; model_graph_node(model, i, &node); i++) {
		uint32_t at = map_get(&rows, node.line);
		struct source_line *line;

		if (!node.file || !node.line || strcmp(node.file, file))
			continue;
		if (at == MAP_NONE) {
			at = (uint32_t)n;
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct source_line) {
				.line = node.line,
				.op = { GRAPH_NONE, GRAPH_NONE, GRAPH_NONE, GRAPH_NONE },
			};
			map_set(&rows, node.line, at);
		}
		line = &(*out)[at];
		line->nodes++;
		line->ran += node.count > 0;
		line->executions += node.count;
		add_ns(&line->total_ns, node.total_ns);
		add_op(model, line, i);
	}
	map_release(&rows);
	if (n)
		qsort(*out, n, sizeof(**out), by_line);
	return n;
}
