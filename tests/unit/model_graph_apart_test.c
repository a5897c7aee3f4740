/* SPDX-License-Identifier: MIT */
/* Nodes of one name in several graphs. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_graph.h"
#include "tests/unit/test.h"

/* As in a function's graph, which the op says it ran in. */
static struct event ran_in(uint32_t graph, uint32_t name, uint64_t instance, int64_t start_ns,
			   int64_t dur_ns, int64_t step)
{
	struct event event = ran(name, instance, start_ns, dur_ns, step);

	event.u.op.domain = graph;
	return event;
}

#define OTHER 110u	/* another function's graph, which has nodes of the same names */
#define THIRD 111u	/* one that has none */

static struct model *model_with_two(void)
{
	static const char *const names[] = { "x", "MatMul", "inner/MatMul" };
	struct model *model = model_with_graph();
	struct event event;

	apply_one(model, ev_name(OTHER, NAME_NODE, "__inference_step_9"));
	apply_one(model, ev_name(THIRD, NAME_NODE, "__inference_step_11"));
	for (uint32_t i = 0; i < 3; i++)
		apply_one(model, ev_name(NAME0 + i, NAME_NODE, names[i]));
	apply_one(model, ev_name(NAME0 + 3, NAME_OP, "StatefulPartitionedCall/MatMul"));
	for (uint32_t i = 0; i < 4; i++) {
		event = node_event(i + 1, NAME0 + i % 2, i % 2 ? "x" : "", 0);
		event.u.node.graph = i < 2 ? GRAPH : OTHER;
		apply_one(model, event);
	}
	return model;
}

/* Nodes of one name: each has what ran in its own graph. */
TEST(model_graph_tells_graphs_apart)
{
	struct model *model = model_with_two();
	struct op_row *rows;
	struct graph_node node;
	uint32_t *others;
	size_t n;

	for (int i = 0; i < 4; i++) {
		bool other = i % 2;
		uint32_t graph = other ? OTHER : GRAPH;
		int64_t t = 100000 * (int64_t)i, dur_ns = other ? 70 : 1000;

		apply_one(model, ran_in(graph, NAME0, 10 * (uint64_t)i + 1, t, 10, i));
		apply_one(model, ran_in(graph, NAME0 + (other ? 3 : 1), 10 * (uint64_t)i + 2,
					t + 10 + (other ? 5 : 300), dur_ns, i));
	}
	model_finish(model, false);
	CHECK(found(model, "__inference_step_7:MatMul", &node));
	CHECK_STR(node.graph, "__inference_step_7");
	CHECK_INT(node.count, 2);
	CHECK_INT(node.total_ns, 2000);
	CHECK_INT(node.wait_mean_ns, 300);
	CHECK_INT(node.same, 1);
	CHECK(!node.mixed);
	model_lock(model);
	n = model_graph_same(model, node.index, &others);
	CHECK_INT(n, 1);
	CHECK(model_graph_node(model, others[0], &node));
	model_unlock(model);
	free(others);
	CHECK_STR(node.graph, "__inference_step_9");
	CHECK_INT(node.rule, GRAPH_INLINED);
	CHECK_INT(node.count, 2);
	CHECK_INT(node.total_ns, 140);
	CHECK_INT(node.wait_mean_ns, 5);
	CHECK(!found(model, "__inference_step_11:MatMul", &node));
	/* in the table of ops a name is one */
	model_lock(model);
	n = model_ops(model, &rows);
	model_unlock(model);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].raw_name, "x"))
			CHECK_INT(rows[i].count, 4);
	free(rows);
	model_free(model);
}

/* Where the graph is not known, or has no such node, it goes by the name, which is said. */
TEST(model_graph_says_what_is_mixed)
{
	for (int with = 0; with < 2; with++) {
		struct model *model = model_with_two();
		struct graph_node node;

		apply_one(model, ran_in(GRAPH, NAME0 + 1, 1, 0, 1000, 1));
		CHECK(found(model, "MatMul", &node));
		CHECK(!node.mixed);
		apply_one(model, ran_in(with ? THIRD : 0, NAME0 + 1, 2, 2000, 50, 2));
		CHECK(found(model, "__inference_step_9:MatMul", &node));
		CHECK(node.mixed);
		CHECK_INT(node.total_ns, 50);
		CHECK(found(model, "__inference_step_7:MatMul", &node));
		CHECK(node.mixed);
		CHECK_INT(node.total_ns, 1000);
		model_free(model);
	}
}
