/* SPDX-License-Identifier: MIT */
/* Queries about graphs. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/regex.h"
#include "model/base/util.h"
#include "model/graph/graph.h"

#define NAMED_MAX 4			/* names listed in a sentence */
#define CHOICE_MAX 100			/* names offered to choose from */

static const char *raw(struct model *model, uint32_t name)
{
	return name ? names_raw(&model->names, name) : NULL;
}

static uint32_t first_name(struct model *model, uint32_t i)
{
	return names_resolve(&model->names, gnode_at(model->graphs, i)->name);
}

/* ---- lines ---- */

const char *graph_line_name(enum graph_line how)
{
	static const char *const names[GRAPH_LINES] = {
		"not at all", "exactly", "by its name", "by its function's first call",
		"by the first of its type", "by its neighbour",
	};

	return how < GRAPH_LINES ? names[how] : "";
}

static enum graph_line how_found(const struct gnode *node, uint32_t index)
{
	static const uint8_t of[ORIGIN_COUNT] = {
		/* older recordings do not have it */
		[ORIGIN_NONE] = GRAPH_LINE_EXACT, [ORIGIN_EXACT] = GRAPH_LINE_EXACT,
		[ORIGIN_NAME] = GRAPH_LINE_NAME, [ORIGIN_CALL] = GRAPH_LINE_CALL,
		[ORIGIN_FIRST] = GRAPH_LINE_FIRST,
	};

	if (node->lent == NONE)
		return GRAPH_LINE_NONE;
	return node->lent == index ? (enum graph_line)of[node->origin] : GRAPH_LINE_EDGE;
}

/* ---- what the nodes cost ---- */

/* A bit set of the processes that have nodes. */
static void add_uses(struct model *model, uint32_t process)
{
	struct graphs *g = model->graphs;

	for (uint32_t i = 0; i < model->idents.n; i++) {
		const struct ident *ident = ident_at(model, i);
		enum graph_rule rule;
		uint32_t node;

		if (!ident->count)
			continue;
		node = graph_joined(model, process, i, &rule);
		if (node == NONE)
			continue;
		g->uses[node].count += ident->count;
		add_ns(&g->uses[node].total_ns, ident->total_ns);
		g->uses[node].rule = (uint8_t)rule;
		g->uses[node].mixed |= !graph_joined_own(model, process, i);
		if (ident->handed &&
		    (!g->uses[node].ident ||
		     ident->handed > ident_at(model, g->uses[node].ident - 1)->handed))
			g->uses[node].ident = i + 1;
	}
}

static void tell_queued(struct model *model, const struct graph_use *use, struct graph_node *out)
{
	const struct ident *ident = use->ident ? ident_at(model, use->ident - 1) : NULL;

	if (!ident)
		return;
	out->handed = ident->handed;
	out->queued_p50_ns = hist_percentile(&ident->waits, 500);
	out->queued_p99_ns = hist_percentile(&ident->waits, 990);
	if (ident->wait_thread)
		out->pool = thread_label(model, ident->wait_thread - 1);
}

static void count_joined(struct model *model, const uint8_t *has_nodes)
{
	struct graphs *g = model->graphs;

	memset(g->ran, 0, sizeof(g->ran));
	memset(g->lines, 0, sizeof(g->lines));
	graph_turn(model);
	for (uint32_t i = 0; i < model->idents.n; i++) {
		enum graph_rule best = GRAPH_NOT, rule;
		enum graph_line how = GRAPH_LINE_NONE;

		if (!ident_at(model, i)->count || !graph_is_op(model, ident_at(model, i)))
			continue;
		for (uint32_t p = 0; p < model->processes.n; p++) {
			uint32_t node = has_nodes[p] ? graph_joined(model, p, i, &rule) : NONE;

			if (node == NONE || (best != GRAPH_NOT && rule >= best))
				continue;
			best = rule;
			how = how_found(gnode_at(g, node), node);
		}
		g->lines[how]++;
		if (best == GRAPH_NOT && g->ran[best] < 8)
			g->not_joined[g->ran[best]] = ident_at(model, i)->name;
		g->ran[best]++;
	}
}

