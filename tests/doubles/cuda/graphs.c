/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: graphs, captured or made node by node. See sim.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/entry.h"

/* The driver's parameters of a node of each kind. */
struct kernel_node {
	void *function;
	unsigned int grid[3], block[3], shared;
	void **arguments, **extra;
	void *kernel, *context;
};
struct copy_end {
	size_t x, y, z, level;
	int type;
	void *host;
	uint64_t device;
	void *array, *reserved;
	size_t pitch, height;
};
struct copy_shape {
	struct copy_end from, to;
	size_t width, height, depth;
};
struct copy_node {
	int flags, reserved;
	void *context;
	struct copy_shape shape;
};
struct fill_node {
	uint64_t to;
	size_t pitch;
	unsigned int value, element;
	size_t width, height;
};
/* A node of any kind, and those kinds that are known here. */
enum { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_EMPTY = 5 };
struct any_node {
	int type, reserved[3];
	union {
		struct kernel_node kernel;
		struct copy_node copy;
		struct fill_node fill;
		long long room[29];
	};
};

static atomic_uint next_graph = 1;
static atomic_ullong next_node = 1;

static struct sim_graph *graph_of(void *handle, bool exec)
{
	struct sim_graph *g = handle;

	return g && g->magic == SIM_MAGIC_GRAPH && g->exec == exec ? g : NULL;
}

static struct sim_graph *graph_make(bool exec)
{
	struct sim_graph *g = calloc(1, sizeof(*g));

	g->magic = SIM_MAGIC_GRAPH;
	g->id = atomic_fetch_add(&next_graph, 1);
	g->exec = exec;
	g->context = sim_thread.current;
	return g;
}

int graph_note(struct sim_graph *graph, const struct sim_op *op, void *to, const void *from,
	       struct sim_node **node)
{
	struct sim_node *n = calloc(1, sizeof(*n));

	n->magic = SIM_MAGIC_NODE;
	n->id = atomic_fetch_add(&next_node, 1);
	n->op = *op;
	if (!graph->exec)
		n->op.captured = sim_range_now();
	if (!n->op.duration_ns)
		n->op.duration_ns = sim_thread.next_ns;
	sim_thread.next_ns = 0;
	if (!graph->exec)
		n->op.captured = sim_range_now();
	n->destination = to;
	n->source = from;
	if (!graph->exec && op->stream) {
		memcpy(n->awaits, op->stream->awaits, sizeof(n->awaits));
		memset(op->stream->awaits, 0, sizeof(n->awaits));
		op->stream->noted = n;
	}
	if (graph->last)
		graph->last->next = n;
	else
		graph->first = n;
	graph->last = n;
	graph->nodes++;
	if (node)
		*node = n;
	if (!graph->exec)
		SIM_TELL(object, SIM_NODE, n, false);
	return SIM_OK;
}

ENTRY(501, cuGraphCreate, (void **, graph), (unsigned int, flags))
{
	struct sim_graph *g = graph_make(false);

	*graph = g;
	SIM_TELL(object, SIM_GRAPH, g, false);
	return SIM_OK;
}

static void *end_of(const struct copy_end *end)
{
	return (char *)(end->type == 1 ? end->host : (void *)(uintptr_t)end->device) + end->x;
}

/* Sets what a node does, and where its data is. */
static int set_node(struct sim_op *op, void **to, const void **from, const struct any_node *n)
{
	const struct kernel_node *k = &n->kernel;
	const struct fill_node *f = &n->fill;
	const struct copy_shape *c = &n->copy.shape;

	switch (n->type) {
	case NODE_KERNEL:
		return sim_set_kernel(op, k->function ? k->function : k->kernel, k->grid, k->block,
				      k->shared);
	case NODE_COPY:
		*op = (struct sim_op){ .kind = SIM_COPY, .bytes = c->width * c->height * c->depth,
				       .async = true };
		*to = end_of(&c->to);
		*from = end_of(&c->from);
		op->from = sim_place((uintptr_t)*from, &op->from_device);
		op->to = sim_place((uintptr_t)*to, &op->to_device);
		return SIM_OK;
	case NODE_FILL:
		*op = (struct sim_op){ .kind = SIM_FILL, .value = f->value, .async = true,
				       .bytes = f->width * f->height * f->element };
		*to = (void *)(uintptr_t)f->to;
		op->to = sim_place(f->to, &op->to_device);
		return SIM_OK;
	case NODE_EMPTY:
		*op = (struct sim_op){ .kind = SIM_HOST, .duration_ns = 1 };
		return SIM_OK;
	default:
		return SIM_NOT_SUPPORTED;
	}
}

