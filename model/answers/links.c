/* SPDX-License-Identifier: MIT */
/* Links from one event to others, see query/links.h. */
#include "model/query/links.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/graph/graph.h"
#include "model/ops/ops.h"
#include "model/steps/steps.h"

#define LINK_CHUNKS 256u
#define LINK_LOOK 2048
#define EARLY_NS INT64_C(10000000)	/* how far a device's clock may be wrong */

/* An op that ran, or runs. */
struct ran {
	uint32_t process, name, ident, kernels;
	uint64_t instance;
	int64_t start_ns;
};

struct links {
	struct model *model;
	struct span_link *out;
	size_t n, max;
};

static bool op_of(struct model *model, struct span_ref ref, struct ran *op)
{
	const struct row *row = row_at(model, ref.row - 1);
	struct op_cold cold;
	struct lane_pos pos;
	uint32_t lane;

	if (row->kind != ROW_THREAD)
		return false;
	op->process = row->process;
	for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
		if (open_at(model, o)->id == ref.id) {
			op->name = open_at(model, o)->name;
			op->start_ns = open_at(model, o)->start_ns;
			cold = open_at(model, o)->cold.op;
			goto known;
		}
	if (!row_find(row, ref.lane, (uint32_t)ref.id, &lane, &pos))
		return false;
	op->name = lane_get(&row->lanes[lane], pos).name;
	op->start_ns = lane_get(&row->lanes[lane], pos).start_ns;
	lane_cold(&row->lanes[lane], pos, &cold);
known:
	op->name = steps_plain(model, op->name);
	op->ident = cold.ident;
	op->instance = cold.instance;
	op->kernels = cold.kernels;
	return true;
}

static void add(struct links *links, enum link_kind kind, struct span_ref ref)
{
	struct span span;

	if (links->n == links->max || !model_span(links->model, ref, &span))
		return;
	links->out[links->n++] = (struct span_link) {
		kind, span.ref, span.start_ns, span.end_ns, span.name,
	};
}

/* ---- what was launched ---- */

static void add_work_links(struct links *links, const struct ran *op)
{
	struct model *model = links->model;

	for (uint32_t r = 0; op->instance && r < model->rows.n; r++) {
		const struct row *row = row_at(model, r);

		if (row->process != op->process ||
		    (row->kind != ROW_QUEUE && row->kind != ROW_COPY))
			continue;
		for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
			if (open_at(model, o)->cold.command.op == op->instance)
				add(links, LINK_WORK, (struct span_ref) {
					r + 1, open_at(model, o)->lane, open_at(model, o)->id });
		for (uint32_t l = 0; l < row->n_lanes; l++) {
			const struct lane *lane = &row->lanes[l];
			struct lane_pos pos;
			bool more = lane_lower(lane, op->start_ns - EARLY_NS, &pos);

			for (int i = 0; more && i < LINK_LOOK; i++, more = lane_next(lane, &pos))
				if (lane_cold_field(lane, pos, COMMAND_OP) == op->instance)
					add(links, LINK_WORK, (struct span_ref) {
						r + 1, l, lane_get(lane, pos).id });
		}
	}
}

/* ---- graphs that are launched as one, and their nodes: one call of the host ---- */

struct host_call { uint32_t process, tid; int64_t call_ns; };

static bool call_of(struct model *model, struct span_ref ref, struct host_call *call)
{
	const struct row *row = row_at(model, ref.row - 1);
	struct command_cold cold;
	struct lane_pos pos;
	uint32_t lane;

	if (!row_find(row, ref.lane, (uint32_t)ref.id, &lane, &pos))
		return false;
	lane_cold(&row->lanes[lane], pos, &cold);
	*call = (struct host_call) { row->process, cold.tid, cold.call_ns };
	return cold.call_ns > 0;
}