static bool make_uses(struct model *model)
{
	struct graphs *g = model->graphs;
	uint64_t now = model_generation(model) + 1;
	uint8_t *has_nodes;

	if (!g || !g->nodes.n)
		return false;
	graph_index(model);
	if (g->uses_at == now && g->n_uses == g->nodes.n)
		return true;
	g->uses_at = now;
	g->n_uses = g->nodes.n;
	g->uses = xreallocarray(g->uses, g->n_uses, sizeof(*g->uses));
	memset(g->uses, 0, g->n_uses * sizeof(*g->uses));
	has_nodes = xcalloc(model->processes.n, 1);
	for (uint32_t i = 0; i < g->nodes.n; i++)
		has_nodes[gnode_at(g, i)->process] = 1;
	for (uint32_t p = 0; p < model->processes.n; p++)
		if (has_nodes[p])
			add_uses(model, p);
	count_joined(model, has_nodes);
	free(has_nodes);
	return true;
}

/* ---- one node ---- */

bool model_graph_node(struct model *model, uint32_t index, struct graph_node *out)
{
	struct graphs *g = model->graphs;
	const struct gnode *node, *from;
	const struct graph_use *use;
	const char *name;

	if (!make_uses(model) || index >= g->nodes.n)
		return false;
	graph_turn(model);
	node = gnode_at(g, index);
	from = node->lent == NONE ? node : gnode_at(g, node->lent);
	use = &g->uses[index];
	name = raw(model, node->name);
	*out = (struct graph_node) {
		.index = index, .pid = process_at(model, node->process)->pid,
		.graph = raw(model, node->graph), .name = name, .type = raw(model, node->type),
		.device = raw(model, node->device), .file = raw(model, from->file),
		.function = raw(model, from->function), .line = from->line,
		.how = how_found(node, index), .lent = node->lent,
		.attributes = node->attributes, .rule = (enum graph_rule)use->rule,
		.count = use->count, .total_ns = use->total_ns,
		.mean_ns = use->count ? use->total_ns / (int64_t)use->count : 0,
		.waits = node->wait.total, .waited_for = node->waited_for,
		.wait_mean_ns = -1, .wait_p50_ns = hist_percentile(&node->wait, 500),
		.wait_p99_ns = hist_percentile(&node->wait, 990),
	};
	if (!out->type)
		out->type = "?";
	if (node->wait.total)
		out->wait_mean_ns = node->wait_ns / (int64_t)node->wait.total;
	tell_queued(model, use, out);
	if (!node->hash)
		return true;
	for (uint32_t i = graph_named(model, node->process, name, strlen(name)); i != NONE;
	     i = graph_next(model, gnode_at(g, i)->next, name, strlen(name))) {
		out->same += i != index;
		out->mixed |= g->uses[i].mixed;
	}
	return true;
}

struct same_count {
	uint32_t index;
	uint64_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct same_count *x = a, *y = b;

	return DESCENDING(x, y, count) ?: DESCENDING(x, y, index);
}

size_t model_graph_same(struct model *model, uint32_t index, uint32_t **out)
{
	struct graphs *g = model->graphs;
	struct same_count *found = NULL;
	size_t n = 0, cap = 0;
	const char *name;

	*out = NULL;
	if (!make_uses(model) || index >= g->nodes.n || !gnode_at(g, index)->hash)
		return 0;
	name = raw(model, gnode_at(g, index)->name);
	for (uint32_t i = graph_named(model, gnode_at(g, index)->process, name, strlen(name));
	     i != NONE; i = graph_next(model, gnode_at(g, i)->next, name, strlen(name))) {
		if (i == index)
			continue;
		grow(&found, &cap, n, sizeof(*found));
		found[n++] = (struct same_count) { i, g->uses[i].count };
	}
	if (!n)
		return 0;
	qsort(found, n, sizeof(*found), by_count);
	*out = xcalloc(n, sizeof(**out));
	for (size_t i = 0; i < n; i++)
		(*out)[i] = found[i].index;
	free(found);
	return n;
}

