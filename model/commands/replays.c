/* SPDX-License-Identifier: MIT */
#include "model/commands/replays.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/map.h"
#include "model/base/util.h"
#include "model/clocks/clock.h"
#include "model/commands/join.h"
#include "model/core/model.h"
#include "model/query/replays.h"
#include "model/rows/rows.h"

/* join.c drops a launch when no run of it can arrive any more; records are written later than what
 * they describe. */
_Static_assert(ROW_GRAPH_LATE_NS >= 2 * JOIN_WAIT_NS, "boxes come later than they are said to");

struct replay_run {
	int64_t start_ns, end_ns;
	uint32_t name, op;		/* names as they were used: they may be defined later */
};

/* A launch whose nodes are still arriving. */
struct replay_open {
	uint32_t graph, next_free;
	uint32_t process, queue;	/* queue NONE: unknown */
	struct event_launch launch;
	struct replay_run *nodes;		/* owned */
	size_t n, cap;
	uint64_t unkept;
};

struct replay_graph {
	uint32_t name, op;
	uint64_t launches, whole, nodes, unkept;
	int64_t total_ns, min_ns, max_ns, busy_ns, gap_ns, max_gap_ns, call_ns;
	uint32_t kinds;			/* head of a list, or NONE */
};

struct replay_kind {
	uint32_t name, op, next;
	uint64_t count;
	int64_t total_ns;
};

struct replays {
	struct replay_graph *graphs;		/* owned */
	size_t n_graphs, cap_graphs;
	struct map graph_by_name;
	struct replay_kind *kinds;		/* owned */
	size_t n_kinds, cap_kinds;
	struct map kind_by_key;		/* index of the first kind with that key */
	struct replay_open *opens;		/* owned; index 0 is none */
	size_t n_opens, cap_opens;
	uint32_t free;
	size_t waiting;			/* number of nodes in opens */
};

static struct replays *replays_get(struct model *model)
{
	if (!model->join->replays)
		model->join->replays = xcalloc(1, sizeof(*model->join->replays));
	return model->join->replays;
}

/* NONE: there is no room. */
static uint32_t graph_get(struct replays *r, uint32_t name)
{
	uint32_t at = map_get(&r->graph_by_name, (uint64_t)name + 1);

	if (at != MAP_NONE)
		return at;
	if (r->n_graphs == REPLAY_GRAPHS_MAX)
		return NONE;
	grow(&r->graphs, &r->cap_graphs, r->n_graphs, sizeof(*r->graphs));
	at = (uint32_t)r->n_graphs++;
	r->graphs[at] = (struct replay_graph) { .name = name, .kinds = NONE, .min_ns = INT64_MAX };
	map_set(&r->graph_by_name, (uint64_t)name + 1, at);
	return at;
}

static void add_time(struct replay_graph *graph, int64_t ns)
{
	add_ns(&graph->total_ns, ns);
	graph->min_ns = ns < graph->min_ns ? ns : graph->min_ns;
	graph->max_ns = ns > graph->max_ns ? ns : graph->max_ns;
}

/* ---- a launch and its nodes ---- */

static uint32_t open_new(struct replays *r)
{
	uint32_t at = r->free;

	if (at) {
		r->free = r->opens[at].next_free;
	} else {
		if (!r->n_opens)
			r->n_opens = 1;
		grow(&r->opens, &r->cap_opens, r->n_opens, sizeof(*r->opens));
		at = (uint32_t)r->n_opens++;
		r->opens[at] = (struct replay_open) { .n = 0 };
	}
	r->opens[at].n = 0;
	r->opens[at].unkept = 0;
	return at;
}

/* A record without a name is not a kernel. */
static uint32_t node_name(struct model *model, struct process *process,
			  const struct event_run *run)
{
	if (run->name)
		return local_name(model, process, run->name);
	return names_intern(&model->names, run->kind == COMMAND_FILL ? "fill" :
			    run->direction && run->direction < DIR_COUNT ?
			    direction_name((enum direction)run->direction) : "copy");
}

