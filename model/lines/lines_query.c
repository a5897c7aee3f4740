/* SPDX-License-Identifier: MIT */
/* Questions about source files and lines: as ops reported them, and where nodes of graphs were
 * made. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/graph/graph.h"
#include "model/lines/lines.h"

/* A node of a graph, or an op, at one line. */
struct line_entry {
	const char *file, *function;	/* names: equal ids are equal names */
	uint32_t line, node, ident;	/* node, ident: one of the two is NONE */
	uint64_t count;
	int64_t total_ns;
	struct line_cost *cost;
};

struct gathered {
	struct line_entry *list;		/* owned */
	size_t n, cap;
	struct line_cost *of_nodes, *of_uses;	/* owned */
};

static void release(struct gathered *g)
{
	free(g->list);
	free(g->of_nodes);
	free(g->of_uses);
}

static const char *raw(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : NULL;
}

bool lines_is_library(const char *file)
{
	if (strstr(path_last(file), ".so"))
		return strstr(file, "/lib/") || strstr(file, "/lib64/") ||
		       strstr(file, "-packages/") || strncmp(file, "linux-vdso", 10) == 0;
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python");
}

static void line_add_cost(struct line_cost *sum, const struct line_cost *more)
{
	sum->calls += more->calls;
	sum->seen += more->seen;
	add_ns(&sum->total_ns, more->total_ns);
	add_ns(&sum->self_ns, more->self_ns);
	add_ns(&sum->device_ns, more->device_ns);
	add_ns(&sum->cpu_ns, more->cpu_ns);
	sum->kernels += more->kernels;
	sum->cpu_kernels += more->cpu_kernels;
	sum->copies += more->copies;
	sum->copy_bytes += more->copy_bytes;
	sum->allocated_bytes += more->allocated_bytes;
	sum->backward += more->backward;
	add_ns(&sum->backward_ns, more->backward_ns);
}

/* ---- ops that reported their line ---- */

/* unseen: how many of its runs were not seen. */
static struct line_cost use_cost(const struct line_use *use, uint64_t unseen)
{
	uint64_t calls = use->count - use->nested, seen = use->count;
	int64_t ns = use->total_ns > use->nested_ns ? use->total_ns - use->nested_ns : 0;

	return (struct line_cost) {
		.calls = scaled_up(calls, seen, unseen), .seen = calls,
		.total_ns = scaled_up_ns(ns, seen, unseen),
		.self_ns = scaled_up_ns(use->self_ns, seen, unseen),
		.device_ns = scaled_up_ns(use->device_ns, seen, unseen),
		.cpu_ns = scaled_up_ns(use->cpu_ns, seen, unseen),
		.kernels = scaled_up(use->kernels, seen, unseen),
		.cpu_kernels = scaled_up(use->cpu_kernels, seen, unseen),
		.copies = scaled_up(use->copies, seen, unseen),
		.copy_bytes = scaled_up(use->copy_bytes, seen, unseen),
		.allocated_bytes = scaled_up(use->allocated, seen, unseen),
		.backward = scaled_up(use->backward, seen, unseen),
		.backward_ns = scaled_up_ns(use->backward_ns, seen, unseen),
	};
}

static struct line_entry *new_entry(struct gathered *g)
{
	grow(&g->list, &g->cap, g->n, sizeof(*g->list));
	return &g->list[g->n++];
}

static bool is_wanted(struct model *model, const regex_t *ops, uint32_t name)
{
	const char *text = ops ? raw(model, name) : NULL;

	return !ops || (text && !regexec(ops, text, 0, NULL, 0));
}

