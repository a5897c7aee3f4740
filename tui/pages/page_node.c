/* SPDX-License-Identifier: MIT */
/* ni, li, lo: a node, and trees of its inputs and of its consumers, in the style of TensorFlow's
 * own debugger. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/file.h"
#include "model/base/util.h"
#include "model/query/graph.h"
#include "model/query/query.h"
#include "tui/pages/page_parts.h"

#define DEPTH 20
#define TREE_LINES 5000u
#define SAME_LINES 8u

static void link_to(struct page *page, const char *command, const char *name)
{
	const char *argv[] = { command, name };

	page_link(page, name, 2, argv);
}

/* Adds " 24.1 µs ×50" for a node that ran. */
static void page_node_add_cost(struct page *page, const struct graph_node *node)
{
	char mean[FMT_MAX], count[FMT_MAX];

	if (node->count)
		page_add(page, ROLE_MUTED, 0, "  %s ×%s", fmt_time(mean, node->mean_ns),
			 fmt_count(count, node->count));
}

static bool page_node_take_node(const struct page_call *call, const char *name,
				struct graph_node *node)
{
	uint32_t index;

	if (!name) {
		snprintf(call->error, call->error_size, "usage: %s OP", call->argv[0]);
		return false;
	}
	return model_graph_find(call->model, name, &index, call->error, call->error_size) &&
	       model_graph_node(call->model, index, node);
}

#define CHOICES 100

/* Several nodes match: makes a page of them, each a link to the same command. The lock is held. */
static bool page_node_choose(const struct page_call *call, struct page *page, const char *text)
{
	const char *names[CHOICES], *argv[16];
	size_t n = text ? model_graph_choices(call->model, text, names, CHOICES) : 0;
	int argc = call->argc < 16 ? call->argc : 16;

	if (n < 2)
		return false;
	page_say(page, ROLE_DEFAULT, ATTR_BOLD, "%zu nodes match '%s'", n, text);
	for (size_t i = 0; i < n && i < CHOICES; i++) {
		for (int k = 0; k < argc; k++)
			argv[k] = call->argv[k] == text ? names[i] : call->argv[k];
		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_link(page, names[i], argc, argv);
		page_end(page);
	}
	if (n > CHOICES)
		page_say(page, ROLE_MUTED, 0, "  %zu more", n - CHOICES);
	return true;
}

/* ---- trees ---- */

struct tree {
	struct page *page;
	struct model *model;
	bool outputs, control, types;
	unsigned depth;			/* greatest depth */
	unsigned char *seen;	/* owned; one byte per node, set once its edges were shown */
	uint32_t n_seen;
	char bars[4 * 64];		/* the lines to the left of an entry: "| | " */
	bool cut;
};

static bool first_time(struct tree *t, uint32_t node)
{
	if (node >= t->n_seen) {
		uint32_t n = node + 1024;

		t->seen = xrealloc(t->seen, n);
		memset(t->seen + t->n_seen, 0, n - t->n_seen);
		t->n_seen = n;
	}
	if (t->seen[node])
		return false;
	t->seen[node] = 1;
	return true;
}

static size_t edges_of(const struct tree *t, uint32_t node, struct graph_edge **edges)
{
	return t->outputs ? model_graph_outputs(t->model, node, edges) :
			    model_graph_inputs(t->model, node, edges);
}

/* The edge is the input that the node waited for last: adds how long. */
static void page_node_add_wait(const struct tree *t, const struct graph_node *from,
			       const struct graph_node *to)
{
	char p50[FMT_MAX], p99[FMT_MAX];

	if (to->waits && to->waited_for == from->index)
		page_add(t->page, ROLE_ACCENT, 0, "  waited for: %s, p99 %s",
			 fmt_time(p50, to->wait_p50_ns), fmt_time(p99, to->wait_p99_ns));
}

static bool page_node_add_line(struct tree *t, unsigned level, const struct graph_edge *edge,
			       const struct graph_node *parent)
{
	struct graph_node node;
	bool known = edge->node != GRAPH_NONE && model_graph_node(t->model, edge->node, &node);
	bool fresh;

	page_add(t->page, ROLE_MUTED, 0, "%s|- (%u) %s", t->bars, level,
		 edge->control ? "(Ctrl) " : "");
	if (!known) {
		page_say(t->page, ROLE_MUTED, 0, "%s", edge->name);
		return false;
	}
	if (t->types)
		page_add(t->page, ROLE_DEFAULT, 0, "[%s] ", node.type);
	link_to(t->page, t->outputs ? "lo" : "li", node.name);
	if (edge->slot)
		page_add(t->page, ROLE_MUTED, 0, ":%u", edge->slot);
	page_node_add_cost(t->page, &node);
	if (t->outputs)
		page_node_add_wait(t, parent, &node);
	else
		page_node_add_wait(t, &node, parent);
	fresh = first_time(t, edge->node);
	if (!fresh && t->depth > 1)
		page_add(t->page, ROLE_MUTED, 0, "  (above)");
	page_end(t->page);
	return fresh;
}