void replays_node(struct model *model, struct process *process, uint32_t *at,
		  const struct event_launch *launch, const struct event_run *run)
{
	struct replays *r = replays_get(model);
	struct replay_open *open;
	uint32_t graph;

	/* It was reported as a whole, and is counted where it is drawn. */
	if (run->kind == COMMAND_GRAPH || run->start_ticks > INT64_MAX ||
	    run->end_ticks > INT64_MAX)
		return;
	if (!*at) {
		graph = graph_get(r, local_name(model, process, launch->name));
		if (graph == NONE)
			return;
		r->graphs[graph].op = local_name(model, process, launch->op_name);
		*at = open_new(r);
		open = &r->opens[*at];
		open->graph = graph;
		open->process = process->index;
		open->queue = process_queue_get(model, process, launch->queue);
		open->launch = *launch;
	}
	open = &r->opens[*at];
	if (r->waiting == REPLAY_NODES || run->end_ticks < run->start_ticks) {
		open->unkept++;
		return;
	}
	grow(&open->nodes, &open->cap, open->n, sizeof(*open->nodes));
	open->nodes[open->n++] = (struct replay_run) {
		(int64_t)run->start_ticks, (int64_t)run->end_ticks,
		node_name(model, process, run), local_name(model, process, run->op_name),
	};
	r->waiting++;
}

static void count_kind(struct model *model, struct replays *r, uint32_t graph,
		       const struct replay_run *node)
{
	uint32_t name = names_resolve(&model->names, node->name);
	uint32_t op = names_resolve(&model->names, node->op);
	uint64_t key = map_mix((uint64_t)name << 32 | op) ^ graph;
	uint32_t at = map_get(&r->kind_by_key, key);
	struct replay_kind *kind = at == MAP_NONE ? NULL : &r->kinds[at];

	/* Another kind of node with the same key is ignored. */
	if (!kind && r->n_kinds < REPLAY_KINDS_MAX) {
		grow(&r->kinds, &r->cap_kinds, r->n_kinds, sizeof(*r->kinds));
		kind = &r->kinds[r->n_kinds];
		*kind = (struct replay_kind) {
			.name = name, .op = op, .next = r->graphs[graph].kinds,
		};
		r->graphs[graph].kinds = (uint32_t)r->n_kinds;
		map_set(&r->kind_by_key, key, (uint32_t)r->n_kinds++);
	}
	if (!kind || kind->name != name || kind->op != op) {
		r->graphs[graph].unkept++;
		return;
	}
	kind->count++;
	add_ns(&kind->total_ns, node->end_ns - node->start_ns);
}