/* Several frames of an op are the same line when only its callers differ. */
static void gather_uses(struct model *model, const regex_t *ops, struct gathered *g)
{
	const struct source_lines *l = model->lines;
	struct map known = { .size = 0 };

	g->of_uses = xcalloc(l ? l->uses.n + 1 : 1, sizeof(*g->of_uses));
	for (uint32_t i = 0; l && i < l->uses.n; i++) {
		const struct line_use *use = use_at(l, i);
		const struct source_frame *frame = frame_at(l, use->frame);
		const char *file = raw(model, frame->file);
		uint64_t unseen = use_unseen(model, use);
		struct line_cost cost = use_cost(use, unseen);
		uint64_t key = map_mix((uintptr_t)file ^ (uint64_t)frame->line << 40) ^ use->ident;
		uint32_t at;

		if (!file || !frame->line || !is_wanted(model, ops,
							ident_at(model, use->ident)->name))
			continue;
		at = map_get(&known, key);
		if (at == MAP_NONE || g->list[at].file != file || g->list[at].line != frame->line ||
		    g->list[at].ident != use->ident) {
			at = (uint32_t)g->n;
			map_set(&known, key, at);
			*new_entry(g) = (struct line_entry) {
				.file = file, .function = raw(model, frame->function),
				.line = frame->line, .node = NONE, .ident = use->ident,
				.cost = &g->of_uses[i],
			};
		}
		g->list[at].count += use->count + unseen;
		add_ns(&g->list[at].total_ns, scaled_up_ns(use->total_ns, use->count, unseen));
		line_add_cost(g->list[at].cost, &cost);
	}
	map_release(&known);
}

/* ---- nodes of graphs ---- */

/* The part of an op's cost that came without a line. */
static struct line_cost cost_without_line(struct model *model, uint32_t index)
{
	const struct ident *ident = ident_at(model, index);
	const struct ident_lines *more = ident_lines(model, index);
	struct line_cost rest = {
		.calls = ident->count, .seen = ident->count, .total_ns = ident->total_ns,
		.self_ns = ident->self_ns,
		.device_ns = ident->device_ns - ident->cpu_ns, .cpu_ns = ident->cpu_ns,
		.kernels = ident->kernels - ident->cpu_kernels, .cpu_kernels = ident->cpu_kernels,
		.copies = ident->copies, .copy_bytes = ident->copy_bytes,
	};

	for (uint32_t i = more ? more->uses : NONE; i != NONE; i = use_at(model->lines, i)->next) {
		const struct line_use *use = use_at(model->lines, i);

		rest.calls = rest.seen -= use->count;
		rest.total_ns -= use->total_ns;
		rest.self_ns -= use->self_ns < rest.self_ns ? use->self_ns : rest.self_ns;
		rest.device_ns -= use->device_ns;
		rest.cpu_ns -= use->cpu_ns;
		rest.kernels -= use->kernels;
		rest.cpu_kernels -= use->cpu_kernels;
		rest.copies -= use->copies;
		rest.copy_bytes -= use->copy_bytes;
	}
	return rest;
}

static void gather_nodes(struct model *model, const regex_t *ops, struct gathered *g)
{
	const struct graphs *graphs = model->graphs;
	uint32_t n = graphs ? graphs->nodes.n : 0;
	struct graph_node node;
	uint8_t *has_nodes;

	/* the first question makes the index */
	if (!n || !model_graph_node(model, 0, &node))
		return;
	g->of_nodes = xcalloc(n, sizeof(*g->of_nodes));
	has_nodes = xcalloc(model->processes.n, 1);
	for (uint32_t i = 0; i < n; i++)
		has_nodes[gnode_at(graphs, i)->process] = 1;
	for (uint32_t i = 0; i < model->idents.n; i++) {
		struct line_cost rest = cost_without_line(model, i);

		for (uint32_t p = 0; p < model->processes.n && rest.calls; p++) {
			uint32_t at = has_nodes[p] ? graph_joined(model, p, i, NULL) : NONE;

			if (at != NONE)
				line_add_cost(&g->of_nodes[at], &rest);
		}
	}
	free(has_nodes);
	for (uint32_t i = 0; i < n && model_graph_node(model, i, &node); i++)
		if (node.file && node.line && is_wanted(model, ops, gnode_at(graphs, i)->name))
			*new_entry(g) = (struct line_entry) {
				.file = node.file, .function = node.function, .line = node.line,
				.node = i, .ident = NONE, .count = g->of_nodes[i].calls,
				.total_ns = g->of_nodes[i].total_ns, .cost = &g->of_nodes[i],
			};
}