/* ---- finding ---- */

/* Of the nodes with the same name: one that ran, else the latest. */
static uint32_t best_of_name(struct model *model, uint32_t index)
{
	struct graphs *g = model->graphs;
	const struct gnode *node = gnode_at(g, index);
	const char *name = raw(model, node->name);
	uint32_t best = NONE;

	for (uint32_t i = graph_named(model, node->process, name, strlen(name)); i != NONE;
	     i = graph_next(model, gnode_at(g, i)->next, name, strlen(name))) {
		if (best == NONE || g->uses[i].count > g->uses[best].count)
			best = i;
	}
	return best == NONE ? index : best;
}

/* "graph:name", both in full; names contain no colon. */
static uint32_t find_placed(struct model *model, const char *text)
{
	const char *colon = strrchr(text, ':');
	const struct graphs *g = model->graphs;

	for (uint32_t i = 0; colon && i < g->nodes.n; i++) {
		const char *graph = raw(model, gnode_at(g, i)->graph);
		const char *name = raw(model, gnode_at(g, i)->name);

		if (name && graph && !strcmp(name, colon + 1) &&
		    strlen(graph) == (size_t)(colon - text) &&
		    !memcmp(graph, text, (size_t)(colon - text)))
			return i;
	}
	return NONE;
}

static uint32_t find_exact(struct model *model, const char *text)
{
	uint32_t placed = find_placed(model, text);
	enum graph_rule rule;

	if (placed != NONE)
		return placed;
	for (uint32_t p = 0; p < model->processes.n; p++) {
		uint32_t i = graph_named(model, p, text, strlen(text));

		if (i != NONE)
			return best_of_name(model, i);
	}
	/* by the name of the op that ran, although the node has another name */
	for (uint32_t i = 0; i < model->idents.n; i++) {
		const char *name = raw(model, ident_at(model, i)->name);

		if (!name || strcmp(name, text))
			continue;
		for (uint32_t p = 0; p < model->processes.n; p++)
			if (graph_joined(model, p, i, &rule) != NONE)
				return graph_joined(model, p, i, &rule);
	}
	return NONE;
}

/* Counts the different names that match; which: a node of the first one. */
struct matches {
	uint32_t which[CHOICE_MAX];
	size_t n;
};

static void add_match(struct model *model, struct map *names, struct matches *m, uint32_t i)
{
	uint32_t name = first_name(model, i);

	if (map_get(names, name) != MAP_NONE)
		return;
	map_set(names, name, 0);
	if (m->n < CHOICE_MAX)
		m->which[m->n] = i;
	m->n++;
}

static bool begins(const char *name, const char *text)
{
	return !strncmp(name, text, strlen(text));
}

/* The last parts of a path: "MaxPool2d" of "model/pool/MaxPool2d". */
static bool ends(const char *name, const char *text)
{
	size_t all = strlen(name), length = strlen(text);

	return length && all > length && name[all - length - 1] == '/' &&
	       !strcmp(name + all - length, text);
}

static void match(struct model *model, const char *text, struct matches *m,
		  bool (*matches)(const char *name, const char *text))
{
	struct map names = { .size = 0 };

	m->n = 0;
	for (uint32_t i = 0; i < model->graphs->nodes.n; i++) {
		const char *name = raw(model, gnode_at(model->graphs, i)->name);

		if (name && matches(name, text))
			add_match(model, &names, m, i);
	}
	map_release(&names);
}