static int by_start(const void *a, const void *b)
{
	const struct replay_run *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Draws the launch, from the first node's start to the last one's end, in a row above the nodes. */
static void replay_draw(struct model *model, const struct replays *r,
			const struct replay_open *open, int64_t until_ns)
{
	const struct event_launch *launch = &open->launch;
	const struct replay_graph *graph = &r->graphs[open->graph];
	struct lane_span span = { .name = graph->name, .work = WORK_OTHER };
	struct command_cold cold = {
		.detail = open->n, .op = launch->op, .op_name = graph->op, .tid = launch->tid,
		.call_ns = time_ok(launch->call_ns) ? launch->call_ns : 0,
		.call_dur_ns = launch->call_dur_ns,
		.kind_how = COMMAND_GRAPH | (launch->correlation ? HOW_EXACT : HOW_EVENT) << 5,
	};
	uint64_t first = (uint64_t)open->nodes[0].start_ns, last = (uint64_t)until_ns;
	const struct clock *clock;
	uint32_t index, lane;

	if (open->queue == NONE || queue_at(model, open->queue)->view == NONE || !first)
		return;
	clock = &view_at(model, queue_at(model, open->queue)->view)->clock;
	if (!clock_has(clock))
		return;
	index = row_of_graphs(model, open->queue);
	if (index == NONE)
		return;
	span.start_ns = clock_map(clock, first, &cold.segment);
	span.dur_ns = clock_length(clock, first, last);
	if (!span_ok(span.start_ns, span.dur_ns, model->live_ns))
		return;
	span.id = ++row_at(model, index)->last_id;
	lane = row_fit(model, row_at(model, index), span.start_ns, span.start_ns + span.dur_ns);
	row_insert(model, index, lane, &span, &cold);
}

void replays_end(struct model *model, uint32_t at)
{
	struct replays *r = model->join->replays;
	struct replay_open *open = at ? &r->opens[at] : NULL;
	int64_t until_ns, gap_ns = 0;
	struct replay_graph *graph;

	if (!open)
		return;
	graph = &r->graphs[open->graph];
	graph->launches++;
	graph->nodes += open->n + open->unkept;
	graph->unkept += open->unkept;
	add_ns(&graph->call_ns, open->launch.call_dur_ns);
	if (open->n) {
		qsort(open->nodes, open->n, sizeof(*open->nodes), by_start);
		until_ns = open->nodes[0].start_ns;
		for (size_t i = 0; i < open->n; i++) {
			const struct replay_run *node = &open->nodes[i];
			int64_t pause_ns = node->start_ns - until_ns;

			count_kind(model, r, open->graph, node);
			add_ns(&gap_ns, pause_ns > 0 ? pause_ns : 0);
			graph->max_gap_ns = pause_ns > graph->max_gap_ns ? pause_ns :
								      graph->max_gap_ns;
			until_ns = node->end_ns > until_ns ? node->end_ns : until_ns;
		}
		replay_draw(model, r, open, until_ns);
		add_time(graph, until_ns - open->nodes[0].start_ns);
		add_ns(&graph->gap_ns, gap_ns);
		add_ns(&graph->busy_ns, until_ns - open->nodes[0].start_ns - gap_ns);
	}
	r->waiting -= open->n;
	open->next_free = r->free;
	r->free = at;
}

void replays_whole(struct model *model, uint32_t name, uint32_t op, int64_t dur_ns)
{
	struct replays *r = replays_get(model);
	uint32_t at = graph_get(r, name);

	if (at == NONE)
		return;
	r->graphs[at].whole++;
	r->graphs[at].op = op;
	add_time(&r->graphs[at], dur_ns);
}

void replays_free(struct replays *r)
{
	if (!r)
		return;
	for (size_t i = 1; i < r->n_opens; i++)
		free(r->opens[i].nodes);
	free(r->opens);
	free(r->graphs);
	free(r->kinds);
	map_release(&r->graph_by_name);
	map_release(&r->kind_by_key);
	free(r);
}

size_t replays_bytes(const struct replays *r)
{
	size_t bytes;

	if (!r)
		return 0;
	bytes = sizeof(*r) + r->cap_graphs * sizeof(*r->graphs) + r->cap_kinds * sizeof(*r->kinds) +
		r->cap_opens * sizeof(*r->opens) + map_bytes(&r->graph_by_name) +
		map_bytes(&r->kind_by_key);
	for (size_t i = 1; i < r->n_opens; i++)
		bytes += r->opens[i].cap * sizeof(*r->opens[i].nodes);
	return bytes;
}

/* ---- queries ---- */

static int by_total(const void *a, const void *b)
{
	const struct replay_row *x = a, *y = b;

	return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

static int by_node(const void *a, const void *b)
{
	const struct replay_node *x = a, *y = b;

	return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

static const char *text_of(struct model *model, uint32_t name)
{
	return name ? names_short(&model->names, names_resolve(&model->names, name)) : NULL;
}

static void replay_list_nodes(struct model *model, const struct replays *r,
			      const struct replay_graph *graph, struct replay_row *row)
{
	size_t n = 0;

	for (uint32_t i = graph->kinds; i != NONE; i = r->kinds[i].next)
		n++;
	row->node = xcalloc(n + 1, sizeof(*row->node));
	for (uint32_t i = graph->kinds; i != NONE; i = r->kinds[i].next) {
		const struct replay_kind *kind = &r->kinds[i];
		const char *name = text_of(model, kind->name);

		row->node[row->n_nodes++] = (struct replay_node) {
			.name = name ? name : "?", .op = text_of(model, kind->op),
			.count = kind->count, .total_ns = kind->total_ns,
		};
	}
	qsort(row->node, n, sizeof(*row->node), by_node);
}

size_t model_replays(struct model *model, struct replay_row **out)
{
	const struct replays *r = model->join->replays;
	size_t count = r ? r->n_graphs : 0, n = 0;

	*out = xcalloc(count + 1, sizeof(**out));
	for (size_t i = 0; i < count; i++) {
		const struct replay_graph *graph = &r->graphs[i];
		const char *name = text_of(model, graph->name);

		if (!graph->launches && !graph->whole)
			continue;
		(*out)[n] = (struct replay_row) {
			.name = name ? name : "graph", .op = text_of(model, graph->op),
			.launches = graph->launches, .whole = graph->whole, .nodes = graph->nodes,
			.total_ns = graph->total_ns, .max_ns = graph->max_ns,
			.min_ns = graph->min_ns == INT64_MAX ? 0 : graph->min_ns,
			.busy_ns = graph->busy_ns, .gap_ns = graph->gap_ns,
			.max_gap_ns = graph->max_gap_ns, .call_ns = graph->call_ns,
			.unkept = graph->unkept,
		};
		replay_list_nodes(model, r, graph, &(*out)[n++]);
	}
	qsort(*out, n, sizeof(**out), by_total);
	return n;
}

void model_replays_free(struct replay_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(rows[i].node);
	free(rows);
}