/* By file and line, then by time. */
static int by_line_place(const void *a, const void *b)
{
	const struct line_entry *x = a, *y = b;

	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->ident < y->ident ? -1 : x->ident > y->ident;
}

static void gather_lines(struct model *model, const regex_t *ops, struct gathered *g)
{
	*g = (struct gathered) { .list = NULL };
	gather_uses(model, ops, g);
	gather_nodes(model, ops, g);
	if (g->n)
		qsort(g->list, g->n, sizeof(*g->list), by_line_place);
}

/* ---- files ---- */

static int by_worth(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;

	if (x->library != y->library)
		return x->library ? 1 : -1;
	if (x->cost.total_ns != y->cost.total_ns)
		return x->cost.total_ns > y->cost.total_ns ? -1 : 1;
	return strcmp(x->file, y->file);
}

size_t model_sources(struct model *model, const regex_t *ops, struct source_row **out)
{
	struct gathered g;
	size_t n = 0, cap = 0;

	*out = NULL;
	gather_lines(model, ops, &g);
	for (size_t i = 0; i < g.n; i++) {
		const struct line_entry *entry = &g.list[i];
		struct source_row *row;

		if (!i || entry->file != entry[-1].file) {
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct source_row) {
				.file = entry->file, .library = lines_is_library(entry->file),
			};
		}
		row = &(*out)[n - 1];
		row->lines += !row->lines || entry->line != entry[-1].line;
		row->nodes += entry->node != NONE;
		row->ran += entry->node != NONE && entry->count;
		line_add_cost(&row->cost, entry->cost);
	}
	release(&g);
	if (n)
		qsort(*out, n, sizeof(**out), by_worth);
	return n;
}

/* ---- lines ---- */

static struct line_op line_op_of(struct model *model, const struct line_entry *entry)
{
	const struct ident *ident = entry->ident == NONE ? NULL : ident_at(model, entry->ident);
	const struct gnode *node = ident ? NULL : gnode_at(model->graphs, entry->node);
	uint32_t type = ident ? ident->type : node->type;

	return (struct line_op) {
		.name = ident ? names_short(&model->names, ident->name) : raw(model, node->name),
		.raw_name = raw(model, ident ? ident->name : node->name),
		.type = type ? names_short(&model->names, type) : NULL,
		.node = entry->node, .count = entry->count, .total_ns = entry->total_ns,
	};
}

size_t model_source_lines(struct model *model, const char *file, struct source_line **out)
{
	struct gathered g;
	size_t n = 0, cap = 0;

	*out = NULL;
	gather_lines(model, NULL, &g);
	for (size_t i = 0; i < g.n; i++) {
		const struct line_entry *entry = &g.list[i];
		struct source_line *line;

		if (entry->file != file && strcmp(entry->file, file))
			continue;
		if (!n || (*out)[n - 1].line != entry->line) {
			grow(out, &cap, n, sizeof(**out));
			(*out)[n++] = (struct source_line) {
				.line = entry->line, .function = entry->function,
			};
		}
		line = &(*out)[n - 1];
		line->nodes += entry->node != NONE;
		line->ran += entry->node != NONE && entry->count;
		line->ops++;
		line_add_cost(&line->cost, entry->cost);
		if (line->n_op < LINE_OPS)
			line->op[line->n_op++] = line_op_of(model, entry);
	}
	release(&g);
	return n;
}

void model_line_counts(struct model *model, struct line_counts *out)
{
	const struct source_lines *l = model->lines;

	*out = (struct line_counts) { .frames = 0 };
	for (uint32_t i = 0; i < model->idents.n; i++)
		out->ops += ident_at(model, i)->count;
	if (!l)
		return;
	out->frames = l->frames.n;
	out->with_line = l->with_line;
	out->dropped = l->dropped;
	out->linked = l->linked;
	out->unlinked = l->unlinked + l->n_pending;
}