/* false: not a regular expression. */
static bool match_regex(struct model *model, const char *text, struct matches *m)
{
	struct map names = { .size = 0 };
	regex_t regex;
	char why[160];

	m->n = 0;
	if (!regex_make(&regex, text, REGEX_SMART, why, sizeof(why)))
		return false;
	for (uint32_t i = 0; i < model->graphs->nodes.n; i++) {
		const char *name = raw(model, gnode_at(model->graphs, i)->name);

		if (name && !regexec(&regex, name, 0, NULL, 0))
			add_match(model, &names, m, i);
	}
	regfree(&regex);
	map_release(&names);
	return true;
}

/* How similar two texts are: the share of pairs of letters that both have, 0 ... 1000. */
struct letter_pairs {
	uint64_t bits[16];
};

static unsigned set_pairs(struct letter_pairs *p, const char *text)
{
	unsigned n = 0;

	memset(p, 0, sizeof(*p));
	for (; text[0] && text[1]; text++) {
		unsigned h = (unsigned)(tolower((unsigned char)text[0]) * 37 +
					tolower((unsigned char)text[1])) % 1024;

		n += !(p->bits[h / 64] >> h % 64 & 1);
		p->bits[h / 64] |= UINT64_C(1) << h % 64;
	}
	return n;
}

static unsigned likeness(const struct letter_pairs *a, unsigned n_a, const char *text)
{
	struct letter_pairs b;
	unsigned n_b = set_pairs(&b, text), shared = 0;

	for (int i = 0; i < 16; i++)
		shared += (unsigned)__builtin_popcountll(a->bits[i] & b.bits[i]);
	return n_a + n_b ? 2000 * shared / (n_a + n_b) : 0;
}

static void match_near(struct model *model, const char *text, struct matches *m)
{
	unsigned scores[NAMED_MAX] = { 0 };
	struct letter_pairs wanted;
	unsigned n_wanted = set_pairs(&wanted, text);

	m->n = 0;
	for (uint32_t i = 0; i < model->graphs->nodes.n; i++) {
		const char *name = raw(model, gnode_at(model->graphs, i)->name);
		unsigned score = name ? likeness(&wanted, n_wanted, name) : 0;
		size_t at = m->n;
		bool there = false;

		for (size_t k = 0; k < m->n; k++)
			there |= first_name(model, m->which[k]) == first_name(model, i);
		if (there || score < 300)
			continue;
		while (at && scores[at - 1] < score)
			at--;
		if (at >= NAMED_MAX)
			continue;
		if (m->n < NAMED_MAX)
			m->n++;
		for (size_t k = m->n - 1; k > at; k--) {
			scores[k] = scores[k - 1];
			m->which[k] = m->which[k - 1];
		}
		scores[at] = score;
		m->which[at] = i;
	}
}

static void list_names(struct model *model, const struct matches *m, char *text, size_t size)
{
	size_t length = 0, shown = m->n < NAMED_MAX ? m->n : NAMED_MAX;

	text[0] = '\0';
	for (size_t i = 0; i < shown && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "",
					   raw(model, gnode_at(model->graphs, m->which[i])->name));
	if (m->n > shown && length < size)
		snprintf(text + length, size - length, ", %zu more", m->n - shown);
}

static void match_all(struct model *model, const char *text, struct matches *m)
{
	match(model, text, m, begins);
	if (!m->n)
		match(model, text, m, ends);
	if (!m->n)
		match_regex(model, text, m);
}

size_t model_graph_choices(struct model *model, const char *text, const char **names, size_t max)
{
	struct matches m;

	if (!make_uses(model) || find_exact(model, text) != NONE)
		return 0;
	match_all(model, text, &m);
	for (size_t i = 0; i < max && i < m.n && i < CHOICE_MAX; i++)
		names[i] = raw(model, gnode_at(model->graphs, m.which[i])->name);
	return m.n;
}