static void page_node_add_level(struct tree *t, unsigned level, uint32_t index)
{
	struct graph_edge *edges;
	struct graph_node parent;
	size_t n = edges_of(t, index, &edges), left = 0, length = strlen(t->bars);

	model_graph_node(t->model, index, &parent);
	for (size_t i = 0; i < n; i++)
		left += t->control || !edges[i].control;
	for (size_t i = 0; i < n && !t->cut; i++) {
		if (!t->control && edges[i].control)
			continue;
		left--;
		t->cut = t->page->n_lines >= TREE_LINES;
		if (!page_node_add_line(t, level, &edges[i], &parent))
			continue;
		if (level == t->depth && t->depth > 1) {
			struct graph_edge *more;

			if (edges_of(t, edges[i].node, &more))
				page_say(t->page, ROLE_MUTED, 0, "%s%s  |- ...", t->bars,
					 left ? "|" : " ");
			free(more);
		}
		if (level >= t->depth || length + 4 >= sizeof(t->bars))
			continue;
		snprintf(t->bars + length, sizeof(t->bars) - length, "%s", left ? "|  " : "   ");
		page_node_add_level(t, level + 1, edges[i].node);
		t->bars[length] = '\0';
	}
	free(edges);
}

static bool read_depth(const struct page_call *call, const struct page_options *o, unsigned *depth)
{
	char *end;
	long value;

	*depth = o->on['r'] || o->on['d'] ? DEPTH : 1;
	if (!o->on['d'])
		return true;
	value = strtol(o->value['d'], &end, 10);
	if (*end || end == o->value['d'] || value < 1 || value > 60) {
		snprintf(call->error, call->error_size, "not a depth from 1 to 60: '%.40s'",
			 o->value['d']);
		return false;
	}
	*depth = (unsigned)value;
	return true;
}

static bool page_node_make_tree(const struct page_call *call, struct page *page, bool outputs)
{
	struct tree t = { .page = page, .model = call->model, .outputs = outputs };
	struct page_options o;
	struct graph_node node;

	if (!page_options(call, "rct", "d", &o) || !read_depth(call, &o, &t.depth))
		return false;
	if (!page_node_take_node(call, o.rest, &node))
		return page_node_choose(call, page, o.rest);
	page_title(page, "%s %s", outputs ? "who takes from" : "inputs of", node.name);
	t.control = o.on['c'];
	t.types = o.on['t'];
	page_add(page, ROLE_DEFAULT, ATTR_BOLD, "%s of ", outputs ? "recipients" : "inputs");
	link_to(page, "ni", node.name);
	page_add(page, ROLE_MUTED, 0, "  (depth %u, control edges %s)", t.depth,
		 t.control ? "included" : "left out");
	page_node_add_cost(page, &node);
	page_end(page);
	first_time(&t, node.index);
	page_node_add_level(&t, 1, node.index);
	if (page->n_lines == 1)
		page_say(page, ROLE_MUTED, 0, "|- none");
	if (t.cut)
		page_say(page, ROLE_WARN, 0, "... more than %u lines: less depth (-d) shows the "
			 "rest", TREE_LINES);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_MUTED, 0, "(n) depth%s%s   mean ×times it ran   "
		 "waited for: from the end of this input to the start, median",
		 t.control ? "   (Ctrl) control edge" : "", t.types ? "   [Op] type" : "");
	free(t.seen);
	return true;
}

bool page_inputs(const struct page_call *call, struct page *page)
{
	bool made;

	model_lock(call->model);
	made = page_node_make_tree(call, page, false);
	model_unlock(call->model);
	return made;
}

bool page_outputs(const struct page_call *call, struct page *page)
{
	bool made;

	model_lock(call->model);
	made = page_node_make_tree(call, page, true);
	model_unlock(call->model);
	return made;
}

/* ---- one node ---- */