static int add_node(void **node, void *graph, struct sim_node *const *needs, size_t n_needs,
		    const struct any_node *parameters)
{
	struct sim_op op = { .kind = SIM_KERNEL };
	const void *from = NULL;
	struct sim_node *n;
	void *to = NULL;
	int result = set_node(&op, &to, &from, parameters);

	if (!graph_of(graph, false))
		return SIM_INVALID_VALUE;
	if (result)
		return result;
	graph_note(graph, &op, to, from, &n);
	for (size_t i = 0; i < n_needs && i < SIM_AWAITS; i++)
		n->awaits[i] = needs[i];
	*node = n;
	return SIM_OK;
}

ENTRY(689, cuGraphAddKernelNode_v2, (void **, node), (void *, graph),
      (struct sim_node *const *, needs), (size_t, n_needs),
      (const struct kernel_node *, kernel))
{
	struct any_node n = { .type = NODE_KERNEL, .kernel = *kernel };

	return add_node(node, graph, needs, n_needs, &n);
}

ENTRY(723, cuGraphAddNode_v2, (void **, node), (void *, graph), (struct sim_node *const *, needs),
      (const void *, edges), (size_t, n_needs), (const struct any_node *, parameters))
{
	return add_node(node, graph, needs, n_needs, parameters);
}

ENTRY(504, cuGraphAddMemcpyNode, (void **, node), (void *, graph),
      (struct sim_node *const *, needs), (size_t, n_needs), (const struct copy_shape *, copy),
      (void *, context))
{
	struct any_node n = { .type = NODE_COPY, .copy.shape = *copy };

	return add_node(node, graph, needs, n_needs, &n);
}

ENTRY(506, cuGraphAddMemsetNode, (void **, node), (void *, graph),
      (struct sim_node *const *, needs), (size_t, n_needs), (const struct fill_node *, fill),
      (void *, context))
{
	struct any_node n = { .type = NODE_FILL, .fill = *fill };

	return add_node(node, graph, needs, n_needs, &n);
}

ENTRY(526, cuGraphAddEmptyNode, (void **, node), (void *, graph),
      (struct sim_node *const *, needs), (size_t, n_needs))
{
	return add_node(node, graph, needs, n_needs, &(struct any_node){ .type = NODE_EMPTY });
}

ENTRY(509, cuGraphNodeGetType, (const struct sim_node *, node), (int *, type))
{
	if (!node || node->magic != SIM_MAGIC_NODE)
		return SIM_INVALID_VALUE;
	*type = node->op.kind == SIM_KERNEL ? NODE_KERNEL : node->op.kind == SIM_COPY ? NODE_COPY :
		node->op.kind == SIM_FILL ? NODE_FILL : NODE_EMPTY;
	return SIM_OK;
}

ENTRY(539, cuStreamBeginCapture_v2, (void *, stream), (int, mode))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s || s->legacy || s->capture)
		return SIM_INVALID_VALUE;
	s->capture = graph_make(false);
	s->capture->origin = s;
	s->noted = NULL;
	memset(s->awaits, 0, sizeof(s->awaits));
	SIM_TELL(object, SIM_GRAPH, s->capture, false);
	return SIM_OK;
}

ENTRY(497, cuStreamEndCapture, (void *, stream), (void **, graph))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s || !s->capture)
		return SIM_INVALID_VALUE;
	*graph = s->capture;
	pthread_mutex_lock(&s->context->lock);
	for (struct sim_stream *other = s->context->streams; other; other = other->next)
		if (other->capture == *graph)
			other->capture = NULL;
	pthread_mutex_unlock(&s->context->lock);
	s->capture = NULL;
	return SIM_OK;
}

ENTRY(499, cuStreamIsCapturing, (void *, stream), (int *, status))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s)
		return SIM_INVALID_HANDLE;
	*status = s->capture != NULL;
	return SIM_OK;
}

ENTRY(534, cuGraphGetNodes, (void *, graph), (void **, nodes), (size_t *, count))
{
	struct sim_graph *g = graph_of(graph, false);
	size_t n = 0;

	if (!g)
		return SIM_INVALID_VALUE;
	for (struct sim_node *node = g->first; nodes && node && n < *count; node = node->next)
		nodes[n++] = node;
	*count = nodes ? n : g->nodes;
	return SIM_OK;
}

static struct sim_node *clone_of(struct sim_graph *exec, const struct sim_node *original)
{
	struct sim_node *n = original ? exec->first : NULL;

	while (n && n->original != original)
		n = n->next;
	return n;
}