/* Adds the commands of `lane` that started within [t0, t1]. */
static void add_of_call(struct links *links, enum link_kind kind, uint32_t r, uint32_t l,
			const struct host_call *call, int64_t t0, int64_t t1)
{
	const struct lane *lane = &row_at(links->model, r)->lanes[l];
	struct lane_pos pos;
	bool more = lane_lower(lane, t0, &pos);

	for (int i = 0; more && i < LINK_LOOK; i++, more = lane_next(lane, &pos)) {
		struct lane_span span = lane_get(lane, pos);
		struct command_cold cold;

		if (span.start_ns > t1)
			return;
		lane_cold(lane, pos, &cold);
		if (cold.call_ns == call->call_ns && cold.tid == call->tid)
			add(links, kind, (struct span_ref) { r + 1, l, span.id });
	}
}

static int link_by_start(const void *a, const void *b)
{
	const struct span_link *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_nodes(struct links *links, const struct span *box)
{
	struct model *model = links->model;
	size_t first = links->n;
	struct host_call call;

	if (!call_of(model, box->ref, &call))
		return;
	for (uint32_t r = 0; r < model->rows.n; r++) {
		const struct row *row = row_at(model, r);

		if (row->process == call.process &&
		    (row->kind == ROW_QUEUE || row->kind == ROW_COPY))
			for (uint32_t l = 0; l < row->n_lanes; l++)
				add_of_call(links, LINK_NODE, r, l, &call, box->start_ns,
					    box->end_ns);
	}
	qsort(links->out + first, links->n - first, sizeof(*links->out), link_by_start);
}

/* The launch of a graph starts before its nodes, or with the first, so it is the last launch that
 * has started by then. */
static void add_graph(struct links *links, const struct span *node)
{
	struct model *model = links->model;
	struct host_call call;

	if (node->row_kind != ROW_QUEUE && node->row_kind != ROW_COPY)
		return;
	if (!call_of(model, node->ref, &call))
		return;
	for (uint32_t r = 0; r < model->rows.n; r++) {
		const struct row *row = row_at(model, r);
		struct lane_pos pos;

		if (row->kind != ROW_GRAPH || row->process != call.process)
			continue;
		for (uint32_t l = 0; l < row->n_lanes; l++)
			if (lane_before(&row->lanes[l], node->start_ns + 1, &pos))
				add_of_call(links, LINK_GRAPH, r, l, &call,
					    lane_get(&row->lanes[l], pos).start_ns, node->start_ns);
	}
}

/* ---- producers and consumers ---- */

struct wanted_ops {
	struct model *model;
	struct lane_want want;
	uint8_t *names;			/* owned */
	bool any;
};

static void want_op_name(void *arg, uint32_t name)
{
	struct wanted_ops *wanted = arg;

	name = names_resolve(&wanted->model->names, name);
	if (!name || name >= wanted->want.n)
		return;
	wanted->names[name] = 1;
	lane_mark(wanted->want.marks, name);
	wanted->any = true;
}

static void want_neighbours(struct wanted_ops *wanted, const struct ran *op, bool takers)
{
	struct model *model = wanted->model;
	struct graph_edge *edges = NULL;
	enum graph_rule rule;
	uint32_t node;
	size_t n;

	edges_each(model, op->name, takers, want_op_name, wanted);
	if (!model->graphs)
		return;
	node = graph_joined(model, op->process, op->ident, &rule);
	if (node == NONE)
		return;
	n = takers ? model_graph_outputs(model, node, &edges) :
		     model_graph_inputs(model, node, &edges);
	for (size_t i = 0; i < n; i++)
		if (edges[i].node != GRAPH_NONE)
			want_op_name(wanted, gnode_at(model->graphs, edges[i].node)->name);
	free(edges);
}

/* The ops nearest to the op, one of each name. */
struct near {
	struct span_ref ref;
	int64_t start_ns;
	uint32_t name;
};

static void keep_near(struct near *near, size_t *n, const struct near *one, int64_t from_ns)
{
	int64_t away = llabs(one->start_ns - from_ns);
	size_t at;

	for (at = 0; at < *n; at++)
		if (near[at].name == one->name)
			break;
	if (at == *n && *n == LINKS_NEAR) {
		at = 0;
		for (size_t i = 1; i < *n; i++)
			if (llabs(near[i].start_ns - from_ns) > llabs(near[at].start_ns - from_ns))
				at = i;
	}
	if (at < *n && llabs(near[at].start_ns - from_ns) <= away)
		return;
	*n += at == *n;
	near[at] = *one;
}

static void look_in_row(const struct wanted_ops *wanted, const struct ran *op, uint32_t r,
			bool takers, struct near *near, size_t *n)
{
	const struct row *row = row_at(wanted->model, r);

	for (uint32_t l = 0; l < row->n_lanes; l++) {
		struct lane *lane = &row->lanes[l];
		struct lane_pos pos;
		bool more = takers ? lane_lower(lane, op->start_ns + 1, &pos) :
				     lane_before(lane, op->start_ns, &pos);

		for (unsigned i = 0; more && i < 2 * LINKS_NEAR; i++) {
			struct lane_span span;

			if (!(takers ? lane_next_of(lane, &wanted->want, &pos, LINK_CHUNKS) :
				       lane_prev_of(lane, &wanted->want, &pos, LINK_CHUNKS)))
				break;
			span = lane_get(lane, pos);
			keep_near(near, n, &(struct near) {
				{ r + 1, l, span.id }, span.start_ns,
				names_resolve(&wanted->model->names, span.name) }, op->start_ns);
			more = takers ? lane_next(lane, &pos) : lane_prev(lane, &pos);
		}
	}
}

static int by_start(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_neighbours(struct links *links, const struct ran *op, bool takers)
{
	struct model *model = links->model;
	struct wanted_ops wanted = { .model = model, .want = { .name = true } };
	struct near near[LINKS_NEAR];
	size_t n = 0;

	wanted.want.n = model->names.n;
	wanted.names = xcalloc(model->names.n ? model->names.n : 1, 1);
	wanted.want.wanted = wanted.names;
	want_neighbours(&wanted, op, takers);
	for (uint32_t r = process_at(model, op->process)->thread_rows.first;
	     wanted.any && r != NONE; r = row_at(model, r)->next)
		look_in_row(&wanted, op, r, takers, near, &n);
	free(wanted.names);
	qsort(near, n, sizeof(*near), by_start);
	for (size_t i = 0; i < n; i++)
		add(links, takers ? LINK_TAKER : LINK_PRODUCER, near[i].ref);
}

/* Adds what launched the event or was launched by it, and the ops around that. */
static void add_launch_links(struct links *links, const struct span *span)
{
	struct model *model = links->model;
	struct span_ref ref = span->ref, peer;
	bool has_peer = model_span_peer(model, ref, &peer);
	struct ran op;

	if (span->row_kind != ROW_THREAD) {
		if (!has_peer)
			return;
		add(links, LINK_OP, peer);
		ref = peer;
	}
	if (!op_of(model, ref, &op))
		return;
	if (span->row_kind == ROW_THREAD) {
		add_work_links(links, &op);
		if (has_peer && row_at(model, peer.row - 1)->kind == ROW_THREAD)
			add(links, LINK_MESSAGE, peer);
	}
	add_neighbours(links, &op, false);
	add_neighbours(links, &op, true);
}

size_t model_span_links(struct model *model, struct span_ref ref, struct span_link *out,
			size_t max)
{
	struct links links = { model, out, 0, max };
	struct span span;

	if (!model_span(model, ref, &span))
		return 0;
	add_launch_links(&links, &span);
	if (span.row_kind == ROW_GRAPH)
		add_nodes(&links, &span);
	else
		add_graph(&links, &span);
	return links.n;
}