/* Adds the nodes of the same name in other graphs, each as a link. */
static void page_node_add_same(const struct page_call *call, struct page *page,
			       const struct graph_node *node)
{
	uint32_t *others;
	size_t n = model_graph_same(call->model, node->index, &others);
	struct graph_node other;
	char text[1024];

	for (size_t i = 0; i < n && i < SAME_LINES; i++) {
		const char *argv[] = { "ni", text };

		if (!model_graph_node(call->model, others[i], &other) || !other.graph)
			continue;
		snprintf(text, sizeof(text), "%s:%s", other.graph, other.name);
		page_add(page, ROLE_MUTED, 0, "%-9s", i ? "" : "also in");
		page_link(page, text, 2, argv);
		page_node_add_cost(page, &other);
		page_end(page);
	}
	if (n > SAME_LINES)
		page_say(page, ROLE_MUTED, 0, "%-9s%zu more", "", n - SAME_LINES);
	free(others);
}

static void page_node_add_edges(const struct page_call *call, struct page *page, uint32_t index,
				bool outputs)
{
	struct graph_edge *edges;
	struct graph_node node;
	size_t n = outputs ? model_graph_outputs(call->model, index, &edges) :
			     model_graph_inputs(call->model, index, &edges), control = 0;

	for (size_t i = 0; i < n; i++)
		control += edges[i].control;
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "%zu %s(s) + %zu control %s(s):", n - control,
		 outputs ? "recipient" : "input", control, outputs ? "recipient" : "input");
	for (size_t i = 0; i < n; i++) {
		page_add(page, ROLE_MUTED, 0, "  %s", edges[i].control ? "(Ctrl) " : "");
		if (edges[i].node != GRAPH_NONE &&
		    model_graph_node(call->model, edges[i].node, &node)) {
			page_add(page, ROLE_DEFAULT, 0, "[%s] ", node.type);
			link_to(page, "ni", node.name);
			page_node_add_cost(page, &node);
		} else {
			page_add(page, ROLE_MUTED, 0, "%s", edges[i].name);
		}
		page_end(page);
	}
	free(edges);
}

static void page_node_add_field(struct page *page, const char *label, const char *value)
{
	page_add(page, ROLE_MUTED, 0, "%-9s", label);
	page_say(page, ROLE_DEFAULT, 0, "%s", value);
}

static void page_node_add_ran(struct page *page, const struct page_call *call,
			      const struct graph_node *node, bool details)
{
	char total[FMT_MAX], mean[FMT_MAX], count[FMT_MAX];
	struct graph_node input;

	page_add(page, ROLE_MUTED, 0, "%-9s", "ran");
	if (!node->count) {
		page_say(page, ROLE_DEFAULT, 0, "never seen to run");
	} else {
		page_add(page, ROLE_DEFAULT, 0, "%s   total %s   mean %s",
			 fmt_many(count, node->count, "time"), fmt_time(total, node->total_ns),
			 fmt_time(mean, node->mean_ns));
		page_say(page, ROLE_MUTED, 0, "   joined %s", graph_rule_name(node->rule));
	}
	if (node->handed) {
		page_add(page, ROLE_MUTED, 0, "%-9s", "queued");
		page_say(page, ROLE_DEFAULT, 0, "%s for a thread of %s: p50 %s   p99 %s",
			 fmt_many(count, node->handed, "time"), node->pool ? node->pool : "a pool",
			 fmt_time(mean, node->queued_p50_ns), fmt_time(total, node->queued_p99_ns));
	}
	if (!node->waits)
		return;
	page_add(page, ROLE_MUTED, 0, "%-9s", "waited");
	page_add(page, ROLE_DEFAULT, 0, "p50 %s   p99 %s after its last input",
		 fmt_time(mean, node->wait_p50_ns), fmt_time(total, node->wait_p99_ns));
	if (node->waited_for != GRAPH_NONE &&
	    model_graph_node(call->model, node->waited_for, &input)) {
		page_add(page, ROLE_DEFAULT, 0, ", mostly ");
		link_to(page, "ni", input.name);
	}
	page_end(page);
	if (details)
		page_say(page, ROLE_MUTED, 0, "         mean wait %s, measured %s",
			 fmt_time(mean, node->wait_mean_ns), fmt_many(count, node->waits, "time"));
}

static void page_node_add_attributes(struct page *page, const char *text)
{
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "attributes:");
	while (*text) {
		size_t length = strcspn(text, "\n"), key = strcspn(text, "=\n");

		page_add(page, ROLE_MUTED, 0, "  %.*s: ", (int)key, text);
		page_say(page, ROLE_DEFAULT, 0, "%.*s", key < length ? (int)(length - key - 1) : 0,
			 text + (key < length ? key + 1 : key));
		text += length + (text[length] == '\n');
	}
}

