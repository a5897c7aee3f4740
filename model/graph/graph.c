/* SPDX-License-Identifier: MIT */
/* Nodes and settings: adds them, indexes nodes, resolves their inputs. */
#include "model/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/base/util.h"

struct graphs *graphs_get(struct model *model)
{
	struct graphs *g = model->graphs;

	if (!g) {
		g = model->graphs = xcalloc(1, sizeof(*g));
		store_init(&g->nodes, sizeof(struct gnode));
		store_init(&g->joins, sizeof(struct graph_join));
	}
	return g;
}

void graphs_free(struct model *model)
{
	struct graphs *g = model->graphs;

	if (!g)
		return;
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		struct gnode *node = gnode_at(g, i);

		free(node->inputs);
		free(node->attributes);
		free(node->in);
		hist_release(&node->wait);
	}
	store_release(&g->nodes);
	store_release(&g->joins);
	map_release(&g->by_id);
	map_release(&g->by_place);
	map_release(&g->by_name);
	map_release(&g->join_by_ident);
	free(g->runs);
	free(g->infos);
	free(g->uses);
	free(g->out_first);
	free(g->out_next);
	free(g->out_to);
	free(g);
}

size_t graphs_bytes(const struct model *model)
{
	const struct graphs *g = model->graphs;

	if (!g)
		return 0;
	return g->nodes.n * sizeof(struct gnode) + g->text_bytes + map_bytes(&g->by_id) +
	       map_bytes(&g->by_place) + map_bytes(&g->by_name) + map_bytes(&g->join_by_ident) +
	       g->joins.n * sizeof(struct graph_join) + g->cap_runs * sizeof(*g->runs) +
	       g->n_uses * sizeof(*g->uses);
}

/* ---- names ---- */

static uint64_t hash_text(uint64_t h, const char *text, size_t length)
{
	return map_mix(hash_bytes(h, text, length)) | 1;
}

static uint64_t name_hash(uint32_t process, const char *name, size_t length)
{
	return hash_text(map_mix(process + 1), name, length);
}

static uint64_t place_hash(const struct model *model, uint32_t graph, uint64_t name)
{
	return map_mix(name ^ map_mix((uint64_t)names_resolve(&model->names, graph) + 1));
}

static bool is_named(struct model *model, const struct gnode *node, const char *name, size_t length)
{
	const char *own = names_raw(&model->names, node->name);

	return own && strlen(own) == length && !memcmp(own, name, length);
}

static bool index_node(struct model *model, uint32_t i)
{
	struct graphs *g = model->graphs;
	struct gnode *node = gnode_at(g, i);
	const char *name;

	if (node->hash)
		return true;
	if (!names_defined(&model->names, node->name) ||
	    !names_defined(&model->names, node->graph))
		return false;
	name = names_raw(&model->names, node->name);
	node->hash = name_hash(node->process, name, strlen(name));
	node->next = map_get(&g->by_name, node->hash);
	map_set(&g->by_name, node->hash, i);
	map_set(&g->by_place, place_hash(model, node->graph, node->hash), i);
	g->n_named++;
	return true;
}

void graph_index(struct model *model)
{
	struct graphs *g = model->graphs;
	uint32_t first = g->nodes.n;

	if (g->first_nameless == g->nodes.n ||
	    (g->names_then == model->names.n && g->n_named == g->nodes.n))
		return;
	for (uint32_t i = g->first_nameless; i < g->nodes.n; i++)
		if (!index_node(model, i) && i < first)
			first = i;
	g->first_nameless = first;
	g->names_then = model->names.n;
}

uint32_t graph_next(struct model *model, uint32_t i, const char *name, size_t length)
{
	while (i != NONE && !is_named(model, gnode_at(model->graphs, i), name, length))
		i = gnode_at(model->graphs, i)->next;
	return i;
}

uint32_t graph_named(struct model *model, uint32_t process, const char *name, size_t length)
{
	return graph_next(model, map_get(&model->graphs->by_name,
					 name_hash(process, name, length)), name, length);
}

uint32_t graph_placed_in(struct model *model, uint32_t process, uint32_t graph, const char *name,
			 size_t length)
{
	struct graphs *g = model->graphs;
	uint32_t i = map_get(&g->by_place, place_hash(model, graph,
						      name_hash(process, name, length)));

	return i != NONE && is_named(model, gnode_at(g, i), name, length) ? i : NONE;
}

/* The node of that name in the graph of `node`; GRAPH_UNKNOWN: it has none. */
static uint32_t graph_find_input(struct model *model, const struct gnode *node, const char *name,
				 size_t length)
{
	uint32_t i = graph_placed_in(model, node->process, node->graph, name, length);

	return i == NONE ? GRAPH_UNKNOWN : i;
}

/* ---- inputs ---- */