/* The nodes of an executable graph are copies of the graph's nodes. */
ENTRY(643, cuGraphInstantiateWithFlags, (void **, exec), (void *, graph), (uint64_t, flags))
{
	struct sim_graph *g = graph_of(graph, false), *e;
	struct sim_node *n;

	if (!g)
		return SIM_INVALID_VALUE;
	e = graph_make(true);
	e->original = g;
	e->origin = g->origin;
	for (struct sim_node *o = g->first; o; o = o->next) {
		graph_note(e, &o->op, o->destination, o->source, &n);
		n->original = o;
		for (int i = 0; i < SIM_AWAITS; i++)
			n->awaits[i] = clone_of(e, o->awaits[i]);
		SIM_TELL(object, SIM_CLONE, n, false);
	}
	*exec = e;
	SIM_TELL(object, SIM_EXEC, e, false);
	return SIM_OK;
}

/* Changes what the executable graph's copy of the node does. */
static int change_node(void *exec, const struct sim_node *node, const struct any_node *parameters)
{
	struct sim_graph *e = graph_of(exec, true);
	struct sim_node *n = e ? clone_of(e, node) : NULL;
	struct sim_op op = { .kind = SIM_KERNEL };
	const void *from = NULL;
	void *to = NULL;
	int result;

	if (!n)
		return SIM_INVALID_VALUE;
	result = set_node(&op, &to, &from, parameters);
	if (result || op.kind != n->op.kind)
		return result ? result : SIM_INVALID_VALUE;
	op.captured = n->op.captured;
	op.duration_ns = n->op.duration_ns;
	n->op = op;
	n->destination = to;
	n->source = from;
	return SIM_OK;
}

ENTRY(714, cuGraphExecNodeSetParams, (void *, exec), (const struct sim_node *, node),
      (const struct any_node *, parameters))
{
	return change_node(exec, node, parameters);
}

ENTRY(692, cuGraphExecKernelNodeSetParams_v2, (void *, exec), (const struct sim_node *, node),
      (const struct kernel_node *, kernel))
{
	struct any_node n = { .type = NODE_KERNEL, .kernel = *kernel };

	return change_node(exec, node, &n);
}

ENTRY(562, cuGraphExecMemcpyNodeSetParams, (void *, exec), (const struct sim_node *, node),
      (const struct copy_shape *, copy), (void *, context))
{
	struct any_node n = { .type = NODE_COPY, .copy.shape = *copy };

	return change_node(exec, node, &n);
}

ENTRY(563, cuGraphExecMemsetNodeSetParams, (void *, exec), (const struct sim_node *, node),
      (const struct fill_node *, fill), (void *, context))
{
	struct any_node n = { .type = NODE_FILL, .fill = *fill };

	return change_node(exec, node, &n);
}

static int graph_launch(void *exec, void *handle)
{
	struct sim_graph *e = graph_of(exec, true);
	struct sim_stream *s = sim_stream(handle);
	int64_t begin, start = 0, end = 0;

	if (!e || !s)
		return SIM_INVALID_VALUE;
	pthread_mutex_lock(&s->lock);
	begin = s->last_end;
	pthread_mutex_unlock(&s->lock);
	for (struct sim_node *n = e->first; n; n = n->next) {
		struct sim_op op = n->op;

		op.stream = op.stream && op.stream != e->origin && !op.stream->destroyed ?
			op.stream : s;
		op.graph = e->id;
		op.node = n->id;
		op.after_ns = begin;
		for (int i = 0; i < SIM_AWAITS && n->awaits[i]; i++)
			if (n->awaits[i]->end_ns > op.after_ns)
				op.after_ns = n->awaits[i]->end_ns;
		sim_copy(&op, n->destination, n->source);
		sim_submit(&op);
		n->end_ns = op.end_ns;
		start = start ? start : op.start_ns;
		end = op.end_ns > end ? op.end_ns : end;
	}
	/* later work in this stream waits for the whole graph */
	pthread_mutex_lock(&s->lock);
	s->last_end = end > s->last_end ? end : s->last_end;
	pthread_mutex_unlock(&s->lock);
	truth_launch(e);
	SIM_TELL(launched, e, s, sim_correlation(), start, end);
	return SIM_OK;
}

ENTRY(514, cuGraphLaunch, (void *, exec), (void *, stream))
{
	return graph_launch(exec, stream);
}

ENTRY(515, cuGraphLaunch_ptsz, (void *, exec), (void *, stream))
{
	return graph_launch(exec, stream ? stream : (void *)2);
}

static int graph_free(struct sim_graph *g, enum sim_object kind)
{
	struct sim_node *n, *next;

	if (!g)
		return SIM_INVALID_VALUE;
	SIM_TELL(object, kind, g, true);
	for (n = g->first; n; n = next) {
		next = n->next;
		n->magic = 0;
		free(n);
	}
	g->magic = 0;
	free(g);
	return SIM_OK;
}

ENTRY(516, cuGraphExecDestroy, (void *, exec))
{
	return graph_free(graph_of(exec, true), SIM_EXEC);
}

ENTRY(517, cuGraphDestroy, (void *, graph))
{
	return graph_free(graph_of(graph, false), SIM_GRAPH);
}
