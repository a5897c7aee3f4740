/* SPDX-License-Identifier: MIT */
/*
 * Graphs: in which op and line each node was captured, and the names of executable graphs. Both
 * tables are indexed by a hash and overwrite old entries when there is no room.
 *
 * XLA makes the nodes of a command buffer while that op is open, and mostly no instruction in it.
 * Its kernels are named after the instructions that they compute: where no instruction is open, a
 * kernel's op is the instruction of its name.
 */
#include <stdio.h>

#include "probes/cuda/probe.h"
#include "probes/runtime/spin.h"

#define NODES (1u << 16)
#define NODE_PROBES 16u
#define EXECS 256u
#define OWN_NAME UINT32_MAX	/* of a node: its op has the name of its kernel */

/* Where a node was captured. source: rt_source(); with OWN_NAME, the program (rt_line_of()). */
struct captured {
	uint32_t op_name, source;
};

static struct {
	_Atomic uint64_t node;
	_Atomic uint32_t op_name, source;
} nodes[NODES];
static struct {
	_Atomic(const void *) exec;
	_Atomic uint32_t name;
} execs[EXECS];
static _Atomic uint32_t busy;

static void node_set(uint64_t node, struct captured in)
{
	uint32_t i = objects_hash(node, 1) & (NODES - 1), at = i;

	for (unsigned n = 0; n < NODE_PROBES; n++, i = (i + 1) & (NODES - 1)) {
		uint64_t have = atomic_load_explicit(&nodes[i].node, memory_order_relaxed);

		if (!have || have == node) {
			at = i;
			break;
		}
	}
	/* if there is no room, the oldest entry is replaced */
	atomic_store(&nodes[at].op_name, in.op_name);
	atomic_store(&nodes[at].source, in.source);
	atomic_store_explicit(&nodes[at].node, node, memory_order_release);
}

static struct captured node_get(uint64_t node)
{
	uint32_t i = objects_hash(node, 1) & (NODES - 1);

	for (unsigned n = 0; node && n < NODE_PROBES; n++, i = (i + 1) & (NODES - 1)) {
		uint64_t have = atomic_load_explicit(&nodes[i].node, memory_order_acquire);

		if (have == node)
			return (struct captured){ atomic_load(&nodes[i].op_name),
						  atomic_load(&nodes[i].source) };
		if (!have)
			break;
	}
	return (struct captured){ 0, 0 };
}

uint32_t node_op(const struct cuda_record *r, uint32_t *source)
{
	struct captured in = node_get(r->node);

	if (in.op_name == OWN_NAME) {
		in.op_name = r->what == CUDA_KERNEL && r->kernel.name ?
			     rt_name(TFT_NAME_OP, r->kernel.name) : 0;
		in.source = rt_line_of(in.source, in.op_name);
	}
	*source = in.source;
	return in.op_name;
}

/* A node's number; 0: unknown. */
static uint64_t node_number(void *node)
{
	uint64_t number = 0;

	if (!cupti->get_graph_node_id ||
	    cuda_asked(cupti->get_graph_node_id(node, &number), SAID_NODES, 1,
		       "CUPTI does not say which "
		       "node of a graph is which: kernels of graphs have their launch's op"))
		return 0;
	return number;
}

/* The id of the name of a type of ops, kept in *known. */
static uint32_t type_id(_Atomic uint32_t *known, const char *text)
{
	uint32_t id = atomic_load_explicit(known, memory_order_relaxed);

	if (!id) {
		id = rt_name(TFT_NAME_OP_TYPE, text);
		atomic_store_explicit(known, id, memory_order_relaxed);
	}
	return id;
}

/* Where the node is captured that is made now. */
static struct captured captured_in(const struct rt_top *top)
{
	static _Atomic uint32_t buffer, run;

	if (!top->type || top->type != type_id(&buffer, RT_XLA_COMMAND_BUFFER))
		return (struct captured){ top->name, top->source };
	return (struct captured){ OWN_NAME, rt_op_of_type(type_id(&run, RT_XLA_RUN)) };
}

static void node_made(const struct cupti_graph_resource *g)
{
	struct rt_top top = rt_op_launch();
	uint64_t node;

	calls_captured();
	node = top.name && g ? node_number(g->node) : 0;
	if (node)
		node_set(node, captured_in(&top));
}

static void node_cloned(const struct cupti_graph_resource *g)
{
	uint64_t node = g ? node_number(g->node) : 0;
	struct captured in;

	if (!node)
		return;
	in = node_get(node_number(g->original_node));
	if (in.op_name)
		node_set(node, in);
}

uint32_t graph_name_of(uint32_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "graph %u", number);
	return rt_name(TFT_NAME_KERNEL, text);
}

static uint32_t exec_name(const void *exec)
{
	uint32_t number = 0;

	if (cupti->get_graph_exec_id &&
	    !cuda_asked(cupti->get_graph_exec_id((void *)(uintptr_t)exec, &number), SAID_EXECS, 0,
			"CUPTI does not say which graph is which: all have one name"))
		return graph_name_of(number);
	return rt_name(TFT_NAME_KERNEL, "graph");
}

uint32_t graph_name(const void *exec)
{
	uint32_t i = objects_hash((uintptr_t)exec, 2) & (EXECS - 1), name;

	if (atomic_load_explicit(&execs[i].exec, memory_order_acquire) == exec) {
		name = atomic_load_explicit(&execs[i].name, memory_order_relaxed);
		if (atomic_load_explicit(&execs[i].exec, memory_order_acquire) == exec)
			return name;
	}
	name = exec_name(exec);
	/* two threads that store their names here at once would mix them up */
	if (rt_spin_lock(&busy)) {
		atomic_store(&execs[i].exec, NULL);
		atomic_store(&execs[i].name, name);
		atomic_store_explicit(&execs[i].exec, exec, memory_order_release);
		rt_spin_unlock(&busy);
	}
	return name;
}

/* An address that is used again belongs to another graph. */
static void exec_goes(const void *exec)
{
	uint32_t i = objects_hash((uintptr_t)exec, 2) & (EXECS - 1);

	_Atomic(const void *) *at = &execs[i].exec;

	if (exec)
		atomic_compare_exchange_strong(at, &exec, NULL);
}

void graphs_resource(uint32_t id, const struct cupti_graph_resource *g)
{
	switch (id) {
	case CUPTI_RESOURCE_NODE_CREATED:
		node_made(g);
		break;
	case CUPTI_RESOURCE_NODE_CLONED:
		node_cloned(g);
		break;
	case CUPTI_RESOURCE_EXEC_DESTROY:
		if (g)
			exec_goes(g->exec);
		break;
	}
}
