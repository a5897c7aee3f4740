/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: modules, kernels, launches, graphs. See sim.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/entry.h"

#define LAZY_NS 20000
#define JIT_NS 300000

/* The parameters of a launch in the driver's API. */
struct launch_config {
	unsigned int grid[3], block[3], shared;
	void *stream, *attributes;
	unsigned int n_attributes;
};
struct kernel_node {
	void *function;
	unsigned int grid[3], block[3], shared;
	void **arguments, **extra;
	void *kernel, *context;
};

static struct sim_function *functions;
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint next_graph = 1, next_module = 1;
static atomic_ullong next_node = 1;

/* --- modules ---------------------------------------------------------------- */

struct sim_module {
	uint32_t id;
};

static int load(void **module, const void *image)
{
	struct sim_module *m = calloc(1, sizeof(*m));
	int64_t start = sim_now();

	m->id = atomic_fetch_add(&next_module, 1);
	*module = m;
	/* PTX is text, which is compiled at this point. */
	if (image && !strncmp(image, "//", 2)) {
		int device = sim_thread.current ? sim_thread.current->device->ordinal : 0;

		sim_sleep_until(start + JIT_NS);
		truth_compile();
		SIM_TELL(compiled, device, start, sim_now(), sim_correlation());
	}
	SIM_TELL(object, SIM_MODULE, m, false);
	return SIM_OK;
}

ENTRY(19, cuModuleLoadData, (void **, module), (const void *, image))
{
	return load(module, image);
}

ENTRY(22, cuModuleUnload, (void *, module))
{
	SIM_TELL(object, SIM_MODULE, module, true);
	free(module);
	return SIM_OK;
}

ENTRY(678, cuLibraryLoadData, (void **, library), (const void *, code), (void *, options),
      (void **, values), (unsigned int, n), (void *, library_options), (void **, library_values),
      (unsigned int, n_library))
{
	return load(library, code);
}

ENTRY(680, cuLibraryUnload, (void *, library))
{
	return do_cuModuleUnload(library);
}

/* Any name is accepted as a kernel, in any module. */
static int function_of(void **function, const char *name)
{
	struct sim_function *f;

	pthread_mutex_lock(&functions_lock);
	for (f = functions; f && strcmp(f->name, name); f = f->next)
		;
	if (!f) {
		f = calloc(1, sizeof(*f));
		f->magic = SIM_MAGIC_FUNCTION;
		f->name = strdup(name);
		f->registers = 32;
		f->next = functions;
		functions = f;
	}
	pthread_mutex_unlock(&functions_lock);
	*function = f;
	return SIM_OK;
}

ENTRY(23, cuModuleGetFunction, (void **, function), (void *, module), (const char *, name))
{
	return function_of(function, name);
}

ENTRY(681, cuLibraryGetKernel, (void **, kernel), (void *, library), (const char *, name))
{
	return function_of(kernel, name);
}

ENTRY(683, cuKernelGetFunction, (void **, function), (void *, kernel))
{
	*function = kernel;
	return SIM_OK;
}

/* --- launches --------------------------------------------------------------- */

static const char *symbol_of(void *function)
{
	struct sim_function *f = function;

	return f && f->magic == SIM_MAGIC_FUNCTION ? f->name : NULL;
}

static int set_kernel(struct sim_op *op, void *function, const unsigned int *grid,
		      const unsigned int *block, unsigned int shared)
{
	struct sim_function *f = function;

	if (!symbol_of(function))
		return SIM_INVALID_HANDLE;
	op->kind = SIM_KERNEL;
	op->function = f;
	op->name = f->name;
	for (int i = 0; i < 3; i++) {
		op->grid[i] = grid[i];
		op->block[i] = block[i];
		if (!grid[i] || !block[i])
			return SIM_INVALID_VALUE;
	}
	op->shared_dynamic = shared;
	return (uint64_t)block[0] * block[1] * block[2] > 1024 ? SIM_INVALID_VALUE : SIM_OK;
}

static int launch(void *function, const unsigned int *grid, const unsigned int *block,
		  unsigned int shared, void *stream)
{
	struct sim_op op = { .stream = sim_stream(stream) };
	int result = set_kernel(&op, function, grid, block, shared);

	if (!op.stream)
		return sim_thread.current ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (result) {
		truth_failed();
		return result;
	}
	if (sim_settings.lazy && !op.function->loaded) {
		int64_t start = sim_now();

		op.function->loaded = true;
		sim_sleep_until(start + LAZY_NS);
		truth_compile();
		SIM_TELL(overhead, 5u << 16, start, sim_now(), sim_correlation());
	}
	return sim_do(&op, NULL, NULL);
}

#define GRID ((const unsigned int[]){ gx, gy, gz })
#define BLOCK ((const unsigned int[]){ bx, by, bz })
#define LAUNCH_ARGS (void *, f), (unsigned int, gx), (unsigned int, gy), (unsigned int, gz), \
	(unsigned int, bx), (unsigned int, by), (unsigned int, bz), (unsigned int, shared), \
	(void *, stream), (void **, arguments)

LAUNCH(307, cuLaunchKernel, symbol_of(f), LAUNCH_ARGS, (void **, extra))
{
	return launch(f, GRID, BLOCK, shared, stream);
}

LAUNCH(442, cuLaunchKernel_ptsz, symbol_of(f), LAUNCH_ARGS, (void **, extra))
{
	return launch(f, GRID, BLOCK, shared, stream ? stream : (void *)2);
}

LAUNCH(477, cuLaunchCooperativeKernel, symbol_of(f), LAUNCH_ARGS)
{
	return launch(f, GRID, BLOCK, shared, stream);
}

LAUNCH(652, cuLaunchKernelEx, symbol_of(f), (const struct launch_config *, config), (void *, f),
       (void **, arguments), (void **, extra))
{
	return launch(f, config->grid, config->block, config->shared, config->stream);
}

LAUNCH(653, cuLaunchKernelEx_ptsz, symbol_of(f), (const struct launch_config *, config),
       (void *, f), (void **, arguments), (void **, extra))
{
	return launch(f, config->grid, config->block, config->shared,
		      config->stream ? config->stream : (void *)2);
}

/* The function is called when all earlier work has ended. */
ENTRY(527, cuLaunchHostFunc, (void *, stream), (sim_host, function),
      (void *, data))
{
	struct sim_op op = { .kind = SIM_HOST, .stream = sim_stream(stream), .duration_ns = 1000 };

	if (!op.stream)
		return SIM_INVALID_HANDLE;
	sim_drain(op.stream);
	function(data);
	return sim_submit(&op);
}

/* --- graphs ----------------------------------------------------------------- */

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

static int add_kernel(void **node, void *graph, const struct kernel_node *k)
{
	struct sim_op op = { .kind = SIM_KERNEL };
	struct sim_node *n;
	int result = set_kernel(&op, k->function ? k->function : k->kernel, k->grid, k->block,
				k->shared);

	if (!graph_of(graph, false))
		return SIM_INVALID_VALUE;
	if (!result)
		result = graph_note(graph, &op, NULL, NULL, &n);
	if (!result)
		*node = n;
	return result;
}

ENTRY(689, cuGraphAddKernelNode_v2, (void **, node), (void *, graph), (void *const *, needs),
      (size_t, n_needs), (const struct kernel_node *, parameters))
{
	return add_kernel(node, graph, parameters);
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