bool model_graph_find(struct model *model, const char *text, uint32_t *index, char *error,
		      size_t error_size)
{
	struct matches m;
	char list[320];

	if (!make_uses(model)) {
		snprintf(error, error_size, "no graph was seen that could have a node '%.80s'; lp "
			 "lists the ops, ni shows one", text);
		return false;
	}
	*index = find_exact(model, text);
	if (*index != NONE)
		return true;
	match_all(model, text, &m);
	if (m.n == 1) {
		*index = best_of_name(model, m.which[0]);
		return true;
	}
	if (m.n) {
		list_names(model, &m, list, sizeof(list));
		snprintf(error, error_size, "%zu nodes match '%.80s': %s", m.n, text, list);
		return false;
	}
	match_near(model, text, &m);
	list_names(model, &m, list, sizeof(list));
	snprintf(error, error_size, "no node '%.80s'%s%s", text, m.n ? "; near: " : "", list);
	return false;
}

/* ---- totals ---- */

void model_graph_counts(struct model *model, struct graph_counts *out)
{
	struct graphs *g = model->graphs;
	struct map graphs = { .size = 0 };

	memset(out, 0, sizeof(*out));
	if (!make_uses(model))
		return;
	graph_turn(model);
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		const struct gnode *node = gnode_at(g, i);
		uint64_t key = (uint64_t)node->process << 32 |
			       names_resolve(&model->names, node->graph);
		const char *device = raw(model, node->device);

		out->graphs += map_get(&graphs, key) == MAP_NONE;
		map_set(&graphs, key, 0);
		out->with_line += node->line != 0;
		if (!g->uses[i].count)
			continue;
		if (device && strstr(device, "CPU:"))
			out->on_cpu++;
		else if (device)
			out->on_device++;
	}
	map_release(&graphs);
	out->nodes = g->nodes.n;
	out->edges = g->n_out;
	out->dropped = g->dropped;
	for (uint64_t i = 0; i < g->ran[GRAPH_NOT] && i < 8; i++)
		out->not_joined[i] = raw(model, g->not_joined[i]);
	for (int rule = 0; rule < GRAPH_RULES; rule++) {
		out->joined[rule] = g->ran[rule];
		out->ops += g->ran[rule];
	}
	memcpy(out->lines, g->lines, sizeof(out->lines));
}

size_t model_infos(struct model *model, struct info_row **out)
{
	const struct graphs *g = model->graphs;
	size_t n = g ? g->n_infos : 0;

	*out = xcalloc(n + 1, sizeof(**out));
	for (size_t i = 0; i < n; i++)
		(*out)[i] = (struct info_row) {
			.pid = process_at(model, g->infos[i].process)->pid,
			.scope = g->infos[i].scope ? raw(model, g->infos[i].scope) : "",
			.key = raw(model, g->infos[i].key),
			.value = g->infos[i].value ? raw(model, g->infos[i].value) : "",
		};
	return n;
}

bool graph_source(struct model *model, uint32_t ident, const char **file, uint32_t *line)
{
	struct graphs *g = model->graphs;
	bool found = false;

	if (!g || !g->nodes.n || !graph_is_op(model, ident_at(model, ident)))
		return false;
	graph_index(model);
	graph_turn(model);
	for (uint32_t p = 0; p < model->processes.n && !found; p++) {
		uint32_t i = graph_joined(model, p, ident, NULL);

		if (i == NONE || gnode_at(g, i)->lent == NONE)
			continue;
		i = gnode_at(g, i)->lent;
		*file = raw(model, gnode_at(g, i)->file);
		*line = gnode_at(g, i)->line;
		found = *file != NULL;
	}
	return found;
}

void graph_latency(struct model *model, uint32_t ident, struct op_row *row)
{
	struct graphs *g = model->graphs;

	if (!g || !g->nodes.n || !graph_is_op(model, ident_at(model, ident)))
		return;
	graph_index(model);
	for (uint32_t p = 0; p < model->processes.n; p++) {
		uint32_t i = graph_joined(model, p, ident, NULL);

		if (i == NONE)
			continue;
		row->latencies += gnode_at(g, i)->wait.total;
		add_ns(&row->latency_ns, gnode_at(g, i)->wait_ns);
	}
}