static void page_node_add_line_of(struct page *page, const char *path, uint32_t wanted)
{
	const char *why;
	FILE *file = file_open(path, &why);
	char text[300];
	uint32_t line = 0;
	bool whole = true;

	while (file && fgets(text, sizeof(text), file)) {
		line += whole;
		whole = strchr(text, '\n') != NULL;
		if (line != wanted)
			continue;
		text[strcspn(text, "\r\n")] = '\0';
		page_say(page, ROLE_DEFAULT, 0, "    %s", text + strspn(text, " \t"));
		break;
	}
	if (file)
		fclose(file);
}

/* from: the node whose source line it is, NULL if it is the node's own. */
static void page_node_add_source(struct page *page, const struct graph_node *node, const char *from)
{
	char line[16], where[1200];
	const char *argv[] = { "ps", node->file, "-b", line };

	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	page_say(page, ROLE_COLUMN, 0, "made at:");
	if (!node->file || !node->line) {
		page_say(page, ROLE_MUTED, 0, "  unknown");
		return;
	}
	snprintf(line, sizeof(line), "%u", node->line);
	snprintf(where, sizeof(where), "%s:%u", node->file, node->line);
	page_add(page, ROLE_MUTED, 0, "  ");
	page_link(page, where, 4, argv);
	page_add(page, ROLE_MUTED, 0, "  in %s", node->function ? node->function : "?");
	if (node->how != GRAPH_LINE_EXACT)
		page_add(page, ROLE_MUTED, 0, "   found %s%s%s", graph_line_name(node->how),
			 from ? " " : "", from ? from : "");
	page_end(page);
	page_node_add_line_of(page, node->file, node->line);
}

static void page_node_make_node(const struct page_call *call, struct page *page,
				const struct graph_node *node, const struct page_options *o)
{
	char same[80];

	page_title(page, "%s", node->name);
	page_add(page, ROLE_TITLE, ATTR_BOLD, "%s", node->name);
	if (node->count && node->rule == GRAPH_EXACT) {	/* else the ops have other names */
		page_add(page, ROLE_MUTED, 0, "   ");
		page_to_name(page, "all its runs", node->name);
	}
	page_end(page);
	page_node_add_field(page, "op", node->type);
	page_node_add_field(page, "device", node->device ? node->device : "not placed");
	page_add(page, ROLE_MUTED, 0, "%-9s", "graph");
	page_add(page, ROLE_DEFAULT, 0, "%s", node->graph ? node->graph : "?");
	snprintf(same, sizeof(same), "   %u more of that name in others%s", node->same,
		 node->mixed ? ": the times may be those of all" : "");
	page_add(page, ROLE_MUTED, 0, "   ");
	page_to_process(page, node->pid);
	page_say(page, ROLE_MUTED, 0, "%s", node->same ? same : "");
	page_node_add_same(call, page, node);
	page_node_add_ran(page, call, node, o->on['d']);
	page_node_add_edges(call, page, node->index, false);
	page_node_add_edges(call, page, node->index, true);
	page_op_details(page, call->model, node->name, node->type);
	if (o->on['a'])
		page_node_add_attributes(page, node->attributes);
}

/* A range in which nothing was launched is no op: makes the page of all its runs. The error message
 * of ni is kept. */
static bool range_page(const struct page_call *call, const char *name, struct page *page)
{
	const char *const argv[] = { "name", name };
	struct page_call other = *call;
	char error[200];

	other.argc = 2;
	other.argv = argv;
	other.error = error;
	other.error_size = sizeof(error);
	return name && page_name(&other, page);
}

bool page_node(const struct page_call *call, struct page *page)
{
	struct page_options o;
	struct graph_node node, from;
	bool found, lent, chosen = false;

	if (!page_options(call, "adt", "", &o))
		return false;
	model_lock(call->model);
	found = page_node_take_node(call, o.rest, &node);
	if (found)
		page_node_make_node(call, page, &node, &o);
	else
		chosen = page_node_choose(call, page, o.rest) ||
			 (o.rest && page_op(page, call->model, o.rest));
	lent = found && node.how == GRAPH_LINE_EDGE &&
	       model_graph_node(call->model, node.lent, &from);
	model_unlock(call->model);
	/* the names stay valid; the lock is released because files are not read while it is held */
	if (found && o.on['t'])
		page_node_add_source(page, &node, lent ? from.name : NULL);
	return found || chosen || range_page(call, o.rest, page);
}
