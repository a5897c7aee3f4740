/* SPDX-License-Identifier: MIT */
/* Events for the nodes of a graph and for the ops that ran, for tests of the model. */
#ifndef TESTS_UNIT_MODEL_GRAPH_H
#define TESTS_UNIT_MODEL_GRAPH_H

#include "model/query/graph.h"
#include "tests/unit/model_events.h"

#define GRAPH 100u
#define TYPE 101u
#define DEVICE 102u
#define FILE_ 103u
#define NAME0 200u

static inline struct event node_event(uint32_t id, uint32_t name, const char *inputs, uint32_t line)
{
	return (struct event) {
		.type = EVENT_NODE, .pid = PID, .time_ns = BASE,
		.u.node = {
			.id = id, .graph = GRAPH, .name = name, .op_type = TYPE,
			.device = DEVICE, .file = line ? FILE_ : 0, .line = line,
			.inputs = inputs, .attributes = "T=float32\n",
		},
	};
}

static inline struct event ran(uint32_t name, uint64_t instance, int64_t start_ns, int64_t dur_ns,
			int64_t step)
{
	struct event event = ev_op(name, instance, 0, start_ns, dur_ns, 0);

	event.u.op.framework = FW_TENSORFLOW;
	event.u.op.op_type = TYPE;
	event.u.op.step = step;
	return event;
}

static inline struct model *model_with_graph(void)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(GRAPH, NAME_NODE, "__inference_step_7"));
	apply_one(model, ev_name(TYPE, NAME_OP_TYPE, "MatMul"));
	apply_one(model, ev_name(DEVICE, NAME_NODE, "/device:CPU:0"));
	apply_one(model, ev_name(FILE_, NAME_SOURCE, "/home/me/train.py"));
	return model;
}

static inline bool found(struct model *model, const char *text, struct graph_node *node)
{
	char error[512];
	uint32_t index;
	bool good;

	model_lock(model);
	good = model_graph_find(model, text, &index, error, sizeof(error)) &&
	       model_graph_node(model, index, node);
	model_unlock(model);
	return good;
}

#endif