void graph_resolve(struct model *model, struct gnode *node)
{
	struct graphs *g = model->graphs;
	uint32_t n = 0;

	if (node->in && node->in_at == g->nodes.n)
		return;
	graph_index(model);
	for (const char *p = node->inputs; *p; p++)
		n += *p == ' ';
	n = n + 1 > GRAPH_INPUTS_MAX ? GRAPH_INPUTS_MAX : n + 1;
	node->in = xreallocarray(node->in, n, sizeof(*node->in));
	node->n_in = 0;
	node->in_at = g->nodes.n;
	for (const char *p = node->inputs + strspn(node->inputs, " "); *p && node->n_in < n;
	     p += strspn(p, " ")) {
		uint32_t control = *p == '^' ? GRAPH_CONTROL : 0;
		size_t length = strcspn(p, " ");

		node->in[node->n_in++] = control |
			graph_find_input(model, node, p + (control != 0),
					 strcspn(p + (control != 0), " :"));
		p += length;
	}
}

/* ---- adding ---- */

static char *graph_keep_text(struct graphs *g, char *old, const char *text)
{
	size_t n = strlen(text) + 1;

	g->text_bytes -= old ? strlen(old) + 1 : 0;
	free(old);
	if (n > 1 && g->text_bytes + n > GRAPH_TEXT_MAX) {
		g->dropped++;
		text = "";
		n = 1;
	}
	g->text_bytes += n;
	return xstrndup(text, n - 1);
}

static void apply_node(struct model *model, const struct arrival *in)
{
	const struct event_node *def = &in->event->u.node;
	struct graphs *g = graphs_get(model);
	uint64_t key = (uint64_t)in->process->index << 32 | def->id;
	uint32_t i = map_get(&g->by_id, key), name = local_name(model, in->process, def->name);
	uint32_t graph = local_name(model, in->process, def->graph);
	struct gnode *node;

	if (!def->id || !name || !graph) {
		model_bad(model, BAD_ID);
		return;
	}
	if (i == NONE) {
		if (g->nodes.n >= GRAPH_NODES_MAX) {
			g->dropped++;
			model_bad(model, BAD_FULL);
			return;
		}
		node = store_new(&g->nodes);
		i = g->nodes.n - 1;
		map_set(&g->by_id, key, i);
		*node = (struct gnode) {
			.process = in->process->index, .id = def->id, .name = name,
			.graph = graph, .next = NONE, .waited_for = NONE, .lent = NONE,
		};
	}
	node = gnode_at(g, i);
	if (names_resolve(&model->names, node->name) != names_resolve(&model->names, name) ||
	    names_resolve(&model->names, node->graph) != names_resolve(&model->names, graph)) {
		model_bad(model, BAD_REUSED);
		return;
	}
	node->type = local_name(model, in->process, def->op_type);
	node->device = local_name(model, in->process, def->device);
	node->file = local_name(model, in->process, def->file);
	node->function = local_name(model, in->process, def->function);
	node->line = def->line;
	node->origin = def->origin < ORIGIN_COUNT ? (uint8_t)def->origin : ORIGIN_NONE;
	node->inputs = graph_keep_text(g, node->inputs, def->inputs ? def->inputs : "");
	node->attributes = graph_keep_text(g, node->attributes, def->attributes ? def->attributes :
					   "");
	free(node->in);
	node->in = NULL;
	node->n_in = 0;
	g->out_at = 0;
}

static void apply_info(struct model *model, const struct arrival *in)
{
	const struct event_info *def = &in->event->u.info;
	struct graphs *g = graphs_get(model);
	uint32_t scope = names_intern(&model->names, def->scope);
	uint32_t key = names_intern(&model->names, def->key);
	uint32_t value = names_intern(&model->names, def->value);

	if (!key) {
		model_bad(model, BAD_ID);
		return;
	}
	for (size_t i = 0; i < g->n_infos; i++) {
		struct graph_info *info = &g->infos[i];

		if (info->process == in->process->index && info->scope == scope &&
		    info->key == key) {
			info->value = value;
			return;
		}
	}
	if (g->n_infos >= GRAPH_INFOS_MAX) {
		model_bad(model, BAD_FULL);
		return;
	}
	grow(&g->infos, &g->cap_infos, g->n_infos, sizeof(*g->infos));
	g->infos[g->n_infos++] = (struct graph_info) {
		in->process->index, scope, key, value,
	};
}

void graph_define(struct model *model, const struct arrival *in)
{
	if (in->event->type == EVENT_NODE)
		apply_node(model, in);
	else
		apply_info(model, in);
}

const char *graph_setting(struct model *model, uint32_t process, const char *key)
{
	const struct graphs *g = model->graphs;

	for (size_t i = 0; g && i < g->n_infos; i++) {
		const struct graph_info *info = &g->infos[i];

		if (info->process == process && info->scope && info->value &&
		    !strcmp(names_raw(&model->names, info->scope), "tensorflow") &&
		    (!key || !strcmp(names_raw(&model->names, info->key), key)))
			return names_raw(&model->names, info->value);
	}
	return NULL;
}
